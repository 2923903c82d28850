"""URDF text from a path or a package:// URL, with xacro expansion.

Used by launch files, commands and the start of nodes; a topic carries the text itself."""
import io
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from screw_dynamics.utils.atomic_write import write_atomically

from .error import UrdfError, issue
from .location import lost_meshes, resolve, with_located_meshes
from .source import Source, encoded, path_of, read_source
from .xacro_file import expand, is_xacro


def read_urdf_file(location: str, xacro_args: Mapping[str, str] | None = None) -> str:
    """Return the URDF text at a path, a file:// or a package://<package>/<path> URL.

    *.xacro is expanded with xacro; xacro_args are {name: value}. Mesh paths relative to the file become file:// URLs,
    because users of the text do not have its path. Raises UrdfError naming the location if the package or file does not
    exist, if xacro is not installed or rejects the file or its arguments, and if arguments are given for a file that is
    not xacro."""
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
    """Return the URDF text of a source: the text itself, or that read with `read_urdf_file` if the source is a path."""
    path = path_of(source)
    if path is not None:
        return read_urdf_file(path, xacro_args)
    _refuse(xacro_args, "XML text")
    return str(source)


def opened(source: Source, xacro_args: Mapping[str, str] | None = None) -> Source:
    """Return a source unchanged; a xacro path becomes a text stream of the expanded URDF with that name."""
    path = None if hasattr(source, "read") else path_of(source)
    if path is None or not is_xacro(path):
        _refuse(xacro_args, path or "the source")
        return source
    text = io.StringIO(read_urdf_file(path, xacro_args))
    text.name = path    # type: ignore[misc, attr-defined]
    return text


def save(text: str, path: str | PathLike, source: Source) -> None:
    """Write a URDF text, made from a source, atomically in the source's encoding.

    The path may contain ~, or be a file:// or package:// URL. A UrdfWarning names meshes that are found relative to the
    source but not to the new file. Raises ValueError for the path of a xacro file, because the text is plain URDF.
    Raises OSError if writing fails."""
    target, origin = Path(os.path.abspath(resolve(os.fspath(path)))), path_of(source)
    if is_xacro(str(target)):
        raise ValueError(f"to_urdf: {target} must not be the path of a xacro file: the result is a URDF")
    content = encoded(text, source)
    write_atomically(target, content)
    if origin is not None and (lost := lost_meshes(text, Path(os.path.abspath(resolve(origin))), target)):
        issue([f"{target}: {len(lost)} meshes are found beside {origin} alone, the first {lost[0]!r}"])


def _refuse(xacro_args, what):
    if xacro_args:
        raise UrdfError(f"xacro_args are given, but {what} is not the path of a xacro file (*.xacro)")
