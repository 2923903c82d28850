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
    """Read the recording at an address.

    Parameters
    ----------
    address : str or path
        A path, or an address of fsspec, of MCAP, a folder or file of rosbag2, CSV, Parquet, or NumPy's .npz.
    topics : dict of str to str, sequence of str or None, optional
        Topic or topics of each role: joint_states, commands, odometry, wrenches, imu and description. A role that is
        not named is found by type and name. None leaves a role out.
    gap : float, optional
        Longest step in s that is no interruption. By default five usual ones.
    time : {"stamp", "log"}, optional
        "stamp" takes the time of the measurement, "log" the time of logging.
    command_joints : sequence of str, optional
        Joints of the numbers in a Float64MultiArray.
    command_field : {"position", "velocity", "effort"}, optional
        Quantity of the numbers in a Float64MultiArray.
    columns : dict of str to str or dict, optional
        Columns of a table, as ``{"t": name, "q": {joint: name}, ...}``, where their names do not show it.
    max_bytes : int, optional
        Largest number of bytes that the recording may become when it is expanded. By default 64 MiB, or 100 times its
        size if that is more.

    Returns
    -------
    Recording
        The recording. Its ``notes`` list what is dropped, changed or damaged.

    Raises
    ------
    ValueError
        If nothing can be read, or it is not known which topic is meant. The message has the names.
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
        raise ImportError(f"reading {name} takes {error.name}, which is not installed: pip install "
                          "'screw_dynamics[logs]'", name=error.name) from error
