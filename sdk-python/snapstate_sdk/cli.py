"""The command line: JSON in, JSON out, states to the byte; whatever is said to people goes to stderr."""

import logging
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import track

from snapstate_sdk.cli_output import EXIT_CODES, Commands, Said, write_line, write_table, written
from snapstate_sdk.client import SnapStateClient
from snapstate_sdk.errors import NotFoundError, SnapStateError
from snapstate_sdk.models import Checkpoint, Status, WorkflowSummary
from snapstate_sdk.version import __version__

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Save the work of agents, resume it, replay it.\n\nKey and address come from SNAPSTATE_API_KEY and "
    "SNAPSTATE_API_URL.",
    epilog="Exit codes: " + ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
)
WorkflowId = Annotated[str, typer.Argument(help="The workflow's id: any text.", show_default=False)]
Unset = typer.Option(show_default=False)


def _say_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def connect(
    context: typer.Context,
    api_key: Annotated[
        str, typer.Option(envvar="SNAPSTATE_API_KEY", help="Better in the environment.", show_default=False)
    ] = "",
    url: Annotated[str, typer.Option(envvar="SNAPSTATE_API_URL", help="Of the server.", show_default=False)] = "",
    deadline: Annotated[float, typer.Option(help="Seconds for a call with all its retries.")] = 30.0,
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version and go.")
    ] = False,
) -> None:
    context.obj = (api_key, url or None, deadline)  # a client is made when one is needed: --help needs none


def _client(context: typer.Context) -> SnapStateClient:
    key, url, deadline = context.obj
    try:
        client = SnapStateClient(key, url, deadline=deadline)
    except ValueError as error:
        raise SnapStateError(str(error), code="" if key else "UNAUTHORIZED") from None
    context.call_on_close(client.close)
    logging.getLogger("snapstate_sdk").addHandler(Said())
    return client


def _text(given: str) -> bytes:
    """JSON as an argument, from stdin for `-`, from a file for `@path`."""
    if given == "-":
        if sys.stdin is None:  # it was closed before we were started
            raise typer.BadParameter("there is no stdin to read")
        return sys.stdin.buffer.read()
    if given.startswith("@"):
        try:
            return Path(given[1:]).read_bytes()
        except OSError as error:
            raise typer.BadParameter(f"cannot read {given[1:]}: {error.strerror}") from None
    return given.encode(errors="surrogateescape")


@app.command()
def save(
    context: typer.Context,
    workflow_id: WorkflowId,
    state: Annotated[
        str, typer.Argument(help="A JSON object; **-** reads stdin, **@FILE** a file. Kept to the byte.")
    ] = "-",
    step: Annotated[
        int | None, typer.Option(help="The one after the head unless given, if nobody saves meanwhile.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="A word on this step.")] = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object, given like STATE.")] = None,
    agent_id: Annotated[str | None, typer.Option(help="Who saves.")] = None,
    status: Annotated[Status, typer.Option(help="Of the workflow, with this step.")] = "active",
    ttl: Annotated[int | None, typer.Option(help="Seconds from its last save until it goes to the archive.")] = None,
    if_match: Annotated[str | None, typer.Option(help="The etag that the head must have.")] = None,
) -> None:
    """Save a checkpoint; says what was saved.

    `echo '{"topic": "tides"}' | snapstate save research-42`
    """
    client = _client(context)
    guard: str | None = None
    if step is None:
        step, found = _next_step(client, workflow_id)
        if_match, guard = if_match or found, None if if_match or found else "*"
    saved = client.save(
        workflow_id,
        step,
        label=label,
        agent_id=agent_id,
        ttl_seconds=ttl,
        if_match=if_match,
        if_none_match=guard,
        status=status,
        state_json=_text(state),
        metadata_json=None if metadata is None else _text(metadata),
    )
    write_line(written(saved))


def _next_step(client: SnapStateClient, workflow_id: str) -> tuple[int, str | None]:
    """The step after the head, and the head's etag."""
    try:
        head = client.get_workflow(workflow_id)
    except NotFoundError:
        return 1, None
    return head.latest_step + 1, head.etag


@app.command()
def resume(
    context: typer.Context,
    workflow_id: WorkflowId,
    only_state: Annotated[bool, typer.Option("--state", help="Only the state, to the byte.")] = False,
    agent_id: Annotated[str | None, typer.Option(help="Who resumes.")] = None,
) -> None:
    """Show a workflow's newest checkpoint."""
    found = _client(context).resume(workflow_id, agent_id=agent_id)
    write_line((found.state_json or "").encode() if only_state else written(found))


@app.command()
def replay(
    context: typer.Context,
    workflow_id: WorkflowId,
    from_step: Annotated[int | None, typer.Option("--from", help="The first step.")] = None,
    to_step: Annotated[int | None, typer.Option("--to", help="The last step.")] = None,
    label: Annotated[str | None, typer.Option(help="Only steps with exactly this label.")] = None,
    with_state: Annotated[bool, typer.Option("--state/--no-state", help="With their states.")] = True,
) -> None:
    """Show a workflow's history, a JSON object a line, in step order."""
    client = _client(context)
    steps = client.checkpoints(workflow_id, from_step, to_step, label=label, include_state=with_state)
    filtered = (from_step, to_step, label) != (None, None, None)
    for checkpoint in _with_progress(client, workflow_id, steps, filtered=filtered):
        write_line(written(checkpoint))


def _is_seen() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _with_progress(
    client: SnapStateClient, workflow_id: str, steps: Iterator[Checkpoint], *, filtered: bool
) -> Iterable[Checkpoint]:
    """Shown only to people who do not see the steps themselves go by."""
    console = Console(stderr=True)
    if not console.is_terminal or _is_seen():
        return steps
    try:
        total = None if filtered else client.get_workflow(workflow_id).total_checkpoints
    except NotFoundError:
        return steps
    return track(steps, "Replaying", total=total, console=console, transient=True)


@app.command()
def diff(
    context: typer.Context,
    workflow_id: WorkflowId,
    from_step: Annotated[int | None, typer.Argument(help="The two newest unless given.", show_default=False)] = None,
    to_step: Annotated[int | None, typer.Argument(show_default=False)] = None,
) -> None:
    """Show what changed from one step to another: paths of what was added, removed and changed."""
    write_line(written(_client(context).diff(workflow_id, from_step, to_step)))


@app.command("list")
def list_workflows(
    context: typer.Context,
    status: Annotated[
        Literal["active", "completed", "failed", "stalled"] | None, typer.Option(help="Of the workflow.")
    ] = None,
    agent_id: Annotated[str | None, typer.Option(help="Who saved last.")] = None,
    label: Annotated[str | None, typer.Option(help="Of the newest step.")] = None,
    prefix: Annotated[str | None, typer.Option(help="How the id begins.")] = None,
    metadata: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of the newest step; may be given again.")
    ] = None,
    updated_after: Annotated[
        datetime | None, typer.Option(metavar="TIME", help="Such as 2026-11-29T18:33:11, in this machine's time zone.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    as_json: Annotated[
        bool | None, typer.Option("--json/--table", help="A JSON object a line; a table on a terminal.")
    ] = None,
) -> None:
    """List workflows, newest activity first."""
    client = _client(context)
    found = client.workflows(
        status=status,
        agent_id=agent_id,
        label=label,
        q=prefix,
        metadata=dict(_pair(each) for each in metadata or []),
        updated_after=updated_after.astimezone() if updated_after else None,
        page_size=min(limit, 200),
    )
    rows: list[WorkflowSummary] = [row for _, row in zip(range(limit), found, strict=False)]
    if as_json is False or (as_json is None and _is_seen()):
        write_table(rows)
        return
    for row in rows:
        write_line(written(row))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"must be NAME=VALUE, not {text!r}", param_hint="--metadata")
    return name, value
