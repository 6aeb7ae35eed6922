"""Periodic work of the wiring; each task is one call."""

from celery import shared_task

from snapstate_project import audit, closing, operator_site


@shared_task(name="wiring.close_due_accounts")
def close_due_accounts() -> int:
    return closing.close_due_accounts()


@shared_task(name="wiring.prune_audit_log")
def prune_audit_log() -> int:
    return audit.prune_audit_log()


@shared_task(name="wiring.prune_sign_ins")
def prune_sign_ins() -> int:
    return operator_site.prune_sign_ins()
