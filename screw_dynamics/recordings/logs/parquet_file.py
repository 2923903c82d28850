"""Recordings as Parquet files, a lossless format.

Columns: "t" (s), "q.<joint>", "qd.<joint>", "tau.<joint>", "command.<field>.<joint>", "base.<number>". Sensors with
their own times are lists in the first row, "wrench.<frame>" and "imu.<frame>". Units are column metadata; all else is
file metadata."""
from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np

from .addresses import opened, written
from .expansion import Allowance
from .notes import Notes
from .recording import Base, Recording

KEY, URDF = b"screw_dynamics", b"robot_description"
VERSION = 1
POSE, TWIST = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("wx", "wy", "wz", "vx", "vy", "vz")
UNITS = {"q": "rad or m", "qd": "rad/s or m/s", "tau": "N m or N", "position": "rad or m", "velocity": "rad/s or m/s",
         "effort": "N m or N"}


def write(recording: Recording, out: str | os.PathLike) -> str:
    """Write a recording to a Parquet file.

    Parameters
    ----------
    recording : Recording
        Recording with at least one sample.
    out : str or path
        Address that ends in .parquet. An existing file is replaced.

    Returns
    -------
    str
        The address.

    Raises
    ------
    ValueError
        If the recording has no samples, or the address does not end in .parquet.

    Notes
    -----
    The file is written atomically.
    """
    import pyarrow.parquet as parquet
    address = os.fspath(out)
    if not address.endswith(".parquet"):
        raise ValueError(f"{address} must end in .parquet")
    if not len(recording.t):
        raise ValueError(f"{recording.source or 'the recording'} has no samples to write")
    with written(address) as file:
        parquet.write_table(_table(recording), file, compression="zstd", use_dictionary=False,
                            write_page_checksum=True)
    return address


def provenance(recording: Recording) -> dict[str, Any]:
    """Return the provenance of a recording: source, start, topics, notes, and the SHA-256 of its description."""
    text = recording.description
    return {"source": recording.source, "start": recording.start, "topics": dict(recording.topics),
            "notes": [list(note) for note in recording.notes],
            "description_sha256": None if text is None else hashlib.sha256(text.encode()).hexdigest()}


def is_ours(metadata: dict[bytes, bytes] | None) -> bool:
    """Return True if the metadata of a Parquet file are those of `write`."""
    return bool(metadata) and KEY in metadata


def take_columns(file: Any, allowance: Allowance) -> None:
    """Count the expanded size of a ParquetFile's columns: 8 bytes an entry, also for repeated ones."""
    for i in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(i)
        for k in range(group.num_columns):
            column = group.column(k)
            allowance.take(max(8 * column.num_values, column.total_uncompressed_size))


def read_back(fs: Any, path: str) -> Recording:
    """Read a recording from its Parquet file. Raises ValueError if the file has a later version."""
    import pyarrow.parquet as parquet
    with opened(fs, path) as file:
        table = parquet.ParquetFile(file, page_checksum_verification=True).read()
    header = json.loads(table.schema.metadata[KEY])
    if header["version"] > VERSION:
        raise ValueError(f"{path} has version {header['version']}; this release reads versions up to {VERSION}")
    joints, text = header["joints"], table.schema.metadata.get(URDF)

    def columns(names):
        if not names:
            return np.zeros((table.num_rows, 0))
        return np.stack([table.column(name).to_numpy() for name in names], axis=1)

    def signals(before):
        return columns([f"{before}.{name}" for name in joints])

    def series(name, *widths):
        values = np.array(table.column(name)[0].as_py(), dtype=float).reshape(-1, 1 + sum(widths))
        ends = np.cumsum((1, *widths))
        return (values[:, 0], *(values[:, a:b] for a, b in zip(ends, ends[1:], strict=False)))

    base = header["base"] and Base(columns([f"base.{name}" for name in POSE]),
                                   columns([f"base.{name}" for name in TWIST]), *header["base"])
    return Recording(
        joints, columns(["t"])[:, 0], signals("q"), signals("qd"), signals("tau"), start=header["start"], base=base,
        commands={field: signals(f"command.{field}") for field in header["commands"]},
        wrenches={frame: series(f"wrench.{frame}", 6) for frame in header["wrenches"]},
        imu={frame: series(f"imu.{frame}", 3, 3) for frame in header["imu"]},
        description=None if text is None else text.decode(), source=header["source"], topics=header["topics"],
        breaks=tuple(header["breaks"]), notes=Notes(header["notes"]))


def _table(recording):
    """Return a table of the columns with their units; all else is metadata."""
    import pyarrow as pa
    fields, columns, n = [], [], len(recording.t)

    def add(name, values, unit):
        fields.append(pa.field(name, pa.float64(), metadata={"unit": unit}))
        columns.append(pa.array(np.ascontiguousarray(values), from_pandas=False))

    def add_list(name, arrays, unit):
        kind = pa.list_(pa.float64())
        whole = np.concatenate([arrays[0][:, None], *arrays[1:]], axis=1).ravel()
        fields.append(pa.field(name, kind, metadata={"unit": unit}))
        offsets = pa.array([0] + [len(whole)] * n, pa.int32())
        columns.append(pa.ListArray.from_arrays(offsets, pa.array(whole, from_pandas=False)))

    add("t", recording.t, "s")
    signals = {**{name: getattr(recording, name) for name in ("q", "qd", "tau")},
               **{f"command.{field}": x for field, x in recording.commands.items()}}
    for before, x in signals.items():
        for i, joint in enumerate(recording.joints):
            add(f"{before}.{joint}", x[:, i], UNITS[before.rpartition(".")[2]])
    if recording.base is not None:
        for i, name in enumerate(POSE):
            add(f"base.{name}", recording.base.q[:, i], "m" if i < 3 else "1")
        for i, name in enumerate(TWIST):
            add(f"base.{name}", recording.base.twist[:, i], "rad/s" if i < 3 else "m/s")
    for frame, arrays in recording.wrenches.items():
        add_list(f"wrench.{frame}", arrays, "s, N m (3), N (3), in turn")
    for frame, arrays in recording.imu.items():
        add_list(f"imu.{frame}", arrays, "s, rad/s (3), m/s^2 (3), in turn")
    base = recording.base
    header = {"version": VERSION, "joints": list(recording.joints), "commands": list(recording.commands),
              "base": base and [base.frame, base.link], "wrenches": list(recording.wrenches),
              "imu": list(recording.imu), "breaks": list(recording.breaks), **provenance(recording)}
    metadata = {KEY: json.dumps(header).encode()}
    if recording.description is not None:
        metadata[URDF] = recording.description.encode()
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=metadata))
