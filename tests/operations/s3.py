"""A real S3 endpoint, `rclone serve s3` on a folder, over http or https; and what can befall it."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import storages
from django.test import override_settings

from checkpoints import archive
from snapstate_project import settings as settings_module
from snapstate_project.dev.server import LOOPBACK, Server, free_port

KEPT: list[Any] = []  # connections of theirs that nobody closes: to be thrown away in a test would fail it
KEY, SECRET, BUCKET = "snapstate", "snapstate-storage", "checkpoint-archives"


class S3(Server):
    """`folder/<bucket>/<key>` are its objects. `certificate` and its key make it https."""

    def __init__(self, folder: Path, certificate: tuple[Path, Path] | None = None) -> None:
        self.folder = folder / "objects"
        self.port = free_port()
        self.certificate = certificate
        rclone = [str(Path(sys.executable).parent / "rclone"), "serve", "s3", "--config", "/dev/null"]
        address = ["--addr", f"{LOOPBACK}:{self.port}", "--auth-key", f"{KEY},{SECRET}"]
        tls = ["--cert", str(certificate[0]), "--key", str(certificate[1])] if certificate else []
        cache = ["--cache-dir", str(folder / "cache")]
        super().__init__("s3", [*rclone, *address, *tls, *cache, str(self.folder)])

    def start(self) -> None:
        (self.folder / BUCKET).mkdir(parents=True, exist_ok=True)
        super().start()

    def answers(self) -> bool:
        try:
            socket.create_connection((LOOPBACK, self.port), 1).close()
        except OSError:
            return False
        return True

    @property
    def environment(self) -> dict[str, str]:
        """What SnapState has to be told."""
        return {
            "R2_ENDPOINT": f"{'https' if self.certificate else 'http'}://{LOOPBACK}:{self.port}",
            "R2_ACCESS_KEY_ID": KEY,
            "R2_SECRET_ACCESS_KEY": SECRET,
            "R2_CA_BUNDLE": str(self.certificate[0]) if self.certificate else "",
        }

    def objects(self) -> list[Path]:
        return sorted(path for path in (self.folder / BUCKET).rglob("*") if path.is_file())


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Signed by itself: what it signs is trusted by those who are given it as their CA bundle."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=storage", "-addext", f"subjectAltName=IP:{LOOPBACK}", "-days", "2"]
    subprocess.run([*new, *names, "-out", certificate, "-keyout", key], check=True, capture_output=True)
    return certificate, key


@contextmanager
def archiving_to(monkeypatch: Any, **environment: str) -> Iterator[None]:
    """The application of this process archives there, as if it had been started with this environment."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with override_settings(STORAGES={**settings.STORAGES, "archive": settings_module.archive_storage()}):
        forget()
        yield
        KEPT.append(storages["archive"])
    forget()


@contextmanager
def slowed(server: S3, *, seconds: float) -> Iterator[int]:
    """A port in front of it where every answer takes that long."""

    def pass_on(source: socket.socket, target: socket.socket, pause: float) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65_536):
                time.sleep(pause)
                target.sendall(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, inner = listener.accept()[0], socket.create_connection((LOOPBACK, server.port))
                for ends in ((client, inner, 0.0), (inner, client, seconds)):
                    threading.Thread(target=pass_on, args=ends, daemon=True).start()

    with socket.create_server((LOOPBACK, 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def forget() -> None:
    """What was read, and what was thought of the archive."""
    archive.cache = archive.SegmentCache(archive.CACHE_BYTES)
    archive.threads.circuit.is_open, archive.threads.circuit.failures = False, 0
