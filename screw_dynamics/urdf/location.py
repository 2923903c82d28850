"""From where a URDF is said to be, a path or an address, to the path of the file. For ROS's launch files too."""
import os
import re
from urllib.parse import unquote

from .error import UrdfError, quote

# Of a scheme of two letters or more: one is a drive. A Path makes one slash of two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/{1,3})(.*)", re.DOTALL)
_VARIABLES = ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH")
_PACKAGE = re.compile(r"[A-Za-z0-9_-]+")


def resolve(location: str) -> str:
    """The path that is meant by a path, which may begin with ~, or by a file:// or package://<package>/<path> address.

    A package is share/<package> below a prefix of AMENT_PREFIX_PATH, as ROS 2 has them, or a folder of that name in
    ROS_PACKAGE_PATH. UrdfError for a package that does not exist, and for addresses of other kinds."""
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
    """The folder of a package: of several, that of the first prefix, which overlays the others."""
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
