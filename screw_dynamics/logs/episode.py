"""An episode as an item of `each`: where it is, and a mark that changes with what is there."""
import os
from collections.abc import Sequence
from typing import NamedTuple


class Episode(NamedTuple):
    """An address, and what changes when its files do: names, sizes and times or hashes of what they contain."""

    address: str
    mark: tuple[str, ...]

    def __str__(self) -> str:
        return self.address


def episodes(addresses: Sequence[str | os.PathLike]) -> list[Episode]:
    """Return the episodes at addresses of files and folders of rosbag2; what cannot be looked at has no mark, and is
    what a worker will complain of."""
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
