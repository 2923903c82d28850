"""A robot's URDF from where users keep it: a path, a package:// address, xacro. For launch files; nodes take text."""

from __future__ import annotations

from pathlib import Path


def read_urdf_file(location: str) -> str:
    """The URDF text at a path, a file:// or a package://<package>/<path> address; *.xacro is run through xacro.

    ValueError naming the location when there is no such package or file, or no xacro to run.
    """
    path = _resolve(location)
    if not path.is_file():
        raise ValueError(f"urdf: there is no file {path}" + ("" if str(path) == location else f" (from {location})"))
    if path.suffix != ".xacro":
        return path.read_text(encoding="utf-8")
    try:
        import xacro
    except ImportError:
        raise ValueError(f"urdf: {path} needs xacro, which is not installed (package xacro)") from None
    return xacro.process_file(str(path)).toxml()


def _resolve(location: str) -> Path:
    if location.startswith("file://"):
        return Path(location.removeprefix("file://"))
    if not location.startswith("package://"):
        return Path(location).expanduser()
    from ament_index_python.packages import get_package_share_directory

    package, _, inside = location.removeprefix("package://").partition("/")
    try:
        return Path(get_package_share_directory(package)) / inside
    except (LookupError, OSError, ValueError):   # not there, no environment set up, not a name
        raise ValueError(f"urdf: there is no package '{package}' (from {location})") from None
