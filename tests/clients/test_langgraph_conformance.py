"""LangGraph's own suite for savers, over HTTP against the live server: nothing fails, nothing is silently left out."""

import asyncio
from collections.abc import AsyncIterator

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import CapabilityReport
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver

OFFERED = {"put", "put_writes", "get_tuple", "list", "delete_thread", "copy_thread", "prune"}
NOT_OFFERED = {"delete_for_runs"}  # ADAPTERS.md says why
TESTS = {"put": 17, "put_writes": 10, "get_tuple": 10, "list": 16, "delete_thread": 5, "copy_thread": 8, "prune": 8}


def report_on(base_url: str, key: str) -> CapabilityReport:
    @checkpointer_test(name="SnapStateSaver")
    async def saver() -> AsyncIterator[SnapStateSaver]:
        async with SnapStateClient(key, base_url) as client:
            yield SnapStateSaver(client)

    return asyncio.run(validate(saver))


def test_every_capability_that_is_offered_passes_langgraphs_suite(base_url: str, key: str) -> None:
    results = report_on(base_url, key).results
    assert {name: result.failures for name, result in results.items() if result.failures} == {}
    assert {name for name, result in results.items() if result.detected} == OFFERED
    assert {name for name, result in results.items() if not result.detected} == NOT_OFFERED
    assert {name: results[name].tests_passed for name in OFFERED} == TESTS
