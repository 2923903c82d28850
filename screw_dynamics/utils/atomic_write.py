"""Atomic writes: a file is complete or absent. It is written under another name first."""
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(target: str | os.PathLike, folder: Path | None = None) -> Iterator[Path]:
    """Yield a path to write to, which atomically becomes the target; its folder is by default the target's.

    If writing fails, for example on a full disk, nothing is left and an earlier target stays; an OSError names the
    target. If the target is a symbolic link, the file that it points to is written. An existing file keeps its mode.
    Raises FileExistsError if the target exists and is not a file, for example a pipe or a device."""
    real = Path(os.path.realpath(target))
    mode = _mode(real, target)
    new = (folder or real.parent) / f".{os.urandom(6).hex()}.{real.name}"      # hidden, with the target's suffix
    try:
        yield new
        if mode is not None:
            new.chmod(mode)
        os.replace(new, real)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error
    finally:
        new.unlink(missing_ok=True)


def write_atomically(target: str | os.PathLike, content: str | bytes, folder: Path | None = None) -> None:
    """Write a file of text, in UTF-8, or of bytes, atomically; see `atomic_write`."""
    with atomic_write(target, folder) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


def _mode(real, target):
    """Return the permissions of the target, or None if it does not exist."""
    try:
        found = real.stat().st_mode
    except FileNotFoundError:
        return None
    if not (stat.S_ISREG(found) or stat.S_ISDIR(found)):        # os.replace must not replace these
        raise FileExistsError(errno.EEXIST, "exists and is not a file: it is not replaced", str(target))
    return stat.S_IMODE(found)
