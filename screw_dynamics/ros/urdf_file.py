"""A robot's URDF from a path or a package:// address, through xacro if need be. For launch files; nodes take text."""

from pathlib import Path

from screw_dynamics.urdf.location import resolve


def read_urdf_file(location: str) -> str:
    """The URDF text at a path, a file:// or a package://<package>/<path> address; *.xacro is run through xacro.

    ValueError naming the location when the package or file does not exist, or xacro is not installed."""
    try:
        path = Path(resolve(location))
    except ValueError as error:
        raise ValueError(f"urdf: {location}: {error}") from None
    if not path.is_file():
        raise ValueError(f"urdf: file {path} does not exist" + ("" if str(path) == location else f" (from {location})"))
    if path.suffix != ".xacro":
        return path.read_text(encoding="utf-8")
    try:
        import xacro
    except ImportError:
        raise ValueError(f"urdf: {path} needs xacro, which is not installed (package xacro)") from None
    return xacro.process_file(str(path)).toxml()
