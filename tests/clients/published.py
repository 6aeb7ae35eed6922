"""The published snapstate-sdk, as it came from the index; a transport writes down what it sent."""

import importlib.util
import pathlib
import sys
from types import ModuleType
from typing import Any

import httpx

AT = pathlib.Path(sys.prefix, "published", "snapstate_sdk")


def load() -> ModuleType:
    """Under a name of its own: ours, in the same environment, has the name that it was published under."""
    spec = importlib.util.spec_from_file_location("published_snapstate_sdk", AT / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sdk: Any = load()


class Capturing(httpx.HTTPTransport):
    """Real HTTP; `bodies` are the bytes of every request, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.read())
        return super().handle_request(request)


def client(base_url: str, key: str, transport: httpx.HTTPTransport | None = None) -> Any:
    """A transport of its own, so that no proxy of the environment comes between."""
    over = transport or httpx.HTTPTransport()
    return sdk.SnapStateClient(api_key=key, base_url=base_url, _sync_transport=over)
