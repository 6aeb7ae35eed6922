"""Scopes: what a key may do, read from the caller that admission found; no I/O."""

from typing import Any

from rest_framework.permissions import BasePermission

from accounts.errors import ScopeMissing


class HasScope(BasePermission):
    """A view says what it needs: `required_scopes`, one scope for all or one per method; none: any key will do."""

    def has_permission(self, request: Any, view: Any) -> bool:
        needed = getattr(view, "required_scopes", None)
        scope = needed.get(request.method) if isinstance(needed, dict) else needed
        if scope and scope not in request.caller.scopes:
            raise ScopeMissing(scope)
        return True
