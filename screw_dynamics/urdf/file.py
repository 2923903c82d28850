"""A robot's URDF text from a path or a package:// address, through xacro if need be. For launch files, commands, and
the start of nodes; what comes over a topic is text."""
import io
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from screw_dynamics.whole_file import write_whole

from .error import UrdfError, issue
from .location import lost_meshes, resolve, with_located_meshes
from .source import Source, encoded, path_of, read_source
from .xacro_file import expand, is_xacro


def read_urdf_file(location: str, xacro_args: Mapping[str, str] | None = None) -> str:
    """Return the URDF text at a path, a file:// or a package://<package>/<path> address; *.xacro is run through xacro,
    with {name: value} of the file's arguments.

    Meshes that are named relative to the file are named by file:// addresses in the text, which is all that others get
    to see. Raises UrdfError naming the location when the package or file does not exist, xacro is not installed, or
    refuses the file or its arguments, and for arguments of a file that is not xacro."""
    try:
        path = Path(resolve(location))
    except UrdfError as error:
        raise UrdfError(f"urdf: {location}: {error}") from None
    if not path.is_file():
        raise UrdfError(f"urdf: file {path} does not exist" + ("" if str(path) == location else f" (from {location})"))
    if is_xacro(str(path)):
        return with_located_meshes(expand(str(path), xacro_args), path)
    _refuse(xacro_args, path)
    return with_located_meshes(read_source(path), path)


def text_of(source: str | PathLike, xacro_args: Mapping[str, str] | None = None) -> str:
    """Return the URDF text that a source is, or that `read_urdf_file` reads at the path that it is."""
    path = path_of(source)
    if path is not None:
        return read_urdf_file(path, xacro_args)
    _refuse(xacro_args, "XML text")
    return str(source)


def opened(source: Source, xacro_args: Mapping[str, str] | None = None) -> Source:
    """Return a source, as it is; the path of a xacro file becomes the URDF text that it expands to, open under its
    name."""
    path = None if hasattr(source, "read") else path_of(source)
    if path is None or not is_xacro(path):
        _refuse(xacro_args, path or "the source")
        return source
    text = io.StringIO(read_urdf_file(path, xacro_args))
    text.name = path    # type: ignore[misc, attr-defined]
    return text


def save(text: str, path: str | PathLike, source: Source) -> None:
    """Write a URDF text that was made from a source, in its encoding, at once: a reader finds what was there before, or
    all of it. The path is one that a source may be: ~, file:// and package:// are understood.

    A UrdfWarning names meshes that are found from the source, and not from there. Raises ValueError for the path of a
    xacro file, which the text is not. Raises OSError if nothing can be written."""
    target, origin = Path(os.path.abspath(resolve(os.fspath(path)))), path_of(source)
    if is_xacro(str(target)):
        raise ValueError(f"to_urdf: {target} is the path of a xacro file, but what is written is a URDF")
    content = encoded(text, source)
    write_whole(target, content)
    if origin is not None and (lost := lost_meshes(text, Path(os.path.abspath(resolve(origin))), target)):
        issue([f"{target}: {len(lost)} meshes are found beside {origin} alone, the first {lost[0]!r}"])


def _refuse(xacro_args, what):
    if xacro_args:
        raise UrdfError(f"xacro_args are given, but {what} is not the path of a xacro file (*.xacro)")
