"""What was published as 1.0.2 goes on working: its names, arguments, dataclasses and exceptions are in ours."""

import dataclasses
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import snapstate_sdk

from tests.clients import published

OLD, NEW = published.sdk, snapstate_sdk
INNER = {"_sync_transport", "_async_transport"}  # of its own tests
TO_ENVIRONMENT = {
    ("__init__", "api_key"),
    ("__init__", "base_url"),
    ("__init__", "max_retries"),
}  # None stands for more
OPTIONAL_NOW = {"state", "name"}  # as text, or kept
DATACLASSES = [name for name in OLD.__all__ if dataclasses.is_dataclass(getattr(OLD, name))]
ERRORS = [name for name in OLD.__all__ if name.endswith("Error")]


def methods() -> list[str]:
    names = [name for name, _ in inspect.getmembers(OLD.SnapStateClient, inspect.isfunction)]
    return [name for name in names if not name.startswith("_") or name in ("__init__", "__enter__", "__aenter__")]


def parameters(sdk: Any, method: str) -> list[inspect.Parameter]:
    signature = inspect.signature(getattr(sdk.SnapStateClient, method))
    return [each for each in signature.parameters.values() if each.name not in INNER]


def test_every_name_is_there() -> None:
    assert set(OLD.__all__) - set(NEW.__all__) == set()
    assert NEW.CheckpointClient is NEW.SnapStateClient
    assert NEW.CheckpointError is NEW.SnapStateError
    for name in OLD.__all__:
        module = getattr(OLD, name).__module__.rpartition(".")[2]  # from where it may be imported as well
        assert getattr(import_module(f"snapstate_sdk.{module}"), name) is getattr(NEW, name)


@pytest.mark.parametrize("method", methods())
def test_a_method_takes_what_it_took_in_the_same_places(method: str) -> None:
    old, new = parameters(OLD, method), parameters(NEW, method)
    assert [each.name for each in new[: len(old)]] == [each.name for each in old]
    for before, after in zip(old, new, strict=False):
        assert after.kind == before.kind
        if (method, before.name) not in TO_ENVIRONMENT and before.name not in OPTIONAL_NOW:
            assert after.default == before.default
    assert all(each.default is not each.empty for each in new[len(old) :])
    coroutine = inspect.iscoroutinefunction
    assert coroutine(getattr(NEW.SnapStateClient, method)) == coroutine(getattr(OLD.SnapStateClient, method))


@pytest.mark.parametrize("name", DATACLASSES)
def test_a_dataclass_has_its_fields_in_their_places(name: str) -> None:
    old, new = dataclasses.fields(getattr(OLD, name)), dataclasses.fields(getattr(NEW, name))
    assert [each.name for each in new[: len(old)]] == [each.name for each in old]
    for before, after in zip(old, new, strict=False):
        assert (after.default, after.default_factory) == (before.default, before.default_factory)
    required = {"default": dataclasses.MISSING, "default_factory": dataclasses.MISSING}
    assert all({key: getattr(each, key) for key in required} != required for each in new[len(old) :])


@pytest.mark.parametrize("name", ERRORS)
def test_an_exception_is_made_and_caught_as_before(name: str) -> None:
    old, new = getattr(OLD, name), getattr(NEW, name)
    assert {base.__name__ for base in old.__mro__} <= {base.__name__ for base in new.__mro__}
    before = list(inspect.signature(old).parameters)
    assert list(inspect.signature(new).parameters)[: len(before)] == before
    error = new("no", 7) if name == "RateLimitError" else new("no", 400, "CODE")
    assert str(error) == "no"
    assert vars(old("no", 7) if name == "RateLimitError" else old("no", 400, "CODE")).items() <= vars(error).items()


@pytest.fixture
def both(base_url: str, key: str) -> Iterator[list[Any]]:
    ours = snapstate_sdk.SnapStateClient(api_key=key, base_url=base_url)
    with published.client(base_url, key) as theirs, ours:
        yield [theirs, ours]


def as_published(found: Any) -> Any:
    """The fields that the published dataclass of that name has."""
    if not dataclasses.is_dataclass(found):
        return found
    names = [field.name for field in dataclasses.fields(getattr(OLD, type(found).__name__))]
    values = {name: getattr(found, name) for name in names}
    return {name: [as_published(each) for each in one] if isinstance(one, list) else as_published(one)
            for name, one in values.items()}  # fmt: skip


def test_both_read_the_same_answers_alike(both: list[Any]) -> None:
    for number, sdk in enumerate(both):
        sdk.save("wf", number, {"n": number}, "l", {"agent_id": "from-metadata"} if number else None, None, 60)
    both[0].register_agent("agent-1", "One", "first", ["search"], {"m": 1})
    for ask in (
        lambda sdk: sdk.get("cp_wf_001"),
        lambda sdk: sdk.list_agents()[0],
        lambda sdk: sdk.save("wf", 1, {"n": 1}, "l", {"agent_id": "from-metadata"}),
    ):
        theirs, ours = (as_published(ask(sdk)) for sdk in both)
        assert ours == theirs
    theirs, ours = (as_published(sdk.replay("wf", 0, 1, 10)) for sdk in both)
    assert [{**one, "workflow_id": "wf"} for one in theirs["checkpoints"]] == ours["checkpoints"]
    theirs, ours = (as_published(sdk.resume("wf")) for sdk in both)
    assert {**theirs["latest_checkpoint"], "workflow_id": "wf"} == ours["latest_checkpoint"]


def test_what_one_saves_is_a_replay_to_the_other(both: list[Any]) -> None:
    state = {"é": [1.0, 2**70, None], "o": {}}
    etags = {sdk.save("wf", 1, state, "é").etag for sdk in both}
    assert len(etags) == 1
