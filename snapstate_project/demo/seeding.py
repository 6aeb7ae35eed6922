"""A demo goes in, whole or not at all: rows by COPY and by statements that multiply; then its events, if they may."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from billing import plans, stripe_client
from snapstate_project.demo import cold, event_statements, listening, population, statements
from snapstate_project.demo.courses import Course, Encoded, make_courses
from snapstate_project.demo.population import Outline, Person, Wanted

COURSES_AT_MOST = 200
CHUNK = 5_000
"""Workflows a statement, so that foreign keys are checked while little waits for it."""
BY_CHUNKS = (statements.CHECKPOINTS, statements.FACTS, statements.ERRORS, statements.PARTS)
AT_ONCE = (
    statements.RESUMES, statements.DAYS, statements.ACTIVITY, statements.AGENT_DAYS, statements.AGENTS,
    event_statements.USAGE_DAYS, event_statements.USAGE_MONTHS, event_statements.SAMPLES, event_statements.WARNINGS,
    event_statements.CUSTOMERS, event_statements.REPORTS, event_statements.INVOICES, event_statements.SUBSCRIPTIONS,
)  # fmt: skip

type Progress = Callable[[int, int], None]


class Seeding:
    """One run of the command. Progress counts checkpoints: each as row, as fact and as event."""

    def __init__(self, wanted: Wanted, progress: Progress) -> None:
        self.wanted = wanted
        self.progress = progress
        self.done = 0
        self.total = 3 * wanted.checkpoints
        self.owners: list[Person] = population.people(wanted)

    def run(self) -> bool:
        """Whether its events went in too: not while a subscriber is behind, for it would count them again."""
        courses = make_courses(max(min(COURSES_AT_MOST, self.wanted.workflows // 20), 10), self.wanted.seed)
        outlines = list(population.outlines(self.wanted, self.owners, courses))
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                population.settle(self.owners)
                self._copy(cursor, courses, outlines)
                self._multiply(cursor)
                cold.archive_some(cursor, courses, [outline for outline in outlines if outline.archived])
                cold.set_some_aside(cursor, self.wanted)
                listening.make_endpoints(self.owners, self.wanted)
            with transaction.atomic(), connection.cursor() as cursor:
                events_went_in = self._tell(cursor)
        finally:
            with connection.cursor() as cursor:
                cursor.execute(statements.DROP)
        self._tidy_up()
        return events_went_in

    def _copy(self, cursor: Any, courses: list[Course], outlines: list[Outline]) -> None:
        cursor.execute(statements.TABLES)
        copy(cursor, "demo_course", ((each.number, each.metadata, each.terms) for each in courses))
        names = ", ".join(Encoded._fields)
        copy(cursor, f"demo_step ({names})", (row for each in courses for row in each.rows))
        copy(cursor, f"demo_workflow ({', '.join(Outline._fields)})", outlines)
        cursor.execute("ANALYZE demo_step; ANALYZE demo_workflow")

    def _multiply(self, cursor: Any) -> None:
        figures = self._figures()
        for statement in (statements.WORKFLOWS, statements.WORKFLOW_IDS, statements.STATS, statements.STATS_IDS):
            cursor.execute(statement, figures)
        cursor.execute("ANALYZE demo_workflow")
        for chunk in self._chunks():
            for statement in BY_CHUNKS:
                cursor.execute(statement, chunk)
            self._went_on(2 * self.wanted.checkpoints)
        for statement in AT_ONCE:
            cursor.execute(statement, figures)

    def _tell(self, cursor: Any) -> bool:
        if not listening.all_caught_up(cursor):
            return False
        for chunk in self._chunks():
            cursor.execute(event_statements.EVENTS, chunk)
            self._went_on(self.wanted.checkpoints)
        listening.pass_over(cursor)
        listening.make_deliveries([owner.id for owner in self.owners])
        return True

    def _figures(self) -> dict[str, Any]:
        today = self.wanted.now.date()
        return {
            "first": 0,
            "last": self.wanted.workflows,
            "threshold": settings.ARCHIVE_THRESHOLD_SECONDS,
            "default_ttl": settings.DEFAULT_TTL_SECONDS,
            "accounts": [owner.id for owner in self.owners],
            "since": today - timedelta(days=population.DAYS),
            "until": today,
            "now": self.wanted.now,
            "free": int(plans.METRICS["checkpoint_writes"].free),
            "stripe_is_off": not stripe_client.is_on(),
        }

    def _chunks(self) -> Iterator[dict[str, int]]:
        for first in range(0, self.wanted.workflows, CHUNK):
            yield {"first": first, "last": first + CHUNK}

    def _went_on(self, of: int) -> None:
        self.done = min(self.done + of * CHUNK // max(self.wanted.workflows, CHUNK), self.total)
        self.progress(self.done, self.total)

    def _tidy_up(self) -> None:
        """What autovacuum would do in a while: pages read by index, and plans know how much there is."""
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE)")
        self.progress(self.total, self.total)


def copy(cursor: Any, into: str, rows: Iterable[Iterable[Any]]) -> None:
    with cursor.copy(f"COPY {into} FROM STDIN") as written:
        for row in rows:
            written.write_row(row)
