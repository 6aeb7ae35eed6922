"""Operators of each group, and work to look at."""

import uuid
from collections.abc import Callable
from importlib import import_module
from typing import Any

import httpx
import pytest
from django.test import Client


@pytest.fixture
def member() -> Callable[[str], Client]:
    """A browser's session of a new operator in this group."""
    auth = import_module("django.contrib.auth.models")

    def sign_in(group: str) -> Client:
        user = auth.User.objects.create_user(f"{group}-{uuid.uuid4().hex[:8]}", is_staff=True)
        user.groups.add(auth.Group.objects.get(name=group))
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def operator() -> Callable[..., Any]:
    """A new operator with this password, who may do everything."""
    auth = import_module("django.contrib.auth.models")

    def make(password: str = "correct horse battery") -> Any:
        name = f"operator-{uuid.uuid4().hex[:12]}"
        return auth.User.objects.create_superuser(name, f"{name}@example.com", password)

    return make


@pytest.fixture
def worked(api: httpx.Client, intake: Callable[[], None]) -> None:
    """Two workflows, one resumed and one failed, and all that follows from them."""
    for step in (1, 2, 3):
        body = {"workflow_id": "report", "step": step, "state": {"n": step}, "agent_id": "writer"}
        api.post("/checkpoints", json=body).raise_for_status()
    api.get("/workflows/report/resume").raise_for_status()
    failed = {"workflow_id": "import", "step": 1, "state": {}, "agent_id": "reader", "status": "failed"}
    api.post("/checkpoints", json=failed).raise_for_status()
    api.post("/agents", json={"agent_id": "writer", "name": "Writer"}).raise_for_status()
    hook = {"url": "https://example.com/hook", "events": ["checkpoint.saved"]}
    api.post("/webhooks", json=hook).raise_for_status()
    intake()
