"""Receivers verify what we send with the Standard Webhooks libraries, on the raw bytes; the older signature too."""

import base64
import hmac
import json
import os
import shutil
import subprocess
import sys
import time
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from tests.webhooks.steps import deliver, delivery, endpoint, happened, queue, saved
from webhooks import signing

ODD_ID = 'runs/é 1.0 "🤖" \\ </b>'
VECTOR_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PACKAGE = "standardwebhooks@1.1.1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "snapstate-tests" / PACKAGE
VERIFY = """
const { Webhook } = require("standardwebhooks");
const { secret, format, body, headers } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const verified = new Webhook(secret, { format }).verify(Buffer.from(body, "base64"), headers);
process.stdout.write(JSON.stringify(verified));
"""


@pytest.fixture
def sent(api, intake, hook, receiver):
    """Registers with this secret, saves, delivers; what arrived and the webhook."""

    def send(**more):
        to = receiver(200)
        registered = hook(to.url, **more)
        answer = api.post("/checkpoints", json={"workflow_id": ODD_ID, "step": 1, "state": {"n": 1.0}})
        assert answer.status_code in (200, 201)
        if answer.status_code == 200:
            raise AssertionError("saved before")
        intake()
        deliver()
        return to.got[0], registered

    return send


def verified(secret, got):
    return Webhook(secret).verify(got.body, dict(got.headers))


def test_the_vector_of_the_standard():
    made = signing.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', [VECTOR_SECRET])
    assert made["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_python_library_verifies(sent):
    got, registered = sent()
    assert verified(registered["secret"], got)["data"]["workflow_id"] == ODD_ID
    assert abs(int(got.headers["webhook-timestamp"]) - time.time()) < 10
    with pytest.raises(WebhookVerificationError):
        verified(signing.new_secret(), got)


def test_any_other_secret_signs_with_its_utf8_bytes(sent):
    got, _ = sent(secret="s3cret é")
    assert verified("s3cret é".encode(), got)["event"] == "checkpoint.saved"


@pytest.mark.parametrize("secret", [None, "plain é", VECTOR_SECRET])
def test_the_older_signature_takes_the_secret_as_shown(sent, secret):
    got, registered = sent(secret=secret)
    expected = hmac.new(registered["secret"].encode(), got.body, sha256).hexdigest()
    assert got.headers["X-Checkpoint-Signature"] == f"sha256={expected}"


def node():
    """The machine's, else the one of PyPI beside this Python."""
    beside = str(Path(sys.executable).parent)
    return [shutil.which(name) or shutil.which(name, path=beside) or name for name in ("node", "npm")]


@pytest.fixture(scope="session")
def javascript():
    """The library of npm in a cache folder; a function that has it verify."""
    run, npm = node()
    if not (CACHE / "node_modules").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", f"--prefix={CACHE}", PACKAGE]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"npm cannot install {PACKAGE}: {getattr(error, 'stderr', '') or error}")

    def verify(secret, got, key_format="base64"):
        body = base64.b64encode(got.body).decode()
        asked = json.dumps({"secret": secret, "format": key_format, "body": body, "headers": dict(got.headers)})
        done = subprocess.run([run, "-e", VERIFY], input=asked, cwd=CACHE, capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    return verify


def test_the_javascript_library_verifies(javascript, sent):
    got, registered = sent()
    assert javascript(registered["secret"], got)["data"]["workflow_id"] == ODD_ID
    assert "No matching signature" in javascript(signing.new_secret(), got)


def test_the_javascript_library_verifies_a_plain_secret(javascript, sent):
    got, _ = sent(secret="s3cret")
    assert javascript("s3cret", got, "raw")["event"] == "checkpoint.saved"


def test_a_resend_keeps_the_message_and_signs_it_anew(api, account, hook, receiver):
    to = receiver(500, 500, 200)
    registered = hook(to.url)
    happened(account, saved())
    queue()
    for later in (timedelta(), timedelta(seconds=6), timedelta(minutes=6)):
        deliver(later)
    time.sleep(1.0)  # the timestamp has whole seconds
    path = f"/webhooks/{registered['webhook_id']}/deliveries/{delivery(registered).delivery_id}/resend"
    answer = api.post(path)
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    deliver()
    first, last = to.got[0], to.got[-1]
    assert (len(to.got), first.headers["webhook-id"], first.body) == (4, last.headers["webhook-id"], last.body)
    assert int(last.headers["webhook-timestamp"]) > int(first.headers["webhook-timestamp"])
    assert all(verified(registered["secret"], got) for got in to.got)


def test_the_former_secret_also_signs_for_a_day(api, account, hook, receiver):
    to = receiver(200)
    registered = hook(to.url)
    rotated = api.post(f"/webhooks/{registered['webhook_id']}/rotate-secret").json()
    again = api.post(f"/webhooks/{registered['webhook_id']}/rotate-secret", json={"secret": "third"}).json()
    happened(account, saved())
    queue()
    deliver()
    secrets = (registered["secret"], rotated["secret"], again["secret"].encode())
    assert all(verified(secret, to.got[0]) for secret in secrets)
    assert len(set(secrets)) == 3
    expected = hmac.new(b"third", to.got[0].body, sha256).hexdigest()
    assert to.got[0].headers["X-Checkpoint-Signature"] == f"sha256={expected}"


def test_after_a_day_the_former_secret_signs_no_more(api, hook):
    registered = hook("https://hooks.example.com")
    api.post(f"/webhooks/{registered['webhook_id']}/rotate-secret", json={"secret": "second"})
    assert endpoint(registered).signing_secrets(timezone.now()) == ["second", registered["secret"]]
    assert endpoint(registered).signing_secrets(timezone.now() + timedelta(hours=25)) == ["second"]
