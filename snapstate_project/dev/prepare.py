"""`python -m snapstate_project.dev.prepare`: Django first, then what needs its models."""

import os
import sys
from importlib import import_module

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import SystemCheckError

from snapstate_project.dev.errors import CannotStart

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")
    try:
        django.setup()
        import_module("snapstate_project.dev.first_run").prepare()
    except (CannotStart, ImproperlyConfigured, SystemCheckError) as wrong:
        sys.exit(str(wrong).strip())
