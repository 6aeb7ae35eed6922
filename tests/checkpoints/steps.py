"""What tests of this room do over HTTP, in a word each."""

import json
from typing import Any

import httpx


def save(
    api: httpx.Client,
    workflow_id: str,
    step: int,
    state: Any = None,
    *,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> httpx.Response:
    body = {"workflow_id": workflow_id, "step": step, "state": {"n": step} if state is None else state, **more}
    return api.post("/checkpoints", json=body, headers=headers)


def save_raw(api: httpx.Client, workflow_id: str, step: int, state: str, **headers: str) -> httpx.Response:
    """The state's text goes as it is."""
    body = f'{{"workflow_id": {json.dumps(workflow_id)}, "step": {step}, "state": {state}}}'
    return api.post("/checkpoints", content=body.encode(), headers={"Content-Type": "application/json", **headers})


def resume(api: httpx.Client, workflow_id: str) -> httpx.Response:
    return api.get(f"/workflows/{workflow_id}/resume")


def replay(api: httpx.Client, workflow_id: str, **parameters: Any) -> httpx.Response:
    return api.get(f"/workflows/{workflow_id}/replay", params=parameters)


def steps_of(answer: httpx.Response) -> list[int]:
    return [checkpoint["step"] for checkpoint in answer.json()["checkpoints"]]


def existing(answer: httpx.Response) -> Any:
    assert answer.status_code == 409, answer.text
    return answer.json()["existing"]
