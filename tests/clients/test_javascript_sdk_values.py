"""Nasty values through the JavaScript SDK: texts byte for byte from every tier, values as JSON.parse has them."""

import json
from collections.abc import Callable

import httpx
import pytest
import redis as redis_py

from tests.clients import javascript
from tests.hostile.conftest import expire_all
from tests.hostile.reading import save, saved, states
from tests.hostile.test_state import KEPT, REFUSED

TEXTS = list(KEPT.values())
EACH_ALONE = [[text] for text in TEXTS]


def test_texts_come_back_byte_for_byte_from_every_tier(
    base_url: str, key: str, api: httpx.Client, intake: Callable[[], None], redis: redis_py.Redis
) -> None:
    def read(*mode: str) -> list[list[str]]:
        shown: list[list[str]] = javascript.tell("test/live/raw.mjs", "wf", *mode, of=TEXTS, base_url=base_url, key=key)
        return shown

    assert read() == EACH_ALONE
    assert [states(api, f"wf-{at}", 1) for at in range(len(TEXTS))] == [{text} for text in TEXTS]
    intake()
    redis.flushall()
    assert read("read") == EACH_ALONE
    expire_all()
    assert read("read") == EACH_ALONE


def test_texts_that_others_saved_come_out_byte_for_byte(base_url: str, key: str, api: httpx.Client) -> None:
    for at, text in enumerate(TEXTS):
        saved(save(api, f"wf-{at}", 1, text, metadata=text))
    assert javascript.tell("test/live/raw.mjs", "wf", "read", of=TEXTS, base_url=base_url, key=key) == EACH_ALONE


def test_values_are_as_javascript_reads_them(base_url: str, key: str, api: httpx.Client) -> None:
    """Its numbers are doubles: that is what its documents say, and why there are raw texts."""
    shown = javascript.tell("test/live/values.mjs", "wf", of=TEXTS, base_url=base_url, key=key)
    assert [len(each) for each in shown] == [1] * len(TEXTS)
    kept = [json.loads(each[0], parse_int=float) for each in shown]
    assert kept == [json.loads(text, parse_int=float) for text in TEXTS]
    stored = [api.get(f"/workflows/wf-{at}/resume").json()["latest_checkpoint"]["state"] for at in range(len(TEXTS))]
    assert [json.loads(each[0]) for each in shown] == stored


@pytest.mark.parametrize("name", ["NaN", "1e400", "a lone high surrogate", "arrays 101 deep", "a comma too many"])
def test_what_the_server_refuses_is_refused_with_its_place(
    base_url: str, key: str, api: httpx.Client, name: str
) -> None:
    text, place = REFUSED[name]
    with pytest.raises(AssertionError, match=r"ValidationError") as refused:
        javascript.tell("test/live/raw.mjs", "wf", of=[text], base_url=base_url, key=key)
    said = str(refused.value)
    assert place in said or "stateJson" in said
    assert api.get("/workflows/wf-0/resume").status_code == 404
