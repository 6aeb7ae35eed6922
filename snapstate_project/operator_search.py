"""The search that the sidebar opens: pages, accounts, keys and workflows, a few of each.

The theme's own reads all rows that match, keeps what it found for five minutes, whoever may see it by then, and needs
Redis for that.
"""

from typing import Any

from django.contrib.admin import AdminSite
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.dataclasses import SearchResult

from accounts.models import Account, ApiKey
from checkpoints.filter_admin import DIGEST, of_every_account
from checkpoints.models import Workflow
from snapstate_project import dashboard

MOST_OF_A_KIND = 20
ROWS = ((Account, "groups"), (ApiKey, "key"), (Workflow, "history"))


def search_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    term = request.GET.get("s", "").strip()
    if not term:
        return HttpResponse()
    found = [*lists_named(site, request, term.lower()), *rows_found(site, request, term)]
    shown = {"search_term": term, "page_obj": Paginator(found, len(found) or 1), "page_counter": 0}
    results = shown["page_obj"].page(1)  # type: ignore[attr-defined]
    context = {**shown, "results": results, "execution_time": 0.0, "command_show_history": False}
    return TemplateResponse(request, "unfold/helpers/command_results.html", context, headers={"HX-Trigger": "search"})


def lists_named(site: AdminSite, request: HttpRequest, term: str) -> list[SearchResult]:
    """What the menu offers this operator, by its words: a page's name, its part's, or that of its room."""
    rooms = {model["admin_url"]: str(app["name"]) for app in site.get_app_list(request) for model in app["models"]}
    return [
        SearchResult(title=page["title"], description=part["title"] or "Menu", link=page["link"], icon=page["icon"])
        for part in dashboard.navigation(request)
        for page in part["items"]
        if any(term in name.lower() for name in (page["title"], part["title"], rooms.get(page["link"], "")))
    ]


def rows_found(site: AdminSite, request: HttpRequest, term: str) -> list[SearchResult]:
    return [
        SearchResult(title=str(row), description=str(row._meta.verbose_name), link=url_of(site, row), icon=icon)
        for model, icon in ROWS
        if site._registry[model].has_view_permission(request)
        for row in rows_of(site, request, model, term)
    ]


def rows_of(site: AdminSite, request: HttpRequest, model: Any, term: str) -> Any:
    if model is Workflow:
        return workflows_named(term)
    found, _ = site._registry[model].get_search_results(request, model._default_manager.all(), term)
    return found[:MOST_OF_A_KIND]


def workflows_named(term: str) -> QuerySet[Workflow]:
    """By the beginning of its id, or its digest; of many any few, for to look for the newest would take long."""
    named = Q(digest=bytes.fromhex(term)) if DIGEST.fullmatch(term) else Q(workflow_id__startswith=term)
    return of_every_account(Workflow.objects.filter(named, head_step__isnull=False)).order_by()[:MOST_OF_A_KIND]


def url_of(site: AdminSite, row: Any) -> str:
    return reverse(f"{site.name}:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
