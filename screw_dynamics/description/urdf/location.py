"""Resolution of the location of a URDF or mesh, a path or a URL, to a file path."""
import contextlib
import os
import re
from pathlib import Path

from .error import UrdfError, quote

# The scheme has two letters or more: one letter is a drive. A Path reduces two slashes to one.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/{1,3})(.*)", re.DOTALL)
_VARIABLES = ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH")
_PACKAGE = re.compile(r"[A-Za-z0-9_-]+")
# A regular expression on the text: the rest of the file, and its line numbers, must not change.
_MESH = re.compile(r"""(<mesh\s(?:[^<>]*?\s)?filename\s*=\s*)("[^"<]*"|'[^'<]*')""")
LARGEST_PATH = 4096


def resolve(location: str) -> str:
    """Return the path of a location: a path, which may begin with ~, a file:// or a package://<package>/<path> URL.

    A package is share/<package> below a prefix in AMENT_PREFIX_PATH (ROS 2), or a folder of that name in
    ROS_PACKAGE_PATH. Raises UrdfError for a package that does not exist, and for other URL schemes."""
    address = _ADDRESS.fullmatch(location)
    if address is None:
        return os.path.expanduser(location)
    scheme, slashes, rest = address.groups()
    if scheme == "file":
        from urllib.parse import unquote

        return ("" if slashes == "//" else "/") + unquote(rest)
    if scheme == "package":
        package, _, inside = rest.partition("/")
        return os.path.join(_share(package), inside.lstrip("/"))
    raise UrdfError(f"{scheme}:// addresses are not read: give a path, a file:// or package:// address, or XML text")


def _share(package):
    """Return the folder of a package: the one of the first prefix, which overlays the others."""
    ament, ros = (list(filter(None, os.environ.get(name, "").split(os.pathsep))) for name in _VARIABLES)
    folders = [os.path.join(prefix, "share", package) for prefix in ament]
    for folder in ros:      # a folder of packages, or a package
        itself = os.path.basename(os.path.normpath(folder)) == package
        folders.append(folder if itself else os.path.join(folder, package))
    if _PACKAGE.fullmatch(package):
        for folder in filter(os.path.isdir, folders):
            return folder
    where = " and ".join(f"{name} ({quote(os.environ[name]) if os.environ.get(name) else 'not set'})"
                         for name in _VARIABLES)
    raise UrdfError(f"package {quote(package)} does not exist; searched are {where}: source the workspace that has it, "
                    "or give the path of the file")


def locate_beside(file: str, folder: Path | None) -> Path:
    """Return the path of a mesh named in a URDF. `folder` is that of the URDF; None for a URDF given as text.

    A package missing from the path variables is searched in the folders above the URDF, as in a checkout. Raises
    UrdfError if the file does not exist."""
    try:
        path = Path(resolve(file))
    except UrdfError as error:
        path = _above(file, folder)
        if path is None:
            raise error
    if not path.is_absolute() and folder is not None:
        path = folder / path
    if len(str(path)) > LARGEST_PATH or "\0" in str(path) or not path.is_file():
        raise UrdfError(f"file {quote(path)} does not exist")
    return path


def with_located_meshes(text: str, path: Path) -> str:
    """Return the text of the URDF at a path, with mesh paths relative to it replaced by file:// URLs.

    Meshes are then found from the text alone. Paths that are not found, or are in a package of the path variables, are
    unchanged."""
    folder = Path(os.path.abspath(path)).parent

    def located(found):
        name = _mesh_name(found)
        with contextlib.suppress(UrdfError):
            if os.path.isfile(resolve(name)) and _ADDRESS.fullmatch(name):
                return found[0]
        with contextlib.suppress(UrdfError, OSError):
            return f'{found[1]}"{locate_beside(name, folder).as_uri()}"'
        return found[0]

    return _MESH.sub(located, text)


def lost_meshes(text: str, path: Path, at: Path) -> list[str]:
    """Return the meshes in a URDF text that are found relative to `path` but not relative to `at`."""
    lost = []
    for found in _MESH.finditer(text):
        name = _mesh_name(found)
        with contextlib.suppress(UrdfError, OSError):
            locate_beside(name, path.parent)
            try:
                locate_beside(name, at.parent)
            except UrdfError:
                lost.append(name)
    return lost


def _mesh_name(found):
    """Return the file name in a match of _MESH."""
    from html import unescape

    return unescape(found[2][1:-1])


def _above(file, folder):
    scheme, _, rest = file.partition("://")
    package, _, inside = rest.lstrip("/").partition("/")
    if folder is None or scheme not in ("package", "model") or package in ("", ".", ".."):
        return None
    for above in (folder, *folder.parents):
        found = above if above.name == package else above / package
        if (found / inside).is_file():
            return found / inside
    return None
