"""The rows of analytics, read and written for each run of events. Whoever calls holds the subscriber's cursor."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec
from django.db import connection

from analytics import statements
from analytics.tally import Key, Run, Stats, StepRow, Tally, generations_in, runs
from snapstate_project.events.catalogue import CheckpointSaved
from snapstate_project.events.models import Event

OF_WORKFLOW = ("workflowstep", "workflowerror", "workflowresumes", "workflowagent")

encode = msgspec.json.Encoder().encode


def count(events: Iterable[Event], *, since: date = date.min) -> None:
    """Count events, in order; days before `since` are left as they are."""
    with connection.cursor() as cursor:
        for run in runs(events):
            _count_run(cursor, run, since)


def _count_run(cursor: Any, run: Run, since: date) -> None:
    generations = generations_in(run)
    held = _held(cursor, generations)
    stale = {key: stats for key, stats in held.items() if stats.generation < generations[key]}
    tally = Tally({key: stats for key, stats in held.items() if key not in stale})
    _drop(cursor, [stats.id for stats in stale.values()], tally)
    tally.replaced = _replaced(cursor, run, tally.stats)
    tally.take_all(run)
    _write(cursor, tally, since)


def _held(cursor: Any, keys: Iterable[Key]) -> dict[Key, Stats]:
    cursor.execute(statements.HELD, [_json({"account_id": account, "digest": digest} for account, digest in keys)])
    held = {(row[0], row[1]): Stats(*row) for row in cursor.fetchall()}
    for stats in held.values():
        if not stats.total_steps:  # as a rebuild leaves it for a moment
            stats.first_checkpoint_at = stats.last_checkpoint_at = None
    return held


def _replaced(cursor: Any, run: Run, held: Mapping[Key, Stats]) -> dict[tuple[Key, int], StepRow]:
    """The revisions there are of steps that this run replaces."""
    wanted = {
        (held[key].id, body.step): key
        for event, body in run
        if isinstance(body, CheckpointSaved) and body.replaced and (key := (event.account_id, body.digest)) in held
    }
    if not wanted:
        return {}
    cursor.execute(statements.REPLACED, [_json({"stats_id": stats_id, "step": step} for stats_id, step in wanted)])
    return {(wanted[stats_id, row[0]], row[0]): StepRow(*row) for stats_id, *row in cursor.fetchall()}


def _drop(cursor: Any, ids: Sequence[int], tally: Tally) -> None:
    """All that is held of erased generations; the days lose their steps."""
    if not ids:
        return
    cursor.execute(statements.STEPS_BY_DAY, [ids])
    for account_id, day, agent_id, steps in cursor.fetchall():
        tally.move_day(account_id, day, agent_id, -steps)
    delete(cursor, ids)


def delete(cursor: Any, ids: Sequence[int]) -> None:
    for table in OF_WORKFLOW:
        cursor.execute(f"DELETE FROM analytics_{table} WHERE stats_id = ANY(%s)", [ids])  # noqa: S608
    cursor.execute("DELETE FROM analytics_workflowstats WHERE id = ANY(%s)", [ids])


def _write(cursor: Any, tally: Tally, since: date) -> None:
    ids = {key: stats.id for key, stats in tally.stats.items()}
    if tally.saved:
        cursor.execute(statements.PUT_STATS, [_json(tally.stats[key] for key in tally.saved)])
        ids |= {(account_id, digest): stats_id for account_id, digest, stats_id in cursor.fetchall()}
    _put(cursor, statements.PUT_STEPS, ids, ((key, row) for (key, _), row in tally.steps.items()))
    _put(cursor, statements.PUT_ERRORS, ids, tally.errors)
    _put(cursor, statements.ADD_PARTS, ids, ((key, row) for (key, _), row in tally.parts.items()))
    _put(cursor, statements.ADD_RESUMES, ids, ((key, row) for (key, _), row in tally.resumes.items()))
    for statement, days in ((statements.ADD_DAYS, tally.days), (statements.ADD_AGENT_DAYS, tally.agent_days)):
        rows = [row for row in days.values() if row.day >= since]
        if rows:
            cursor.execute(statement, [_json(rows)])
    _drop_empty(cursor, tally)
    recount(cursor, [ids[key] for key in tally.recount])


def _drop_empty(cursor: Any, tally: Tally) -> None:
    """Days of agents that come to nothing: the name of an agent is not to outlive what was erased."""
    taken_out = [row for row in tally.agent_days.values() if row.steps <= 0]
    if taken_out:
        cursor.execute(statements.DROP_AGENT_DAYS, [_json(taken_out)])


def _put(cursor: Any, statement: str, ids: Mapping[Key, int], rows: Iterable[tuple[Key, Any]]) -> None:
    """Rows of workflows, which have theirs by now."""
    ready = []
    for key, row in rows:
        row.stats_id = ids[key]
        ready.append(row)
    if ready:
        cursor.execute(statement, [_json(ready)])


def recount(cursor: Any, ids: Sequence[int]) -> None:
    """The sums of these workflows, made anew from their facts."""
    if not ids:
        return
    cursor.execute(statements.RECOUNT, {"ids": ids})
    cursor.execute("DELETE FROM analytics_workflowagent WHERE stats_id = ANY(%s)", [ids])
    cursor.execute(statements.RECOUNT_PARTS, {"ids": ids})


def _json(rows: Iterable[Any]) -> str:
    return encode(list(rows)).decode()


# --- For a rebuild ---


def forget(since: date) -> None:
    """Take out all facts of `since` and later days, and their part in the sums."""
    with connection.cursor() as cursor:
        cursor.execute(statements.TOUCHED, [since])
        touched = [row[0] for row in cursor.fetchall()]
        for table in ("workflowresumes", "dailyactivity", "agentday"):
            cursor.execute(f"DELETE FROM analytics_{table} WHERE day >= %s", [since])  # noqa: S608
        for table in ("workflowstep", "workflowerror"):
            cursor.execute(
                f"DELETE FROM analytics_{table} WHERE created_at >= %s::date::timestamp AT TIME ZONE 'UTC'",  # noqa: S608
                [since],
            )
        recount(cursor, touched)


def sweep() -> None:
    """Take out workflows of which no step is left."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM analytics_workflowstats WHERE total_steps = 0")
        delete(cursor, [row[0] for row in cursor.fetchall()])
