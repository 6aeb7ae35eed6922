"""Events become deliveries, one for each endpoint that wants to hear of them; an erased workflow's are dropped."""

from typing import NamedTuple
from uuid import UUID

from snapstate_project.events.catalogue import CATALOGUE, Body, WorkflowErased
from snapstate_project.events.models import Event
from snapstate_project.events.relay import subscribe
from webhooks.messages import EVENTS, Cut, cut_message
from webhooks.models import Delivery, Endpoint


class Heard(NamedTuple):
    event: Event
    body: Body


@subscribe("webhooks", *(name for name in EVENTS if name in CATALOGUE), "workflow.erased")
def queue(events: list[Event]) -> None:
    heard = [Heard(event, event.body) for event in events if not event.erased]
    erased = {
        (event.account_id, body.digest): body.generation for event, body in heard if isinstance(body, WorkflowErased)
    }
    sent = [each for each in heard if not isinstance(each.body, WorkflowErased) and not is_gone(*each, erased)]
    listening = Endpoint.objects.accounts_listening({event.account_id for event, _ in sent})
    Delivery.objects.queue([message_of(event, body) for event, body in sent if event.account_id in listening])
    for (account_id, digest), generation in erased.items():
        Delivery.objects.drop(account_id, digest, generation)


def is_gone(event: Event, body: Body, erased: dict[tuple[UUID, str], int]) -> bool:
    """Erased later in the same batch."""
    digest, generation = workflow_of(body)
    return generation < erased.get((event.account_id, digest), 0)


def workflow_of(body: Body) -> tuple[str, int]:
    """Its digest and generation; nothing for what befell the account."""
    return getattr(body, "digest", ""), getattr(body, "generation", 0)


def message_of(event: Event, body: Body) -> Cut:
    digest, generation = workflow_of(body)
    return cut_message(event.type, bytes(event.uid), event.account_id, event.at, digest, generation, body)
