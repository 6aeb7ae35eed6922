"""Events go in under one lock, so that their ids become visible in order."""

import os
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from snapstate_project.events.catalogue import Body, encode, fields_of
from snapstate_project.events.models import EVENT_LOCK

SEPARATOR = "\x1f"
"""Never part of JSON text. A column travels as one string, which psycopg sends ten times faster than an array."""
INSERT = """
    INSERT INTO events_event (uid, type, account_id, at, erased, data)
    SELECT * FROM unnest(
        string_to_array(%s, E'\\x1f')::bytea[],
        string_to_array(%s, E'\\x1f'),
        string_to_array(%s, E'\\x1f')::uuid[],
        string_to_array(%s, E'\\x1f')::timestamptz[],
        string_to_array(%s, E'\\x1f')::bool[],
        string_to_array(%s, E'\\x1f')
    )
    ON CONFLICT (uid) DO NOTHING
"""

type EventRow = tuple[bytes, str, UUID, datetime, bool, str]
"""uid (16 bytes), type, account_id, at, erased, data."""


class Cursor(Protocol):
    """What a psycopg cursor and Django's wrapper of one have in common."""

    @property
    def rowcount(self) -> int: ...

    def execute(self, query: Any, params: Any = None, /) -> Any: ...


def insert_events(cursor: Cursor, rows: Sequence[EventRow]) -> int:
    """Insert, in this order, what is not there yet (by uid); how many were new. Within a transaction only.

    The event lock is held until that transaction ends: nothing but COMMIT should follow.
    """
    if not rows:
        return 0
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", [EVENT_LOCK])
    uids, types, accounts, times, erased, data = zip(*rows, strict=True)
    columns = (
        ("\\x" + uid.hex() for uid in uids),
        types,
        (account_id.hex for account_id in accounts),
        (at.isoformat() for at in times),
        ("t" if flag else "f" for flag in erased),
        data,
    )
    cursor.execute(INSERT, [SEPARATOR.join(column) for column in columns])
    return cursor.rowcount


def record_event(event_type: str, account_id: UUID, data: Body | Mapping[str, Any], at: datetime | None = None) -> None:
    """Insert an event born in Postgres, as the last thing in the transaction of its cause."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("record_event belongs in the transaction of the event's cause")
    uid = time.time_ns().to_bytes(8) + os.urandom(8)
    row = (uid, event_type, account_id, at or timezone.now(), False, encode(fields_of(event_type, data)))
    with connection.cursor() as cursor:
        insert_events(cursor, [row])
