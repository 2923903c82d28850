"""A robot's URDF text from a path or a package:// address, through xacro if need be. For launch files, commands, and
the start of nodes; what comes over a topic is text."""
from pathlib import Path

from .error import UrdfError
from .location import resolve
from .source import read_source


def read_urdf_file(location: str) -> str:
    """The URDF text at a path, a file:// or a package://<package>/<path> address; *.xacro is run through xacro.

    UrdfError naming the location when the package or file does not exist, xacro is not installed, or refuses it."""
    try:
        path = Path(resolve(location))
    except UrdfError as error:
        raise UrdfError(f"urdf: {location}: {error}") from None
    if not path.is_file():
        raise UrdfError(f"urdf: file {path} does not exist" + ("" if str(path) == location else f" (from {location})"))
    return _expanded(path) if path.suffix == ".xacro" else read_source(path)


def _expanded(path):
    try:
        import xacro
    except ImportError:
        raise UrdfError(f"urdf: {path} needs xacro, which is not installed (package xacro)") from None
    try:
        return xacro.process_file(str(path)).toxml()
    except Exception as error:  # xacro raises errors of many types, some of other libraries
        raise UrdfError(f"urdf: {path}: xacro refuses it: {error or type(error).__name__}") from error
