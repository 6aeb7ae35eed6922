"""Periodic work of this room; each task is one call of its service."""

from celery import shared_task

from billing import storage, stripe_sync


@shared_task(name="billing.sample_storage")
def sample_storage() -> int:
    return storage.sample_storage()


@shared_task(name="billing.sync_stripe")
def sync_stripe() -> int:
    return stripe_sync.sync_stripe().sent
