"""What is not the API: the landing page, the OpenAPI document, and the answers to what does not exist."""

import json
from functools import cache
from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from snapstate_project.common.errors import ApiError, InternalError, NotFound, ValidationFailed, error_response


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    return render(request, "landing.html", {"base_url": settings.APP_URL.rstrip("/"), "version": settings.VERSION})


@require_safe
def openapi(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(openapi_document(), content_type="application/json")


@cache
def openapi_document() -> bytes:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return (json.dumps(schema, indent=2, ensure_ascii=False) + "\n").encode()


def admin_without_slash(_request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect("/admin/")


def no_such_route(_request: HttpRequest) -> HttpResponse:
    raise Http404


def is_page(request: HttpRequest) -> bool:
    """Django's admin has paths that end in a slash; the Admin API has none."""
    return request.path.startswith("/admin/") and request.path.endswith("/")


def failure(request: HttpRequest, error: ApiError) -> HttpResponse:
    if is_page(request):
        context = {"status": error.status, "title": HTTPStatus(error.status).phrase, "error": error}
        return render(request, "error.html", context, status=error.status)
    return error_response(error, getattr(request, "request_id", ""))


def handler400(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 (Django names it)
    return failure(request, ValidationFailed())


def handler404(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 (Django names it)
    return failure(request, NotFound())


def handler500(request: HttpRequest) -> HttpResponse:
    return failure(request, InternalError())
