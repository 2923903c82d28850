"""Computation of one item on a worker: the function under a time limit, and atomic result files.

A result is `NAME.json`, the row, and optionally `NAME.parquet`, the table. Both are renamed when complete, the table
first: an item with a row is done."""
import errno
import faulthandler
import json
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from screw_dynamics.utils.atomic_write import atomic_write, write_atomically

UNFINISHED = "unfinished"       # subfolder of the results for incomplete files
RESERVED = "item", "key", "run", "error", "trace", "seconds", "table", "bytes"
BEGUN, TIMEOUT = "begun", "Timeout ("       # text that faulthandler writes at a timeout
ABOUT = b"screw_dynamics.row"    # metadata key of a table's file
FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS


class FolderFull(Exception):
    """Error: the results folder cannot be written."""


def stored(folder: Path, name: str) -> dict[str, Any] | None:
    """Return the stored row of an item, or None if it is missing or its table is incomplete."""
    try:
        row = json.loads((folder / f"{name}.json").read_text())
        whole = row["table"] is None or (folder / row["table"]).stat().st_size == row["bytes"]
    except (OSError, ValueError, KeyError, TypeError):      # a power loss can leave empty files
        return None
    return row if whole else None


def compute(item: Any, name: str, shared: tuple[Callable, Mapping[str, Any]], folder: Path, timeout: float | None,
            run: str) -> dict[str, Any]:
    """Compute one item, store its row and return it. shared: function and options.

    An item that timed out on another worker, which ended, is not started again; `run` identifies the call of `each`.
    Raises FolderFull if the result cannot be written."""
    if (row := stored(folder, name)) and (row["error"] is None or row["run"] == run):
        return row              # stored by a worker that died before returning it
    row, table = started(item, name, run), None
    began, path = time.monotonic(), progress_file(folder, name, run)
    with _full(folder), path.open("a+") as trace:
        trace.seek(0)
        if TIMEOUT in (text := trace.read()):
            path.unlink()
            return store(folder, name, row | {"error": f"took longer than {timeout:g} s{_place(text)}", "trace": text})
        print(f"{BEGUN} on {os.uname().nodename} by process {os.getpid()}", file=trace, flush=True)
        try:
            with _limited(timeout, trace):
                found, table = _checked(shared[0](item, **shared[1]))
            row |= found
        except (Exception, SystemExit) as error:
            row |= {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        row["seconds"] = time.monotonic() - began
        row = store(folder, name, row, table)
        path.unlink(missing_ok=True)
    return row


def started(item: Any, name: str, run: str) -> dict[str, Any]:
    """Return the row of an item that is not computed yet."""
    return dict.fromkeys(RESERVED) | {"item": described(item), "key": name.rpartition("-")[2], "run": run}


def progress_file(folder: Path, name: str, run: str) -> Path:
    """Return the file that records the starts of an item, and its traceback at a timeout."""
    return folder / UNFINISHED / f"{name}.{run}"


def beginnings(folder: Path, name: str, run: str) -> int:
    """Return the number of unfinished starts of an item."""
    try:
        return progress_file(folder, name, run).read_text().count(BEGUN)
    except FileNotFoundError:
        return 0


def described(item: Any) -> str:
    """Return the text of an item in the column `item` of its row."""
    return os.fspath(item) if isinstance(item, os.PathLike) else str(item)


def store(folder: Path, name: str, row: dict[str, Any], table: Any = None) -> dict[str, Any]:
    """Write a table, if any, and a row; return the row as read back from JSON."""
    if table is not None:
        target = folder / f"{name}.parquet"
        with atomic_write(target, folder / UNFINISHED) as path:
            row |= {"table": target.name, "bytes": _write_table(path, table, row)}
    text = json.dumps(row, default=_plain)
    write_atomically(folder / f"{name}.json", text, folder / UNFINISHED)
    return json.loads(text)


def _write_table(path, table, row):
    """Write a table to a Parquet file with the row in its metadata; return the file's size."""
    import pyarrow
    import pyarrow.parquet
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.table({column: np.asarray(x) for column, x in table.items()})
    about = json.dumps({k: x for k, x in row.items() if k not in ("table", "bytes")}, default=_plain)
    metadata = (table.schema.metadata or {}) | {ABOUT: about}
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")
    return path.stat().st_size


@contextmanager
def _full(folder: Path) -> Iterator[None]:
    """Raise FolderFull for an OSError of a folder that cannot be written; pass other errors on."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise FolderFull(error.errno, f"{folder}: {error.strerror}") from None
        raise


@contextmanager
def _limited(timeout: float | None, trace: Any) -> Iterator[None]:
    """End this process at the timeout with a traceback in the file; its nanny restarts it.

    This also ends a decoder that hangs while holding the GIL."""
    if timeout is None:
        yield
        return
    faulthandler.dump_traceback_later(timeout, exit=True, file=trace)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _checked(result):
    """Return row and table of a function's result: a row, or both."""
    row, table = result if isinstance(result, tuple) else (result, None)
    if not isinstance(row, Mapping):
        raise TypeError(f"the function must return a dict (a row), or a pair (dict, table), not {type(row).__name__}")
    if taken := sorted(set(row) & set(RESERVED)):
        raise ValueError(f"the row has the reserved column {taken[0]!r}; reserved are {', '.join(RESERVED)}")
    return row, table


def _place(trace):
    """Return the place of a timeout, from faulthandler's trace: the innermost line of the computing thread."""
    for thread in trace.split("\n\n"):
        lines = [line.strip() for line in thread.splitlines() if line.strip().startswith("File ")]
        if any(f'{Path(__file__).name}", line' in line and " in compute" in line for line in lines):
            return f", in {lines[0].removeprefix('File ')}"
    return ""


def _plain(x):
    """Convert NumPy numbers, arrays and paths to JSON types."""
    if isinstance(x, np.generic | np.ndarray):
        return x.tolist()
    if isinstance(x, os.PathLike):
        return os.fspath(x)
    raise TypeError(f"a row cannot hold {type(x).__name__} {x!r}")
