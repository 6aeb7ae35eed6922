"""What the audit log watches by itself: every save of an account, key, operator or group, in its own transaction.

What services change in other ways they record themselves (`common/audit.py`); what pages note in Django's history of a
row that is not watched goes into the audit log too. A year is kept.
"""

from datetime import datetime, timedelta
from typing import Any

from auditlog.models import LogEntry
from auditlog.registry import auditlog
from django.contrib.admin.models import LogEntry as PageEntry
from django.contrib.auth.models import Group, User
from django.db.models.signals import post_save, pre_save
from django.utils import timezone

from accounts.models import Account, ApiKey, Deletion
from snapstate_project.common import acting
from snapstate_project.common.audit import record

KEPT = timedelta(days=365)
MASK = "(a secret)"


def secret(_value: str) -> str:
    """That it has changed shows; what it was and is never does."""
    return MASK


def watch() -> None:
    """Once, when all models are there."""
    auditlog.register(Account, exclude_fields=["updated_at", "keys", "deletions"])
    auditlog.register(ApiKey, exclude_fields=["digest", "last_used_at"])
    auditlog.register(Deletion)
    masked = {"mask_fields": ["password"], "mask_callable": f"{__name__}.secret"}
    auditlog.register(User, exclude_fields=["last_login"], m2m_fields={"groups", "user_permissions"}, **masked)
    auditlog.register(Group, m2m_fields={"permissions"})
    pre_save.connect(name_the_actor, sender=LogEntry, dispatch_uid="audit.actor")
    post_save.connect(note_what_pages_note, sender=PageEntry, dispatch_uid="audit.pages")


def name_the_actor(sender: Any, instance: LogEntry, **_: Any) -> None:  # noqa: ARG001 (Django names it)
    actor = acting.current()
    if not instance._state.adding:
        return
    if actor is None:
        instance.actor_email = acting.NOBODY_NAMED
        return
    instance.actor, instance.actor_email = actor.user, actor.name
    instance.remote_addr, instance.cid = actor.address, actor.request_id


def note_what_pages_note(sender: Any, instance: PageEntry, created: bool, **_: Any) -> None:  # noqa: ARG001
    """`log_change` and its like, unless the log has an entry of this request for this row already, which says more."""
    model = instance.content_type.model_class() if created and instance.content_type else None
    if model is None or auditlog.contains(model) or is_told(instance):
        return
    row = model._base_manager.filter(pk=instance.object_id).first()
    if row is not None:
        record(row, instance.get_change_message())


def is_told(page: PageEntry) -> bool:
    actor = acting.current()
    told = LogEntry.objects.filter(content_type=page.content_type, object_pk=page.object_id)
    return bool(actor and actor.request_id and told.filter(cid=actor.request_id).exists())


def prune_audit_log(*, now: datetime | None = None, batch: int = 10_000) -> int:
    """Delete what is older than a year; how many entries went."""
    old = LogEntry.objects.filter(timestamp__lt=(now or timezone.now()) - KEPT).order_by()
    pruned = 0
    while gone := LogEntry.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:batch])).delete()[0]:
        pruned += gone
    return pruned
