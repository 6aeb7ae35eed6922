"""The agents of each account, as they registered; `last_seen_at` moves with their saves and resumes, never back."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import connection, models

from snapstate_project.common.exact_text import ExactTextField

NOTE_LAST_SEEN = """
    UPDATE agents_agent SET last_seen_at = seen.at
    FROM unnest(%s::uuid[], %s::text[], %s::timestamptz[]) AS seen (account_id, agent_id, at)
    WHERE agents_agent.account_id = seen.account_id AND agents_agent.agent_id = seen.agent_id
        AND (agents_agent.last_seen_at IS NULL OR agents_agent.last_seen_at < seen.at)
"""


class AgentQuerySet(models.QuerySet["Agent"]):
    def note_last_seen(self, latest: Mapping[tuple[UUID, str], datetime]) -> None:
        """Those that are registered; the others are nobody's business here."""
        if not latest:
            return
        accounts, agents = zip(*latest, strict=True)
        with connection.cursor() as cursor:
            cursor.execute(NOTE_LAST_SEEN, [list(accounts), list(agents), list(latest.values())])


class Agent(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    agent_id = models.TextField(db_collation="C")
    name = ExactTextField(null=True)
    description = ExactTextField(null=True)
    capabilities = models.TextField(default="[]", help_text="A JSON array of strings.")
    metadata = models.BinaryField(default=b"{}", help_text="A JSON object, as sent.")
    last_seen_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        constraints = (models.UniqueConstraint(fields=["account", "agent_id"], name="one_agent_per_id"),)
        indexes = (models.Index(fields=["-created_at", "-id"], name="agent_newest"),)

    def __str__(self) -> str:
        return self.agent_id
