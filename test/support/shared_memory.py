"""Files in shared memory that processes of Fast DDS which were killed have left."""
import fcntl
import os
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/dev/shm")


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
