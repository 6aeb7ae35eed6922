"""What these tests do in a word each: read /metrics as Prometheus would, let time pass for the archive."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from checkpoints import archiving

type Figures = dict[tuple[str, frozenset[Any]], float]


def scrape(operator: httpx.Client) -> Figures:
    answer = operator.get("/metrics")
    assert answer.status_code == 200, answer.text
    families = text_string_to_metric_families(answer.text)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def figure(figures: Figures, name: str, **labels: str) -> float:
    """0 for one that is not there yet."""
    return figures.get((f"snapstate_{name}", frozenset(labels.items())), 0.0)


def names(figures: Figures) -> set[str]:
    return {name for name, _ in figures}


def expire_all() -> None:
    """Two passes, as beat makes them: one moves, the next lets go."""
    later = datetime.now(UTC) + timedelta(hours=2)
    for _ in range(2):
        archiving.archive_expiring(now=later)
