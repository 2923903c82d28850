"""Files of shared memory, by which processes of ROS 2 on one machine hear each other."""
import fcntl
import os
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/dev/shm")


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


def remove_what_was_left(folder: Path = FOLDER) -> int:
    """Remove segments and ports of Fast DDS whose processes are gone; return how many these were. A living process
    holds a lock on a file beside each, exclusive (_el) or shared (_sl)."""
    removed = 0
    for lock in (*folder.glob("fastdds_*_el"), *folder.glob("fastdds_*_sl")):
        with suppress(OSError), open(lock, "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)        # BlockingIOError: it is in use
            name = lock.name[:-len("_el")]
            for path in (folder / name, folder / f"sem.{name}_mutex", lock):
                with suppress(FileNotFoundError):
                    os.unlink(path)
            removed += 1
    return removed
