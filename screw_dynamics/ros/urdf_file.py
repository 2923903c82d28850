"""A robot's URDF from a path or a package:// address, through xacro if need be. For launch files; nodes take text."""

from pathlib import Path


def read_urdf_file(location: str) -> str:
    """The URDF text at a path, a file:// or a package://<package>/<path> address; *.xacro is run through xacro.

    ValueError naming the location when the package or file does not exist, or xacro is not installed."""
    path = _resolve(location)
    if not path.is_file():
        raise ValueError(f"urdf: file {path} does not exist" + ("" if str(path) == location else f" (from {location})"))
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
    except (LookupError, OSError, ValueError):   # unknown, no environment set up, not a name
        raise ValueError(f"urdf: package '{package}' does not exist (from {location})") from None
