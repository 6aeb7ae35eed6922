"""Whether the archive holds what Postgres says it holds: every segment's object is read and its SHA-256 compared."""

from argparse import ArgumentTypeError
from hashlib import sha256
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import F

from checkpoints import archive
from checkpoints.archive import ArchiveDown
from checkpoints.models import ArchiveSegment

TOLD_AT_MOST = 100


class Command(BaseCommand):
    help = (
        "Read every segment of the archive (or --newest N) and compare its SHA-256. Fails when any is wrong or missing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--newest", type=at_least_one, metavar="N", help="Only the N segments written last.")

    def handle(self, *_args: Any, **options: Any) -> None:
        # What was erased goes by itself, object by object: it is not to be there.
        wanted = ArchiveSegment.objects.filter(generation=F("workflow__generation"))
        segments = wanted.order_by("-pk").values_list("pk", "key", "sha256")
        looked_at, faults = 0, 0
        for pk, key, digest in segments[: options["newest"]].iterator():
            looked_at += 1
            fault = fault_of(key, bytes(digest))
            if fault and wanted.filter(pk=pk).exists():  # it may have been pruned or erased meanwhile
                faults += 1
                if faults <= TOLD_AT_MOST:
                    self.stderr.write(f"{key}: {fault}")
        if faults:
            raise CommandError(f"{faults} of {looked_at} segments cannot be read as they were written.")
        self.stdout.write(f"{looked_at} segments, all as they were written.")


def at_least_one(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)


def fault_of(key: str, digest: bytes) -> str:
    """Empty when it is as it was written."""
    try:
        return "" if sha256(archive.read(key)).digest() == digest else "is not what was written"
    except ArchiveDown as down:
        if isinstance(down.__cause__, FileNotFoundError):
            return "is missing"
        refuse_without_archive()
        return f"cannot be read: {down.__cause__!r}"


def refuse_without_archive() -> None:
    try:
        archive.look()
    except ArchiveDown as down:
        raise CommandError(f"The archive does not answer: {down.__cause__!r}") from down
