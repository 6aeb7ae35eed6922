"""No two names are the same: not of two threads, and not of two processes of which one began as the other's copy."""

import os
from concurrent.futures import ThreadPoolExecutor

from snapstate_project.common.randomness import PIECES, RandomNames

MANY = 20 * PIECES


def test_threads_share_no_name() -> None:
    names = RandomNames(bytes)
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda _: names.take(), range(MANY)))
    assert len(set(taken)) == MANY
    assert {len(name) for name in taken} == {16}


def test_a_forked_process_begins_with_names_of_its_own() -> None:
    names = RandomNames(bytes)
    names.take()
    here, there = os.pipe()
    if (child := os.fork()) == 0:
        os.write(there, b"".join(names.take() for _ in range(PIECES)))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(here, 16 * PIECES)
    os.close(here)
    os.close(there)
    ours = {names.take() for _ in range(2 * PIECES)}
    assert not ours & {theirs[at : at + 16] for at in range(0, len(theirs), 16)}
