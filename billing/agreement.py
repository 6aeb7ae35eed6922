"""Whether the months, which are billed, say what the days say: both are written at once, so that they always should."""

from datetime import date
from typing import NamedTuple
from uuid import UUID

from django.db import connection

SHOWN_AT_MOST = 20
UNEQUAL = """
    SELECT account_id, month, m.checkpoint_writes, coalesce(d.writes, 0), m.resume_calls, coalesce(d.resumes, 0),
        m.replay_calls, coalesce(d.replays, 0)
    FROM billing_usagerecord m LEFT JOIN (
        SELECT account_id, sum(checkpoint_writes)::bigint AS writes, sum(resume_calls)::bigint AS resumes,
            sum(replay_calls)::bigint AS replays
        FROM billing_usageday WHERE day >= %(month)s AND day < %(month)s + interval '1 month' GROUP BY account_id
    ) d USING (account_id)
    WHERE month = %(month)s AND (m.checkpoint_writes, m.resume_calls, m.replay_calls) IS DISTINCT FROM
        (coalesce(d.writes, 0), coalesce(d.resumes, 0), coalesce(d.replays, 0))
    ORDER BY account_id LIMIT %(most)s
"""


class Unequal(NamedTuple):
    """Each meter as the month has it, and as its days sum up to."""

    account_id: UUID
    month: date
    writes: int
    writes_by_day: int
    resumes: int
    resumes_by_day: int
    replays: int
    replays_by_day: int


def unequal_months(months: list[date]) -> list[Unequal]:
    """Of these months, each its first day; at most SHOWN_AT_MOST of each."""
    found = []
    with connection.cursor() as cursor:
        for month in months:
            cursor.execute(UNEQUAL, {"month": month, "most": SHOWN_AT_MOST})
            found += [Unequal(*row) for row in cursor.fetchall()]
    return found
