"""`rediss://`: the link checks the server's certificate, and says why it will not connect."""

import asyncio
import shutil
import ssl
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from snapstate_project.common.errors import RedisDown
from snapstate_project.common.link import Link

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=valkey", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*new, *names, "-out", certificate, "-keyout", key], check=True, capture_output=True)
    return certificate, key


@asynccontextmanager
async def in_tls(server, certificate):
    """A port that speaks TLS in front of the server."""

    async def pass_on(reader, writer):
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def connected(reader, writer):
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", server.port)
        await asyncio.gather(pass_on(reader, inner_writer), pass_on(inner_reader, writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    async with await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context) as outer:
        yield f"rediss://:{server.password}@127.0.0.1:{outer.sockets[0].getsockname()[1]}/0"


async def ping(url: str):
    link = Link(url, timeout=2)
    try:
        return await link.execute("PING")
    finally:
        await link.close()
        await asyncio.sleep(0.01)


def test_a_server_whose_certificate_is_trusted_is_spoken_to(server, certificate):
    async def scenario():
        async with in_tls(server, certificate) as url:
            return await ping(f"{url}?ssl_ca_certs={certificate[0]}"), await ping(f"{url}?ssl_cert_reqs=none")

    assert asyncio.run(scenario()) == (b"PONG", b"PONG")


def test_a_server_whose_certificate_is_not_trusted_is_not(server, certificate, caplog):
    async def scenario():
        async with in_tls(server, certificate) as url:
            with pytest.raises(RedisDown):
                await ping(url)

    asyncio.run(scenario())
    assert "CERTIFICATE_VERIFY_FAILED" in caplog.text
