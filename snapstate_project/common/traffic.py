"""How many requests were answered, how, and how fast: counted by the lean handler, and by a middleware of the rest."""

import re
from collections.abc import Awaitable, Iterable
from functools import cache
from time import perf_counter
from typing import cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from prometheus_client.core import CounterMetricFamily, Metric

from snapstate_project.common.metrics import Histogram, Rows, add_up
from snapstate_project.common.request_id import GetResponse

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
NOWHERE = "none"


class Requests(Histogram):
    """Kept by (route, method, status); shown as a histogram without the status, and a count with it."""

    def note(self, match: ResolverMatch | None, method: str | None, status: int, began: float) -> None:
        """`began` is a perf_counter(). The route stays as Django writes it: to make a label of it can wait."""
        route = NOWHERE if match is None else match.route
        self.observe((route, method or "", str(status)), perf_counter() - began)

    def families(self, rows: Rows) -> Iterable[Metric]:
        named = add_up(
            {(label_of(route), method_of(method), status): row} for (route, method, status), row in rows.items()
        )
        count = CounterMetricFamily(
            "snapstate_http_requests", "Requests answered.", labels=("route", "method", "status")
        )
        for labels, row in sorted(named.items()):
            count.add_metric(labels, sum(row[:-1]))
        yield count
        yield from super().families(add_up({labels[:2]: row} for labels, row in named.items()))


requests = Requests(
    "snapstate_http_request_duration_seconds",
    "From the body's last byte to the answer's first.",
    ("route", "method"),
)


@cache
def label_of(route: str) -> str:
    """`/workflows/{workflow_id}/resume`; the admin's many pages are one, and so is all that has no route."""
    if route == NOWHERE or route.startswith("^"):
        return NOWHERE
    if route.startswith("admin/") and route.endswith("/"):
        return "/admin/"
    return "/" + PARAMETER.sub(r"{\1}", route)


def method_of(method: str) -> str:
    """Of those there are: clients may send any word."""
    return method if method in METHODS else "other"


class TrafficMiddleware:
    """The outermost of Django's own chain; the lean handler counts for itself."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self.answer(request)
        began = perf_counter()
        response = cast(HttpResponseBase, self.get_response(request))
        requests.note(request.resolver_match, request.method, response.status_code, began)
        return response

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        response = await cast(Awaitable[HttpResponseBase], self.get_response(request))
        requests.note(request.resolver_match, request.method, response.status_code, began)
        return response
