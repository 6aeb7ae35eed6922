"""Each method has a twin, says what it does, and has types that a type checker sees."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import assert_type, get_type_hints

import pytest

from snapstate_sdk import (
    Agent,
    Checkpoint,
    SaveResult,
    SnapStateClient,
    WorkflowReplay,
    WorkflowResume,
    WorkflowSummary,
)
from snapstate_sdk.reports import Usage, Webhook

PUBLIC = {name for name in dir(SnapStateClient) if not name.startswith("_")}
METHODS = sorted(name for name in PUBLIC if not name.startswith("async_"))


@pytest.mark.parametrize("name", METHODS)
def test_each_method_has_a_twin_with_the_same_arguments(name):
    method, twin = getattr(SnapStateClient, name), getattr(SnapStateClient, f"async_{name}")
    assert list(inspect.signature(method).parameters.values()) == list(inspect.signature(twin).parameters.values())
    assert method.__doc__
    assert twin.__doc__
    assert next(iter(inspect.signature(method).parameters)) == "self"


def test_no_twin_is_alone():
    assert {name for name in PUBLIC if name.startswith("async_")} == {f"async_{name}" for name in METHODS}


def test_a_bound_method_shows_its_arguments_and_what_it_answers(client):
    signature = inspect.signature(client.save)
    assert list(signature.parameters)[:3] == ["workflow_id", "step", "state"]
    assert signature.return_annotation is SaveResult
    assert "Raises ConflictError" in (inspect.getdoc(client.save) or "")
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        client.save("wf", 1, {}, lable="typo")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("save", SaveResult),
        ("async_save", SaveResult),
        ("checkpoints", Iterator[Checkpoint]),
        ("async_checkpoints", AsyncIterator[Checkpoint]),
        ("list_agents", list[Agent]),
        ("async_list_agents", list[Agent]),
    ],
)
def test_what_a_method_answers_is_said_as_it_is(name, answer):
    method = getattr(SnapStateClient, name)
    assert inspect.signature(method).return_annotation == answer
    assert get_type_hints(method)["return"] == answer


def test_types_are_what_a_checker_takes_them_for(server: object, client: SnapStateClient) -> None:
    """Held by mypy; at run time only that nothing is sent before an iterator is asked."""

    def sync() -> None:
        assert_type(client.save("wf", 1, {}), SaveResult)
        assert_type(client.resume("wf"), WorkflowResume)
        assert_type(client.replay("wf"), WorkflowReplay)
        assert_type(client.get_if_changed("cp", '"e"'), Checkpoint | None)
        assert_type(client.list_agents(), list[Agent])
        assert_type(client.usage(), Usage)
        assert_type(client.register_webhook("https://example.com", ["checkpoint.saved"]), Webhook)
        assert_type(client.erase("wf"), None)

    async def in_asyncio() -> None:
        assert_type(await client.async_save("wf", 1, {}), SaveResult)
        assert_type(await asyncio.create_task(client.async_resume("wf")), WorkflowResume)
        assert_type(await client.async_list_agents(), list[Agent])

    assert_type(client.workflows(), Iterator[WorkflowSummary])
    assert_type(client.async_checkpoints("wf"), AsyncIterator[Checkpoint])
    assert callable(sync)
    assert callable(in_asyncio)
    assert getattr(server, "seen", None) == []
