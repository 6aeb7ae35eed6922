"""The load generator: one process, many keep-alive connections, each with one request under way (no pipelining).

Written against plain sockets: a client that needs much of a CPU takes it from the servers it measures.
"""

import selectors
import socket
import time
from collections.abc import Iterator

from snapstate_project.dev.bench.connecting import connect
from snapstate_project.dev.bench.requests import BARE, READS, Buffers, Plan
from snapstate_project.dev.bench.slices import Order, Slice

CHUNK = 1 << 18
SEND_BUFFER = 1 << 20
SILENCE_SECONDS = 20.0
LENGTH = b"content-length: "


class Silent(Exception):
    """The server said nothing for too long, or nothing that could be understood."""


class Connection:
    """One client: sends its next request as soon as the last one is answered."""

    buffer = bytearray(CHUNK)  # of all of them: nothing that is read is needed afterwards

    def __init__(self, connected: socket.socket, requests: Iterator[Buffers], success: bytes, into: Slice) -> None:
        self.socket = connected
        self.socket.settimeout(None)  # reads only when there is something, and the buffer takes any request whole
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.requests = requests
        self.success = success
        self.into = into
        self.began = 0.0
        self.left = 0

    def send(self) -> bool:
        """False when there is nothing more to ask."""
        self.began = time.perf_counter()
        buffers = next(self.requests, None)
        if buffers is None:
            return False
        sent = self.socket.sendmsg(buffers)
        if sent < sum(map(len, buffers)):
            self.socket.sendall(b"".join(buffers)[sent:])
        return True

    def read(self) -> bool:
        """Take what has come; True when the answer is complete."""
        size = self.socket.recv_into(self.buffer)
        self.left -= size
        if self.left < 0:
            self.left += self.begin_answer(self.buffer, size)
        elif not size:
            raise Silent("a connection was closed in the middle of an answer")
        if self.left:
            return False
        self.into.latencies.append(time.perf_counter() - self.began)
        return True

    def begin_answer(self, got: bytearray, size: int) -> int:
        """The length of the whole answer, from its head."""
        end, at = got.find(b"\r\n\r\n", 0, size), got.find(LENGTH, 0, size)
        if end < 0 or at < 0:
            raise Silent(f"not an answer: {bytes(got[: min(size, 200)])!r}")
        if got[9:12] != self.success:
            status = got[9:12].decode()
            self.into.failures[status] = self.into.failures.get(status, 0) + 1
        return end + 4 + int(got[at + len(LENGTH) : got.find(b"\r", at)])


class Load:
    """Requests go on in the next slice where they ended in the last one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.under_way: dict[tuple[str, str, str, int, int], Iterator[Buffers]] = {}

    def run(self, order: Order) -> Slice:
        result = Slice(0.0, [])
        connections = self.connect(order, result)
        began = time.perf_counter()
        if len(connections) == 1:
            ask_in_turn(connections[0], began + order.seconds)
        else:
            with selectors.DefaultSelector() as selector:
                ask_at_once(connections, selector, began + order.seconds)
        result.seconds = time.perf_counter() - began
        for connection in connections:
            connection.socket.close()
        return result

    def connect(self, order: Order, result: Slice) -> list[Connection]:
        success = b"200" if order.contender == BARE or order.operation in READS else b"201"
        address, master = self.plan.addresses[order.contender], self.plan.masters[order.contender]
        connected = connect(address, order.connections, master)
        return [Connection(each, self.requests(order, at), success, result) for at, each in enumerate(connected)]

    def requests(self, order: Order, place: int) -> Iterator[Buffers]:
        if order.operation not in ("save", "warm", *READS):
            return self.plan.requests(order, place)
        name = (order.contender, order.operation, order.size, order.connections, place)
        return self.under_way.get(name) or self.under_way.setdefault(name, self.plan.requests(order, place))


def ask_in_turn(connection: Connection, until: float) -> None:
    """One client waits in its read, as one does."""
    while connection.send():
        while not connection.read():
            pass
        if time.perf_counter() >= until:
            return


def ask_at_once(connections: list[Connection], selector: selectors.BaseSelector, until: float) -> None:
    """Until the time is over and every request under way is answered."""
    for connection in connections:
        if connection.send():
            selector.register(connection.socket, selectors.EVENT_READ, connection)
    asking = selector.get_map()
    while asking:
        ready = selector.select(SILENCE_SECONDS)
        if not ready:
            raise Silent(f"{len(asking)} requests had no answer for {SILENCE_SECONDS:.0f} seconds")
        go_on = time.perf_counter() < until
        for key, _ in ready:
            if key.data.read() and not (go_on and key.data.send()):
                selector.unregister(key.fileobj)
