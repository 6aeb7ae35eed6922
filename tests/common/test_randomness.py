"""No two names are the same: not of two threads, and not of two processes of which one began as the other's copy."""

import os
from concurrent.futures import ThreadPoolExecutor

from snapstate_project.common.randomness import PIECES, random_piece

MANY = 20 * PIECES


def test_threads_share_no_piece() -> None:
    with ThreadPoolExecutor(8) as threads:
        pieces = list(threads.map(lambda _: random_piece(), range(MANY)))
    assert len(set(pieces)) == MANY
    assert {len(piece) for piece in pieces} == {16}


def test_a_forked_process_begins_with_pieces_of_its_own() -> None:
    random_piece()
    here, there = os.pipe()
    if (child := os.fork()) == 0:
        os.write(there, b"".join(random_piece() for _ in range(PIECES)))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(here, 16 * PIECES)
    os.close(here)
    os.close(there)
    ours = {random_piece() for _ in range(2 * PIECES)}
    assert not ours & {theirs[at : at + 16] for at in range(0, len(theirs), 16)}
