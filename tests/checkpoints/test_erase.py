"""Erasing: nothing of what was there can be read again, and the id begins anew."""

from collections.abc import Callable

import httpx
import pytest
import redis as redis_py

from checkpoints.models import Checkpoint, Workflow
from tests.checkpoints.steps import replay, resume, save, steps_of

Intake = Callable[[], None]


def test_an_erased_workflow_answers_404_in_every_read(api: httpx.Client) -> None:
    save(api, "wf", 1)
    assert api.delete("/workflows/wf").status_code == 204
    for path in ("/workflows/wf", "/workflows/wf/resume", "/workflows/wf/diff", "/checkpoints/cp_wf_001"):
        assert api.get(path).status_code == 404
    assert steps_of(replay(api, "wf")) == []
    assert api.delete("/workflows/wf").status_code == 404


@pytest.mark.parametrize("taken", [(True, True), (True, False), (False, True), (False, False)])
def test_only_what_came_after_the_erase_exists(api: httpx.Client, intake: Intake, taken: tuple[bool, bool]) -> None:
    save(api, "wf", 1)
    save(api, "wf", 2)
    if taken[0]:
        intake()
    api.delete("/workflows/wf")
    if taken[1]:
        intake()
    assert save(api, "wf", 1, {"new": 1}).status_code == 201
    intake()
    assert steps_of(replay(api, "wf")) == [1]
    assert resume(api, "wf").json()["latest_checkpoint"]["state"] == {"new": 1}


def test_no_row_and_no_text_of_it_remains(api: httpx.Client, intake: Intake, redis: redis_py.Redis) -> None:
    save(api, "secret-name", 1, label="secret-label", metadata={"secret": 1})
    intake()
    api.delete("/workflows/secret-name")
    assert not Workflow.objects.filter(workflow_id="secret-name").exists()
    assert not Checkpoint.objects.filter(label="secret-label").exists()
    intake()
    redis.flushall()
    assert resume(api, "secret-name").status_code == 404


def test_a_sequence_never_begins_again(api: httpx.Client, intake: Intake) -> None:
    first = save(api, "wf", 1).headers["ETag"].strip('"').split("-")
    intake()
    api.delete("/workflows/wf")
    second = save(api, "wf", 1).headers["ETag"].strip('"').split("-")
    assert int(second[0]) == int(first[0]) + 1
    assert int(second[1]) > int(first[1])


def test_a_stranger_cannot_erase(api: httpx.Client, stranger_api: httpx.Client) -> None:
    save(api, "wf", 1)
    assert stranger_api.delete("/workflows/wf").status_code == 404
    assert resume(api, "wf").status_code == 200
