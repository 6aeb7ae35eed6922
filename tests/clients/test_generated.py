"""Clients that other people's generators make of docs/openapi.json compile, and run an agent on the live server."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from snapstate_project.dev.home import BASE_DIR

DOCUMENT = BASE_DIR / "docs" / "openapi.json"
SOURCES = Path(__file__).parent / "generated"
BIN = Path(sys.executable).parent
MADE = BIN.parent / "clients"  # beside the environment: nothing that is made is committed
STATE = {
    "plan": {"steps": [1, 2.5, None, True, {"deep": [[]]}], "empty": {}},
    "user_id": "u", "userId": "v", "API_KEY": "k", "é": "研究-🤖", "": [], "__typename": "x",
}  # fmt: skip
COMPILER = {
    "compilerOptions": {
        "strict": True, "target": "es2022", "lib": ["es2022", "dom", "dom.iterable"],
        "module": "nodenext", "types": ["node"], "outDir": "made",
    }
}  # fmt: skip
ODD_NAMES = re.compile(r"Inline|AnyOf|OneOf|AllOf|\dResponse|Body\d|Property")


def run(*command: str, cwd: Path, **more: str) -> str:
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **more}
    ran = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-6_000:]
    return ran.stdout


def folder(name: str) -> Path:
    """An empty one, from which the modules of npm that the consumers need are found."""
    made = MADE / name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    modules = MADE / "node_modules"
    modules.unlink(missing_ok=True)
    modules.symlink_to(SOURCES / "node_modules")
    return made


def generator(made: Path, kind: str, **properties: str) -> None:
    """openapi-generator, which checks the document too."""
    given = ",".join(f"{name}={value}" for name, value in properties.items())
    command = ["openapi-generator-cli", "generate", "-i", str(DOCUMENT), "-g", kind, "-o", "."]
    run(*command, "--additional-properties", given, cwd=made)


def compile_typescript(made: Path, source: str) -> list[str]:
    shutil.copy(SOURCES / source, made)
    (made / "tsconfig.json").write_text(json.dumps(COMPILER))
    (made / "package.json").write_text('{"type": "module"}')
    run("node", str(SOURCES / "node_modules/typescript/bin/tsc"), cwd=made)
    return ["node", str(made / "made" / source.replace(".ts", ".js"))]


def python() -> list[str]:
    made = folder("python")
    command = ["openapi-python-client", "generate", "--path", str(DOCUMENT), "--fail-on-warning"]
    run(*command, "--meta", "none", "--output-path", "snapstate_generated", cwd=made)
    shutil.copy(SOURCES / "consumer.py", made)
    run("mypy", "--strict", "--config-file", os.devnull, "--cache-dir", "types", "consumer.py", cwd=made)
    return [sys.executable, str(made / "consumer.py")]


def openapi_fetch() -> list[str]:
    made = folder("openapi-fetch")
    command = ["node", str(SOURCES / "node_modules/openapi-typescript/bin/cli.js"), str(DOCUMENT)]
    run(*command, "--output", "api.d.ts", cwd=made)
    return compile_typescript(made, "openapi-fetch.ts")


def typescript_fetch() -> list[str]:
    made = folder("typescript-fetch")
    generator(made, "typescript-fetch", importFileExtension=".js")
    return compile_typescript(made, "typescript-fetch.ts")


def go() -> list[str]:
    if not shutil.which("go"):
        pytest.skip("no Go toolchain is installed here: the Go client is generated, and compiled where there is one")
    made = folder("go")
    generator(made, "go", packageName="snapstate", enumClassPrefix="true")
    (made / "go.mod").write_text("module snapstate.test/generated\n\ngo 1.18\n")
    (made / "consumer").mkdir()
    shutil.rmtree(made / "test", ignore_errors=True)
    shutil.copy(SOURCES / "consumer.go", made / "consumer")
    run("go", "build", "-o", "agent", "./consumer", cwd=made, GOFLAGS="-mod=mod", GOPROXY="off")
    return [str(made / "agent")]


def lived(command: Sequence[str], base_url: str, key: str) -> Any:
    """What the agent saw."""
    return json.loads(run(*command, base_url, key, json.dumps(STATE), cwd=MADE, no_proxy="127.0.0.1"))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("make", [python, openapi_fetch, typescript_fetch, go], ids=lambda make: make.__name__)
def test_a_generated_client_saves_resumes_replays_and_is_told_what_is_wrong(
    base_url: str, key: str, api: Any, intake: Any, make: Any
) -> None:
    command = make()
    name = f"generated/{make.__name__.replace('_', '-')}"
    metadata = {"team": {"python": "red", "openapi_fetch": "blue"}.get(make.__name__, "")}
    api.post("/checkpoints", json={"workflow_id": name, "step": 0, "state": {}, "metadata": metadata})
    intake()  # lists trail saves
    seen = lived(command, base_url, key)
    assert seen == {
        "resumed": STATE, "got": STATE, "replayed": [0, 1, 2], "existing": True, "errors": ["CONFLICT", "NOT_FOUND"],
        "capabilities": ["save", ""], "listed": [name],
    }  # fmt: skip


def test_generated_go_is_whole_where_it_cannot_be_compiled(tmp_path: Path) -> None:
    generator(tmp_path, "go", packageName="snapstate", enumClassPrefix="true")
    said = (tmp_path / "api_checkpoints.go").read_text()
    assert "func (a *CheckpointsAPIService) SaveCheckpoint(ctx context.Context)" in said
    assert "State map[string]interface{}" in (tmp_path / "model_save_request.go").read_text()


def test_generated_types_have_names_that_people_would_give(tmp_path: Path) -> None:
    generator(tmp_path, "typescript-fetch")
    models = {path.stem for path in (tmp_path / "models").glob("*.ts")}
    assert [name for name in models if ODD_NAMES.search(name)] == []
    assert {"CheckpointStatus", "WebhookEventType", "Scope", "SaveRequest", "ResumedWorkflow", "Conflict"} <= models
    assert "AGENTS_MANAGE: 'agents:manage'," in (tmp_path / "models/Scope.ts").read_text()
