"""What an answer of the Admin API says when it refuses."""

import httpx


def refusal(answer: httpx.Response) -> tuple[int, str]:
    assert set(answer.json()) == {"error"}
    assert answer.json()["error"]["request_id"] == answer.headers["X-Request-Id"]
    return answer.status_code, answer.json()["error"]["code"]


def paths_at_fault(answer: httpx.Response) -> list[str]:
    assert refusal(answer) == (400, "VALIDATION_ERROR")
    return [detail["path"] for detail in answer.json()["error"]["details"]]
