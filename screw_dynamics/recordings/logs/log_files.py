"""Message files and rosbag2 folders, opened as logs."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .addresses import METADATA, STORAGES, at_hand, opened
from .expansion import Allowance
from .mcap_log import McapLog
from .messages import Log
from .notes import Notes
from .sqlite_log import SqliteLog


@contextmanager
def logs(fs: Any, path: str, name: str, notes: Notes, max_bytes: int | None = None
         ) -> Iterator[tuple[list[Log], Allowance]]:
    """Open the files of a recording in their order; yield the logs and the size limit of decompression.

    Missing and unreadable files are noted. Raises ValueError if no file can be read."""
    with ExitStack() as stack:
        found, refused, paths = [], [], files(fs, path, name, notes)
        size = sum(_size(fs, file) for file in paths)
        allowance, unpacked = (Allowance(name, size, max_bytes) for _ in range(2))      # for messages, for whole files
        for file in paths:
            try:
                found.append(_opened(stack, fs, file, os.path.basename(file), notes, allowance, unpacked))
            except (OSError, ValueError) as error:
                refused.append(str(error))
        if not found:
            why = "; ".join(refused) or "it holds no file of messages"
            raise ValueError(f"{name}: nothing in it can be read: {why}")
        for text in refused:
            notes.add("unreadable", text)
        yield found, allowance


def _size(fs, path):
    """Return the size of a file in bytes, with the write-ahead log of a database that was not closed."""
    journal = f"{path}-wal"
    return (fs.size(path) or 0) + ((fs.size(journal) or 0) if fs.exists(journal) else 0)


def files(fs: Any, path: str, name: str, notes: Notes) -> list[str]:
    """Return the files of a recording: those in a rosbag2 folder's metadata, else those present; or a single file."""
    if not fs.isdir(path):
        return [path]
    there = sorted(file for file in fs.ls(path, detail=False) if file.endswith(STORAGES))
    listed, problem = _metadata(fs, f"{path.rstrip('/')}/{METADATA}")
    if problem:
        notes.add("no metadata", f"{name}: {problem}; the files that are there are read")
    chosen = []
    for entry in listed:
        file = next((file for file in there if os.path.basename(file) == os.path.basename(entry)), None)
        if file is None:
            notes.add("missing file", f"{name}: {entry} does not exist")
        else:
            chosen.append(file)
    return list(dict.fromkeys(chosen)) or there


def _metadata(fs, path):
    """Return the files listed in a folder's metadata, and an error text if it cannot be read."""
    import yaml
    try:
        with opened(fs, path) as file:
            listed = yaml.safe_load(file.read())["rosbag2_bagfile_information"]["relative_file_paths"]
        return [entry for entry in dict.fromkeys(listed) if isinstance(entry, str)], ""
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as error:
        return [], f"{METADATA} cannot be read: {type(error).__name__}"


def _opened(stack, fs, path, name, notes, allowance, unpacked):
    """Open a file as a log. A compressed file is decompressed to a copy first."""
    plain = path.removesuffix(".zstd")
    if plain != path:
        path = _decompressed(stack, fs, path, name, notes, unpacked)
    if plain.endswith(".mcap"):
        file = open(path, "rb") if plain != path and os.path.exists(path) else opened(fs, path)
        return McapLog(stack.enter_context(file), name, notes, allowance)
    at = stack.enter_context(at_hand(fs, path, f"{path}-wal")) if plain == path else path
    log = SqliteLog(at, name, notes, allowance)
    stack.callback(log.close)
    return log


def _decompressed(stack, fs, path, name, notes, unpacked):
    """Decompress a file to a temporary copy, up to a truncation; return its path."""
    from zstandard import ZstdError
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    copy = Path(folder, os.path.basename(path).removesuffix(".zstd"))
    with opened(fs, path) as packed, open(copy, "wb") as file:
        try:
            file.writelines(unpacked.of_zstd(packed))
        except ZstdError as error:
            notes.add("truncated", f"{name}: decompressed up to byte {file.tell()}: {error}")
    return copy
