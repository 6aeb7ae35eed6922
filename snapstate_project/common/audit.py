"""The audit log as rooms write it: who did what to which row, with what was before and after; never a secret."""

from collections.abc import Mapping
from typing import Any

from auditlog.models import LogEntry
from django.db.models import Model

type Values = Mapping[str, Any]


def record(row: Model, what: str, *, before: Values | None = None, after: Values | None = None) -> LogEntry:
    """A change that no save of a watched model tells of: one in Redis, by `update()`, or in many rows at once.

    Call it within the change's transaction, so that there is neither without the other. Who acts is known already.
    """
    return entry(row, what, LogEntry.Action.UPDATE, changes(before or {}, after or {}))


def record_look(row: Model, what: str) -> LogEntry:
    """Something was shown that not every operator may see."""
    return entry(row, what, LogEntry.Action.ACCESS, {})


def entry(row: Model, what: str, action: int, changed: dict[str, list[Any]]) -> LogEntry:
    made: LogEntry = LogEntry.objects.log_create(
        row,
        force_log=True,
        action=action,
        object_repr=name_of(row),
        changes=changed,
        additional_data={"what": what},
    )
    return made


def changes(before: Values, after: Values) -> dict[str, list[Any]]:
    """Only what differs."""
    names = [*before, *(name for name in after if name not in before)]
    pairs = {name: [said(before.get(name)), said(after.get(name))] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def said(value: Any) -> str | None:
    return None if value is None else str(value)


def name_of(row: Model) -> str:
    """A row that has the digest of a workflow goes by that: its own name is a customer's text, and can be erased."""
    digest = getattr(row, "digest", None)
    if isinstance(digest, bytes | memoryview):
        return f"{row._meta.verbose_name} {bytes(digest).hex()}"
    return str(row)
