"""After a restore: erase once more what was erased since the back-up, as the log tells it."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from checkpoints import erasing


class Command(BaseCommand):
    help = (
        "Read the log (JSON lines) from standard input and erase again every workflow whose erasure it tells of. "
        "Fails when a line that seems to tell of one cannot be read; the others are taken all the same."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        unread: list[int] = []
        again = sum(erasing.erase_again(*told) for told in erasures_in(sys.stdin, unread))
        self.stdout.write(f"{again} workflows erased again.")
        if unread:
            raise CommandError(f"{len(unread)} lines tell of an erasure and cannot be read, the first is {unread[0]}.")


def erasures_in(lines: Iterable[str], unread: list[int]) -> Iterator[tuple[UUID, bytes, int]]:
    """Account, digest and the first generation that may live, of every line that tells of an erasure.

    Numbers of lines that are cut off, or wrapped by whoever collected them, go to `unread`.
    """
    for number, line in enumerate(lines, start=1):
        if "workflow_erased" not in line:
            continue
        try:
            # Whoever collects logs may have put something before it, or behind.
            told, _ = json.JSONDecoder().raw_decode(line, line.index("{"))
            if told["event"] == "workflow_erased":
                yield UUID(told["account"]), bytes.fromhex(told["digest"]), int(told["generation"])
        except (ValueError, LookupError, TypeError):
            unread.append(number)
