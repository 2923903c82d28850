"""Reading of recordings from files and folders."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from screw_dynamics.utils import checks

from .addresses import SUFFIXES, TABLES, file_system
from .expansion import TooLarge
from .notes import Notes
from .recording import FIELDS, Recording
from .roles import Topics, known_roles


def read(address: str | os.PathLike, topics: Topics | None = None, *, gap: float | None = None, time: str = "stamp",
         command_joints: Sequence[str] = (), command_field: str = "position",
         columns: Any = None, max_bytes: int | None = None) -> Recording:
    """Read the recording at an address.

    Parameters
    ----------
    address : str or path
        Path or fsspec URL of an MCAP, CSV, Parquet or NumPy .npz file, or of a rosbag2 folder or file.
    topics : dict of str to str, sequence of str or None, optional
        Topic or topics of each role: joint_states, commands, odometry, wrenches, imu and description. Topics of other
        roles are found by type and name. None omits a role.
    gap : float, optional
        Longest step in s that is not an interruption. By default five times the median step.
    time : {"stamp", "log"}, optional
        "stamp" uses the time of measurement, "log" the log time.
    command_joints : sequence of str, optional
        Joints of the numbers in a Float64MultiArray.
    command_field : {"position", "velocity", "effort"}, optional
        Quantity of the numbers in a Float64MultiArray.
    columns : dict of str to str or dict, optional
        Columns of a table, ``{"t": name, "q": {joint: name}, ...}``. Required if the names are not recognized.
    max_bytes : int, optional
        Largest decompressed size of the recording. By default 64 MiB, or 100 times its size if that is more.

    Returns
    -------
    Recording
        The recording. Its ``notes`` list dropped, changed and damaged data.

    Raises
    ------
    ValueError
        If nothing can be read, or the choice of a topic is ambiguous; the message has the names.
    ImportError
        If the extra [logs] is not installed.
    """
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
        raise ImportError(f"reading {name} requires {error.name}, which is not installed: pip install "
                          "'screw_dynamics[logs]'", name=error.name) from error
