"""gunicorn's settings: `gunicorn -c python:snapstate_project.gunicorn snapstate_project.asgi:application`."""

import gc
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from uvicorn_worker import UvicornWorker

from snapstate_project.common.metrics import board
from snapstate_project.env import env, env_int

FIGURES = "snapstate-figures-"
YIELDING = 5


class Worker(UvicornWorker):
    CONFIG_KWARGS: dict[str, Any] = {
        "loop": "uvloop",
        "http": "snapstate_project.protocol:Protocol",  # httptools, and our errors
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # asgi.py reads them, where they matter
        "timeout_graceful_shutdown": 9,
    }


def cores() -> int:
    """Those this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_starting(_arbiter: Any) -> None:
    """Before any worker is forked: the folder where they show their figures to each other."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FIGURES}*"):
        if not is_running(folder.name.removeprefix(FIGURES).partition("-")[0]):
            shutil.rmtree(folder, ignore_errors=True)  # its master was killed
    board.folder = Path(tempfile.mkdtemp(prefix=f"{FIGURES}{os.getpid()}-"))


def is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (ValueError, PermissionError):  # not ours to judge, or to remove
        return True
    return True


def on_exit(_arbiter: Any) -> None:
    if board.folder is not None:
        shutil.rmtree(board.folder, ignore_errors=True)


def post_fork(_arbiter: Any, _worker: Worker) -> None:
    """Where cores are few, who takes saves yields to who makes them durable: else their queue grows and saves stop."""
    os.nice(YIELDING)


def post_worker_init(_worker: Worker) -> None:
    """What is loaded by now stays for good: the collector need not look at it again."""
    gc.collect()
    gc.freeze()


bind = f"{env('HOST', '127.0.0.1')}:{env_int('PORT', 8000)}"
workers = env_int("WEB_CONCURRENCY", cores())
worker_class = "snapstate_project.gunicorn.Worker"
backlog = 2048
graceful_timeout = 10
timeout = 30
keepalive = 75
preload_app = False
accesslog = None
errorlog = "-"
loglevel = "warning"
