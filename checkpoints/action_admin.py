"""What operators may do to a workflow, each through its service: move it between tiers, pin it, erase it."""

from collections.abc import Callable
from copy import copy
from time import monotonic, sleep
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.admin_pages import confirmed, is_confirmed
from checkpoints import moving, services
from checkpoints.envelope import WorkflowChanges
from checkpoints.ids import workflow_key
from checkpoints.models import Workflow
from snapstate_project.common.admin import offered
from snapstate_project.common.errors import RedisDown, ServiceUnavailable

CHANGE, ERASE = "checkpoints.change_workflow", "checkpoints.delete_workflow"
WAKING = {
    "title": "Make it hot",
    "consequence": "It is read from the archive and put into Redis, for as long as its TTL. Nothing is metered.",
    "button": "Make it hot",
    "done": "Made hot",
}
ARCHIVING = {
    "title": "Archive now",
    "consequence": "All of it moves to the archive, before its TTL ends. It can be resumed from there as before.",
    "button": "Archive now",
    "done": "Archived",
}
PINNING = {
    "title": "Pin",
    "consequence": "It is neither archived nor pruned until it is unpinned.",
    "button": "Pin",
    "done": "Pinned",
}
UNPINNING = {
    "title": "Unpin",
    "consequence": "Its expiry counts again; where that is past, it is archived at once.",
    "button": "Unpin",
    "done": "Unpinned",
}
ERASING = {
    "title": "Erase",
    "consequence": (
        "Gone for good, in every tier, with its statistics and errors; what it used stays billed. "
        "This cannot be undone."
    ),
    "button": "Erase for good",
    "done": "Erased",
    "variant": "danger",
}


class EraseForm(forms.Form):
    """The id, typed: nobody erases a workflow that they have not read the name of."""

    typed = forms.CharField(
        label="Type the workflow's id to erase it",
        strip=False,
        max_length=255,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, workflow_id: str, *args: Any) -> None:
        self.workflow_id = workflow_id
        super().__init__(*args)

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if typed != self.workflow_id:
            raise forms.ValidationError("This is not the id of this workflow.")
        return typed


class WorkflowActions:
    """For the workflows' admin, which brings the rest."""

    actions_detail: Any = ("download", "make_hot", "archive_now", "pin", "unpin", "erase")

    # --- Who may, and what fits its state ---

    def has_wake_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        workflow = self.row(request, object_id)
        return self.offered(request, "make_hot", workflow is not None and workflow.is_cold)

    def has_archive_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        workflow = self.row(request, object_id)
        fits = workflow is not None and not workflow.is_cold and not workflow.pinned
        return self.offered(request, "archive_now", fits)

    def has_pin_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        workflow = self.row(request, object_id)
        return self.offered(request, "pin", workflow is not None and not workflow.pinned)

    def has_unpin_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        workflow = self.row(request, object_id)
        return self.offered(request, "unpin", workflow is not None and workflow.pinned)

    def has_erase_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm(ERASE)

    def offered(self, request: HttpRequest, action: str, fits: bool) -> bool:
        return offered(request, action, may=request.user.has_perm(CHANGE), fits=fits)

    def row(self, request: HttpRequest, object_id: Any) -> Workflow | None:
        """Asked for once a request: every action asks."""
        held = request.__dict__.setdefault("workflows_held", {})
        if object_id not in held:
            held[object_id] = self.get_object(request, str(object_id))  # type: ignore[attr-defined]  # the admin's
        found: Workflow | None = held[object_id]
        return found

    # --- What they do ---

    @action(description="Make it hot", icon="local_fire_department", permissions=["wake"])
    def make_hot(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, moving.make_hot, WAKING)

    @action(description="Archive now", icon="inventory_2", permissions=["archive"])
    def archive_now(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, moving.archive_now, ARCHIVING)

    @action(description="Pin", icon="keep", permissions=["pin"])
    def pin(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, lambda workflow: patch(workflow, pinned=True), PINNING)

    @action(description="Unpin", icon="keep_off", permissions=["unpin"])
    def unpin(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, lambda workflow: patch(workflow, pinned=False), UNPINNING)

    @action(description="Erase", icon="delete_forever", permissions=["erase"], variant=ActionVariant.DANGER)
    def erase(self, request: HttpRequest, object_id: str) -> HttpResponse:
        workflow = self.found_or_404(request, object_id)
        form = EraseForm(workflow.workflow_id, request.POST if is_confirmed(request) else None)
        return self.act(request, object_id, erase, ERASING, form=form, back=reverse(f"{NAME}_changelist"))

    def act(
        self,
        request: HttpRequest,
        object_id: str,
        service: Callable[[Workflow], object],
        words: dict[str, str],
        **more: Any,
    ) -> HttpResponse:
        workflow = self.found_or_404(request, object_id)
        more = {"back": reverse(f"{NAME}_change", args=[workflow.pk]), **more}
        return confirmed(self, request, [workflow], service, original=workflow, **words, **more)  # type: ignore[arg-type]

    def log_change(self, request: HttpRequest, obj: Workflow, message: Any) -> Any:
        """By its digest: what is noted outlives an erase, and the id is a customer's text."""
        nameless = copy(obj)
        nameless.workflow_id = f"workflow {bytes(obj.digest).hex()}"
        return super().log_change(request, nameless, message)  # type: ignore[misc]  # the admin's

    def found_or_404(self, request: HttpRequest, object_id: str) -> Workflow:
        workflow = self.row(request, object_id)
        if workflow is None:
            raise Http404
        return workflow


NAME = "admin:checkpoints_workflow"
SHOWN_WITHIN_SECONDS = 3.0


def patch(workflow: Workflow, *, pinned: bool) -> None:
    key = workflow_key(workflow.account_id, workflow.workflow_id)
    async_to_sync(services.patch_workflow)(key, WorkflowChanges(pinned=pinned))
    until = monotonic() + SHOWN_WITHIN_SECONDS
    # The page that follows reads the row, which intake writes; it would deny what has just been done.
    while not Workflow.objects.filter(pk=workflow.pk, pinned=pinned).exists() and monotonic() < until:
        sleep(SHOWN_WITHIN_SECONDS / 30)


def erase(workflow: Workflow) -> None:
    try:
        async_to_sync(services.erase_workflow)(workflow.account_id, workflow.workflow_id)
    except RedisDown as down:
        raise ServiceUnavailable(
            "Redis cannot be reached. It is gone all the same, and for good once Redis is back."
        ) from down
