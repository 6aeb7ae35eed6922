"""Random bytes for names, drawn from the system many at a time: asking it costs more than what it gives."""

import os

PIECE = 16
PIECES = 256
_pieces: list[bytes] = []
os.register_at_fork(after_in_child=_pieces.clear)  # else two processes would give the same names


def random_piece() -> bytes:
    """Sixteen bytes that nobody else is given. From any thread."""
    while True:
        try:
            return _pieces.pop()
        except IndexError:
            drawn = os.urandom(PIECE * PIECES)
            _pieces.extend(drawn[at : at + PIECE] for at in range(0, len(drawn), PIECE))
