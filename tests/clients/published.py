"""The published snapstate-sdk, as it came from the index; a transport writes down what it sent."""

import httpx
import snapstate_sdk


class Capturing(httpx.HTTPTransport):
    """Real HTTP; `bodies` are the bytes of every request, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.read())
        return super().handle_request(request)


def client(base_url: str, key: str, transport: httpx.HTTPTransport | None = None) -> snapstate_sdk.SnapStateClient:
    """A transport of its own, so that no proxy of the environment comes between."""
    over = transport or httpx.HTTPTransport()
    return snapstate_sdk.SnapStateClient(api_key=key, base_url=base_url, _sync_transport=over)
