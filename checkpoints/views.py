"""The API of checkpoints and workflows: parse, call the service, answer with ready bytes."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from checkpoints import answers, envelope, reads, schema, serializers, services
from checkpoints.diff import difference
from checkpoints.errors import invalid
from checkpoints.ids import MAX_STEP, checkpoint_from_path, workflow_key
from checkpoints.listing import Position, list_workflows
from checkpoints.models import Workflow
from checkpoints.verdicts import Range
from snapstate_project.common.api import (
    HotAPIView,
    HotRequest,
    ReadyResponse,
    boolean,
    choice,
    integer,
    json_response,
    moment,
    query,
    text,
)
from snapstate_project.common.ids import agent, workflow_id_from_path
from snapstate_project.common.pagination import CURSOR, DEFAULT_LIMIT, LIMIT, decode_cursor, encode_cursor

STEP = integer(0, MAX_STEP)
LABEL = text(256, least=0, nul=True)
READ, WRITE = "checkpoints:read", "checkpoints:write"


class CheckpointsView(HotAPIView):
    required_scopes = WRITE

    @extend_schema(**schema.SAVE)
    async def post(self, request: HotRequest) -> HttpResponse:
        """Save a checkpoint."""
        new = envelope.parse(request.body, request.META)
        outcome = await services.save_checkpoint(request.caller.account_id, new)
        return answers.saved(new, outcome)


class ResumeView(HotAPIView):
    required_scopes = READ

    @extend_schema(**schema.RESUME)
    async def get(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        """Resume a workflow: its newest checkpoint."""
        workflow_id = workflow_id_from_path(workflow_id)
        agent_id = query(request, {"agent_id": agent}).get("agent_id")
        if request.method == "HEAD":  # looks, and is not metered
            step = (await reads.newest(workflow_key(request.caller.account_id, workflow_id)))[1]
            return ReadyResponse(headers={"ETag": answers.quoted(step.etag)})
        head, step, source = await services.resume_workflow(request.caller.account_id, workflow_id, agent_id)
        return answers.tagged(answers.resumed(workflow_id, head, step, source), step.etag)


class ReplayView(HotAPIView):
    required_scopes = READ
    parameters = {
        "from_step": STEP,
        "to_step": STEP,
        "label": LABEL,
        "limit": integer(1, 1000),
        "cursor": CURSOR,
        "include_state": boolean,
    }

    @extend_schema(**schema.REPLAY)
    async def get(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        """Replay a workflow: its checkpoints in step order."""
        workflow_id = workflow_id_from_path(workflow_id)
        asked = query(request, self.parameters)
        first = asked.get("from_step", 0)
        if "cursor" in asked:
            first = max(first, decode_cursor(asked["cursor"], tuple[int])[0] + 1)
        wanted = Range(
            first=first,
            last=asked.get("to_step", MAX_STEP),
            limit=asked.get("limit", 100),
            metered=request.method == "GET",
        )
        page = await reads.replay(workflow_key(request.caller.account_id, workflow_id), wanted, asked.get("label"))
        steps = page.steps if page else []
        include_state = asked.get("include_state", True)
        answer = serializers.Replay(
            workflow_id=workflow_id,
            checkpoints=[answers.replayed(workflow_id, step, include_state=include_state) for step in steps],
            total=len(steps),
            has_more=page.more if page else False,
            next_cursor=encode_cursor((steps[-1].step,)) if page and page.more else None,
        )
        return json_response(answer)


class DiffView(HotAPIView):
    required_scopes = READ

    @extend_schema(**schema.DIFF)
    async def get(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        """Compare two steps of a workflow; the two newest unless told otherwise."""
        workflow_id = workflow_id_from_path(workflow_id)
        asked = query(request, {"from_step": STEP, "to_step": STEP})
        key = workflow_key(request.caller.account_id, workflow_id)
        changes = await reads.compare_steps(key, asked.get("from_step"), asked.get("to_step"))
        return json_response({"workflow_id": workflow_id, **changes})


class CheckpointView(HotAPIView):
    required_scopes = READ

    @extend_schema(**schema.GET)
    async def get(self, request: HotRequest, checkpoint_id: str) -> HttpResponse:
        """Get one checkpoint."""
        query(request, {})
        workflow_id, number = checkpoint_from_path(checkpoint_id)
        account_id = request.caller.account_id
        head, step = await reads.get_checkpoint(account_id, workflow_id, number)
        if _etags(request.META.get("HTTP_IF_NONE_MATCH", "")) & {step.etag, "*"}:
            return not_modified(step.etag)
        before = await reads.previous_state(workflow_key(account_id, workflow_id), number)
        changes = None if before is None else difference(before, step.state)
        return answers.tagged(answers.detail(workflow_id, head, step, changes), step.etag)


def not_modified(etag: str) -> HttpResponse:
    response = HttpResponse(status=304, headers={"ETag": answers.quoted(etag)})
    del response.headers["Content-Type"]
    return response


def without_guard(request: HotRequest) -> None:
    """A guard that nobody would look at is refused: who sends one means it."""
    for header in ("If-Match", "If-None-Match"):
        if f"HTTP_{header.upper().replace('-', '_')}" in request.META:
            raise invalid(header, "is taken by saves only")


def _etags(header: str) -> set[str]:
    return {part.strip().removeprefix("W/").strip('"') for part in header.split(",")}


class WorkflowsView(HotAPIView):
    required_scopes = READ
    filters = {
        "status": choice(("active", "completed", "failed", "stalled")),
        "agent_id": agent,
        "label": LABEL,
        "metadata.*": text(65_536, least=0, nul=True),
        "updated_after": moment,
        "updated_before": moment,
        "q": text(255),
    }

    @extend_schema(**schema.LIST)
    def get(self, request: HotRequest) -> HttpResponse:
        """List workflows, newest activity first."""
        asked = query(request, {**self.filters, "limit": LIMIT, "cursor": CURSOR})
        cursor = asked.pop("cursor", None)
        rows, following = list_workflows(
            request.caller.account_id,
            asked,
            limit=asked.pop("limit", DEFAULT_LIMIT),
            after=decode_cursor(cursor, Position) if cursor else None,
        )
        answer = serializers.WorkflowList(
            workflows=[answers.summary_of_row(row) for row in rows],
            has_more=following is not None,
            next_cursor=encode_cursor(following) if following else None,
        )
        return json_response(answer)


class WorkflowView(HotAPIView):
    required_scopes = {"GET": READ, "PATCH": WRITE, "DELETE": WRITE}

    @extend_schema(**schema.SUMMARY)
    async def get(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        """One workflow's summary."""
        query(request, {})
        return await self.summary(request, workflow_id_from_path(workflow_id))

    @extend_schema(**schema.PATCH)
    async def patch(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        """Change how long a workflow lives."""
        without_guard(request)
        workflow_id = workflow_id_from_path(workflow_id)
        changes = envelope.parse_changes(request.body)
        await services.patch_workflow(workflow_key(request.caller.account_id, workflow_id), changes)
        return await self.summary(request, workflow_id)

    @extend_schema(**schema.ERASE)
    async def delete(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        """Erase a workflow from every tier."""
        without_guard(request)
        await services.erase_workflow(request.caller.account_id, workflow_id_from_path(workflow_id))
        return HttpResponse(status=204)

    async def summary(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        found = await reads.head_of(workflow_key(request.caller.account_id, workflow_id))
        summary = (
            answers.summary_of_row(found) if isinstance(found, Workflow) else answers.summary_of(workflow_id, *found)
        )
        return json_response(summary, headers={"ETag": summary.etag})
