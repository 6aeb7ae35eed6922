"""An S3 endpoint of the run's own over each scheme, and an application that archives there."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests import environment
from tests.operations.gate import Gate, gate_to
from tests.operations.s3 import S3, archiving_to, make_certificate


def started(folder: Path, scheme: str) -> Iterator[S3]:
    server = S3(folder, make_certificate(folder) if scheme == "https" else None)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def gated() -> Iterator[tuple[Gate, str]]:
    """The run's Postgres, which can be frozen, and its URL."""
    url = urlsplit(os.environ["DATABASE_URL"])
    with gate_to(url.port or 5432) as gate:
        yield gate, url._replace(netloc=url.netloc.replace(f":{url.port}", f":{gate.port}")).geturl()


@pytest.fixture(scope="session", params=["http", "https"])
def endpoint(request: pytest.FixtureRequest) -> Iterator[S3]:
    if request.param == "https" and shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    folder = environment.open_folder()
    yield from started(folder, request.param)


@pytest.fixture
def s3(endpoint: S3, monkeypatch: Any) -> Iterator[S3]:
    """Over both schemes."""
    with archiving_to(monkeypatch, **endpoint.environment):
        yield endpoint


@pytest.fixture
def mortal_s3(home: Path, monkeypatch: Any) -> Iterator[S3]:
    """One over http that a test may stop, freeze or kill."""
    for server in started(home, "http"):
        with archiving_to(monkeypatch, **server.environment):
            yield server
