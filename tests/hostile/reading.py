"""A workflow as each of the API's reads shows it, with the very bytes of its states."""

from typing import Any
from urllib.parse import quote

import httpx
import msgspec

Raw = msgspec.Raw


class Shown(msgspec.Struct):
    checkpoint_id: str
    step: int
    etag: str
    state: Raw
    metadata: Raw


class Resumed(msgspec.Struct):
    workflow_id: str
    latest_checkpoint: Shown


class Replayed(msgspec.Struct):
    workflow_id: str
    checkpoints: list[Shown]


def workflow(workflow_id: str, read: str = "") -> str:
    """The path of a workflow, or of one of its reads."""
    return f"/workflows/{quote(workflow_id, safe='')}{read and '/' + read}"


def checkpoint(workflow_id: str, step: int) -> str:
    return "/checkpoints/" + quote(f"cp_{workflow_id}_{step:03d}", safe="")


def body(workflow_id: str, step: int, state: str, /, **more: str) -> bytes:
    """A save whose values, but for the id, go as the JSON text they are."""
    members = {"workflow_id": msgspec.json.encode(workflow_id).decode(), "step": str(step), "state": state, **more}
    return ("{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}").encode()


def save(api: httpx.Client, workflow_id: str, step: int, state: str = "{}", **more: str) -> httpx.Response:
    return send(api, body(workflow_id, step, state, **more))


def send(api: httpx.Client, content: bytes, **headers: str) -> httpx.Response:
    """With a short TTL, so that a test can let it expire alone."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    usual = {"Content-Type": "application/json", "X-Checkpoint-TTL": "60"}
    return api.post("/checkpoints", content=content, headers={**usual, **named})


def saved(answer: httpx.Response, status: int = 201) -> httpx.Response:
    assert answer.status_code == status, answer.text[:500]
    return answer


def everywhere(api: httpx.Client, workflow_id: str, step: int) -> dict[str, Shown]:
    """The newest step, as resume, replay and GET show it."""
    resumed = read(api, workflow(workflow_id, "resume"), Resumed)
    replayed = read(api, workflow(workflow_id, "replay"), Replayed)
    got = read(api, checkpoint(workflow_id, step), Shown)
    assert resumed.workflow_id == replayed.workflow_id == workflow_id
    return {"resume": resumed.latest_checkpoint, "replay": replayed.checkpoints[-1], "get": got}


def states(api: httpx.Client, workflow_id: str, step: int) -> set[str]:
    """What the reads show as that step's state: one text, if all agree."""
    return {bytes(shown.state).decode() for shown in everywhere(api, workflow_id, step).values()}


def read[Shape](api: httpx.Client, path: str, shape: type[Shape]) -> Shape:
    return msgspec.json.decode(saved(api.get(path), 200).content, type=shape)


def error_of(answer: httpx.Response, status: int, code: str) -> Any:
    """The error of an answer, after a look at its one shape."""
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/json"), answer.text[:500]
    error = answer.json()["error"]
    assert (error["code"], error["request_id"]) == (code, answer.headers["X-Request-Id"])
    assert error["message"]
    assert ("details" in error) <= (code == "VALIDATION_ERROR")
    return error


def place_of(answer: httpx.Response) -> str:
    """Which field of the request is wrong."""
    place: str = error_of(answer, 400, "VALIDATION_ERROR")["details"][0]["path"]
    return place
