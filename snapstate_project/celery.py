"""The Celery application of worker and beat: `celery -A snapstate_project.celery`; tasks only call services."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")

app = Celery("snapstate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
