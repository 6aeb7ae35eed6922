"""A deliverer in a process of its own: `python -m tests.webhooks.racer`; sends what is due and ends."""

import os
from importlib import import_module

import django


def main() -> None:
    django.setup()
    import_module("django.conf").settings.WEBHOOK_PRIVATE_NETWORKS = ["127.0.0.0/8"]
    print("ready", flush=True)
    print(import_module("webhooks.delivering").deliver_due(), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")
    main()
