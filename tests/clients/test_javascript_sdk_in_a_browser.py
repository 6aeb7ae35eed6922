"""The JavaScript SDK in Chromium: its built module in a page of another origin, over real CORS to the live server."""

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.clients.javascript import SDK

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TEXT = '{ "id": 9007199254740993, "o": 1.0, "n": "\\u0000", "__proto__": {"é": "🤖"} }'

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


class Quiet(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page that has the SDK, at an origin of its own."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(SDK / "dist" / "index.mjs", folder)
    Path(folder, "index.html").write_text("<!doctype html><title>page</title><link rel=icon href=data:,>")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(site: str, key: str) -> Iterator[Page]:
    """Playwright runs an event loop in this thread, where Django then refuses its ORM: the key is made before."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        page = browser.new_page()
        page.goto(site)
        yield page


def run(page: Page, base_url: str, key: str, script: str) -> Any:
    """What the script returns; it has `sdk` and `client`."""
    program = f"""async ([baseUrl, apiKey, text]) => {{
        const sdk = await import("/index.mjs");
        const client = new sdk.SnapStateClient({{ apiKey, baseUrl }});
        {script}
    }}"""
    return page.evaluate(program, [base_url, key, TEXT])


def test_saves_resumes_and_replays(page: Page, base_url: str, key: str) -> None:
    script = """
        const guarded = { ifNoneMatch: "*", ttlSeconds: 60, diff: false };
        const first = await client.save({ workflowId: "in/a browser", step: 1, stateJson: text, ...guarded });
        const wf = await client.workflow("in/a browser", { agentId: "page" });
        await wf.checkpoint("two", { user_id: 2 });
        const { latestCheckpoint } = await client.resume("in/a browser", { raw: true });
        const texts = [];
        for await (const one of client.replay("in/a browser", { raw: true, limit: 1 })) texts.push(one.stateJson);
        const fresh = await client.get(first.checkpointId, { ifNoneMatch: first.etag });
        await client.updateWorkflow("in/a browser", { pinned: true });
        await client.deleteWorkflow("in/a browser");
        return [first.replayed, latestCheckpoint.step, texts, fresh, client.rateLimit.limit > 0];
    """
    assert run(page, base_url, key, script) == [False, 2, [TEXT, '{"user_id":2}'], None, True]


def test_errors_tell_what_the_server_told(page: Page, base_url: str, key: str) -> None:
    script = """
        const told = async (work) => work.then(() => "nothing", (error) => error);
        await client.save({ workflowId: "w", step: 1, state: { a: 1 } });
        const conflict = await told(client.save({ workflowId: "w", step: 1, state: { a: 2 } }));
        const bare = new sdk.SnapStateClient({ apiKey: "snp_nobody", baseUrl });
        const stranger = await told(bare.resume("w"));
        const nobody = new sdk.SnapStateClient({ apiKey, baseUrl: "http://127.0.0.1:1", maxRetries: 1 });
        const lost = await told(nobody.usage());
        const stopped = await told(client.usage({ signal: AbortSignal.abort("enough") }));
        return [conflict.name, conflict.existing.checkpointId, conflict.requestId.length, stranger.name,
                stranger.requestId.length, lost.name, lost.inDoubt, stopped];
    """
    assert run(page, base_url, key, script) == [
        "ConflictError", "cp_w_001", 36, "AuthError", 36, "ConnectionError", True, "enough",
    ]  # fmt: skip


def test_a_webhook_is_verified(page: Page, base_url: str, key: str) -> None:
    script = """
        const headers = { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
                          "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" };
        const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        const verify = (body) => sdk.verifyWebhook(body, headers, secret, { now: 1614265330000 });
        await verify('{"test": 2432232314}');
        return verify('{"test": 2432232315}').catch((error) => error.name);
    """
    assert run(page, base_url, key, script) == "WebhookVerificationError"
