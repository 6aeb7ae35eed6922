"""After a restore: erase once more what was erased since the back-up, as the log tells it."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand

from checkpoints import erasing


class Command(BaseCommand):
    help = "Read the log (JSON lines) from standard input and erase again every workflow whose erasure it tells of."

    def handle(self, *_args: Any, **_options: Any) -> None:
        again = sum(erasing.erase_again(*told) for told in erasures_in(sys.stdin))
        self.stdout.write(f"{again} workflows erased again.")


def erasures_in(lines: Iterable[str]) -> Iterator[tuple[UUID, bytes, int]]:
    """Account, digest and the first generation that may live, of every line that tells of an erasure."""
    for line in lines:
        start = line.find("{")  # whoever collects logs may have put something before it
        if "workflow_erased" not in line or start < 0:
            continue
        told = json.loads(line[start:])
        if told.get("event") == "workflow_erased":
            yield UUID(told["account"]), bytes.fromhex(told["digest"]), told["generation"]
