"""The admin's gate: who gets in, for how long, and with which second factor; within it, whoever acts is known.

A session ends an hour after its last page and twelve after its begin. With a second factor it opens nothing but the
form that asks for the code until that was right.
"""

import time
from datetime import timedelta
from functools import wraps
from typing import Any
from urllib.parse import urlencode, urlsplit

from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import logout
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from unfold.sites import UnfoldAdminSite

from accounts import second_factor
from snapstate_project import operator_search, second_factor_pages
from snapstate_project.common.acting import acting_as
from snapstate_project.common.admin import NotNow, go_to

LONGEST_SECONDS = 12 * 3600
SYSTEM_PAGE = "snapstate_project.system_page.system_page"  # which needs the pages that this site is made for
NOTED_EVERY_SECONDS = 60
BEGAN, SEEN, CODE = "began", "seen", "second_factor"
DUE, GIVEN, NONE = "due", "given", "none"
KEPT = timedelta(days=365)


class OperatorSite(UnfoldAdminSite):
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        if not (super().has_permission(request) and is_young(request)):
            return False
        if code_is_due(request):
            return False
        if time.time() - request.session.get(SEEN, 0) > NOTED_EVERY_SECONDS:
            request.session[SEEN] = int(time.time())  # saved with the answer, and good for another hour
        return True

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        @wraps(view)
        def acting(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            try:
                with acting_as(request.user.get_username(), request, user=request.user):
                    return view(request, *args, **kwargs)
            except NotNow:
                messages.warning(request, "Nothing was done: that does not go with how this stands by now.")
                return go_to(request, page_of_row(request))

        gate = super().admin_view(acting, cacheable)

        @wraps(gate)
        def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            answer = gate(request, *args, **kwargs)
            return sign_in_again(request) if is_shut_out(request, answer) else answer

        return answered

    def get_urls(self) -> list[Any]:
        page = self.admin_view(second_factor_pages.second_factor_page)
        system = path("system/", self.admin_view(import_string(SYSTEM_PAGE)), name="system")
        # Nothing here asks for the theme's completion of names; and by it anybody could make an error of ours.
        pages = [each for each in super().get_urls() if getattr(each, "name", "") != "autocomplete"]
        return [path("second-factor/", page, name="second_factor"), system, *pages]

    def search(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002 (the theme's)
        return operator_search.search_page(request, self)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        is_known = request.user.is_authenticated and request.user.is_staff
        if is_known and is_young(request) and request.session.get(CODE) == DUE and "username" not in request.POST:
            return ask_for_code(request, self)
        answer: HttpResponse = super().login(request, extra_context)
        return answer


def is_shut_out(request: HttpRequest, answer: HttpResponse) -> bool:
    """Whether a dialog, or the search, would be given the sign-in form in place of what it asked for."""
    return "HX-Request" in request.headers and getattr(answer, "url", "").startswith(reverse("admin:login"))


def sign_in_again(request: HttpRequest) -> HttpResponse:
    """The whole page goes to sign in, and comes back to where it was."""
    try:
        here = urlsplit(request.headers.get("HX-Current-URL", "")).path
    except ValueError:  # a header that no htmx has sent
        here = ""
    answer = go_to(request, f"{reverse('admin:login')}?{urlencode({'next': here or reverse('admin:index')})}")
    add_never_cache_headers(answer)
    return answer


def page_of_row(request: HttpRequest) -> str:
    """Of the row that an action's address names."""
    return f"{request.path.rstrip('/').rpartition('/')[0]}/change/"


def code_is_due(request: HttpRequest) -> bool:
    """Also in a session from before the second factor was turned on. That is asked of Postgres once a request."""
    asked_before: bool = getattr(request, "second_factor_asked", False)
    request.second_factor_asked = True  # type: ignore[attr-defined]
    if request.session.get(CODE) == NONE and not asked_before and second_factor.device_of(request.user):
        request.session[CODE] = DUE
    return request.session.get(CODE) not in (NONE, GIVEN)


def is_young(request: HttpRequest) -> bool:
    return bool(time.time() - request.session.get(BEGAN, 0) < LONGEST_SECONDS)


def begin_session(request: HttpRequest | None, user: Any, **_: Any) -> None:
    """When the password was right."""
    if request is not None:
        request.session[BEGAN] = request.session[SEEN] = int(time.time())
        request.session[CODE] = DUE if second_factor.device_of(user) else NONE


@never_cache
def ask_for_code(request: HttpRequest, site: OperatorSite) -> HttpResponse:
    if "leave" in request.POST:
        logout(request)
        return redirect("admin:login")
    error = ""
    if request.method == "POST":
        with acting_as(request.user.get_username(), request, user=request.user):
            wait = second_factor.seconds_to_wait(request.user)
            if not wait and second_factor.verify(request.user, request.POST.get("code", "")):
                request.session.cycle_key()
                request.session[CODE] = GIVEN
                return redirect(where_to(request))
        error = second_factor_pages.too_many(wait) if wait else "That code is not right, or was used before."
    context = {**site.each_context(request), "title": "Second factor", "error": error}
    return TemplateResponse(request, "admin/ask_for_code.html", context)


def where_to(request: HttpRequest) -> str:
    wanted = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else settings.LOGIN_REDIRECT_URL


def locked_out(request: HttpRequest, *_: Any) -> HttpResponse:
    """Instead of the login form, for whoever has guessed too often; see AXES_* in the settings."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    context = {**admin.site.each_context(request), "minutes": minutes, "title": "Locked out"}
    answer = render(request, "admin/locked_out.html", context, status=429)
    answer.headers["Retry-After"] = str(minutes * 60)
    return answer


def prune_sign_ins() -> int:
    """Sessions that have ended, guesses that no longer lock anybody out, and sign-ins of more than a year ago."""
    now = timezone.now()
    Session.objects.filter(expire_date__lt=now).delete()
    AccessLog.objects.filter(attempt_time__lt=now - KEPT).delete()
    count: int = AccessAttempt.objects.filter(attempt_time__lt=now - settings.AXES_COOLOFF_TIME).delete()[0]
    return count
