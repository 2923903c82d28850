"""Recordings of any kind as Parquet files."""
from __future__ import annotations

import os
from typing import Any

from .addresses import SUFFIXES, find
from .parquet_file import write
from .reading import read


def convert(address: str | os.PathLike, out: str | os.PathLike, **options: Any) -> str:
    """Read one episode and write it as a Parquet file.

    Parameters
    ----------
    address : str or path
        Address of the episode.
    out : str or path
        Address that ends in .parquet, or a folder: the file is named after the episode.
    **options
        Options of ``read``.

    Returns
    -------
    str
        Address of the file, an input of ``read``.

    Raises
    ------
    ValueError
        If there are several episodes (use ``screw_dynamics_logs convert``), if the file would replace its source, or
        if ``read`` raises it.
    """
    episodes = find(address)
    if len(episodes) > 1:
        raise ValueError(f"{os.fspath(address)} holds {len(episodes)} episodes, must hold one: the command "
                         "screw_dynamics_logs convert converts all")
    target = os.fspath(out)
    if not target.endswith(".parquet"):
        target = f"{target.rstrip('/')}/{episode_name(episodes[0])}.parquet"
    if os.path.abspath(target) == episodes[0]:
        raise ValueError(f"{target} is the source: write to another address")
    return write(read(episodes[0], **options), target)


def episode_name(address: str) -> str:
    """Return the last part of an address, without its suffix."""
    name = address.rstrip("/").rpartition("/")[2]
    return next((name.removesuffix(suffix) for suffix in sorted(SUFFIXES, key=len, reverse=True)
                 if name.endswith(suffix)), name)
