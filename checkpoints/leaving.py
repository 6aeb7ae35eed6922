"""Erasing all that an account has, a slice at a time: each workflow as its owner would, in every tier."""

from uuid import UUID

from django.db import transaction

from checkpoints import erasing
from checkpoints.models import Workflow
from snapstate_project.common import stopping


def erase_some(account_id: UUID, *, limit: int = 500) -> bool:
    """Whether nothing is left of what Postgres knows. Raises RedisDown; what was promised by then is kept later."""
    left = Workflow.objects.filter(account_id=account_id, head_step__isnull=False)
    for pk in list(left.order_by("pk").values_list("pk", flat=True)[:limit]):
        if stopping.has_begun():
            return False
        erase_one(pk)
    return not left.exists()


def erase_one(pk: int) -> None:
    """The row is blanked and the promise written in one transaction; what follows may be repeated by anybody."""
    with transaction.atomic():
        rows = Workflow.objects.select_for_update(no_key=True)
        workflow = rows.filter(pk=pk, head_step__isnull=False).first()
        if workflow is None:
            return
        erasure = erasing.erase_row(workflow, workflow.generation + 1)
    erasing.finish_erasure(erasure)
