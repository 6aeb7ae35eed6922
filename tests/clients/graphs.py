"""Graphs that tests kill in the middle: `python -m tests.clients.graphs URL KEY THREAD FOLDER GRAPH MODE`.

A node says its name, waits until FOLDER has a gate of that name, and only then has its effect: a line in a file.
"""

import asyncio
import operator
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver

GRAPHS = {"chain": [["plan"], ["search"], ["read"], ["write"], ["review"]], "fan": [["left", "right"], ["join"]]}


class Work(TypedDict):
    done: Annotated[list[str], operator.add]


def node(name: str, folder: Path) -> Callable[[Work], dict[str, Any]]:
    def work(_: Work) -> dict[str, Any]:
        print(f"{name}\n", end="", flush=True)  # in one piece: two nodes may say it at once
        while not (folder / name).exists():
            time.sleep(0.02)
        with (folder / "effects").open("a") as effects:
            effects.write(f"{name}\n")
        return {"done": [name]}

    return work


def graph(kind: str, folder: Path, saver: SnapStateSaver) -> Any:
    """Rows of nodes; those of a row run at the same time."""
    builder: Any = StateGraph(Work)
    before = [START]
    for row in GRAPHS[kind]:
        for name in row:
            builder.add_node(name, node(name, folder))
            builder.add_edge(before if len(before) > 1 else before[0], name)
        before = row
    builder.add_edge(before[0], END)
    return builder.compile(checkpointer=saver)


def main(base_url: str, key: str, thread: str, folder: str, kind: str, mode: str) -> None:
    """Prints what was done when all is; begins where the thread is."""
    with SnapStateClient(key, base_url) as client:
        compiled = graph(kind, Path(folder), SnapStateSaver(client))
        config: Any = {"configurable": {"thread_id": thread}}
        begun = compiled.get_state(config).created_at is not None
        given: Any = None if begun else {"done": []}
        if mode == "async":
            ended = asyncio.run(compiled.ainvoke(given, config, durability="sync"))
        else:
            ended = compiled.invoke(given, config, durability="sync")
        print(*ended["done"], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
