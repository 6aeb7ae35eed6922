"""Pages of the admin that change something: asked by GET, done by POST through a service, and noted in the history."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, Q
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin

from snapstate_project.common.admin import ReadOnlyAdmin
from snapstate_project.common.errors import ApiError

UNBROKEN = '<span class="whitespace-nowrap">{}</span>'


class RowsByPage[Row: Model](ReadOnlyAdmin[Row]):
    """Few enough to be counted, and found by id too."""

    show_full_result_count = True
    found_by_id: tuple[str, ...] = ("pk",)

    def get_paginator(self, request: HttpRequest, queryset: Any, per_page: int, *rest: Any, **named: Any) -> Any:
        return ModelAdmin.get_paginator(self, request, queryset, per_page, *rest, **named)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        try:
            asked = UUID(search_term.strip())
            return queryset.filter(Q.create([(name, asked) for name in self.found_by_id], Q.OR)), False
        except ValueError:
            return super().get_search_results(request, queryset, search_term)

    def found(self, request: HttpRequest, object_id: str) -> Row:
        row: Row | None = self.get_object(request, object_id)
        if row is None:
            raise Http404
        return row


def minute(moment: datetime | None) -> SafeString | None:
    """UTC."""
    return format_html(UNBROKEN, f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}") if moment else None


def badge(text: str, variants: Mapping[str, str]) -> SafeString:
    return SafeString(render_to_string("unfold/helpers/label.html", {"text": text, "variant": variants[text]}))


def page(admin: ModelAdmin, request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
    request.current_app = admin.admin_site.name
    context = {**admin.admin_site.each_context(request), "opts": admin.opts, **context}
    return TemplateResponse(request, f"admin/accounts/{template}", context)


def form_page(
    admin: ModelAdmin,
    request: HttpRequest,
    form: Form,
    act: Callable[[Any], HttpResponse],
    *,
    original: Model | None = None,
    **context: Any,
) -> HttpResponse:
    """The form until it is filled in well and `act` has done with it; what the service refuses is said above it."""
    if request.method == "POST" and form.is_valid():
        try:
            return act(form)
        except ApiError as refusal:
            form.add_error(None, refusal.message)
    return page(admin, request, "form.html", form=form, original=original, back=back_to(admin, original), **context)


def confirmed(
    admin: ModelAdmin,
    request: HttpRequest,
    chosen: Sequence[Model],
    act: Callable[[Any], object],
    *,
    done: str,
    back: str,
    form: Any = None,  # a Form whose fields the operator is asked for too
    **context: Any,
) -> HttpResponse:
    """Acts on what was chosen, after a yes and, where there is a form, its fields filled in well.

    Stops at the first refusal and says how far it came.
    """
    if not is_confirmed(request) or (form and not form.is_valid()):
        hidden = [(ACTION_CHECKBOX_NAME, str(each.pk)) for each in chosen]
        hidden.append(("action", request.POST.get("action", "")))
        return page(admin, request, "confirm.html", chosen=chosen, hidden=hidden, back=back, form=form, **context)
    count = 0
    try:
        for each in chosen:
            act(each)
            admin.log_change(request, each, f"{done}.")
            count += 1
    except ApiError as refusal:
        messages.error(request, f"{refusal.message} ({count} of {len(chosen)} done)")
    if count:
        messages.success(request, f"{done}: {count} of {len(chosen)}" if len(chosen) > 1 else f"{done}: {chosen[0]}")
    return redirect(back)


def is_confirmed(request: HttpRequest) -> bool:
    return request.POST.get("confirmed") == "yes"


def back_to(admin: ModelAdmin, row: Model | None = None) -> str:
    """The row's page, or the list."""
    name = f"admin:{admin.opts.app_label}_{admin.opts.model_name}"
    return reverse(f"{name}_change", args=[row.pk]) if row else reverse(f"{name}_changelist")
