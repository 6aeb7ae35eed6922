"""A relay of analytics in a process of its own, a few events at a time, until it is killed or there are no more."""

from importlib import import_module

import django


def main() -> None:
    django.setup()
    relay = import_module("snapstate_project.events.relay")
    print("ready", flush=True)
    while relay.relay_once("analytics", limit=3):
        pass


if __name__ == "__main__":
    main()
