"""A server behind a gate: closed, it takes connections and passes nothing on, as a frozen machine does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from snapstate_project.dev.server import LOOPBACK


class Gate:
    def __init__(self, port: int) -> None:
        self.server = port
        self.listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self.listener.getsockname()[1]
        self.flowing = threading.Event()
        self.flowing.set()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                client, inner = self.listener.accept()[0], socket.create_connection((LOOPBACK, self.server))
                for ends in ((client, inner), (inner, client)):
                    threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), source, target:
            try:
                while data := source.recv(65_536):
                    self.flowing.wait()
                    target.sendall(data)
            finally:  # a socket in which the other direction still reads is not closed by its close()
                for end in (source, target):
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def gate_to(port: int) -> Iterator[Gate]:
    gate = Gate(port)
    threading.Thread(target=gate.accept, daemon=True).start()
    yield gate
    gate.flowing.set()
    with suppress(OSError):
        gate.listener.shutdown(socket.SHUT_RDWR)
    gate.listener.close()
