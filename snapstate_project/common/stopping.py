"""SIGTERM in a background process: long work ends at its next step, and the process within nine seconds in any case.

That is safe at any moment: whatever is cut off is what a crash would have cut off, and is done again. The flag is seen
by the processes that this one has forked, before or after.
"""

import logging
import mmap
import os
import threading
import time
from collections.abc import Callable

PATIENCE_SECONDS = 9.0

logger = logging.getLogger(__name__)
flag = mmap.mmap(-1, 1)


def has_begun() -> bool:
    """Long work asks between two steps."""
    return flag[0] != 0


def begin(*, at_last: Callable[[], object] = lambda: None) -> None:
    """From now on the process has PATIENCE_SECONDS; `at_last` runs before it is ended by force. For signal handlers."""
    if has_begun():
        return
    flag[0] = 1
    threading.Thread(target=end_by_force, args=[at_last], name="last-resort", daemon=True).start()


def end_by_force(at_last: Callable[[], object]) -> None:
    time.sleep(PATIENCE_SECONDS)
    logger.warning("still at work %.0f seconds after it was told to stop: ended by force", PATIENCE_SECONDS)
    at_last()
    os._exit(1)
