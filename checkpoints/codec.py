"""How a state is kept in Postgres: a zstd frame, full or against the state before it."""

import threading

import zstandard

LEVEL = 3
FULL_EVERY = 32
_HASH_LOG_LEAST = 13
_WINDOW_LOG_MAX = 23  # 8 MiB: a state of 1 MiB and the one before it fit


class _Contexts(threading.local):
    """A thread's own: two threads in one context get each other's bytes."""

    def __init__(self) -> None:
        self.full = zstandard.ZstdCompressor(level=LEVEL, write_checksum=False, write_content_size=True)
        self.plain = zstandard.ZstdDecompressor(max_window_size=1 << _WINDOW_LOG_MAX)


_here = _Contexts()


def encode(body: bytes, base: bytes | None = None) -> bytes:
    """The frame of `body`; with `base`, what is new in it against that earlier body."""
    if base is None:
        return _here.full.compress(body)
    window_log = max(10, min(_WINDOW_LOG_MAX, (len(base) + len(body)).bit_length()))
    parameters = zstandard.ZstdCompressionParameters.from_level(
        LEVEL,
        window_log=window_log,
        # zstd looks at no more of a dictionary than eight times its hash table.
        hash_log=max(_HASH_LOG_LEAST, window_log - 3),
        chain_log=max(_HASH_LOG_LEAST, window_log - 3),
        source_size=len(body),
        write_dict_id=False,
        write_checksum=False,
        write_content_size=True,
    )
    return zstandard.ZstdCompressor(compression_params=parameters, dict_data=_as_dictionary(base)).compress(body)


def decode(frame: bytes, base: bytes | None = None) -> bytes:
    """The body again; `base` must be the very bytes it was encoded against."""
    if base is None:
        return _here.plain.decompress(frame)
    reader = zstandard.ZstdDecompressor(dict_data=_as_dictionary(base), max_window_size=1 << _WINDOW_LOG_MAX)
    return reader.decompress(frame)


def _as_dictionary(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
