"""The processes of SnapState as `make up` starts them."""

import os
import sys
from pathlib import Path

from snapstate_project.dev.process import Log, Process

WORKERS = 2
DEFAULTS = {
    "WEB_CONCURRENCY": str(WORKERS),
    "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",  # make up may
}


def processes(home: Path, log: Log) -> list[Process]:
    """In the order of their start: intake first, so that what waits from the last run is taken at once."""
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--quiet", "-A", "snapstate_project"]
    beat_file = str(home / "celerybeat-schedule")
    commands = {
        "intake": [sys.executable, "manage.py", "intake"],
        "web": [*python, "gunicorn", "-c", "python:snapstate_project.gunicorn", "snapstate_project.asgi:application"],
        "worker": [*celery, "worker", "--loglevel=WARNING", "-Q", "celery", f"--concurrency={WORKERS}"],
        "webhooks": [
            *celery,
            "worker",
            "--loglevel=WARNING",
            "-Q",
            "webhooks",
            "--pool=threads",
            "--concurrency=1",
            "-n",
            "webhooks@%h",
        ],
        "beat": [*celery, "beat", "--loglevel=WARNING", f"--schedule={beat_file}", "--pidfile="],
    }
    made = [Process(name, command, log=log) for name, command in commands.items()]
    for process in made:
        process.env = {**DEFAULTS, **os.environ, "PYTHONUNBUFFERED": "1"}
    return made
