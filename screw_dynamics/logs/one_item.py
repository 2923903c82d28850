"""One item of many on a worker: its function under a time limit, and its result in files that are whole or absent.

A result is `NAME.json`, the row, and `NAME.parquet`, the table if there is one, which is written before. Both get their
names when they are complete; the row comes last, so that what has a row is done."""
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

from screw_dynamics.whole_file import whole

UNFINISHED = "unfinished"       # folder, in that of the results, of files that have no name yet
RESERVED = "item", "key", "run", "error", "trace", "seconds", "table", "bytes"
BEGUN, TIMEOUT = "begun", "Timeout ("       # of faulthandler
ABOUT = b"screw_dynamics.row"    # in the metadata of a table's file
FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS


class FolderFull(Exception):
    """Raised if a result cannot be written; nor can any that follows."""


def stored(folder: Path, name: str) -> dict[str, Any] | None:
    """Return the row of an item, None if it is not done: nothing is there, or a table is not what was written."""
    try:
        row = json.loads((folder / f"{name}.json").read_text())
        whole = row["table"] is None or (folder / row["table"]).stat().st_size == row["bytes"]
    except (OSError, ValueError, KeyError, TypeError):      # a machine that lost power leaves files that are empty
        return None
    return row if whole else None


def compute(item: Any, name: str, shared: tuple[Callable, Mapping[str, Any]], folder: Path, timeout: float | None,
            run: str) -> dict[str, Any]:
    """Return the row of one item, which is in its file when this returns. shared: function and options.

    An item that ran out of time on another worker, which ended with it, is not begun again: `run` marks what belongs to
    one call of `each`. FolderFull if the result cannot be written."""
    if (row := stored(folder, name)) and (row["error"] is None or row["run"] == run):
        return row              # by a worker that died before it could say so
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
    """Return the row of an item of which nothing is known yet."""
    return dict.fromkeys(RESERVED) | {"item": described(item), "key": name.rpartition("-")[2], "run": run}


def progress_file(folder: Path, name: str, run: str) -> Path:
    """Return the file that says how often an item was begun, and where it was when its time was over."""
    return folder / UNFINISHED / f"{name}.{run}"


def beginnings(folder: Path, name: str, run: str) -> int:
    """Return how often an item was begun and not finished."""
    try:
        return progress_file(folder, name, run).read_text().count(BEGUN)
    except FileNotFoundError:
        return 0


def described(item: Any) -> str:
    """Return an item in words: what a row has in its column `item`."""
    return os.fspath(item) if isinstance(item, os.PathLike) else str(item)


def store(folder: Path, name: str, row: dict[str, Any], table: Any = None) -> dict[str, Any]:
    """Write a row, and a table before it; the row, as who reads the file gets it."""
    if table is not None:
        target = folder / f"{name}.parquet"
        with whole(target, folder / UNFINISHED) as path:
            row |= {"table": target.name, "bytes": _write_table(path, table, row)}
    text = json.dumps(row, default=_plain)
    with whole(folder / f"{name}.json", folder / UNFINISHED) as path:
        path.write_text(text)
    return json.loads(text)


def _write_table(path, table, row):
    """Return the size of a Parquet file of a table, whose metadata has the row."""
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
    """Tells a folder that cannot take more from other faults."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise FolderFull(error.errno, f"{folder}: {error.strerror}") from None
        raise


@contextmanager
def _limited(timeout: float | None, trace: Any) -> Iterator[None]:
    """Ends this process, with a trace in the file, when the time is over: what hangs in a decoder, and lets no other
    thread run, ends too. The nanny starts a worker anew."""
    if timeout is None:
        yield
        return
    faulthandler.dump_traceback_later(timeout, exit=True, file=trace)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _checked(result):
    """Row and table of what a function returned: a row, or both."""
    row, table = result if isinstance(result, tuple) else (result, None)
    if not isinstance(row, Mapping):
        raise TypeError(f"must return a row, a dict, or a row and a table, not {type(row).__name__}")
    if taken := sorted(set(row) & set(RESERVED)):
        raise ValueError(f"the row has a column {taken[0]!r}, which is taken: {', '.join(RESERVED)}")
    return row, table


def _place(trace):
    """Return the place where a thread was, from a trace of faulthandler: the innermost line of the thread that
    computed."""
    for thread in trace.split("\n\n"):
        lines = [line.strip() for line in thread.splitlines() if line.strip().startswith("File ")]
        if any(f'{Path(__file__).name}", line' in line and " in compute" in line for line in lines):
            return f", in {lines[0].removeprefix('File ')}"
    return ""


def _plain(x):
    """Convert NumPy's numbers and arrays, and paths, to what JSON has."""
    if isinstance(x, np.generic | np.ndarray):
        return x.tolist()
    if isinstance(x, os.PathLike):
        return os.fspath(x)
    raise TypeError(f"a row cannot hold {type(x).__name__} {x!r}")
