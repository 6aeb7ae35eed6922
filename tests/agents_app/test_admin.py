"""Agents on the operators' pages: found by what operators know, changed by nobody."""

import re
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client

from agents_app.models import Agent

LIST = "/admin/agents/agent/"


@pytest.fixture
def agent(account):
    return Agent.objects.create(
        account=account,
        agent_id=f"bot-{uuid.uuid4().hex}",
        name="<b>Bot",
        capabilities='["search"]',
        metadata=b'{"k":1}',
    )


def found(client, query=""):
    page = client.get(LIST, {"q": query} if query else {})
    assert page.status_code == 200
    return set(re.findall(rf'href="{LIST}([0-9a-f-]+)/change/', page.text))


@pytest.mark.parametrize("group", ["viewers", "support", "administrators"])
def test_every_operator_sees_agents_and_changes_none(agent, group):
    user = get_user_model().objects.create_user(username=uuid.uuid4().hex, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    page = client.get(f"{LIST}{agent.pk}/change/").text
    assert ("&lt;b&gt;Bot" in page, "search" in page) == (True, True)
    assert client.post(f"{LIST}{agent.pk}/change/", {"name": "x"}).status_code == 403
    assert client.post(f"{LIST}{agent.pk}/delete/", {"post": "yes"}).status_code == 403
    assert LIST in client.get("/admin/").text


def test_agents_are_found_by_id_and_by_account(agent, admin_client, account):
    for query in (agent.agent_id, account.email, str(account.id)):
        assert found(admin_client, query) == {str(agent.pk)}
    assert found(admin_client, "nobody@example.com") == set()
