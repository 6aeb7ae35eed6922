"""Everything that is saved, resumed or erased is counted once, in the order in which it happened."""

from analytics import services
from snapstate_project.events.models import Event
from snapstate_project.events.relay import subscribe


@subscribe(services.SUBSCRIBER, *services.COUNTED)
def count(events: list[Event]) -> None:
    services.count_events(events)
