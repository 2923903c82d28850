"""A limit on the bytes that recordings become when they are expanded: a few thousand can become gigabytes."""
from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO

FLOOR, RATIO = 1 << 26, 100     # bytes that any recording may become, and times its own size
PIECE = 1 << 20                 # bytes that are expanded at a time


class TooLarge(Exception):
    """A recording becomes larger than allowed. No ValueError: those of damaged files are noted, and reading goes on."""


class Allowance:
    """The bytes that a recording of a size may still become: `most`, by default 64 MiB, or 100 times its size if that
    is more."""

    def __init__(self, name: str, size: int, most: int | None = None):
        self._name, self._size = name, size
        self._most = self.left = max(FLOOR, RATIO * size) if most is None else most

    def take(self, count: int) -> None:
        """Count bytes. TooLarge if there are more than allowed."""
        self.left -= count
        if self.left < 0:
            raise TooLarge(f"{self._name}, of {self._size} bytes, becomes more than max_bytes={self._most} when it is "
                           "expanded; give a larger max_bytes if you trust it")

    def expanded(self, compression: str, data: bytes) -> bytes:
        """Bytes that were compressed by "zstd", "lz4" or "", not at all; of such as are cut what is there."""
        if not compression:
            self.take(len(data))                # an index may name the same chunk many times
            return data
        if compression not in ("zstd", "lz4"):
            raise ValueError(f"compression {compression!r} is not known: it must be zstd, lz4 or none")
        return b"".join(self.counted(_by_zstd(io.BytesIO(data)) if compression == "zstd" else _by_lz4(data)))

    def of_zstd(self, packed: IO[bytes]) -> Iterator[bytes]:
        """Return the pieces of a file that was compressed as a whole."""
        return self.counted(_by_zstd(packed))

    def counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Pieces, each counted before the next one is expanded."""
        for piece in pieces:
            self.take(len(piece))
            yield piece


def _by_zstd(packed):
    from zstandard import ZstdDecompressor
    stream = ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    return iter(lambda: stream.read(PIECE), b"")


def _by_lz4(data):
    from lz4.frame import LZ4FrameDecompressor
    stream = LZ4FrameDecompressor()
    yield stream.decompress(data, PIECE)
    while not (stream.eof or stream.needs_input):
        yield stream.decompress(b"", PIECE)
