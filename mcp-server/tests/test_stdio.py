"""The process over stdio: every byte it prints is protocol, whatever comes in and however it ends."""

import json
import signal
import time
from typing import Any

import pytest

SECRET = "nobody-may-log-this"
DEEP = 100_000
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def save(number: Any, state: str) -> str:
    arguments = f'{{"workflow_id":"wf","step":1,"state":{state}}}'
    params = f'{{"name":"save_checkpoint","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"method":"tools/call","params":{params}}}'


def said(process: Any, *lines: str | bytes, wait_for: int) -> list[dict[str, Any]]:
    """All that it prints until `wait_for` messages are there and its stdin is closed; each line must be JSON-RPC."""
    for line in (json.dumps(INITIALIZE), '{"jsonrpc":"2.0","method":"notifications/initialized"}', *lines):
        process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
    process.stdin.flush()
    printed = [process.stdout.readline() for _ in range(wait_for + 1)]
    process.stdin.close()
    printed += process.stdout.read().splitlines(keepends=True)
    messages = [json.loads(line) for line in printed]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in printed)
    assert [message for message in messages if message.get("jsonrpc") != "2.0"] == []
    return [message for message in messages if message.get("id") != 0]


UNREADABLE: dict[str, tuple[str | bytes, int | str | None]] = {
    "no JSON": ("hello", None),
    "an array": ("[]", None),
    "a number": ("7", None),
    "half a message": ('{"jsonrpc":"2.0","id":5,"method":"ping"', 5),
    "deeper than any parser goes": (save(6, "[" * DEEP + "]" * DEEP), 6),
    "an id that is text": (save("seven", "{" * DEEP), "seven"),
    "parameters that are a number": ('{"jsonrpc":"2.0","id":8,"method":"tools/call","params":5}', 8),
    "no method": ('{"jsonrpc":"2.0","id":9}', 9),
    "bytes that are no UTF-8": (b'\xff\xfe{"id": 1}', 1),
    "an id within": ('{"params":{"id":1,"a":[{"id":2}],"s":"\\"id\\":3"},"id":4,"method":', 4),
}


@pytest.mark.parametrize(("line", "number"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_line_that_is_no_request_is_answered(start: Any, line: str | bytes, number: Any) -> None:
    process = start()
    messages = said(process, line, '{"jsonrpc":"2.0","id":99,"method":"ping"}', wait_for=2)
    [fault] = [message for message in messages if message.get("id") != 99]
    assert (fault["id"], fault["error"]["code"]) == (number, -32700)
    assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ('{"t":"\\ud83d"}', "- state.t: has a lone surrogate"),
        ('{"x":[1,NaN]}', "- state.x[1]: "),
        ('{"x":-Infinity}', "- state.x: "),
        ('{"x":1e400}', "- state.x: "),
        (b'{"x":"\xff"}'.decode(errors="surrogateescape"), "- state.x: "),
        ('{"\\ud83d":{"\\udc00":NaN}}', "- state: the name"),
        ("[1]", "- state: expected an object; got an array."),
    ],
)
def test_what_json_cannot_say_is_told_by_its_place(api: Any, start: Any, state: str, told: str) -> None:
    [answer] = said(start(), save(1, state).encode(errors="surrogateescape"), wait_for=1)
    assert answer["result"]["isError"]
    assert told in answer["result"]["content"][0]["text"]
    assert api.seen == []


def test_many_calls_at_once_are_each_answered(api: Any, start: Any) -> None:
    large = json.dumps({"a": "é" * 200_000})
    answers = said(start(), *(save(number, large) for number in range(1, 21)), wait_for=20)
    assert sorted(answer["id"] for answer in answers) == list(range(1, 21))
    assert len(api.seen) == 20
    assert set(api.keys) == {"Bearer snp_" + "0123456789abcdef" * 2}


def test_notifications_that_cannot_be_read_are_not_answered(start: Any) -> None:
    lines = [
        '{"jsonrpc":"2.0","method":"notifications/x","params":{"a":NaN}}',
        '{"jsonrpc":"2.0","method":"x","params":1}',
    ]
    assert said(start(), *lines, '{"jsonrpc":"2.0","id":1,"method":"ping"}', wait_for=1)[0]["id"] == 1


@pytest.mark.parametrize(
    ("task", "told"), [("7", "- task: expected a string; got a number."), ('"\\ud83d"', "- task: has a lone surrogate")]
)
def test_an_argument_of_a_prompt_that_is_no_text_is_told_and_is_no_fault_of_ours(
    start: Any, task: str, told: str
) -> None:
    params = f'{{"name":"checkpoint_as_you_go","arguments":{{"workflow_id":"wf","task":{task}}}}}'
    process = start()
    lines = (f'{{"jsonrpc":"2.0","id":{number},"method":"prompts/get","params":{params}}}' for number in (1, 2))
    for answer in said(process, *lines, wait_for=2):
        assert answer["error"]["code"] == -32602
        assert told in answer["error"]["message"]
    assert process.stderr.read() == b""


def test_logs_are_lines_on_stderr_without_state_or_key(api: Any, start: Any) -> None:
    process = start("--log-level", "DEBUG")
    api.script = [(500, {"error": {"code": "INTERNAL_ERROR", "message": SECRET}})]
    unknown = json.dumps({"jsonrpc": "2.0", "id": 4, "method": "prompts/get", "params": {"name": SECRET}})
    lines = [save(1, f'{{"s":"{SECRET}"}}'), save(2, f'{{"s":"{SECRET}"}}'), save(3, f'"{SECRET}"'), unknown, SECRET]
    said(process, *lines, wait_for=5)
    logged = process.stderr.read().decode().splitlines()
    assert logged
    assert [line for line in logged if SECRET in line or "0123456789abcdef" in line] == []
    assert [line for line in logged if not line.startswith("20") or "Traceback" in line] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_and_says_nothing_more(start: Any, number: int) -> None:
    process = start()
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    json.loads(process.stdout.readline())
    began = time.monotonic()
    process.send_signal(number)
    assert process.wait(20) == 0
    assert time.monotonic() - began < 5
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


def test_it_ends_when_stdin_does_before_a_word_was_said(start: Any) -> None:
    process = start()
    process.stdin.close()
    assert process.wait(20) == 0
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


def test_it_ends_when_nobody_reads_any_more(start: Any) -> None:
    process = start()
    process.stdout.close()
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.close()
    assert process.wait(20) == 1
    [line] = process.stderr.read().splitlines()
    assert line.endswith(b"nobody reads stdout any more")
