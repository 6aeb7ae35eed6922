"""States come back from their frames byte for byte, and a frame costs what changed."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoints import codec
from checkpoints.content import pack, unpack
from checkpoints.history import decode_chains

NOISE = random.Random(7)


@given(st.binary(max_size=2000), st.binary(max_size=2000))
def test_a_delta_gives_the_body_back(base: bytes, body: bytes) -> None:
    assert codec.decode(codec.encode(body, base), base) == body


@given(st.binary(max_size=50), st.binary(max_size=50), st.binary(max_size=50))
def test_content_comes_apart_as_it_was_packed(envelope: bytes, metadata: bytes, state: bytes) -> None:
    assert unpack(pack(envelope, metadata, state)) == (envelope, metadata, state)


@pytest.mark.parametrize("size", [0, 1, 10_000, 300_000, 1_048_576])
def test_a_delta_costs_what_changed_at_every_size(size: int) -> None:
    base = NOISE.randbytes(size)
    frame = codec.encode(base + b"and a little more", base)
    assert codec.decode(frame, base) == base + b"and a little more"
    assert len(frame) < 200 + size // 512


def test_a_chain_is_decoded_in_order_of_sequence() -> None:
    bodies = [b"x" * 100 + bytes([number]) for number in range(10)]
    held = {
        n: (n - 1 if n else None, codec.encode(body, bodies[n - 1] if n else None)) for n, body in enumerate(bodies)
    }
    assert list(decode_chains(dict(reversed(held.items()))).values()) == bodies


def test_threads_do_not_get_each_others_bytes() -> None:
    bodies = [NOISE.randbytes(50) * 1_000 for _ in range(8)]
    frames = [codec.encode(body) for body in bodies]
    with ThreadPoolExecutor(8) as threads:
        decoded = list(threads.map(codec.decode, frames * 200))
        encoded = list(threads.map(codec.encode, bodies * 200))
    assert (decoded, encoded) == (bodies * 200, frames * 200)
