"""A limit on the decompressed size of recordings: a few thousand bytes can expand to gigabytes."""
from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO

FLOOR, RATIO = 1 << 26, 100     # bytes; the limit is the larger of FLOOR and RATIO * size
PIECE = 1 << 20                 # bytes decompressed at a time


class TooLarge(Exception):
    """Error: a recording exceeds the size limit. Not a ValueError: those of damaged files are noted and skipped."""


class Allowance:
    """A count of the bytes to which a recording may still expand.

    The limit is `most`, by default 64 MiB or 100 times the recording's size, whichever is larger."""

    def __init__(self, name: str, size: int, most: int | None = None):
        self._name, self._size = name, size
        self._most = self.left = max(FLOOR, RATIO * size) if most is None else most

    def take(self, count: int) -> None:
        """Subtract `count` bytes. Raises TooLarge if the limit is exceeded."""
        self.left -= count
        if self.left < 0:
            raise TooLarge(f"{self._name}, of {self._size} bytes, becomes more than max_bytes={self._most} when it is "
                           "expanded; give a larger max_bytes if you trust it")

    def expanded(self, compression: str, data: bytes) -> bytes:
        """Return decompressed bytes; the compression is "zstd", "lz4" or "" (none).

        Of truncated data, the bytes present are returned."""
        if not compression:
            self.take(len(data))                # counted, because an index may list the same chunk many times
            return data
        if compression not in ("zstd", "lz4"):
            raise ValueError(f"compression {compression!r} is not known: it must be zstd, lz4 or none")
        return b"".join(self.counted(_by_zstd(io.BytesIO(data)) if compression == "zstd" else _by_lz4(data)))

    def of_zstd(self, packed: IO[bytes]) -> Iterator[bytes]:
        """Return the decompressed pieces of a file compressed as a whole."""
        return self.counted(_by_zstd(packed))

    def counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield pieces, counting each before the next one is decompressed."""
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
