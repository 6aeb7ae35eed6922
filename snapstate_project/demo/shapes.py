"""What agents' runs look like: five kinds of work, their steps, and the states these leave. Pure, the same by seed."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

type State = dict[str, Any]

LONGEST = 40
SAID = (
    "the customer was charged twice for order {n}",
    "the policy allows a refund within {n} days",
    "the ledger shows one payment, the gateway shows two",
    "both invoices name the same purchase order, {n}",
    "{n} tests fail because a fixture still names the old column",
    "the column was renamed and the tests pass again",
    "three sources agree on {n} per cent, one does not",
    "the claim is marked as disputed, with its source and date",
    "the answer is drafted and waits for approval",
    "finance was told of the difference of {n}.50",
    "the total on page {n} was read again with a better scan",
    "{n} rows were loaded, none twice",
    "the schema check passed for all {n} columns",
    "a person has to decide this: confidence is {n} per cent",
    "the tool answered after {n} seconds; its answer is kept",
    "section {n} is written and cites every source",
    "the pull request is open and names issue {n}",
    "nothing new was found, so the plan stays as it is",
)


@dataclass(frozen=True)
class Work:
    """A kind of work: how its workflows are named, who does it, and by what steps."""

    name: str
    naming: str
    agents: tuple[str, ...]
    labels: tuple[str, ...]
    tools: tuple[str, ...]
    troubles: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Moment:
    """One step of a course. `gap` in milliseconds since the step before; `trouble` is an error seen and survived."""

    state: State
    label: str
    agent: str
    gap: int
    trouble: tuple[str, str] | None


KINDS = (
    Work(
        "support",
        "ticket/{n}",
        ("triage", "support-writer", "refunds"),
        ("read ticket", "look up order", "check policy", "draft answer", "send answer"),
        ("crm.search", "orders.get", "refunds.quote"),
        (("RateLimited", "crm.search: 429 Too Many Requests"), ("ToolTimeout", "orders.get gave no answer in 30 s")),
    ),
    Work(
        "research",
        "research:{day}:{n}",
        ("planner", "researcher", "critic", "writer"),
        ("plan", "search", "read source", "extract claims", "compare", "write section", "review"),
        ("web.search", "pdf.read", "tables.extract"),
        (("FetchError", "pdf.read: connection reset by peer"), ("ContextOverflow", "131,072 tokens are too many")),
    ),
    Work(
        "code",
        "pr-{n}-fix",
        ("planner", "coder", "tester"),
        ("reproduce", "locate", "edit", "run tests", "explain"),
        ("repo.grep", "repo.edit", "shell.run"),
        (("TestsFailed", "2 failed, 118 passed"), ("ToolTimeout", "shell.run was stopped after 600 s")),
    ),
    Work(
        "invoices",
        "invoice.{day}.{n}",
        ("extractor", "validator", "booking"),
        ("classify", "extract lines", "match order", "validate totals", "book"),
        ("ocr.page", "erp.match", "erp.book"),
        (("ValidationError", "lines sum up to 1,204.50, the total says 1,240.50"), ("ErpDown", "503 from erp.match")),
    ),
    Work(
        "pipeline",
        "nightly {day} #{n}",
        ("orchestrator", "loader", "checker"),
        ("extract", "load", "deduplicate", "enrich", "verify", "publish"),
        ("warehouse.query", "bucket.copy", "schema.check"),
        (("SchemaDrift", "column amount is text, was numeric"), ("QuotaExceeded", "warehouse.query: slots used up")),
    ),
)


def course(seed: int) -> tuple[Work, list[Moment]]:
    """A whole run of one kind of work, LONGEST steps of it; every shorter run is the beginning of one."""
    chance = random.Random(seed)  # noqa: S311 (made-up data)
    work = KINDS[seed % len(KINDS)]
    return work, list(_moments(work, chance))


def _moments(work: Work, chance: random.Random) -> Iterator[Moment]:
    state: State = {
        "goal": sentence(chance, 12),
        "plan": [{"step": label, "done": False} for label in work.labels],
        "messages": [{"role": "user", "content": sentence(chance, chance.randint(15, 60))}],
        "tools": {},
        "usage": {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0},
    }
    for number in range(1, LONGEST + 1):
        label = work.labels[(number - 1) * len(work.labels) // LONGEST if chance.random() < 0.5 else number % 5]
        agent = work.agents[number % len(work.agents)] if chance.random() < 0.7 else work.agents[0]
        chance.choice(CHANGES)(state, work, chance)
        _say(state, agent, chance)
        # Mostly seconds between two steps, now and then hours until a person has approved.
        gap = int(chance.lognormvariate(9.6, 1.1)) if chance.random() < 0.97 else chance.randint(1, 6) * 3_600_000
        trouble = chance.choice(work.troubles) if chance.random() < 0.04 else None
        yield Moment(json.loads(json.dumps(state)), label, agent, max(gap, 200), trouble)


def _say(state: State, agent: str, chance: random.Random) -> None:
    state["messages"].append({"role": agent, "content": sentence(chance, chance.randint(8, 50))})
    tokens = chance.randint(300, 4_000)
    usage = state["usage"]
    usage["input_tokens"] += tokens
    usage["output_tokens"] += tokens // 9
    usage["cost_usd"] = round(usage["cost_usd"] + tokens * 4e-6, 6)


def _use_tool(state: State, work: Work, chance: random.Random) -> None:
    found = {"ok": chance.random() < 0.95, "rows": chance.randint(0, 400), "took_ms": chance.randint(20, 9_000)}
    state["tools"][chance.choice(work.tools)] = found


def _tick_off(state: State, _: Work, chance: random.Random) -> None:
    chance.choice(state["plan"])["done"] = True


def _note(state: State, work: Work, chance: random.Random) -> None:
    state.setdefault("notes", {})[f"{work.name}_{chance.randint(1, 12)}"] = sentence(chance, 9)


def _think_again(state: State, _: Work, chance: random.Random) -> None:
    state["goal"] = sentence(chance, 12)
    state.pop("notes", None)


CHANGES: tuple[Callable[[State, Work, random.Random], None], ...] = (
    _use_tool, _use_tool, _use_tool, _tick_off, _tick_off, _note, _note, _think_again,
)  # fmt: skip


def sentence(chance: random.Random, words: int) -> str:
    """As many words, about."""
    said = (text.format(n=chance.randint(2, 90)) for text in chance.choices(SAID, k=max(words // 9, 1)))
    return ". ".join(text[0].upper() + text[1:] for text in said) + "."


def metadata_of(work: Work, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)  # noqa: S311
    return {
        "kind": work.name,
        "environment": chance.choice(("production", "production", "production", "staging")),
        "priority": chance.randint(1, 4),
        "release": f"2026.{chance.randint(7, 11)}.{chance.randint(0, 3)}",
        "dry_run": chance.random() < 0.1,
    }
