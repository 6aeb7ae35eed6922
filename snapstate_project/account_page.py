"""What an account's page shows of other rooms, each part only to operators who may see its rows."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from agents_app.models import Agent
from billing import plans
from billing.models import Invoice
from billing.periods import month_of
from billing.usage import figures_of, record_of
from checkpoints.models import Workflow
from snapstate_project.common.admin import second, shortened
from webhooks.models import Endpoint

ROWS = 5
FULL = 100


def panels(account: Account, operator: Any) -> dict[str, Any]:
    """`usage`: bars against what is free, and the charge for who may see it; `panels`: the newest of each kind."""
    return {"usage": usage(account, operator), "panels": [table for table in tables(account, operator) if table]}


def usage(account: Account, operator: Any) -> dict[str, Any]:
    now = timezone.now()
    start, end = month_of(now)
    used = figures_of([record_of(account.pk, start.date())], now=now)[0]
    sees_money = operator.has_perm("billing.view_invoice")
    return {
        "month": f"{start:%B %Y}",
        "ends_in_days": (end - now).days + 1,
        "bars": [bar(name, units) for name, units in used.items()],
        "charge": plans.dollars(plans.charge(used)) if sees_money else None,
    }


def bar(name: str, units: Decimal) -> dict[str, Any]:
    """How much of what is free is used; beyond that the bar is full, and says by how much it is over."""
    metric = plans.METRICS[name]
    percent = int(units * FULL / metric.free)
    beyond = metric.billable(units)
    return {
        "name": plans.LABELS[name],
        "used": amount(units),
        "free": amount(metric.free),
        "percent": min(percent, FULL),
        "beyond": amount(beyond) if beyond else "",
        "level": "over" if beyond else "near" if percent >= plans.WARNED_AT[0] else "well",
    }


def amount(units: Decimal) -> str:
    return f"{int(units):,}" if units == int(units) else f"{units:,.3f}"


def tables(account: Account, operator: Any) -> Iterator[dict[str, Any] | None]:
    yield workflows(account) if operator.has_perm("checkpoints.view_workflow") else None
    yield agents(account) if operator.has_perm("agents.view_agent") else None
    yield webhooks(account) if operator.has_perm("webhooks.view_endpoint") else None
    yield invoices(account) if operator.has_perm("billing.view_invoice") else None


def workflows(account: Account) -> dict[str, Any]:
    found = Workflow.objects.filter(account=account, head_step__isnull=False).order_by("-last_activity_at", "-id")
    rows = [
        (
            link_to(each, shortened(each.workflow_id)),
            each.status,
            f"{each.total_checkpoints:,}",
            second(each.last_activity_at),
        )
        for each in found[:ROWS]
    ]
    titles = ("Workflow", "Status", "Checkpoints", "Last activity (UTC)")
    return table("Workflows", titles, rows, of(Workflow, account=account.pk), "Nothing has been saved yet.")


def agents(account: Account) -> dict[str, Any]:
    found = Agent.objects.filter(account=account)
    newest = found.order_by("-created_at", "-id")[:ROWS]
    rows = [(link_to(each, shortened(each.agent_id)), each.name or "-", second(each.last_seen_at)) for each in newest]
    title = f"Agents ({found.count()} of at most {settings.MAX_AGENTS_PER_ACCOUNT})"
    return table(title, ("Agent", "Name", "Last seen (UTC)"), rows, of(Agent, q=account.pk), "No agent is registered.")


def webhooks(account: Account) -> dict[str, Any]:
    found = list(Endpoint.objects.of(account.pk)[:ROWS])
    rates = Endpoint.objects.success_of([each.pk for each in found])
    rows = [
        (link_to(each, each.webhook_id), shortened(each.url, 60), each.status, success(rates.get(each.pk)))
        for each in found
    ]
    titles = ("Webhook", "URL", "State", "Delivered")
    return table("Webhooks", titles, rows, of(Endpoint, q=account.pk), "No webhook is registered.")


def success(rate: tuple[int, int] | None) -> str:
    return f"{rate[0]} of the last {rate[1]}" if rate else "-"


def invoices(account: Account) -> dict[str, Any]:
    found = Invoice.objects.of_customer(account.stripe_customer_id).order_by("-created_at", "-id")[:ROWS]
    rows = [
        (link_to(each, each.number or each.pk), each.status, plans.money(each.amount_due, each.currency))
        for each in found
    ]
    link = of(Invoice, q=account.stripe_customer_id) if account.stripe_customer_id else ""
    return table("Invoices", ("Invoice", "State", "Due"), rows, link, "Stripe has told of no invoice.")


def table(title: str, titles: tuple[str, ...], rows: list[Any], link: str, empty: str) -> dict[str, Any]:
    return {"title": title, "titles": titles, "rows": rows, "link": link, "empty": empty}


def link_to(row: Any, text: str) -> dict[str, str]:
    meta = row._meta
    return {"url": reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk]), "text": text}


def of(model: Any, **query: Any) -> str:
    """The list of that model, filtered."""
    meta = model._meta
    return f"{reverse(f'admin:{meta.app_label}_{meta.model_name}_changelist')}?{urlencode(query)}"
