"""An erased workflow's events stay, for they were counted; what a customer wrote goes from them."""

from uuid import UUID

from snapstate_project.events.catalogue import CATALOGUE, WorkflowErased, encode, without_texts
from snapstate_project.events.models import Event
from snapstate_project.events.relay import subscribe

BATCH = 1_000


@subscribe("erasures", "workflow.erased", last=True)
def forget(events: list[Event]) -> None:
    """Others need the texts first: they say which agent was seen."""
    for event in events:
        body = event.body
        if isinstance(body, WorkflowErased):
            forget_texts(event.account_id, body, until=event.id)


def forget_texts(account_id: UUID, erased: WorkflowErased, *, until: int) -> None:
    """Of a workflow's events before `until`, and of its older generations."""
    of_workflow = Event.objects.of_workflow(erased.digest).filter(account_id=account_id, type__in=CATALOGUE)
    batch: list[Event] = []
    after = 0
    while not after or len(batch) == BATCH:  # each look reads the whole index
        batch = list(of_workflow.filter(id__gt=after, id__lt=until).order_by("id")[:BATCH])
        after = batch[-1].id if batch else until
        Event.objects.bulk_update([event for event in batch if lost_its_texts(event, erased.generation)], ["data"])


def lost_its_texts(event: Event, generation: int) -> bool:
    """Whether there were any to lose."""
    body = event.body
    if getattr(body, "generation", generation) >= generation:
        return False
    before, event.data = event.data, encode(without_texts(body))
    return event.data != before
