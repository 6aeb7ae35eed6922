"""What would be published: small, without dependencies, and found by require, import and both ways to resolve types."""

import gzip
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.clients import javascript
from tests.clients.javascript import BESIDE, SDK

NPM = str(Path(BESIDE).with_name("npm"))
TSC = str(SDK / "node_modules" / "typescript" / "bin" / "tsc")
USE = """
import { ConflictError, SnapStateClient, verifyWebhook } from "@snapstate/sdk";
import type { Resumed, Saved, WebhookEvent } from "@snapstate/sdk";

interface Notes { topic: string; notes: string[] }
const client = new SnapStateClient({ apiKey: "snp_x", baseUrl: "http://127.0.0.1:9", maxRetries: 0 });
export async function use(): Promise<string> {
  const saved: Saved = await client.save<Notes>({ workflowId: "w", step: 1, state: { topic: "t", notes: [] } });
  const resumed: Resumed<Notes> = await client.resume<Notes>("w");
  const raw: string = (await client.resume<Notes>("w", { raw: true })).latestCheckpoint.stateJson;
  for await (const checkpoint of client.replay<Notes>("w")) checkpoint.state.notes.at(0)?.trim();
  const page = await client.listWorkflows({ status: "stalled", metadata: { n: 1 } });
  const wf = await client.workflow<Notes>("w", { agentId: "a" });
  await wf.checkpoint("one", { topic: resumed.latestCheckpoint.state.topic, notes: [raw] });
  const event: WebhookEvent = await verifyWebhook("", {}, "s");
  return saved.etag + event.type + page.workflows.length + (new Error() instanceof ConflictError);
}
// @ts-expect-error a save needs a state
client.save({ workflowId: "w", step: 1 });
// @ts-expect-error of its two forms it takes one
client.save({ workflowId: "w", step: 1, state: {}, stateJson: "{}" });
"""


def call(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=javascript.environment("", "") | {"PATH": f"{Path(BESIDE).parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has installed nothing but the package, from its tarball; and Node's types."""
    project = tmp_path_factory.mktemp("project")
    name = call(NPM, "pack", "--ignore-scripts", "--silent", f"--pack-destination={project}", cwd=SDK).split()[-1]
    with tarfile.open(project / name) as tarball:
        tarball.extractall(project, filter="data")
    modules = project / "node_modules"
    (modules / "@snapstate").mkdir(parents=True)
    (project / "package").rename(modules / "@snapstate" / "sdk")
    for of_others in ("@types/node", "undici-types"):
        shutil.copytree(SDK / "node_modules" / of_others, modules / of_others)
    return project


def test_the_tarball_holds_what_is_needed_and_no_more(packed: Path) -> None:
    home = packed / "node_modules" / "@snapstate" / "sdk"
    files = sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())
    built = [f"dist/index.{ending}" for ending in ("cjs", "d.cts", "d.mts", "mjs")]
    assert files == ["CHANGELOG.md", "LICENSE", "README.md", *built, "package.json"]
    manifest = json.loads((home / "package.json").read_text())
    assert "dependencies" not in manifest
    assert manifest["engines"] == {"node": ">=18"}


def test_it_is_small(packed: Path) -> None:
    size = len(gzip.compress((packed / "node_modules" / "@snapstate" / "sdk" / "dist" / "index.mjs").read_bytes()))
    print(f"gzipped, with its comments: {size} bytes")
    assert size < 16_000


@pytest.mark.parametrize("node", javascript.nodes(), ids=lambda node: f"node{javascript.version(node)}")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("use.cjs", 'const sdk = require("@snapstate/sdk"); console.log(Object.keys(sdk).sort().join());'),
        ("use.mjs", 'import * as sdk from "@snapstate/sdk"; console.log(Object.keys(sdk).sort().join());'),
    ],
)
def test_require_and_import_both_find_it(packed: Path, node: str, name: str, text: str) -> None:
    (packed / name).write_text(text)
    names = call(node, name, cwd=packed).strip().split(",")
    assert {"SnapStateClient", "SnapStateError", "ConflictError", "verifyWebhook"} <= set(names)


@pytest.mark.parametrize(
    ("name", "module", "resolution", "types"),
    [
        ("use.mts", "Node16", "node16", ["node"]),
        ("use.cts", "Node16", "node16", ["node"]),
        ("use.ts", "ESNext", "bundler", []),  # with those of a browser alone
    ],
)
def test_its_types_resolve(packed: Path, name: str, module: str, resolution: str, types: list[str]) -> None:
    (packed / name).write_text(USE)
    options: dict[str, Any] = {"module": module, "moduleResolution": resolution, "types": types}
    options |= {"target": "ES2022", "strict": True, "noEmit": True, "skipLibCheck": False}
    (packed / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": [name]}))
    call(BESIDE, TSC, "-p", ".", cwd=packed)
