"""Files of shared memory, by which processes of ROS 2 on one machine hear each other."""
import os
from pathlib import Path


def left_in_memory(paths, began):
    """Those of some files that a process which began then, and has ended, left behind.

    Not those that another process uses: one that is heard maps those of who hears it. Nor those that are older, of a
    process that was killed: a message of it may still have waited in a port."""
    left = [path for path in paths if os.path.exists(path) and not _is_mapped(path)]
    return [path for path in left if os.path.exists(path) and os.stat(path).st_ctime > began]


def _is_mapped(path):
    """Whether a process uses a file."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if path in maps.read_text():
                return True
        except OSError:     # it has ended
            pass
    return False
