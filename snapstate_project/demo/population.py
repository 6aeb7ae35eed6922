"""Who there is and what each has going: accounts, their agents and keys, and the outline of every workflow."""

import math
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from accounts.keys import SCOPES
from accounts.models import Account, ApiKey
from checkpoints.times import microseconds, moment
from snapstate_project.common.ids import workflow_digest
from snapstate_project.demo.courses import Course
from snapstate_project.demo.shapes import LONGEST

FIRST = ("Bright", "North", "Clear", "Open", "Quiet", "Silver", "Blue", "Long", "True", "Small", "High", "Deep")
SECOND = ("path", "harbor", "field", "ledger", "stone", "loop", "mill", "bridge", "grid", "lake", "forge", "line")
THIRD = ("Robotics", "Labs", "Health", "Freight", "Legal", "Insurance", "Analytics", "Energy", "Travel", "Games")
DAYS = 29
DAY_US = 86_400_000_000
TTLS = (None, 90 * 86_400, 180 * 86_400)
MOST_ARCHIVED = 200


class Person(NamedTuple):
    """An account."""

    id: UUID
    email: str
    name: str
    plan: str
    status: str
    created_at: datetime


@dataclass(frozen=True)
class Wanted:
    """How much of a demo, and from which dice."""

    accounts: int
    workflows: int
    checkpoints: int
    seed: int
    now: datetime


class Outline(NamedTuple):
    """A workflow: the first `steps` of a course, spread out by `stretch` per cent, the last at `ended_us`."""

    number: int
    account_id: UUID
    workflow_id: str
    digest: bytes
    course: int
    steps: int
    ending: str
    ended_us: int
    began_us: int
    stretch: int
    ttl_seconds: int | None
    pinned: bool
    archived: bool
    resumes: int


def people(wanted: Wanted) -> list[Person]:
    chance = random.Random(f"people {wanted.seed}")  # noqa: S311 (made-up data, the same by seed)
    return [_person(number, wanted, chance) for number in range(wanted.accounts)]


def _person(number: int, wanted: Wanted, chance: random.Random) -> Person:
    words = FIRST[number % 12] + SECOND[number // 12 % 12], THIRD[(number % 144 + 7 * (number // 144)) % 10]
    name = " ".join(words) + (f" {number // 1440 + 1}" if number >= 1440 else "")
    host = name.lower().replace(" ", "-") + (f".seed{wanted.seed}" if wanted.seed != 1 else "")
    status = "active" if number < 5 else chance.choices(("active", "suspended", "closed"), (95, 4, 1))[0]
    plan = chance.choices(("free", "pro", "enterprise"), (70, 25, 5))[0]
    created_at = wanted.now - timedelta(days=chance.uniform(DAYS + 1, 400))
    return Person(UUID(int=chance.getrandbits(128), version=4), f"ops@{host}.example", name, plan, status, created_at)


def unknown_digest() -> str:
    """Of a key that nobody holds: what is made from a seed could be made by anybody."""
    return sha256(os.urandom(32)).hexdigest()


def outlines(wanted: Wanted, owners: Sequence[Person], courses: Sequence[Course]) -> Iterator[Outline]:
    """Few accounts have most of the work; all workflows together have as many steps as were asked for."""
    chance = random.Random(f"outlines {wanted.seed}")  # noqa: S311
    weights = [1 / (rank + 4) ** 0.9 for rank in range(len(owners))]
    lengths = _lengths(wanted, chance)
    archived = min(wanted.workflows // 20, MOST_ARCHIVED)
    now_us = microseconds(wanted.now)
    for number, owner in enumerate(chance.choices(owners, weights, k=wanted.workflows)):
        yield _outline(number, owner, lengths[number], chance, courses, now_us, number < archived)


def _lengths(wanted: Wanted, chance: random.Random) -> list[int]:
    """Around the mean, from 1 to LONGEST, and exactly `checkpoints` in all."""
    mean = wanted.checkpoints / wanted.workflows
    lengths = [min(max(round(chance.gauss(mean, mean / 2)), 1), LONGEST) for _ in range(wanted.workflows)]
    missing, at = wanted.checkpoints - sum(lengths), 0
    while missing:
        step = int(math.copysign(1, missing))
        if 1 <= lengths[at] + step <= LONGEST:
            lengths[at] += step
            missing -= step
        at = (at + 1) % len(lengths)
    return lengths


def _outline(
    number: int,
    owner: Person,
    steps: int,
    chance: random.Random,
    courses: Sequence[Course],
    now_us: int,
    archived: bool,
) -> Outline:
    course, stretch = courses[chance.randrange(len(courses))], chance.randint(40, 160)
    age_us = int((DAYS - 1) * DAY_US * (1 if archived else chance.random() ** 1.5)) + chance.randrange(3_600_000_000)
    ended_us = now_us - age_us
    ending = _ending(age_us, chance)
    workflow_id = course.work.naming.format(n=f"{10_000 + number}", day=f"{moment(ended_us):%Y-%m-%d}")
    return Outline(
        number, owner.id, workflow_id, workflow_digest(owner.id, workflow_id), course.number, steps, ending, ended_us,
        ended_us - course.offset_us(steps) * stretch // 100, stretch, chance.choice(TTLS[1:]) if not archived else None,
        not archived and chance.random() < 0.02, archived, chance.choices((0, 1, 2, 5), (70, 18, 9, 3))[0],
    )  # fmt: skip


def _ending(age_us: int, chance: random.Random) -> str:
    """What is young still runs; of the old, most has ended and a little has stalled."""
    running = 0.7 if age_us < DAY_US / 4 else 0.05
    return "active" if chance.random() < running else chance.choices(("completed", "failed"), (88, 12))[0]


def settle(owners: Sequence[Person]) -> None:
    """The accounts, each with a key whose secret never existed."""
    accounts = [Account(**owner._asdict()) for owner in owners]
    keys = [
        ApiKey(account=account, digest=unknown_digest(), label="production", scopes=list(SCOPES))
        for account in accounts
    ]
    for key in keys:
        key.prefix = f"{settings.API_KEY_PREFIX}{key.digest[:8]}"[:12]
    for account, owner in zip(Account.objects.bulk_create(accounts), owners, strict=True):
        account.created_at = owner.created_at  # which it was given as it went in
    Account.objects.bulk_update(accounts, ["created_at"])
    ApiKey.objects.bulk_create(keys)
