"""From SIGTERM on, /ready says no, while the server finishes what is in flight."""

import signal
import threading
from types import FrameType

stopping = threading.Event()


def watch_for_shutdown() -> None:
    """Called when the server has set its own signal handlers: they still run, after ours."""
    if threading.current_thread() is not threading.main_thread():
        return
    previous = signal.getsignal(signal.SIGTERM)

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()
        if callable(previous):
            previous(number, frame)

    signal.signal(signal.SIGTERM, stop)
