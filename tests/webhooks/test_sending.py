"""One attempt against receivers that behave badly: slow, endless, broken, or not who they say they are."""

import socket
import ssl
import subprocess
import threading
import time
from contextlib import suppress

import pytest

from tests.webhooks.receiver import Answering, Receiver
from webhooks import sender

pytestmark = pytest.mark.usefixtures("loopback")


@pytest.fixture
def speaks():
    """A server that sends these chunks to whoever connects, with a pause after each; its URL."""
    servers = []

    def serve(*chunks, pause=0.0, endless=b""):
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        threading.Thread(target=talk, args=[server, chunks, pause, endless], daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield serve
    for server in servers:
        server.close()


def talk(server, chunks, pause, endless):
    with suppress(OSError):  # the sender hangs up, or the test is over
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            for chunk in chunks:
                connection.sendall(chunk)
                time.sleep(pause)
            while endless:
                connection.sendall(endless)
                time.sleep(pause)


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(sender, "TIMEOUT_SECONDS", 1.0)


def post(url):
    return sender.post(url, {}, b"{}")


def test_of_an_endless_answer_64_kib_are_read(speaks):
    url = speaks(b"HTTP/1.1 200 OK\r\n\r\n", endless=b"x" * 65_536)
    answer = post(url)
    assert (answer.is_success, len(answer.response)) == (True, sender.KEPT_OF_RESPONSE)
    assert answer.seconds < 5


def test_of_endless_headers_64_kib_are_read(speaks):
    assert post(speaks(b"HTTP/1.1 500 No\r\n", endless=b"A: " + b"x" * 1_000 + b"\r\n")).seconds < 5


def test_headers_that_drip_have_the_same_time_as_all(speaks, hurried):
    answer = post(speaks(b"HTTP/1.1 200 OK\r\n", endless=b"A: b\r\n", pause=0.1))
    assert answer.error == "no answer within 1 seconds"
    assert answer.seconds < 2


def test_a_body_that_drips_does_not_undo_a_success(speaks, hurried):
    answer = post(speaks(b"HTTP/1.1 202 OK\r\n\r\n", endless=b"x", pause=0.1))
    assert (answer.is_success, answer.status_code, answer.response[:2]) == (True, 202, "xx")
    assert answer.seconds < 2


@pytest.mark.parametrize(
    "said", [b"", b"hello\r\n\r\n", b"HTTP/1.1 2000 OK\r\n\r\n", b"HTTP/1.1 \r\n\r\n", b"\x16\x03\x01" * 99]
)
def test_what_is_no_answer_is_an_error(speaks, said):
    answer = post(speaks(said))
    assert (answer.status_code, bool(answer.error)) == (None, True)


@pytest.mark.parametrize("body", [b"a\x00b", b"\xff\xfe", "é🤖".encode() * 400])
def test_an_answer_of_any_bytes_can_be_stored(speaks, body):
    kept = post(speaks(b"HTTP/1.1 500 No\r\n\r\n", body)).response
    assert "\0" not in kept
    assert kept.encode()


def test_chunks_are_read(speaks):
    url = speaks(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", b"zz\r\n")
    assert (answer := post(url)).is_success
    assert answer.response == "ok"


HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nContent-Length: 9\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    "announced",
    [
        [HINTS],
        [HINTS * 3, HINTS[:20], HINTS[20:]],
        [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n", HINTS],
        [b"HTTP/1.1 199\r\nTransfer-Encoding: chunked\r\n\r\n" * sender.MOST_ANNOUNCED],
    ],
)
@pytest.mark.parametrize("end", [OK, OK.replace(b"200 OK", b"503 No\r\nRetry-After: 9")])
def test_what_announces_an_answer_is_passed_over(speaks, announced, end):
    answer = post(speaks(*announced, end))
    assert (answer.status_code, answer.error, answer.response) == (int(end[9:12]), None, "ok")
    assert answer.retry_after == (None if answer.is_success else "9")


@pytest.mark.parametrize("code", [b"100", b"103"])
def test_answers_that_are_announced_for_ever_are_an_error(speaks, code):
    without_end = post(speaks(endless=b"HTTP/1.1 " + code + b" Soon\r\n\r\n"))
    assert (without_end.status_code, bool(without_end.error)) == (None, True)


def test_what_is_announced_must_come_in_time(speaks, hurried):
    assert post(speaks(endless=HINTS, pause=0.1)).error == "no answer within 1 seconds"
    assert "without response" in post(speaks(HINTS)).error


def test_nobody_there_is_an_error():
    free = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{free.getsockname()[1]}"
    free.close()
    assert "refused" in post(url).error.lower()


def test_a_name_without_an_address_is_an_error(monkeypatch):
    def nothing(host, port):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(sender, "import_string", lambda _: nothing)
    assert "Name or service not known" in post("https://hooks.example.com").error


@pytest.fixture
def certified(tmp_path, monkeypatch):
    """A receiver with a certificate for hooks.example.com, of an authority that we trust while the test lasts."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=hooks", "-addext", "subjectAltName=DNS:hooks.example.com"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*made, "-keyout", key, "-out", certificate, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    names = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    sender.tls.cache_clear()
    receiver = Receiver(Answering(200, body=b"hello"), tls=context)
    yield receiver, names
    receiver.stop()
    sender.tls.cache_clear()


def test_tls_names_the_host_and_not_the_address(certified, resolved):
    to, names = certified
    resolved(["127.0.0.1"])
    answer = post(f"https://hooks.example.com:{to.port}/in")
    assert (answer.error, answer.response, names) == (None, "hello", ["hooks.example.com"])
    assert to.got[0].headers["Host"] == f"hooks.example.com:{to.port}"


def test_a_certificate_for_another_name_is_refused(certified, resolved):
    to, _ = certified
    resolved(["127.0.0.1"])
    assert "certificate" in post(f"https://other.example.com:{to.port}/in").error.lower()
    assert to.got == []
