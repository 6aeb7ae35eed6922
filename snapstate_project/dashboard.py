"""The index page, and what all pages of the admin share: the sidebar, which names rooms by their labels."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from billing.plans import dollars
from snapstate_project import dashboard_figures as figures

SIDEBAR = {
    "Customers": {
        "accounts.Account": ("Accounts", "groups"),
        "accounts.ApiKey": ("API keys", "key"),
    },
    "Billing": {
        "billing.UsageRecord": ("Usage by month", "bar_chart"),
        "billing.UsageDay": ("Usage by day", "calendar_month"),
        "billing.StorageSample": ("Storage held", "database"),
        "billing.QuotaWarning": ("Quota warnings", "notification_important"),
        "billing.Invoice": ("Invoices", "receipt_long"),
        "billing.Subscription": ("Subscriptions", "autorenew"),
        "billing.MeterReport": ("Reports to Stripe", "send_money"),
    },
    "Work": {
        "checkpoints.Workflow": ("Workflows", "account_tree"),
        "agents.Agent": ("Agents", "smart_toy"),
        "analytics.WorkflowStats": ("Statistics", "monitoring"),
        "analytics.WorkflowError": ("Errors", "error"),
        "checkpoints.ArchiveSegment": ("Archive", "inventory_2"),
        "checkpoints.ArchiveProblem": ("Archive problems", "report"),
        "events.Event": ("Events", "bolt"),
        "events.SubscriberCursor": ("Subscribers", "conveyor_belt"),
    },
    "Webhooks": {
        "webhooks.Endpoint": ("Webhooks", "webhook"),
        "webhooks.Delivery": ("Deliveries", "outbox"),
    },
    "Operators": {
        "auth.User": ("Operators", "badge"),
        "auth.Group": ("Groups", "shield_person"),
        "auditlog.LogEntry": ("Audit log", "history"),
    },
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """What this operator may see."""
    groups = [{"title": title, "items": links(request, models)} for title, models in SIDEBAR.items()]
    items = [{"title": "Overview", "icon": "home", "link": reverse("admin:index")}]
    if request.user.has_perm("events.view_subscribercursor"):
        items.append({"title": "System", "icon": "monitor_heart", "link": reverse("admin:system")})
    first = {"title": "", "items": items}
    return [first, *(group for group in groups if group["items"])]


def index(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """A part for each thing this operator may see; what everybody sees are sums and health."""
    now = timezone.now()
    daily = figures.by_day(now.astimezone(UTC).date())
    everybodys = {"tiles": tiles(request, now, daily), "charts": charts(now, daily), "health": told(request, now)}
    activity = figures.recent() if request.user.has_perm("events.view_event") else []
    return {**context, **everybodys, "activity": activity, "first_steps": first_steps(request), "title": "Overview"}


def tiles(request: HttpRequest, now: datetime, daily: dict[str, list[int]]) -> list[dict[str, str]]:
    workflows = figures.remembered("workflows", lambda: figures.workflows(now))
    held = figures.remembered("storage", figures.storage)
    accounts = figures.accounts(now)
    shown = [
        ("Active workflows", f"{workflows['active'] + workflows['stalled']:,}", f"{workflows['stalled']:,} stalled"),
        *((f"{name.capitalize()} today", f"{days[-1]:,}", f"{sum(days):,} in 30 days") for name, days in daily.items()),
        ("Accounts", f"{accounts['total']:,}", f"{accounts['new']:,} new in 30 days"),
        ("Storage", figures.size(sum(held.values())), "compressed"),
    ]
    if request.user.has_perm("accounts.view_revenue"):
        earned = figures.remembered("revenue", lambda: figures.revenue(now))
        shown.append(("Estimated revenue", dollars(earned), f"{now:%B} so far"))
    return [{"name": name, "value": value, "note": note} for name, value, note in shown]


def told(request: HttpRequest, now: datetime) -> list[figures.Tile]:
    """With a link to the rows behind it where this operator may see them."""
    tiles = list(figures.health(now))
    for tile in tiles:
        tile["url"] = changelist(request, tile["link"])
    return tiles


def changelist(request: HttpRequest, label: str) -> str:
    model = apps.get_model(label) if label else None
    if model is None or not admin.site._registry[model].has_view_permission(request):
        return ""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def first_steps(request: HttpRequest) -> dict[str, Any] | None:
    """While nothing has been saved ever: what to do next, and the call to do it with."""
    if figures.any_work():
        return None
    may_add = request.user.has_perm("accounts.add_account")
    account = figures.first_account() if request.user.has_perm("accounts.view_account") else None
    return {"base_url": settings.APP_URL.rstrip("/"), "may_add": may_add, "account": account}


# --- Charts: data for the theme's own drawing of them, and the same as a table for those who do not see it ---

GRID = {"grid": {"tickWidth": 0}, "border": {"display": False}}
BARS = {"maxBarThickness": 28, "borderRadius": 4}


def charts(now: datetime, daily: dict[str, list[int]]) -> list[dict[str, Any]]:
    days = [f"{day:%d %b}" for day in figures.days_until(now.astimezone(UTC).date())]
    agents = figures.remembered("agents", lambda: figures.top_agents(now.astimezone(UTC).date()))
    held = figures.remembered("storage", figures.storage)
    unit, divisor = figures.unit_of(max(held.values()))
    tiers = [("Postgres", round(held["warm"] / divisor, 2)), ("Archive", round(held["archive"] / divisor, 2))]
    return [
        chart("Checkpoints a day", "bar", days, {"Checkpoints": (daily["checkpoints"], "primary-600")}),
        chart(
            "Resumes and failures a day",
            "line",
            days,
            {"Resumes": (daily["resumes"], "green-600"), "Failures": (daily["failures"], "red-600")},
        ),
        ranking(f"Storage by tier, {unit}", "Tier", tiers, unit),
        ranking("Top agents, steps in 30 days", "Agent", agents, "Steps"),
    ]


type Series = dict[str, tuple[list[Any], str]]


def ranking(title: str, of: str, rows: Sequence[tuple[str, float]], unit: str) -> dict[str, Any]:
    """Lying bars, which have room for long names."""
    series: Series = {unit: ([value for _, value in rows], "primary-600")}
    return chart(title, "bar", [name for name, _ in rows], series, of=of)


def chart(title: str, kind: str, labels: list[str], series: Series, *, of: str = "Day") -> dict[str, Any]:
    """`series`: for each name its values and a colour of the theme. What is not by day lies."""
    datasets = [
        {"label": name, "data": values, "backgroundColor": f"var(--color-{colour})", **look(kind, colour)}
        for name, (values, colour) in series.items()
    ]
    columns = [values for values, _ in series.values()]
    return {
        "title": title,
        "kind": kind,
        "data": json.dumps({"labels": [short(label) for label in labels], "datasets": datasets}),
        "options": json.dumps(options(lying=of != "Day", legend=len(series) > 1)),
        "titles": [of, *series],
        "rows": list(zip(labels, *columns, strict=True)),
        "is_empty": not any(any(values) for values in columns),
    }


def options(*, lying: bool, legend: bool) -> dict[str, Any]:
    return {
        "animation": False,
        "maintainAspectRatio": False,
        "indexAxis": "y" if lying else "x",
        "plugins": {"legend": {"display": legend, "align": "end", "labels": {"boxWidth": 12}}},
        "interaction": {"mode": "index", "intersect": False, "axis": "y" if lying else "x"},
        "scales": {
            "x": {**GRID, "beginAtZero": True, "ticks": {"maxRotation": 0, "autoSkipPadding": 16}},
            "y": {**GRID, "beginAtZero": True, "ticks": {"precision": 0}},
        },
    }


def look(kind: str, colour: str) -> dict[str, Any]:
    if kind == "bar":
        return BARS
    return {"borderColor": f"var(--color-{colour})", "borderWidth": 2, "pointRadius": 0, "tension": 0.25}


def short(label: str) -> str:
    return label if len(label) <= 24 else f"{label[:23]}…"


def links(request: HttpRequest, models: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    found = [(apps.get_model(label), title, icon) for label, (title, icon) in models.items()]
    return [
        {
            "title": title,
            "icon": icon,
            "link": reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"),
        }
        for model, title, icon in found
        if model in admin.site._registry and admin.site._registry[model].has_view_permission(request)
    ]
