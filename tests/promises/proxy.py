"""A proxy that loses answers: the request arrives, the server does it, and the client hears nothing."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

RESET = struct.pack("ii", 1, 0)
CHUNK = 65_536


class LosesAnswers:
    """The next `losing` connections that get an answer are reset instead of seeing it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.server = (parts.hostname or "", parts.port or 0)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.losing = 0
        self.lost = 0
        self.lock = threading.Lock()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self.server) as server, suppress(OSError):
            threading.Thread(target=pass_on, args=(client, server), daemon=True).start()
            while data := server.recv(CHUNK):
                if self.loses():
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    client.shutdown(socket.SHUT_RD)
                    return
                client.sendall(data)

    def loses(self) -> bool:
        with self.lock:
            lost = self.losing > 0
            self.losing -= lost
            self.lost += lost
            return lost


def pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)


@contextmanager
def losing_answers(url: str) -> Iterator[LosesAnswers]:
    proxy = LosesAnswers(url)
    accepting = threading.Thread(target=proxy.accept, daemon=True)
    accepting.start()
    try:
        yield proxy
    finally:
        proxy.listener.shutdown(socket.SHUT_RDWR)
        proxy.listener.close()
        accepting.join(5)
