"""What the command line writes: answers as JSON with the text of states as it was saved, errors as one line."""

import logging
import os
import re
import sys
from dataclasses import fields
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from snapstate_sdk.errors import (
    AuthError,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    NotFoundError,
    RateLimitError,
    ServiceUnavailableError,
    SnapStateError,
)
from snapstate_sdk.models import Checkpoint, WorkflowSummary
from snapstate_sdk.outgoing import encoded, joined

EXIT_CODES = {
    0: "done",
    1: "refused",
    2: "wrong usage",
    3: "not found",
    4: "conflict",
    5: "not reachable or not available, try later",
    6: "not allowed",
}
RAW = ("state", "metadata")


class Commands(TyperGroup):
    """Failures become a line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SnapStateError as error:
            typer.echo(f"snapstate: {said(error)}", err=True)
            raise typer.Exit(code_of(error)) from None
        except BrokenPipeError:  # whoever read us has enough
            _give_up_stdout()
            raise typer.Exit(0) from None


class Said(logging.Handler):
    """What the client has to say while it is waited for."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"snapstate: {record.getMessage()}", err=True)


def _give_up_stdout() -> None:
    """What is still in its buffer goes nowhere, instead of failing once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def code_of(error: SnapStateError) -> int:
    if isinstance(error, NotFoundError):
        return 3
    if isinstance(error, ConflictError):
        return 4
    if isinstance(error, (ConnectionFailedError, ServiceUnavailableError, RateLimitError)):
        return 5
    return 6 if isinstance(error, (AuthError, ForbiddenError)) or error.code == "UNAUTHORIZED" else 1


def said(error: SnapStateError) -> str:
    """The message, and whatever helps to go on from there."""
    parts = [re.sub(r"^(state|metadata)_json\b", r"\1", str(error))]
    details = getattr(error, "details", [])
    parts += [f"  {one['path']}: {one['message']}" for one in details if one["message"] not in str(error)]
    if isinstance(error, ConflictError) and error.existing:
        parts.append(f"  there is {error.existing['checkpoint_id']}, etag {error.existing['etag']}")
    if error.code == "UNAUTHORIZED":
        parts.append("  Set SNAPSTATE_API_KEY to a key of yours, and SNAPSTATE_API_URL to the server that knows it.")
    if error.request_id:
        parts.append(f"  request {error.request_id}")
    return "\n".join(parts)


def written(found: Any) -> bytes:
    """A model as a JSON object; `state` and `metadata` are the text that was saved, a state unasked for is left out."""
    members: dict[str, bytes | None] = {}
    for each in fields(found):
        name, value = each.name, getattr(found, each.name)
        if name.removesuffix("_json") in RAW and name.endswith("_json"):
            continue
        if name in RAW and hasattr(found, f"{name}_json"):
            text = getattr(found, f"{name}_json")
            members[name] = text.encode() if text is not None else None if name == "state" else b"null"
        else:
            members[name] = written(value) if isinstance(value, Checkpoint) else encoded(value, name)
    return joined(members)


def write_line(text: bytes) -> None:
    if sys.stdout is None:  # it was closed before we were started
        raise SnapStateError("there is no stdout to write the answer to")
    try:
        sys.stdout.buffer.write(text + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _give_up_stdout()
        raise SnapStateError(f"cannot write the answer: {error.strerror}") from None


def write_table(rows: list[WorkflowSummary]) -> None:
    """What the terminal's encoding does not have is escaped."""
    console = Console()
    with console.capture() as shown:
        console.print(table_of(rows))
    write_line(shown.get().rstrip("\n").encode(console.encoding, "backslashreplace"))


def table_of(rows: list[WorkflowSummary]) -> Table:
    table = Table("workflow", "status", "step", "label", "agent", "size", "last activity", box=None, pad_edge=False)
    for row in rows:
        cells = (row.workflow_id, row.status, str(row.latest_step), row.label, row.agent_id)
        size, at = f"{row.size_bytes:,}", row.last_activity_at[:19].replace("T", " ")
        table.add_row(*[escape(cell or "") for cell in cells], size, at)
    return table
