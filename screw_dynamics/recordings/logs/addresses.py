"""Addresses of recordings: local paths, and URLs of any file system that fsspec supports."""
from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from screw_dynamics.utils.atomic_write import atomic_write

METADATA = "metadata.yaml"                      # marks a rosbag2 folder
STORAGES = (".mcap", ".db3", ".mcap.zstd", ".db3.zstd")
TABLES = (".csv", ".parquet", ".npz")
SUFFIXES = (*STORAGES, *TABLES)


def find(address: str | os.PathLike) -> list[str]:
    """Find the episodes at an address.

    Parameters
    ----------
    address : str or path
        A file, a folder, a glob, or an fsspec URL. A rosbag2 folder is one episode.

    Returns
    -------
    list of str
        Addresses of the episodes in natural order (episode_9 before episode_10). Local addresses are absolute paths.

    Raises
    ------
    ValueError
        If there is no episode.
    """
    fs, path = file_system(address)
    found: list[str] = []
    if fs.exists(path):
        found = _episodes(fs, path)
    elif re.search(r"[*?\[]", path):
        found = [episode for part in fs.glob(path) if not os.path.basename(part).startswith(".")     # incomplete file
                 for episode in _episodes(fs, part)]
    else:
        raise ValueError(f"{os.fspath(address)} does not exist")
    if not found:
        raise ValueError(f"{os.fspath(address)} holds no recordings: no folder of rosbag2, and no file of "
                         f"{', '.join(SUFFIXES)}")
    return [_addressed(fs, os.fspath(address), episode) for episode in sorted(set(found), key=_natural)]


def file_system(address: str | os.PathLike) -> tuple[Any, str]:
    """Return the fsspec file system of an address, and the path in it."""
    from fsspec.core import url_to_fs
    return url_to_fs(os.path.expanduser(os.fspath(address)))


def is_local(fs: Any) -> bool:
    """Return True if the file system is that of this machine."""
    return "file" in ((fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol)


def opened(fs: Any, path: str) -> IO[bytes]:
    """Open a file for reading in binary mode, with seek."""
    return open(_regular(path), "rb") if is_local(fs) else fs.open(path, "rb")


def _regular(path):
    """Return the path of a local file unchanged.

    Raises ValueError if it is not a regular file: reading a FIFO would block."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} is not a regular file")
    return path


@contextmanager
def written(address: str | os.PathLike) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing; create its folder.

    The file gets its name when it is complete: readers find the new content or the old."""
    fs, path = file_system(address)
    if folder := path.rpartition("/")[0]:
        fs.makedirs(folder, exist_ok=True)
    if is_local(fs):
        with atomic_write(path) as name, name.open("wb") as file:
            yield file
        return
    new = f"{path}.{uuid4().hex}.new"           # not a suffix of episodes
    try:
        with fs.open(new, "wb") as file:
            yield file
        fs.mv(new, path)
    except BaseException:
        if fs.exists(new):
            fs.rm(new)
        raise


@contextmanager
def at_hand(fs: Any, path: str, *beside: str) -> Iterator[Path]:
    """Yield a local path of a file: the file itself, or a temporary copy of it and of the existing files `beside`."""
    if is_local(fs):
        yield Path(_regular(path))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in (path, *beside):
            if fs.exists(name):
                fs.get_file(name, os.path.join(folder, os.path.basename(name)))
        yield Path(folder, os.path.basename(path))


def _episodes(fs, path):
    """Return the episodes in a folder, or the path itself if it is an episode's file."""
    if not fs.isdir(path):
        return [path] if path.endswith(SUFFIXES) else []
    found, bags = [], []
    for folder, _, files in fs.walk(path):
        if any(folder == bag or folder.startswith(f"{bag.rstrip('/')}/") for bag in bags):
            continue
        if METADATA in files:
            bags.append(folder)
        else:
            found += [f"{folder.rstrip('/')}/{name}" for name in files
                      if name.endswith(SUFFIXES) and not name.startswith(".")]
    return found + bags


def _addressed(fs, address, path):
    """Return the full address of a path, with the protocols of the address under which it was found."""
    if is_local(fs) and "::" not in address:
        return path
    first, chained, rest = address.partition("::")
    protocol = first.partition("://")[0] if "://" in first else first
    return f"{protocol}://{path.lstrip('/') if protocol != 'memory' else path}{chained}{rest}" if chained \
        else fs.unstrip_protocol(path)


def _natural(path):
    """Return a sort key that puts episode_9 before episode_10."""
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", path) if part]
