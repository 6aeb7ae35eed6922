"""A relay in a process of its own: `python -m tests.events.racer NAME [dies]`, which then waits to be killed."""

import sys
import time

import django


def main(name: str, *ways: str) -> None:
    django.setup()
    from snapstate_project.events import relay  # noqa: PLC0415  (only once Django is set up)
    from tests.events.steps import write_down  # noqa: PLC0415

    @relay.subscribe(name, "workflow.erased")
    def hear(events):
        write_down(name, events)
        if "dies" in ways:
            print("middle", flush=True)
            time.sleep(60)

    while relay.relay_once(name, limit=10):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
