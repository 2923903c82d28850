"""Files that build, install and find an export: CMake's package and pkg-config's file."""
from .layout import Export
from .template import filled

# @names@ are filled in by CMake.
PKG_CONFIG = """\
# <title>
prefix=${pcfiledir}/@to_prefix@
libdir=${prefix}/@libraries@
includedir=${prefix}/@headers@

Name: <name>
Description: Dynamics of a robot, in C
Version: @PROJECT_VERSION@
Libs: -L${libdir} -l<name>
Libs.private: -lm
Cflags: -I${includedir}
"""


def cmake(export: Export) -> str:
    """Return the text of CMakeLists.txt."""
    return filled("c/build.cmake", {"title": export.title, "name": export.name, "NAME": export.name.upper()})


def pkg_config(export: Export) -> str:
    """Return the text of the file for pkg-config, which CMake completes."""
    return PKG_CONFIG.replace("<title>", export.title).replace("<name>", export.name)
