"""The command line as a process: JSON in and out, exit codes, a line on what went wrong."""

import json
import os
import pty
import subprocess
import sys

import pytest

HEAD = (
    b'{"checkpoint_id":"cp_wf_002","step":2,"label":null,"state":{ "n" : 1.0 },"metadata":null,"agent_id":null,'
    b'"etag":"\\"e2\\"","created_at":"2026-11-29T18:33:11.123Z","size_bytes":13}'
)
RESUMED = b'{"workflow_id":"wf","status":"active","total_checkpoints":2,"latest_checkpoint":' + HEAD + b"}"
SUMMARY = {
    "workflow_id": "wf", "status": "active", "latest_step": 2, "label": "[b]", "agent_id": None, "metadata": {"k": 1.0},
    "etag": '"e2"', "total_checkpoints": 2, "size_bytes": 12345, "started_at": "x", "expires_at": None, "tier": "live",
    "last_activity_at": "2026-11-29T18:33:11.123Z", "pinned": False, "ttl_seconds": None, "keep_last": None,
}  # fmt: skip


@pytest.fixture
def run(server, monkeypatch):
    monkeypatch.setenv("SNAPSTATE_API_KEY", "snp_x")
    monkeypatch.setenv("SNAPSTATE_API_URL", server.url)
    monkeypatch.setenv("COLUMNS", "200")

    def run_it(*arguments, stdin=b"", status=0, **more):
        command = [sys.executable, "-m", "snapstate_sdk", *arguments]
        ran = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60, **more)
        assert ran.returncode == status, ran.stderr.decode()
        return ran.stdout if status == 0 else ran.stderr.decode()

    return run_it


@pytest.mark.parametrize("way", ["argument", "stdin", "file"])
def test_a_state_is_saved_as_the_text_it_is(server, run, reply, saved, tmp_path, way):
    text, file = b'{ "n" : 1.0 }\n', tmp_path / "state.json"
    file.write_bytes(text)
    server.script = [reply(200, SUMMARY), saved]
    given = {"argument": [text.decode()], "stdin": [], "file": [f"@{file}"]}[way]
    out = run("save", "a/b", *given, "--label", "l", "--metadata", '{"k":1.0}', stdin=text)
    assert json.loads(out)["checkpoint_id"] == "cp_wf_001"
    assert [seen.path for seen in server.seen] == ["/workflows/a%2Fb", "/checkpoints"]
    body, headers = server.seen[1].body, server.seen[1].headers
    assert all(part in body for part in (b'"state":' + text + b",", b'"label":"l"', b'"metadata":{"k":1.0}'))
    assert (json.loads(body)["step"], headers["If-Match"]) == (3, '"e2"')


def test_the_first_save_must_be_the_first(server, run, refused, saved):
    server.script = [refused(404, "NOT_FOUND"), saved]
    run("save", "wf", "{}")
    assert json.loads(server.seen[1].body)["step"] == 1
    assert server.seen[1].headers["If-None-Match"] == "*"


def test_a_step_of_ones_own_has_no_guard_but_ones_own(server, run, saved):
    server.script = [saved, saved]
    run("save", "wf", "{}", "--step", "7", "--ttl", "60", "--status", "failed", "--agent-id", "a")
    run("save", "wf", "{}", "--step", "7", "--if-match", '"e"')
    assert json.loads(server.seen[0].body) == {
        "workflow_id": "wf", "step": 7, "state": {}, "status": "failed", "agent_id": "a",
    }  # fmt: skip
    guards = [(seen.headers.get("If-Match"), seen.headers.get("If-None-Match")) for seen in server.seen]
    assert guards == [(None, None), ('"e"', None)]


def test_a_resume_shows_the_checkpoint_or_its_state_alone(server, run, reply):
    server.always = reply(200, RESUMED)
    whole = run("resume", "wf", "--agent-id", "a")
    assert b'"state":{ "n" : 1.0 }' in whole
    assert json.loads(whole)["latest_checkpoint"]["metadata"] is None
    assert run("resume", "wf", "--state") == b'{ "n" : 1.0 }\n'


def test_a_replay_is_a_line_for_each_step_over_all_pages(server, run, reply):
    page = b'{"workflow_id":"wf","total":1,"checkpoints":[' + HEAD + b'],"has_more":%b,"next_cursor":%b}'
    server.script = [reply(200, page % (b"true", b'"c1"')), reply(200, page % (b"false", b"null"))]
    lines = run("replay", "wf", "--from", "1", "--no-state").splitlines()
    assert [json.loads(line)["step"] for line in lines] == [2, 2]
    assert [seen.path.partition("?")[2] for seen in server.seen] == [
        "from_step=1&include_state=false", "from_step=1&cursor=c1&include_state=false",
    ]  # fmt: skip


def test_a_terminal_sees_how_far_a_replay_is(server, reply, run):
    page = b'{"workflow_id":"wf","total":1,"checkpoints":[' + HEAD + b'],"has_more":false,"next_cursor":null}'
    server.script = [reply(200, SUMMARY), reply(200, page, after=0.3)]
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "snapstate_sdk", "replay", "wf"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}) as ran:
        os.close(theirs)
        out = ran.communicate(timeout=60)[0]
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert json.loads(out)["step"] == 2
    assert "Replaying" in shown


def test_a_diff_says_what_changed(server, run, reply):
    server.script = [
        reply(200, {"workflow_id": "wf", "from_step": 1, "to_step": 4, "diff": {"added": ["a.b"]}}),
    ]
    assert json.loads(run("diff", "wf", "1", "4"))["diff"] == {"added": ["a.b"]}
    assert server.seen[0].path == "/workflows/wf/diff?from_step=1&to_step=4"


def test_a_list_is_json_or_a_table(server, run, reply):
    server.always = reply(200, {"workflows": [SUMMARY, SUMMARY], "has_more": True, "next_cursor": "c1"})
    lines = run("list", "--limit", "3", "--metadata", "k=v", "--status", "stalled", "--prefix", "w").splitlines()
    assert [json.loads(line)["workflow_id"] for line in lines] == ["wf"] * 3
    assert b'"metadata":{"k": 1.0}' in lines[0]
    assert server.seen[0].path == "/workflows?status=stalled&q=w&limit=3&metadata.k=v"
    table = run("list", "--table", "--limit", "1").decode()
    assert "2026-11-29 18:33:11" in table
    assert "[b]" in table


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [(404, "NOT_FOUND", 3), (409, "CONFLICT", 4), (401, "UNAUTHORIZED", 6), (403, "FORBIDDEN", 6), (400, "X", 1)],
)
def test_a_refusal_is_a_line_and_an_exit_code(server, run, refused, status, code, exit_code):
    existing = {"checkpoint_id": "cp_wf_001", "etag": '"e"'}
    server.always = refused(status, code, existing=existing, error={"details": [{"path": "step", "message": "odd"}]})
    said = run("save", "wf", "{}", "--step", "1", status=exit_code)
    assert said.startswith(f"snapstate: {code}, so to speak\n")
    assert "request req-1" in said
    assert ("cp_wf_001" in said, "step: odd" in said, "SNAPSTATE_API_KEY" in said) == (
        status == 409, status == 400, status == 401,
    )  # fmt: skip


def test_nobody_there_is_said_at_once_and_again_after_the_deadline(server, run, hang_up):
    server.always = hang_up
    first, last = run("--deadline", "1", "resume", "wf", status=5).splitlines()
    assert first.startswith(f"snapstate: GET /workflows/wf/resume failed at {server.url} (")
    assert first.endswith("; trying again, for up to 1 seconds")
    assert "failed, tried" in last


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["save", "wf", '{"x": NaN}', "--step", "1"], 1), (["save", "wf", "@/no/such", "--step", "1"], 2),
     (["list", "--metadata", "x"], 2), (["resume"], 2), (["resume", ".."], 1), (["nothing"], 2)],
    ids=str,
)  # fmt: skip
def test_a_mistake_is_told_before_anything_is_sent(server, run, arguments, status):
    assert run(*arguments, status=status)
    assert server.seen == []


def test_help_needs_no_key_and_a_call_does(run, monkeypatch):
    monkeypatch.delenv("SNAPSTATE_API_KEY")
    for command in ("save", "resume", "replay", "diff", "list"):
        assert b"Usage: snapstate " + command.encode() in run(command, "--help")
    assert run("--version").strip() == b"2.0.0"
    assert "SNAPSTATE_API_KEY" in run("resume", "wf", status=6)


def test_whoever_has_read_enough_may_close_the_pipe(server, run, reply):
    page = b'{"workflow_id":"wf","total":1,"checkpoints":[' + b",".join([HEAD] * 900) + b'],"has_more":false}'
    server.always = reply(200, page.replace(b"}]", b"}]"))
    command = f"{sys.executable} -m snapstate_sdk replay wf | head -1"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert json.loads(ran.stdout)["step"] == 2
    assert ran.stderr == b""


def test_an_answer_that_cannot_be_written_is_a_line_and_no_success(server, run, reply):
    server.always = reply(200, RESUMED)
    for where, why in ((">/dev/full", "cannot write the answer: No space left"), (">&-", "there is no stdout")):
        command = f"{sys.executable} -m snapstate_sdk resume wf {where}"
        ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
        assert (ran.returncode, ran.stderr.count("\n")) == (1, 1), ran.stderr
        assert ran.stderr.startswith(f"snapstate: {why}")


def test_exit_codes_hold_without_a_stderr_and_a_closed_stdin_is_told(server, run, refused):
    server.always = refused(404, "NOT_FOUND")
    for arguments, status in (("resume wf 2>&-", 3), ("save wf --step 1 <&-", 2)):
        command = f"{sys.executable} -m snapstate_sdk {arguments}"
        ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == status, ran.stderr
        assert "Traceback" not in ran.stderr


def test_a_table_is_shown_in_whatever_encoding_the_terminal_has(server, run, reply):
    summary = {**SUMMARY, "workflow_id": "wf-é-☕"}
    server.always = reply(200, {"workflows": [summary], "has_more": False, "next_cursor": None})
    table = run("list", "--table", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert "wf-é-\\u2615".encode("latin-1") in table


def test_a_fault_in_the_json_is_told_by_the_arguments_name(run):
    assert run("save", "wf", "{bad", "--step", "1", status=1).startswith("snapstate: state: must be the text of a JSON")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra_it_says_what_to_install(package):
    script = f"import sys; sys.modules[{package!r}] = None; from snapstate_sdk.__main__ import main; sys.exit(main())"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 1
    assert ran.stderr == "The command line needs two more packages: pip install 'snapstate-sdk[cli]'\n"
