"""What a newcomer reads: the one screen that `make up` prints when everything answers, and the log under it."""

import json
import sys
import threading
from pathlib import Path

WRITING = threading.Lock()
NAME_WIDTH = 8

READY = """
  SnapState is ready.                          Stop it with Ctrl-C.

    API         {url}
    Docs        {url}/docs/        (once `make docs` has built them)
    Reference   {url}/openapi.json
    Admin       {url}/admin/
                {email}   {password}
    API key     {key}

  Save a first checkpoint, then resume from it:

    curl -X POST {url}/checkpoints \\
      -H 'Authorization: Bearer {key}' \\
      -H 'Content-Type: application/json' \\
      -d '{body}'

    curl {url}/workflows/my-first-workflow/resume \\
      -H 'Authorization: Bearer {key}'

    Data        {data}
    Settings    {home}/dev.env   (keys, passwords and the servers' addresses)
    Next time   make up finds all of this again; logs follow here.
"""
FIRST = {"workflow_id": "my-first-workflow", "step": 1, "state": {"topic": "tides", "notes": ["the moon pulls"]}}


def show(name: str, line: str) -> None:
    """A line of the log, never mixed with another; a reader that has gone away stops nobody."""
    write(f"{name:<{NAME_WIDTH}} | {line}\n")


def write(text: str) -> None:
    with WRITING:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError:
            return


def show_ready(home: Path, values: dict[str, str], elsewhere: list[str]) -> None:
    """`values` as dev.env has them; `elsewhere` says which data does not lie in the home."""
    text = READY.format(
        url=values["SNAPSTATE_API_URL"],
        key=values["SNAPSTATE_API_KEY"],
        email=values["OPERATOR_EMAIL"],
        password=values["OPERATOR_PASSWORD"],
        body=json.dumps(FIRST),
        home=home,
        data=f"\n{' ' * 16}".join([str(home), *elsewhere]),
    )
    write(text + "\n")
