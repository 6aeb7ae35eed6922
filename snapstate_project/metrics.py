"""/metrics for Prometheus: what all web processes of this server counted, and what the tiers say at this moment."""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from accounts.authentication import OperatorAuthentication
from snapstate_project import figures, health
from snapstate_project.common.api import HotAPIView, ReadyResponse, query
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.metrics import board
from snapstate_project.common.threads import in_thread


class AsyncOperatorAuthentication(OperatorAuthentication):
    async def authenticate(self, request: Any) -> tuple[None, str]:  # type: ignore[override]  # awaited by hot views
        return super().authenticate(request)


class Found(Collector):
    """What the encoders of Prometheus's own library read."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self.families = list(families)

    def collect(self) -> Iterator[Metric]:
        return iter(self.families)


class MetricsView(HotAPIView):
    authentication_classes = [AsyncOperatorAuthentication]
    permission_classes = []
    throttle_classes = []

    @extend_schema(
        tags=["Operators"],
        operation_id="getMetrics",
        summary="Figures for Prometheus",
        auth=[{"operator": []}],  # type: ignore[list-item]  # as the document has it
        responses={(200, "text/plain"): OpenApiTypes.STR},
    )
    async def get(self, request: HttpRequest) -> HttpResponse:
        """Counts since this server began, and how the tiers are now. In OpenMetrics for those who ask for that."""
        query(request, {})
        encode, content_type = choose_encoder(request.META.get("HTTP_ACCEPT", ""))
        body = await asyncio.to_thread(encode, Found(await everything()))
        return ReadyResponse(body, content_type=content_type)


async def everything() -> list[Metric]:
    redis, postgres, archive, counted, *found = await asyncio.gather(
        health.redis(),
        health.postgres(),
        health.archive(),
        asyncio.to_thread(board.families),
        asked(asyncio.to_thread(figures.of_redis)),
        asked(in_thread(figures.of_postgres)),
    )
    tiers = {"redis": redis, "postgres": postgres, "archive": archive}
    return [*counted, *figures.of_this_server(tiers), *(metric for metrics in found for metric in metrics)]


async def asked(look: Awaitable[Iterable[Metric]]) -> list[Metric]:
    """What a tier says of itself; nothing when it cannot be asked."""
    try:
        return list(await look)
    except ServiceUnavailable:
        return []
