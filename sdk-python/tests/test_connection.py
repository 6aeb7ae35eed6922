"""Whom a client speaks to, and over what: threads, forks, event loops, certificates, and what is not SnapState."""

import asyncio
import gc
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from snapstate_sdk import (
    ConnectionFailedError,
    SnapStateClient,
    SnapStateError,
)
from snapstate_sdk.call import Call, plain


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
        assert dict(client.usage()) == {"usage": {}}


def test_https_where_nobody_speaks_tls_is_said_at_once(server):
    with SnapStateClient("snp_x", server.url.replace("http:", "https:")) as client:
        with pytest.raises(ConnectionFailedError, match=r"tried once at https.*nobody speaks TLS there") as failed:
            client.usage()
        assert not failed.value.in_doubt
        with pytest.raises(ConnectionFailedError, match=r"tried once at https.*nobody speaks TLS there"):
            asyncio.run(client.async_usage())


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


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # nobody closed them while their loop was there
def test_event_loops_that_ended_are_not_kept_alive(server, reply):
    client = SnapStateClient("snp_x", server.url)
    server.always = reply(200, {"agents": [], "has_more": False, "next_cursor": None})
    loops = []

    async def list_agents(client):
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await client.async_list_agents()

    for _ in range(5):
        asyncio.run(list_agents(client))
    gc.collect()
    assert sum(loop() is not None for loop in loops) <= 1
    del client
    gc.collect()
    assert not any(loop() for loop in loops)


def test_a_call_goes_on_when_another_thread_closes_the_client_between_its_attempts(server, client, refused, reply):
    answered = reply(200, {"agents": [], "has_more": False, "next_cursor": None})
    server.script = [refused(503, "SERVICE_UNAVAILABLE", headers={"Retry-After": "1"}), answered]
    closing = threading.Timer(0.5, client.close)
    closing.start()
    assert client.list_agents() == []
    closing.join()


def test_a_call_goes_on_when_another_thread_closes_the_client_just_before_it_is_sent(server, client, reply):
    closings = [client.close]

    class Headers(dict[str, str]):
        """Looked at once a connection is chosen and before it is used: that is when the other thread closes."""

        def __bool__(self) -> bool:
            if closings:
                closings.pop()()
            return False

    server.always = reply(200, {"status": "ok"})
    assert client.connection.send(Call("GET", "/health", plain, headers=Headers())) == {"status": "ok"}
    assert len(server.seen) == 1
