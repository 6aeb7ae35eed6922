"""What Postgres knows of the archive: which steps stand in which segment. Reads no object unless it must."""

import asyncio
from collections.abc import Sequence
from itertools import batched
from typing import NamedTuple

from checkpoints import archive, segment_format
from checkpoints.content import Step
from checkpoints.models import ArchiveSegment
from checkpoints.segment_format import IndexEntry
from checkpoints.verdicts import Range


class Place(NamedTuple):
    """A step that stands in a segment; the entry says all of it but the state."""

    key: str
    entry: IndexEntry

    @property
    def step(self) -> int:
        return self.entry.step

    @property
    def sequence(self) -> int:
        return self.entry.sequence

    @property
    def weight(self) -> int:
        return self.entry.size


def places(workflow_pk: int, generation: int, wanted: Range, label: str | None = None) -> list[Place]:
    """The newest revision of each archived step in a range, in the order asked for; limits are the caller's."""
    found: dict[int, Place] = {}
    overlapping = ArchiveSegment.objects.filter(
        workflow_id=workflow_pk, generation=generation, first_step__lte=wanted.last, last_step__gte=wanted.first
    )
    for key, packed in overlapping.values_list("key", "steps"):
        for entry in segment_format.unpack_index(bytes(packed)):
            known = found.get(entry.step)
            if wanted.first <= entry.step <= wanted.last and (known is None or known.sequence < entry.sequence):
                found[entry.step] = Place(key, entry)
    labelled = (place for place in found.values() if label is None or place.entry.label == label)
    return sorted(labelled, key=lambda place: place.step, reverse=wanted.newest_first)


def entries(workflow_pk: int, generation: int, wanted: Range) -> list[IndexEntry]:
    return [place.entry for place in places(workflow_pk, generation, wanted)]


async def fetch(wanted: Sequence[Place]) -> list[Step]:
    """The steps at these places, each object read once, and no database thread held meanwhile. Raises ArchiveDown."""
    sequences: dict[str, list[int]] = {}
    for place in wanted:
        sequences.setdefault(place.key, []).append(place.sequence)
    found: dict[int, Step] = {}
    for some in batched(sequences.items(), archive.READS_AT_ONCE):
        for steps in await asyncio.gather(*(archive.threads.run(_steps, *each) for each in some)):
            found.update((step.sequence, step) for step in steps)
    return [found[place.sequence] for place in wanted]


def _steps(key: str, sequences: list[int]) -> list[Step]:
    steps = archive.cache.steps(key)
    try:
        return [steps[sequence] for sequence in sequences]
    except KeyError as error:  # another segment's object, put there by hand
        raise archive.unreadable(key, error) from error
