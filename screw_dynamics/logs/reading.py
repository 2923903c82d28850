"""A recording from a file or folder."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from screw_dynamics import checks

from .addresses import SUFFIXES, TABLES, file_system
from .expansion import TooLarge
from .notes import Notes
from .recording import FIELDS, Recording
from .roles import Topics, known_roles


def read(address: str | os.PathLike, topics: Topics | None = None, *, gap: float | None = None, time: str = "stamp",
         command_joints: Sequence[str] = (), command_field: str = "position",
         columns: Any = None, max_bytes: int | None = None) -> Recording:
    """The `Recording` at an address: MCAP, a folder or file of rosbag2, CSV, Parquet, or NumPy's .npz; a path, or an
    address of fsspec.

    `topics` {role: topic, topics or None}: roles are joint_states, commands, odometry, wrenches, imu and description;
    what is not named is found by type and name, and None is not wanted. `gap`: the longest step in s that is no
    interruption; five usual ones by default. `time`: "stamp", when something was measured, or "log", when it was
    logged. `command_joints`, `command_field`: what the numbers of a Float64MultiArray are. `columns`: those of a table,
    as {"t": name, "q": {joint: name}, ...}, where their names do not say it. `max_bytes`: the bytes that the recording
    may become when it is expanded; by default 64 MiB, or 100 times its size if that is more.

    What is dropped, changed or damaged is in its `notes`. Raises ValueError if nothing can be read, or it is not known
    which topic is meant, with names; ImportError without the extra [logs]."""
    gap = None if gap is None else checks.positive("gap", gap)
    checks.one_of("time", time, ("stamp", "log"))
    checks.one_of("command_field", command_field, FIELDS)
    known_roles(topics)
    max_bytes = None if max_bytes is None else checks.whole("max_bytes", max_bytes, 1)
    name = os.fspath(address)
    try:
        fs, path = file_system(address)
        if not fs.exists(path):
            raise ValueError(f"{name} does not exist")
        folder = fs.isdir(path)
        if not folder and not path.endswith(SUFFIXES):
            raise ValueError(f"{name} is not a recording: its name must end in {', '.join(SUFFIXES)}, or it must be a "
                             "folder of rosbag2")
        if not folder and path.endswith(TABLES):
            from .tables import read_table
            return read_table(fs, path, name, columns, gap, max_bytes)
        from .from_messages import recording
        return recording(fs, path, name, topics, gap, time == "stamp", tuple(command_joints), command_field, Notes(),
                         max_bytes)
    except TooLarge as error:
        raise ValueError(str(error)) from None
    except ImportError as error:
        if str(error.name).startswith("screw_dynamics"):
            raise
        raise ImportError(f"reading {name} takes {error.name}, which is not installed: pip install "
                          "'screw_dynamics[logs]'", name=error.name) from error
