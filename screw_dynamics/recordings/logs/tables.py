"""Recordings from third-party tables: CSV and Parquet with one column per signal, and arrays in NumPy .npz files.

A column's name has a signal word before or after the joint's name: "q.elbow", "elbow_position" or
"/joint_states/elbow/effort". Other names are assigned with `columns`."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from screw_dynamics.utils import checks

from .addresses import opened
from .expansion import Allowance, TooLarge
from .gaps import interruptions
from .notes import Notes
from .parquet_file import is_ours, read_back, take_columns
from .recording import Recording

WORDS = {"q": ("q", "position", "positions", "pos"), "qd": ("qd", "dq", "velocity", "velocities", "vel"),
         "tau": ("tau", "effort", "efforts", "torque", "eff")}
TIMES = "t", "time", "__time", "timestamp", "stamp"
SIGNAL = {word: signal for signal, words in WORDS.items() for word in words}
BETWEEN = r"[./_: ]+"
LATEST = 4.6e9          # s since the epoch, the year 2115: larger times are in a smaller unit, such as milliseconds


def read_table(fs: Any, path: str, name: str, columns: Mapping[str, Any] | None, gap: float | None,
               max_bytes: int | None = None) -> Recording:
    """Return the recording in a table. Rows without a time, or whose time does not increase, are dropped with a note.

    Dates and seconds since the epoch are shifted to begin at 0. Raises ValueError if a column is missing, or if times
    are not in seconds, such as nanoseconds since the epoch."""
    allowance = Allowance(name, fs.size(path) or 0, max_bytes)
    with opened(fs, path) as file:
        try:
            if path.endswith(".npz"):
                return _of_arrays(file, name, gap, allowance)
            table, ours = _csv(file) if path.endswith(".csv") else _parquet(file, allowance)
        except (ImportError, TooLarge):
            raise
        except Exception as error:  # noqa: BLE001  of whatever has such a name
            if type(error) is ValueError and str(error).startswith(name):
                raise
            raise ValueError(f"{name} cannot be read: {error}") from error
    if ours:
        return _back(fs, path, name)
    time, signals = _understood(list(table), columns, name)
    notes = Notes()
    joints = tuple(dict.fromkeys(joint for named in signals.values() for joint in named))
    t, start, kept = _times(table[time], time, name, notes)
    arrays = {signal: np.stack([_numbers(table, named.get(joint), kept, name) for joint in joints], axis=1)
              for signal, named in signals.items()}
    unused = [column for column in table if column != time and all(column not in named.values()
                                                                   for named in signals.values())]
    for column in unused:
        notes.add("not read", f"column {column}")
    return Recording(joints, t, **arrays, start=start, source=name, topics={"joint_states": time},
                     breaks=interruptions(t, (), gap, notes), notes=notes)


def _back(fs, path, name):
    """Return a recording written by `write`; the checksums of its pages are verified."""
    try:
        return read_back(fs, path)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001  of damaged bytes all can come
        raise error if type(error) is ValueError else ValueError(f"{name} cannot be read: {error}") from error


def _csv(file):
    from pyarrow import csv
    read = csv.read_csv(file, convert_options=csv.ConvertOptions(null_values=["", "nan", "NaN", "null"]))
    return {name: read.column(name) for name in read.column_names}, False


def _parquet(file, allowance):
    """Return the numeric columns; other columns become empty arrays.

    A text stored once may be repeated in all rows, and expand without limit."""
    import pyarrow as pa
    import pyarrow.parquet as parquet
    opened_file = parquet.ParquetFile(file)
    take_columns(opened_file, allowance)
    if is_ours(opened_file.schema_arrow.metadata):
        return {}, True
    schema = opened_file.schema_arrow
    read = opened_file.read([field.name for field in schema if _is_number(field.type)])
    return {field.name: read.column(field.name) if _is_number(field.type) else pa.array([], field.type)
            for field in schema}, False


def _is_number(kind):
    """Return True for fixed-width types, including dates."""
    import pyarrow as pa
    return pa.types.is_primitive(kind) or pa.types.is_decimal(kind)


def _understood(names, columns, source):
    """Return the name of the time column, and {"q", "qd" or "tau": {joint: column}}."""
    if columns is not None:
        if not isinstance(columns, Mapping):
            raise ValueError(f"columns {checks.described(columns)} must be as {{'t': ..., 'q': {{joint: ...}}}}")
        given = dict(columns)
        time = given.pop("t", None)
        for signal, named in given.items():
            if signal not in WORDS:
                raise ValueError(f"columns[{signal!r}]: must be one of t, {', '.join(WORDS)}")
            if not isinstance(named, Mapping):
                raise ValueError(f"columns[{signal!r}] must be {{joint: column}}, not {checks.described(named)}")
        signals = {signal: dict(named) for signal, named in given.items()}
        wanted = [time, *(column for named in signals.values() for column in named.values())]
        if missing := [column for column in wanted if column not in names]:
            raise ValueError(f"{source} has no column {missing[0]!r}; it has {', '.join(names[:20])}")
    else:
        time = next((name for word in TIMES for name in names if name.lower() == word), None)
        signals = {}
        for name in names:
            if name != time and (found := _signal(name)) is not None:
                of_joints, joint = signals.setdefault(found[0], {}), found[1]
                if joint in of_joints:
                    raise ValueError(f"{source}: columns {of_joints[joint]!r} and {name!r} are both {found[0]} of "
                                     f"joint {joint!r}: name one by columns={{'t': ..., 'q': {{joint: ...}}}}")
                of_joints[joint] = name
    if time is None or "q" not in signals:
        raise ValueError(f"{source}: no column is {'a time' if time is None else 'a position'}; it has "
                         f"{', '.join(names[:20]) or 'none'}: name them by columns={{'t': ..., 'q': {{joint: ...}}}}")
    return time, signals


def _signal(name):
    """Return the signal and the joint of a column, or None. The signal word is the first or last part of its name."""
    parts = [part for part in re.split("/", name) if part]
    if len(parts) > 1 and parts[-1].lower() in SIGNAL:
        return SIGNAL[parts[-1].lower()], parts[-2]
    if found := re.fullmatch(rf"(.+?){BETWEEN}([A-Za-z]+)", name):
        if found[2].lower() in SIGNAL:
            return SIGNAL[found[2].lower()], found[1]
    if found := re.fullmatch(rf"([A-Za-z]+){BETWEEN}(.+)", name):
        if found[1].lower() in SIGNAL:
            return SIGNAL[found[1].lower()], found[2]
    return None


def _times(column, name, source, notes):
    """Return times (k,) in s since the first one, the first time in ns, and the indices of their rows."""
    import pyarrow as pa
    if pa.types.is_timestamp(column.type):
        whole = column.cast(pa.timestamp("ns")).cast(pa.int64()).to_numpy()
        known = ~np.isnan(column.cast(pa.int64()).to_numpy(zero_copy_only=False).astype(float))
        seconds = None
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        values = column.to_numpy().astype(float)
        known = np.isfinite(values)
        seconds = values
    else:
        raise ValueError(f"{source}: the times in column {name!r} are {column.type}, not numbers or dates")
    notes.add("no stamp", f"column {name}: rows without a time, dropped", (~known).sum())
    rows = np.flatnonzero(known)
    order = whole[rows] if seconds is None else seconds[rows]
    later = np.maximum.accumulate(order)
    forward = np.r_[True, order[1:] > later[:-1]] if len(order) else np.zeros(0, dtype=bool)
    notes.add("late", f"column {name}: rows with a time that is not after those before, dropped", (~forward).sum())
    rows, order = rows[forward], order[forward]
    if not len(rows):
        raise ValueError(f"{source} has no row with a time")
    if seconds is None:
        return (order - order[0]) / 1e9, int(order[0]), rows
    _check_seconds(order[0], f"column {name!r}", source)
    return order - order[0], round(order[0] * 1e9), rows


def _check_seconds(first, where, source):
    """Raise ValueError if times cannot be in seconds since the epoch."""
    if not abs(first) <= LATEST:
        raise ValueError(f"{source}: the times in {where} begin at {first:.10g}, which is not a number of seconds "
                         "since 1970: they must be in seconds, or dates")


def _numbers(table, column, rows, source):
    """Return a column as doubles; NaN for empty cells or a missing column."""
    if column is None:
        return np.full(len(rows), np.nan)
    try:
        return np.asarray(table[column].to_numpy(), dtype=float)[rows]
    except (TypeError, ValueError, IndexError):         # IndexError: a non-numeric column is empty
        raise ValueError(f"{source}: column {column!r} is {table[column].type}, not numbers") from None


def _of_arrays(file, source, gap, allowance):
    """Return a recording from arrays named after the signals, and the array `joints` of names."""
    with np.load(file, allow_pickle=False) as arrays:
        for entry in arrays.zip.infolist():
            allowance.take(entry.file_size)             # at most this size is read
        found = {name: arrays[name] for name in arrays.files}
        allowance.take(sum(max(8 * x.size - x.nbytes, 0) for x in found.values()))      # size as doubles
    time = next((name for name in TIMES if name in found), None)
    names = next((name for name in ("joints", "joint_names", "names", "name") if name in found), None)
    signals = {signal: next((found[word] for word in words if word in found), None) for signal, words in WORDS.items()}
    if time is None or signals["q"] is None or names is None:
        missing = "t" if time is None else "q" if signals["q"] is None else "joints"
        raise ValueError(f"{source} has no array {missing!r}; it has {', '.join(found) or 'none'}")
    notes = Notes()
    t = np.asarray(found[time], dtype=float).ravel()
    forward = np.isfinite(t)
    notes.add("no stamp", f"array {time}: rows without a time, dropped", (~forward).sum())
    later = np.maximum.accumulate(np.where(forward, t, -np.inf))
    forward &= np.r_[True, t[1:] > later[:-1]]
    notes.add("late", f"array {time}: rows with a time that is not after those before, dropped",
              (~forward & np.isfinite(t)).sum())
    arrays = {signal: None if x is None else x[forward] for signal, x in signals.items()}
    if not forward.any():
        raise ValueError(f"{source} has no row with a time")
    t = t[forward]
    _check_seconds(t[0], f"array {time!r}", source)
    start = int(found["start"]) if "start" in found else round(t[0] * 1e9)
    return Recording(tuple(found[names].tolist()), t - t[0], **arrays, start=start, source=source,
                     breaks=interruptions(t - t[0], (), gap, notes), notes=notes)
