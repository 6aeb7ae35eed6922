"""The rate limit as DRF sees it: admission has counted already, this only insists that it did; no I/O."""

from typing import Any

from rest_framework.throttling import BaseThrottle


class KeyThrottle(BaseThrottle):
    """Lets through what carries admission's verdict; what is over the limit never gets this far."""

    def allow_request(self, request: Any, view: Any) -> bool:  # noqa: ARG002 (DRF names it)
        return getattr(request, "verdict", None) is not None
