"""Promise 2: state and metadata come back byte for byte, from Redis, from Postgres and from both."""

import msgspec
import pytest

from tests.promises.calling import Caller, Replayed, Resumed, Shown

STATES = [
    b"{}",
    b'{\n  "a": 1,\r\n\t"b" : [ ] , "c":{ }\n}',
    b'{"n": 9007199254740993, "f": 0.1234567890123456789, "e": 1E2, "z": -0.0, "o": 1.0, "m": 1e-7}',
    b'{"nul": "a\\u0000b", "slash": "\\/", "escaped": "\\u00e9", "raw": "\xc3\xa9", "pair": "\\ud83e\\udd16"}',
    '{"raw": "研究-🤖 \u2028 \u007f", "composed": "café", "decomposed": "cafe\u0301"}'.encode(),
    b'{"b":1,"a":2,"b":3,"":null,"__proto__":{"x":[]},"a.b":{"a[0]":"\\""}}',
    b'{"big": ' + b"9" * 300 + b"}",
    b'{"deep":' + b"[" * 99 + b"]" * 99 + b"}",
    b'{"long":"' + b"x" * (1_048_576 - 11) + b'"}',
]
REFUSED = [(400, "state"), (400, "body")]
METADATA = b'{ "k" : 1.0, "u":"\\u00e9\xc3\xa9" }'


@pytest.fixture
def saved(caller: Caller) -> list[bytes]:
    for step, state in enumerate(STATES):
        body = b'{"workflow_id":"wf","step":%d,"metadata":%b,"state":%b}' % (step, METADATA, state)
        answer = caller.call("POST", "/checkpoints", body)
        assert (answer.status, answer.json["size_bytes"]) == (201, len(state)), answer
    return STATES


def everywhere(caller: Caller) -> list[list[Shown]]:
    """By replay, one by one, and the head by resume."""
    ones = [caller.call("GET", f"/checkpoints/cp_wf_{step:03d}") for step in range(len(STATES))]
    return [
        msgspec.json.decode(caller.replay("wf").body, type=Replayed).checkpoints,
        [msgspec.json.decode(one.body, type=Shown) for one in ones],
        [msgspec.json.decode(caller.resume("wf").body, type=Resumed).latest_checkpoint],
    ]


def test_every_byte_comes_back_from_every_tier(saved, stack, caller):
    hot = everywhere(caller)
    stack.catch_up()
    stack.flush_redis()
    warm = everywhere(caller)
    assert warm == hot
    assert [[bytes(shown.state) for shown in shown_by] for shown_by in hot] == [STATES, STATES, STATES[-1:]]
    assert {bytes(shown.metadata) for shown_by in hot for shown in shown_by} == {METADATA}


def test_every_byte_survives_the_death_of_redis_and_postgres(saved, stack, caller):
    stack.kill("store")
    stack.kill("postgres")
    stack.start_again("store")
    stack.start_again("postgres")
    stack.catch_up()
    assert [bytes(step.state) for step in caller.history("wf")] == STATES


@pytest.mark.parametrize("state", [b'{"t": "\\ud83d"}', b'{"t": NaN}', b'{"t": 1e400}', b'{"t": "\xff"}', b"[1]"])
def test_what_cannot_come_back_exactly_is_refused_by_name(state, caller):
    answer = caller.save("odd", 1, state)
    if answer.status == 201:
        assert bytes(caller.history("odd")[0].state) == state
    else:
        assert (answer.status, answer.json["error"]["details"][0]["path"].partition(".")[0]) in REFUSED
