"""Sends calls over HTTP until they are answered: once for threads, once for asyncio, and nothing else differs."""

import asyncio
import os
import threading
import time
from typing import Protocol, TypeVar

import httpx2

from snapstate_sdk.call import Answer, Call
from snapstate_sdk.retries import LOST, Attempts, Patience, Wait

T = TypeVar("T")


def address(base_url: str) -> str:
    """Without what stands around it. Raises ValueError when it is none."""
    stripped = base_url.strip().rstrip("/")
    try:
        parts = httpx2.URL(stripped)
    except httpx2.InvalidURL as error:
        raise ValueError(f"base_url must be an address: {error}") from None
    if parts.userinfo:  # it would be sent in place of the key
        raise ValueError("base_url must not hold a user or a password")
    if "?" in stripped or "#" in stripped:  # a path that is put behind it would be part of it
        raise ValueError("base_url must have no query and no fragment")
    if parts.scheme not in ("http", "https") or not parts.host or " " in stripped:
        raise ValueError(f"base_url must begin with http:// or https:// and a host, not {base_url!r}")
    return stripped


class Connection:
    """Opens what it needs when it is needed. Safe for threads, and for one event loop after another."""

    def __init__(
        self,
        base_url: str,
        headers: dict[str, str],
        patience: Patience,
        transport: httpx2.BaseTransport | None = None,
        async_transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.base_url = base_url
        self.headers = headers
        self.patience = patience
        self._transport = transport
        self._async_transport = async_transport
        self._opening = threading.Lock()
        self._client: httpx2.Client | None = None
        self._process = 0
        self._async_clients: dict[asyncio.AbstractEventLoop, httpx2.AsyncClient] = {}

    def send(self, call: Call[T]) -> T:
        """The call's answer. Raises SnapStateError."""
        attempts = Attempts(call, self.patience, self.base_url)
        while True:
            try:
                result = attempts.result_of(self._exchange(self._open(), call, attempts))
            except LOST as error:
                result = attempts.after_loss(error)
            if not isinstance(result, Wait):
                return result
            time.sleep(result.seconds)

    async def async_send(self, call: Call[T]) -> T:
        """The call's answer. Raises SnapStateError."""
        attempts = Attempts(call, self.patience, self.base_url)
        while True:
            try:
                result = attempts.result_of(await self._async_exchange(self._async_open(), call, attempts))
            except LOST as error:
                result = attempts.after_loss(error)
            if not isinstance(result, Wait):
                return result
            await asyncio.sleep(result.seconds)

    def _exchange(self, client: httpx2.Client, call: Call[T], attempts: Attempts[T]) -> Answer:
        request = self._request(client, call, attempts)
        try:
            response = client.send(request, stream=True)
        except RuntimeError as error:
            if client.is_closed:  # by another thread, a moment ago; the next attempt opens a new one
                raise httpx2.ConnectError(str(error), request=request) from error
            raise
        try:
            chunks = []
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                attempts.check_time()
        finally:
            response.close()
        return Answer(response.status_code, response.headers, b"".join(chunks))

    async def _async_exchange(self, client: httpx2.AsyncClient, call: Call[T], attempts: Attempts[T]) -> Answer:
        response = await client.send(self._request(client, call, attempts), stream=True)
        try:
            chunks = []
            async for chunk in response.aiter_bytes():
                chunks.append(chunk)
                attempts.check_time()
        finally:
            await response.aclose()
        return Answer(response.status_code, response.headers, b"".join(chunks))

    def _request(
        self, client: httpx2.Client | httpx2.AsyncClient, call: Call[T], attempts: Attempts[T]
    ) -> httpx2.Request:
        return client.build_request(
            call.method,
            self.base_url + call.path,
            content=call.content,
            headers=call.headers or None,
            timeout=attempts.timeout(),
        )

    def _open(self) -> httpx2.Client:
        """This process's: a child that was forked must not speak on its parent's connections."""
        client, process = self._client, os.getpid()
        if client is not None and self._process == process:
            return client
        with self._opening:
            if self._client is None or self._process != process:
                self._client = httpx2.Client(headers=self.headers, transport=self._transport)
                self._process = process
            return self._client

    def _async_open(self) -> httpx2.AsyncClient:
        """This event loop's. Those of loops that ended unclosed are let go: their connections are of no more use."""
        loop = asyncio.get_running_loop()
        with self._opening:
            client = self._async_clients.get(loop)
            if client is None:
                self._async_clients = {one: of_it for one, of_it in self._async_clients.items() if not one.is_closed()}
                client = httpx2.AsyncClient(headers=self.headers, transport=self._async_transport)
                self._async_clients[loop] = client
            return client

    def close(self) -> None:
        """Of the sync side. A later call opens it again."""
        with self._opening:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    async def async_close(self) -> None:
        """Of the running event loop. A later call opens it again."""
        with self._opening:
            client = self._async_clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


class Connected(Protocol):
    """Whatever can send."""

    @property
    def connection(self) -> Connection: ...
