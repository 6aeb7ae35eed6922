"""Registered agents as operators see them: read only."""

import msgspec
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from agents_app.models import Agent
from snapstate_project.common.admin import WRAPPED, ReadOnlyAdmin, account_link, of_account, second, shortened


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin[Agent]):
    list_display = ("agent_id_short", "name_short", "who", "seen", "registered")
    list_select_related = ("account",)
    search_fields = ("agent_id",)
    search_help_text = "Agent id, account id, or how an account's email begins"
    ordering = ("-created_at", "-id")
    sortable_by = ()
    when_empty = "Accounts register their agents by POST /agents; a save may name one that is not registered."
    fields = ("agent_id_whole", "name_whole", "who", "described", "can", "metadata_size", "seen", "registered")
    readonly_fields = fields

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Agent], search_term: str
    ) -> tuple[QuerySet[Agent], bool]:
        term = search_term.strip()
        return (queryset.filter(of_account(term) | Q(agent_id=term)) if term else queryset), False

    @display(description="Agent")
    def agent_id_short(self, agent: Agent) -> str:
        return shortened(agent.agent_id, 32)

    @display(description="Name")
    def name_short(self, agent: Agent) -> str | None:
        return shortened(agent.name) if agent.name else None

    @display(description="Account")
    def who(self, agent: Agent) -> SafeString | str:
        return account_link(agent.account_id, agent.account)

    @display(description="Last seen (UTC)")
    def seen(self, agent: Agent) -> str:
        return second(agent.last_seen_at)

    @display(description="Registered (UTC)")
    def registered(self, agent: Agent) -> str:
        return second(agent.created_at)

    # --- On its own page ---

    @display(description="Agent")
    def agent_id_whole(self, agent: Agent) -> SafeString:
        return format_html(WRAPPED, agent.agent_id)

    @display(description="Name")
    def name_whole(self, agent: Agent) -> SafeString | None:
        return format_html(WRAPPED, agent.name) if agent.name else None

    @display(description="Description")
    def described(self, agent: Agent) -> SafeString | None:
        return format_html(WRAPPED, agent.description) if agent.description else None

    @display(description="Capabilities")
    def can(self, agent: Agent) -> SafeString | None:
        capabilities = msgspec.json.decode(agent.capabilities, type=list[str])
        return format_html(WRAPPED, ", ".join(capabilities)) if capabilities else None

    @display(description="Metadata")
    def metadata_size(self, agent: Agent) -> str:
        return filesizeformat(len(agent.metadata))
