"""What the admin's pages share: the sidebar, which names rooms that do not know one another."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

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
    },
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """What this operator may see."""
    groups = [{"title": title, "items": links(request, models)} for title, models in SIDEBAR.items()]
    return [group for group in groups if group["items"]]


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
