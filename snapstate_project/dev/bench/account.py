"""The bench's own account, made as an operator makes one: through the Admin API."""

import http.client
import json
from typing import Any, NamedTuple

CALLS_A_WINDOW = 1_000_000_000


class Owner(NamedTuple):
    account_id: str
    key: str


def make_owner(address: tuple[str, int], admin_secret: str) -> Owner:
    """An account without a rate limit that anything here could meet, and a key with every scope."""
    account = ask(address, admin_secret, "POST", "/admin/accounts", {"email": "bench@snapstate.example"})
    path = f"/admin/accounts/{account['id']}"
    ask(address, admin_secret, "PATCH", path, {"rate_limit_max": CALLS_A_WINDOW})
    key = ask(address, admin_secret, "POST", f"{path}/keys", {"label": "bench"})
    return Owner(account["id"], key["api_key"])


def ask(address: tuple[str, int], token: str, method: str, path: str, body: Any = None) -> Any:
    """The answer's JSON; anything but success is an error."""
    connection = http.client.HTTPConnection(*address, timeout=30)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        if not 200 <= response.status < 300:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:500]!r}")
        return json.loads(text)
    finally:
        connection.close()
