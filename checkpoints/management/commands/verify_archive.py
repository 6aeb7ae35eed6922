"""Whether the archive holds what Postgres says it holds: every segment's object is read and its SHA-256 compared."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from django.core.files.storage import storages
from django.core.management.base import BaseCommand, CommandError, CommandParser

from checkpoints.models import ArchiveSegment

TOLD_AT_MOST = 100


class Command(BaseCommand):
    help = (
        "Read every segment of the archive (or --newest N) and compare its SHA-256. Fails when any is wrong or missing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--newest", type=int, metavar="N", help="Only the N segments written last.")

    def handle(self, *_args: Any, **options: Any) -> None:
        segments = ArchiveSegment.objects.order_by("-pk").values_list("key", "sha256")
        looked_at, faults = 0, 0
        for key, digest in segments[: options["newest"]].iterator():
            looked_at += 1
            for fault in faults_of(key, bytes(digest)):
                faults += 1
                if faults <= TOLD_AT_MOST:
                    self.stderr.write(f"{key}: {fault}")
        if faults:
            raise CommandError(f"{faults} of {looked_at} segments cannot be read as they were written.")
        self.stdout.write(f"{looked_at} segments, all as they were written.")


def faults_of(key: str, digest: bytes) -> Iterator[str]:
    try:
        with storages["archive"].open(key) as file:
            if sha256(file.read()).digest() != digest:
                yield "is not what was written"
    except FileNotFoundError:
        yield "is missing"
