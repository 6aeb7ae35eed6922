"""`python -m snapstate_project.dev.prepare`: Django first, then what needs its models."""

import os
from importlib import import_module

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")
    django.setup()
    import_module("snapstate_project.dev.first_run").prepare()
