"""What is lost or put off is sent again; what is refused, or must not happen twice, is not."""

import asyncio
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from snapstate_sdk import (
    ConnectionFailedError,
    NotFoundError,
    RateLimitError,
    ServiceUnavailableError,
    SnapStateClient,
    SnapStateError,
)


@pytest.mark.parametrize("fault", ["hang up", "cut", "cut, not measured", "slow", "503", "429", "502", "504"])
def test_a_save_goes_through_a_fault_with_the_same_bytes_and_guard(server, reply, saved, refused, hang_up, fault):
    server.script = [
        {
            "hang up": hang_up,
            "cut": reply(201, saved.body, cut=20),
            "cut, not measured": reply(201, saved.body, cut=20, measured=False),
            "slow": reply(201, saved.body, after=0.5),
            "503": refused(503, "SERVICE_UNAVAILABLE", headers={"Retry-After": "0"}),
            "429": refused(429, "RATE_LIMITED", headers={"Retry-After": "0"}),
            "502": reply(502, b"<html>bad gateway", {"Content-Type": "text/html"}),
            "504": reply(504, b""),
        }[fault]
    ]
    server.always = saved
    with SnapStateClient("snp_x", server.url, timeout=0.2, deadline=20) as client:
        assert client.save("wf", 1, {"a": 1}, if_match='"e"', ttl_seconds=60).checkpoint_id == "cp_wf_001"
    first, second = server.seen[:2]
    assert (first.body, first.headers) == (second.body, second.headers)
    assert first.headers["If-Match"] == '"e"'


def test_the_async_client_goes_through_faults_as_well(server, reply, saved, hang_up):
    server.script = [hang_up, reply(201, saved.body, cut=5), hang_up, saved]

    async def save():
        async with SnapStateClient("snp_x", server.url) as client:
            return await client.async_save("wf", 1, {})

    assert asyncio.run(save()).step == 1
    assert len(server.seen) == 4


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_kept_to_in_both_forms(server, client, saved, refused, form):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.script = [refused(503, "X", headers={"Retry-After": "1" if form == "seconds" else date}), saved]
    began = time.monotonic()
    client.save("wf", 1, {})
    assert 0.9 <= time.monotonic() - began < 4


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_no_time_is_slept_away_when_the_wait_is_longer_than_the_deadline(server, impatient, refused, form):
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    server.always = refused(429, "RATE_LIMITED", headers={"Retry-After": "3600" if form == "seconds" else date})
    began = time.monotonic()
    with pytest.raises(RateLimitError) as caught:
        impatient.resume("wf")
    assert time.monotonic() - began < 0.9
    assert caught.value.retry_after in range(3500, 3601)
    assert len(server.seen) == 1


@pytest.mark.parametrize("nonsense", ["soon", "-1", "", "1.5", "9" * 5000, "Sun, 99 Nov 2026", "1 2 3 4 5 6 7"])
def test_a_retry_after_that_cannot_be_read_is_as_good_as_none(server, client, saved, refused, nonsense):
    server.script = [refused(503, "X", headers={"Retry-After": nonsense}), saved]
    assert client.save("wf", 1, {}).step == 1


def test_unavailable_until_the_deadline_is_said_so(server, impatient, refused):
    server.always = refused(503, "SERVICE_UNAVAILABLE", headers={"Retry-After": "0"})
    with pytest.raises(ServiceUnavailableError) as caught:
        impatient.save("wf", 1, {})
    assert (caught.value.status_code, caught.value.request_id, caught.value.retry_after) == (503, "req-1", 0)
    assert len(server.seen) > 1


def test_nobody_listening_is_a_typed_error_after_the_deadline():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        with SnapStateClient("snp_x", url, deadline=0.5) as client, pytest.raises(SnapStateError) as caught:
            client.resume("wf")
    assert isinstance(caught.value, ConnectionFailedError)
    assert not caught.value.in_doubt
    assert "GET /workflows/wf/resume failed" in str(caught.value)
    assert time.monotonic() - began < 5


def test_an_answer_that_trickles_in_does_not_outlive_the_deadline(server, impatient, reply):
    server.always = reply(200, {"text": "x" * 200}, pause=0.05)
    began = time.monotonic()
    with pytest.raises(ConnectionFailedError):
        impatient.usage()
    assert time.monotonic() - began < 4


def test_at_most_so_many_attempts(server, hang_up):
    server.always = hang_up
    with SnapStateClient("snp_x", server.url, max_retries=3) as client, pytest.raises(ConnectionFailedError):
        client.resume("wf")
    assert len(server.seen) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 500])
def test_what_is_refused_is_not_asked_for_again(server, client, refused, status):
    server.script = [refused(status, "NO")]
    with pytest.raises(SnapStateError):
        client.save("wf", 1, {})
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "act",
    [
        lambda client: client.register_webhook("https://example.com", ["checkpoint.saved"]),
        lambda client: client.rotate_webhook_secret("wh_1"),
        lambda client: client.test_webhook("wh_1"),
        lambda client: client.resend_delivery("wh_1", "dl_1"),
    ],
)
def test_what_must_not_happen_twice_is_not_sent_twice(server, client, hang_up, act):
    server.script = [hang_up]
    with pytest.raises(ConnectionFailedError) as caught:
        act(client)
    assert caught.value.in_doubt
    assert len(server.seen) == 1


def test_what_must_not_happen_twice_is_sent_again_once_it_was_put_off(server, client, reply, refused):
    server.script = [refused(429, "RATE_LIMITED", headers={"Retry-After": "0"}), reply(201, {"webhook_id": "wh_1"})]
    assert client.register_webhook("https://example.com", ["checkpoint.saved"])["webhook_id"] == "wh_1"


@pytest.mark.parametrize("status", [502, 504])
def test_what_must_not_happen_twice_is_not_repeated_behind_a_proxy_that_gave_up(server, client, refused, status):
    server.script = [refused(status, "GATEWAY")]
    with pytest.raises(ServiceUnavailableError):
        client.test_webhook("wh_1")


def test_an_erase_that_goes_on_after_its_503_has_been_done(server, client, refused):
    server.script = [refused(503, "SERVICE_UNAVAILABLE", headers={"Retry-After": "0"}), refused(404, "NOT_FOUND")]
    assert client.erase("wf") is None


def test_an_erase_whose_answer_was_lost_has_been_done(server, client, refused, hang_up):
    server.script = [hang_up, refused(404, "NOT_FOUND")]
    assert client.erase("wf") is None
    server.script = [refused(404, "NOT_FOUND")]
    with pytest.raises(NotFoundError):
        client.erase("wf")


def test_what_is_not_snapstate_is_said_so_at_once(server, client, reply):
    for answer in (reply(200, b"<html>", {"Content-Type": "text/html"}), reply(200, {"hello": "world"})):
        server.script = [answer]
        with pytest.raises(SnapStateError, match="is not SnapState: is that the base_url"):
            client.resume("wf")
    server.script = [reply(308, b"", {"Location": "https://elsewhere.example"})]
    with pytest.raises(SnapStateError, match=r"points to https://elsewhere\.example"):
        client.resume("wf")


def test_a_child_process_has_connections_of_its_own(server, client, reply):
    server.always = reply(200, {"agents": [], "has_more": False, "next_cursor": None})
    assert client.list_agents() == []
    with warnings.catch_warnings(action="ignore"):  # of forking beside threads: the child here is brief
        child = os.fork()
    if child == 0:
        os._exit(0 if client.list_agents() == [] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert client.list_agents() == []
    ports = [seen.port for seen in server.seen]
    assert (ports[0] == ports[2], ports[0] == ports[1]) == (True, False)


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    made, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=snapstate", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*new, *names, "-out", made, "-keyout", key], check=True, capture_output=True)
    return made, key


def test_a_certificate_that_is_not_trusted_is_said_at_once_and_one_that_is_will_do(server, certificate, reply):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    url, began = server.url.replace("http:", "https:"), time.monotonic()
    with (
        SnapStateClient("snp_x", url) as client,
        pytest.raises(ConnectionFailedError, match="certificate is not trust"),
    ):
        client.usage()
    assert time.monotonic() - began < 30
    server.always = reply(200, {"usage": {}})
    trusting = httpx2.HTTPTransport(verify=ssl.create_default_context(cafile=certificate[0]))
    with SnapStateClient("snp_x", url, transport=trusting) as client:
        assert client.usage() == {"usage": {}}


def test_threads_share_a_client(server, client, reply):
    server.always = reply(200, {"agents": [], "has_more": False, "next_cursor": None})
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda _: client.list_agents(), range(40))) == [[]] * 40


def test_a_client_lives_from_one_event_loop_to_the_next(server, reply):
    server.always = reply(200, {"agents": [], "has_more": False, "next_cursor": None})
    with SnapStateClient("snp_x", server.url) as client:

        async def list_agents():
            try:
                return await client.async_list_agents()
            finally:
                await client.async_close()

        assert asyncio.run(list_agents()) == asyncio.run(list_agents()) == []


def test_a_body_is_what_was_meant(server, client, saved):
    server.script = [saved]
    client.save("wf", 1, {"é": 2**80}, "l", {"m": None}, "a", status="failed", error=ValueError("x" * 3000), diff=False)
    body = json.loads(server.seen[0].body)
    assert body.pop("error") == {"type": "ValueError", "message": "x" * 2000}
    assert body == {
        "workflow_id": "wf", "step": 1, "state": {"é": 2**80}, "label": "l", "metadata": {"m": None}, "agent_id": "a",
        "status": "failed",
    }  # fmt: skip
    assert server.seen[0].headers["Prefer"] == "return=minimal"
