"""An agent that goes on from where it was: `python -m tests.clients.agent URL KEY WORKFLOW RUN`.

It says each step that it has saved, and waits for a line before the next.
"""

import sys
from pathlib import Path
from typing import Any

from tests.clients import published, runs


def next_step(client: Any, workflow_id: str) -> int:
    try:
        return int(client.resume(workflow_id).latest_checkpoint.step) + 1
    except published.sdk.NotFoundError:
        return 0


def main(base_url: str, key: str, workflow_id: str, run: str) -> None:
    with published.client(base_url, key) as client:
        first = next_step(client, workflow_id)
        for message in runs.messages(Path(run)):
            if message.step >= first:
                client.save(workflow_id, message.step, message.state, label=message.label)
                print(message.step, flush=True)
                sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
