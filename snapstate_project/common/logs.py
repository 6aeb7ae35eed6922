"""Logs: one JSON object a line (readable text while DEBUG), each with its request id, none with a key or a state."""

import logging
import logging.config
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import structlog
from structlog.typing import EventDict, Processor

from snapstate_project.common.request_id import client_request_ids, request_ids

# What Postgres quotes from a row it refused.
QUOTED_ROW = re.compile(r"^(DETAIL|CONTEXT):.*$", re.MULTILINE)


def configure(options: Mapping[str, Any]) -> None:
    """Django's LOGGING_CONFIG. Both `logging` and structlog loggers end in the one handler."""
    structlog.configure(
        processors=[*shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = {"class": "logging.StreamHandler", "formatter": "ours"}
    # Every 4xx would be a line of django.request; failures of ours are logged where they are shaped.
    levels = {"django.request": "CRITICAL", "django.security": "ERROR", "httpx": "ERROR"}
    levels |= dict.fromkeys(("axes", "stripe"), "WARNING") | dict.fromkeys(options["always"], "INFO")
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"ours": formatter(options)},
            "handlers": {"ours": handler},
            "root": {"handlers": ["ours"], "level": options["level"]},
            "loggers": {name: {"level": level} for name, level in levels.items()},
        }
    )


def formatter(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": shared(),
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            partial(withhold, secret=secret_pattern(options["secret_prefixes"])),
            structlog.processors.JSONRenderer() if options["json"] else structlog.dev.ConsoleRenderer(),
        ],
    }


def shared() -> list[Processor]:
    return [
        with_request_id,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def with_request_id(_logger: Any, _method: str, event: EventDict) -> EventDict:
    if request_id := request_ids.get():
        event["request_id"] = request_id
    if theirs := client_request_ids.get():
        event["client_request_id"] = theirs
    return event


def secret_pattern(prefixes: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"({'|'.join(map(re.escape, prefixes))}|Bearer )[0-9A-Za-z+/=_-]{{6,}}")


def withhold(_logger: Any, _method: str, event: EventDict, *, secret: re.Pattern[str]) -> EventDict:
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = QUOTED_ROW.sub(r"\1: (withheld)", secret.sub(r"\1…", value))
    return event
