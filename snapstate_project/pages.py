"""What is not the API: the OpenAPI document, and the answers to what does not exist."""

import json
import sys
from collections.abc import Callable
from functools import cache, wraps
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator

from snapstate_project.common.errors import (
    Forbidden,
    InternalError,
    MethodNotAllowed,
    NotFound,
    ValidationFailed,
    as_api_error,
    error_response,
)

type View = Callable[..., HttpResponse]

ALLOW = {"Allow": "GET, HEAD, OPTIONS"}
NO_SUCH_ROUTE = "The API has no such path: no prefix stands before /checkpoints and the like, no slash at the end."


def read_only(view: View) -> View:
    """GET and HEAD; whatever else gets the API's answer, with no question for a CSRF token first."""

    @csrf_exempt
    @wraps(view)
    def guarded(request: HttpRequest, **segments: str | None) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request, **segments)
        if request.method == "OPTIONS":
            return HttpResponse(status=204, headers=ALLOW)
        return failure(request, MethodNotAllowed(headers=ALLOW))

    return guarded


@read_only
def openapi(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(openapi_document(), content_type="application/json")


@cache
def openapi_document() -> bytes:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return (json.dumps(schema, indent=2, ensure_ascii=False) + "\n").encode()


@read_only
def admin_without_slash(_request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect("/admin/")


@csrf_exempt
def no_such_route(request: HttpRequest) -> HttpResponse:
    """A client whose base URL has a prefix too many must not take this for a thing that is not there."""
    return failure(request, NotFound("" if is_page(request) else NO_SUCH_ROUTE))


def is_page(request: HttpRequest) -> bool:
    """Django's admin has paths that end in a slash; the Admin API has none."""
    return request.path.startswith("/admin/") and request.path.endswith("/")


def failure(request: HttpRequest, error: BaseException) -> HttpResponse:
    response = error_response(error, getattr(request, "request_id", ""))
    if not is_page(request):
        return response
    shown = as_api_error(error)
    context = {"status": shown.status, "title": HTTPStatus(shown.status).phrase, "message": shown.message}
    return render(request, "error.html", context, status=shown.status)


def handler400(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return failure(request, exception or ValidationFailed())


def handler403(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 (Django's)
    return failure(request, Forbidden("Your groups do not allow that: an administrator can change them."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 (Django's)
    """Of a form whose cookie is gone or older than the sign-in, as after signing out in another tab."""
    return failure(request, Forbidden("This form is out of date, and nothing was done: load its page anew."))


def handler404(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return failure(request, exception or NotFound())


def handler500(request: HttpRequest) -> HttpResponse:
    return failure(request, sys.exception() or InternalError())
