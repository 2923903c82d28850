"""An episode as an item of `each`: its address, and a mark that changes with its files."""
import os
from collections.abc import Sequence
from typing import NamedTuple


class Episode(NamedTuple):
    """An address, and a mark of its files: names, sizes, and modification times or hashes."""

    address: str
    mark: tuple[str, ...]

    def __str__(self) -> str:
        return self.address


def episodes(addresses: Sequence[str | os.PathLike]) -> list[Episode]:
    """Return the episodes at addresses of files and rosbag2 folders.

    An address that cannot be accessed gets an empty mark; the worker that reads it reports the error."""
    return [Episode(os.fspath(address), _mark(os.fspath(address))) for address in addresses]


def _mark(address):
    from .addresses import file_system
    try:
        fs, path = file_system(address)
        files = fs.find(path, detail=True).values()
        return tuple(" ".join(str(file.get(key)) for key in ("name", "size", "mtime", "LastModified", "ETag")
                              if file.get(key) is not None) for file in files)
    except (OSError, ValueError, ImportError):
        return ()
