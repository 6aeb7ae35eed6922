"""Where an operator turns the second factor on, renews the recovery codes, or turns it off; each with a code of it."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache

from accounts import second_factor

TITLE = "Second factor"
RENEW, OFF = "renew", "off"


@never_cache
def second_factor_page(request: HttpRequest) -> HttpResponse:
    device = second_factor.device_of(request.user)
    if request.method == "POST":
        return change(request) if device else turn_on(request)
    return shown(request)


def shown(request: HttpRequest, **told: Any) -> HttpResponse:
    device = second_factor.device_of(request.user)
    context: dict[str, Any] = {"is_on": device is not None, **told}
    if device is None:
        offered = second_factor.offered_to(request.user)
        context.update(qr_code=second_factor.qr_code(offered), key=second_factor.key_text(offered))
    else:
        context["codes_left"] = second_factor.recovery_codes_left(request.user)
    site = admin.site
    request.current_app = site.name
    return TemplateResponse(
        request, "admin/second_factor.html", {**site.each_context(request), "title": TITLE, **context}
    )


def turn_on(request: HttpRequest) -> HttpResponse:
    if refused := refusal(request):
        return shown(request, error=refused)
    codes = second_factor.enrol(request.user, request.POST.get("code", "").replace(" ", ""))
    if codes is None:
        return shown(request, error="That code is not right. Look whether the clock of your phone is.")
    request.session["second_factor"] = "given"
    return shown(request, codes=codes)


def change(request: HttpRequest) -> HttpResponse:
    """What is on is changed only by who has it. A form sent from before it was on asks for neither change."""
    if request.POST.get("act") not in (RENEW, OFF):
        return shown(request, error="The second factor is on already.")
    if refused := refusal(request):
        return shown(request, error=refused)
    if not second_factor.verify(request.user, request.POST.get("code", "")):
        return shown(request, error="That code is not right, or was used before.")
    if request.POST.get("act") == RENEW:
        return shown(request, codes=second_factor.renew_recovery_codes(request.user))
    second_factor.turn_off(request.user)
    messages.success(request, "The second factor is off: your password alone signs you in.")
    return redirect(reverse("admin:second_factor"))


def refusal(request: HttpRequest) -> str:
    wait = second_factor.seconds_to_wait(request.user)
    return too_many(wait) if wait else ""


def too_many(wait: int) -> str:
    return f"Too many wrong codes: wait {wait} second{'' if wait == 1 else 's'}."
