"""The events app: installed as "events"; finding every room's subscribers is its one start-up duty."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class EventsConfig(AppConfig):
    name = "snapstate_project.events"
    label = "events"
    verbose_name = "Events"

    def ready(self) -> None:
        autodiscover_modules("subscribers")
