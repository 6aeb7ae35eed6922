"""Periodic work of this room; each task is one call of its service."""

from celery import shared_task

from checkpoints import archiving, erasing, retention


@shared_task(name="checkpoints.archive_expiring")
def archive_expiring() -> int:
    return archiving.archive_expiring().archived


@shared_task(name="checkpoints.finish_erasures")
def finish_erasures() -> int:
    return erasing.finish_erasures()


@shared_task(name="checkpoints.prune")
def prune() -> int:
    done = retention.prune()
    if done.failures:  # operators see a task that failed
        raise done.failures[0]
    return done.checkpoints
