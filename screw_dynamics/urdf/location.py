"""Resolution of the location of a URDF or a mesh, a path or an address, to the path of a file."""
import contextlib
import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from .error import UrdfError, quote

# Of a scheme of two letters or more: one is a drive. A Path makes one slash of two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/{1,3})(.*)", re.DOTALL)
_VARIABLES = ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH")
_PACKAGE = re.compile(r"[A-Za-z0-9_-]+")
# In text, not in a tree: all else of a file, and the numbers of its lines, must stay as they are.
_MESH = re.compile(r"""(<mesh\s(?:[^<>]*?\s)?filename\s*=\s*)("[^"<]*"|'[^'<]*')""")
LARGEST_PATH = 4096


def resolve(location: str) -> str:
    """Return the path that is meant by a path, which may begin with ~, or by a file:// or package://<package>/<path>
    address.

    A package is share/<package> below a prefix of AMENT_PREFIX_PATH, as ROS 2 has them, or a folder of that name in
    ROS_PACKAGE_PATH. Raises UrdfError for a package that does not exist, and for addresses of other kinds."""
    address = _ADDRESS.fullmatch(location)
    if address is None:
        return os.path.expanduser(location)
    scheme, slashes, rest = address.groups()
    if scheme == "file":
        return ("" if slashes == "//" else "/") + unquote(rest)
    if scheme == "package":
        package, _, inside = rest.partition("/")
        return os.path.join(_share(package), inside.lstrip("/"))
    raise UrdfError(f"{scheme}:// addresses are not read: give a path, a file:// or package:// address, or XML text")


def _share(package):
    """Return the folder of a package: of several, that of the first prefix, which overlays the others."""
    ament, ros = (list(filter(None, os.environ.get(name, "").split(os.pathsep))) for name in _VARIABLES)
    folders = [os.path.join(prefix, "share", package) for prefix in ament]
    for folder in ros:      # of packages, or a package itself
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
    """Return the path of a mesh that a URDF in a folder names. Raises UrdfError if there is no such file. None: of a
    text.

    A package that no path variable names is looked for in the folders above the URDF, as it lies in a checkout."""
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
    """Return the text of a URDF at a path, in which meshes that are named relative to it are named by file://
    addresses, so that they are found from the text alone. What is found nowhere, or in a package of the path variables,
    stays."""
    folder = Path(os.path.abspath(path)).parent

    def located(found):
        name = unescape(found[2][1:-1])
        with contextlib.suppress(UrdfError):
            if os.path.isfile(resolve(name)) and _ADDRESS.fullmatch(name):
                return found[0]
        with contextlib.suppress(UrdfError, OSError):
            return f'{found[1]}"{locate_beside(name, folder).as_uri()}"'
        return found[0]

    return _MESH.sub(located, text)


def lost_meshes(text: str, path: Path, at: Path) -> list[str]:
    """Return the meshes that the text of a URDF at a path names, which are found beside it, and would not be beside
    `at`."""
    lost = []
    for found in _MESH.finditer(text):
        name = unescape(found[2][1:-1])
        with contextlib.suppress(UrdfError, OSError):
            locate_beside(name, path.parent)
            try:
                locate_beside(name, at.parent)
            except UrdfError:
                lost.append(name)
    return lost


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
