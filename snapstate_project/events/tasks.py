"""Periodic work on events."""

from celery import shared_task

from snapstate_project.events import services


@shared_task(name="events.prune_events")
def prune_events() -> None:
    services.prune_events()
