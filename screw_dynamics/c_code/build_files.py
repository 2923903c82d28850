"""Files to build, install and find an export: for CMake and pkg-config."""
from .layout import Export
from .template import filled

# CMake replaces @names@.
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
    """Return the contents of CMakeLists.txt."""
    return filled("c/build.cmake", {"title": export.title, "name": export.name, "NAME": export.name.upper()})


def pkg_config(export: Export) -> str:
    """Return the pkg-config file, which CMake completes."""
    return PKG_CONFIG.replace("<title>", export.title).replace("<name>", export.name)
