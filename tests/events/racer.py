"""A relay in a process of its own: `python -m tests.events.racer NAME [dies]`, which then waits to be killed."""

import sys
import time
from importlib import import_module

import django


def main(name: str, *ways: str) -> None:
    django.setup()
    relay, steps = import_module("snapstate_project.events.relay"), import_module("tests.events.steps")

    @relay.subscribe(name, "workflow.erased")
    def hear(events):
        steps.write_down(name, events)
        if "dies" in ways:
            print("middle", flush=True)
            time.sleep(60)

    while relay.relay_once(name, limit=10):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
