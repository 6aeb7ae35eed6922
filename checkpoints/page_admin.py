"""Pages of one workflow beside its own: two steps compared, a state, and all of it as a file. States by permission."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import quote

import msgspec
from asgiref.sync import async_to_sync
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from unfold.decorators import action

from checkpoints import answers, reads
from checkpoints.changes import changes
from checkpoints.content import Step, decode_envelope
from checkpoints.errors import CheckpointNotFound
from checkpoints.ids import MAX_STEP, WorkflowKey, workflow_key
from checkpoints.models import Workflow
from checkpoints.timeline import number_in
from checkpoints.times import moment
from checkpoints.verdicts import Range
from snapstate_project.common.admin import when
from snapstate_project.common.audit import record_look
from snapstate_project.common.errors import ApiError

VIEW_STATE = "checkpoints.view_state"
STEPS_AT_ONCE = 100
ROOM = 4 * 1_048_576


class WorkflowPages:
    """For the workflows' admin, which brings the rest."""

    def get_urls(self) -> list[Any]:
        def page(route: str, view: Callable[..., HttpResponse], name: str) -> Any:
            wrapped = self.admin_site.admin_view(view)  # type: ignore[attr-defined]  # the admin's, as below
            return path(f"<path:object_id>/{route}", wrapped, name=f"checkpoints_workflow_{name}")

        own = [page("diff/", self.diff_page, "diff"), page("state/<int:step>/", self.state_page, "state")]
        return [*own, *super().get_urls()]  # type: ignore[misc]

    def diff_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """From one step to another, the two newest unless told; values only for those who may see states."""
        workflow = self.seen(request, object_id)
        with_values = request.user.has_perm(VIEW_STATE)
        asked = (number_in(request.GET.get("from", "")), number_in(request.GET.get("to", "")))
        try:
            before, after = async_to_sync(two_steps)(key_of(workflow), *asked)
        except ApiError as refusal:
            return self.answer(request, workflow, "diff.html", trouble=refusal.message, asked=asked)
        found, truncated = changes(before.state if before else b"{}", after.state, with_values=with_values)
        if with_values:
            record_look(workflow, f"Compared step {before.step if before else 'none'} with step {after.step}.")
        return self.answer(
            request, workflow, "diff.html", before=told(before), after=told(after), changes=found,
            truncated=truncated, with_values=with_values, asked=(before.step if before else None, after.step),
        )  # fmt: skip

    def state_page(self, request: HttpRequest, object_id: str, step: int) -> HttpResponse:
        workflow = self.seen(request, object_id)
        if not request.user.has_perm(VIEW_STATE):
            raise PermissionDenied
        try:
            found = async_to_sync(exactly)(key_of(workflow), step)
        except ApiError as refusal:
            return self.answer(request, workflow, "state.html", step=step, trouble=refusal.message)
        record_look(workflow, f"Saw the state of step {step}.")
        shown = {**(told(found) or {}), "state": found.state.decode(), "metadata": found.metadata.decode()}
        return self.answer(request, workflow, "state.html", step=step, shown=shown)

    def has_download_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return bool(request.user.has_perm(VIEW_STATE))

    @action(description="Download", icon="download", permissions=["download"])
    def download(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Every checkpoint as a line of JSON, from whatever tier, as it is read."""
        workflow = self.seen(request, object_id)
        record_look(workflow, "Downloaded all of it.")
        response = StreamingHttpResponse(lines(key_of(workflow)), content_type="application/x-ndjson")
        name = quote(f"{workflow.workflow_id}.jsonl", safe="")
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
        return response  # type: ignore[return-value]  # of the same family

    def seen(self, request: HttpRequest, object_id: str) -> Workflow:
        if not self.has_view_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        workflow: Workflow = self.found_or_404(request, object_id)  # type: ignore[attr-defined]
        return workflow

    def answer(self, request: HttpRequest, workflow: Workflow, template: str, **shown: Any) -> HttpResponse:
        site = self.admin_site  # type: ignore[attr-defined]
        request.current_app = site.name
        back = reverse("admin:checkpoints_workflow_change", args=[workflow.pk])
        common = {"opts": Workflow._meta, "original": workflow, "workflow": workflow, "back": back}
        context = {**site.each_context(request), **common, **shown}
        return TemplateResponse(request, f"admin/checkpoints/{template}", context)


def key_of(workflow: Workflow) -> WorkflowKey:
    return workflow_key(workflow.account_id, workflow.workflow_id)


def told(step: Step | None) -> dict[str, Any] | None:
    if step is None:
        return None
    envelope = decode_envelope(step.envelope)
    return {
        "step": step.step,
        "at": when(moment(step.at)),
        "size": step.size,
        "etag": step.etag,
        "label": envelope.label,
        "agent": envelope.agent_id,
        "status": envelope.status,
        "error": envelope.error,
    }


async def exactly(key: WorkflowKey, step: int) -> Step:
    found = await reads.page(key, Range(first=step, last=step, limit=1))
    if found is None or not found.steps:
        raise CheckpointNotFound
    return found.steps[0]


async def two_steps(key: WorkflowKey, first: int | None, last: int | None) -> tuple[Step | None, Step]:
    """`last` (else the newest), and `first` (else what stands before that, if anything does)."""
    found = await reads.page(key, Range(last=MAX_STEP if last is None else last, newest_first=True, limit=2))
    if found is None or not found.steps or (last is not None and found.steps[0].step != last):
        raise CheckpointNotFound
    before = found.steps[1] if found.steps[1:] else None
    return (before if first is None else await exactly(key, first)), found.steps[0]


async def lines(key: WorkflowKey) -> AsyncIterator[bytes]:
    """A few steps are held at a time. One that cannot be read ends the file with a line that says so."""
    first: int | None = 0
    while first is not None:
        try:
            page = await reads.page(key, Range(first=first, limit=STEPS_AT_ONCE, room=ROOM))
        except ApiError as refusal:
            yield msgspec.json.encode({"error": refusal.message}) + b"\n"
            return
        steps = page.steps if page else []
        for step in steps:
            yield msgspec.json.encode(answers.replayed(key.workflow_id, step, include_state=True)) + b"\n"
        first = steps[-1].step + 1 if page and page.more and steps else None
