"""Logs go to stderr, a line each; they say where something broke, never what was in it: no state, no key."""

import logging
import sys
import traceback
from types import TracebackType

LONGEST = 400
OURS = ("snapstate_mcp", "uvicorn.error")


class OneLine(logging.Formatter):
    """Of an exception its kind and its places, for its words may repeat what a caller sent."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03d"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = f"{self.formatTime(record)} {record.levelname} {record.name}: {record.getMessage()[:LONGEST]}"
        if record.exc_info and record.exc_info[0]:
            line += f" [{record.exc_info[0].__name__} at {places(record.exc_info[2])}]"
        return line.encode("ascii", "backslashreplace").decode().replace("\n", "\\n").replace("\r", "\\r")


def places(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-6:]
    return " < ".join(f"{frame.filename.rsplit('/', 2)[-1]}:{frame.lineno}" for frame in reversed(frames))


def to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    logging.basicConfig(level="WARNING", handlers=[handler], force=True)  # below it, others repeat what they carry
    for name in OURS:
        logging.getLogger(name).setLevel(level)
