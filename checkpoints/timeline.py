"""A workflow's steps for its page: what Redis, Postgres and the index of segments know of them; no object is read."""

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

import msgspec
from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string

from checkpoints import segments, store
from checkpoints.content import decode_envelope
from checkpoints.filter_admin import COLOURS
from checkpoints.ids import MAX_STEP, workflow_key
from checkpoints.models import Checkpoint, Workflow
from checkpoints.times import moment
from checkpoints.verdicts import Range, Tail
from snapstate_project.common.admin import ago, when
from snapstate_project.common.errors import ServiceUnavailable

STEPS_A_PAGE = 100
TITLES = ("Step", "Since previous", "Label", "Agent", "Status", "Size", "Tier", "Saved at (UTC)")
ERRORS_SHOWN = 20


class Told(msgspec.Struct):
    """What is known of one step; None where its tier does not say without being read."""

    step: int
    sequence: int
    at: datetime
    size: int
    label: str | None
    agent: str | None
    status: str | None
    tier: str


def of(request: HttpRequest, workflow_pk: str) -> dict[str, Any]:
    """A page of steps, newest first, from `before` downwards."""
    workflow = Workflow.objects.filter(pk=workflow_pk).first() if is_number(workflow_pk) else None
    if workflow is None:
        return {}
    before = number_in(request.GET.get("before", ""))
    hot, trouble = tail_of(workflow)
    below = MAX_STEP if before is None else before - 1
    page = newest_first(
        [*archived(workflow, below), *rows(workflow, below), *(told for told in hot if told.step <= below)]
    )
    name_agents(workflow, [told for told in page[:STEPS_A_PAGE] if told.tier == "archive"])
    shown = [line(told, previous) for told, previous in pairwise([*page[: STEPS_A_PAGE + 1], None]) if told]
    return {
        "workflow": workflow,
        "step_titles": TITLES,
        "steps": shown[:STEPS_A_PAGE],
        "older": page[STEPS_A_PAGE - 1].step if len(page) > STEPS_A_PAGE else None,
        "is_first_page": before is None,
        "trouble": trouble,
        "may_view_state": request.user.has_perm("checkpoints.view_state"),
        "workflow_errors": errors_of(workflow) if before is None else [],
    }


def tail_of(workflow: Workflow) -> tuple[list[Told], str]:
    """The steps in Redis, among them those that Postgres has not taken yet; and why they cannot be told."""
    key = workflow_key(workflow.account_id, workflow.workflow_id)
    try:
        tail = async_to_sync(store.read)(key, b"", Range(newest_first=True, limit=store.KEEP_STEPS))
    except ServiceUnavailable as down:
        return [], f"Redis cannot be asked: {down.message}"
    if not isinstance(tail, Tail) or tail.head.generation != workflow.generation:
        return [], ""
    return [told_by_entry(step) for step in tail.steps], ""


def told_by_entry(step: Any) -> Told:
    envelope = decode_envelope(step.envelope)
    return Told(
        step.step, step.sequence, moment(step.at), step.size, envelope.label, envelope.agent_id, envelope.status, "hot"
    )


def rows(workflow: Workflow, below: int) -> Iterable[Told]:
    found = Checkpoint.objects.filter(workflow=workflow, generation=workflow.generation, step__lte=below)
    for row in found.defer("body").order_by("-step")[: STEPS_A_PAGE + 1]:
        yield Told(row.step, row.sequence, row.created_at, row.size_bytes, row.label, row.agent_id, row.status, "warm")


def archived(workflow: Workflow, below: int) -> Iterable[Told]:
    """What stands in segments only."""
    if not workflow.dropped_sequence:
        return
    for entry in segments.entries(workflow.pk, workflow.generation, Range(last=below, newest_first=True)):
        if entry.sequence <= workflow.dropped_sequence:
            yield Told(entry.step, entry.sequence, moment(entry.at), entry.size, entry.label, None, None, "archive")


def name_agents(workflow: Workflow, told: list[Told]) -> None:
    """An index of a segment does not name them; the room that STEP_AGENTS names has counted their steps."""
    if not told:
        return
    agents = import_string(settings.STEP_AGENTS)(
        workflow.account_id, bytes(workflow.digest), [each.step for each in told]
    )
    for each in told:
        each.agent = agents.get(each.step)


def newest_first(told: Iterable[Told]) -> list[Told]:
    """Of each step the newest revision; of one that stands in two tiers, the hotter says where."""
    newest: dict[int, Told] = {}
    for each in told:
        if each.step not in newest or newest[each.step].sequence <= each.sequence:
            newest[each.step] = each
    return [newest[step] for step in sorted(newest, reverse=True)]


def line(told: Told, previous: Told | None) -> dict[str, Any]:
    since = (told.at - previous.at).total_seconds() if previous else None
    return {
        "told": told,
        "colour": COLOURS.get(told.status or "", ""),
        "at": when(told.at),
        "previous": previous.step if previous else None,
        "since_previous": None if since is None else f"{'-' if since < 0 else ''}{ago(abs(since))}",
    }


def errors_of(workflow: Workflow) -> list[dict[str, Any]]:
    """The newest, asked of the room that WORKFLOW_ERRORS names."""
    ask = import_string(settings.WORKFLOW_ERRORS)
    found: list[dict[str, Any]] = ask(UUID(str(workflow.account_id)), bytes(workflow.digest), limit=ERRORS_SHOWN)
    return found


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def number_in(text: str) -> int | None:
    return int(text) if is_number(text) else None
