"""Files that are whole or absent: written under another name first."""
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def whole(target: str | os.PathLike, folder: Path | None = None) -> Iterator[Path]:
    """A path to write to, in a folder, by default the target's, which becomes the target, all at once.

    Nothing is left of what fails, on a full disk say, and what was there before stays; an OSError has the target's
    name. A target that is a link stays one: the file that it leads to is written. A file that is there keeps its
    mode; FileExistsError for a target that is there and no file, as a pipe or a device."""
    real = Path(os.path.realpath(target))
    mode = _mode(real, target)
    new = (folder or real.parent) / f".{uuid4().hex[:12]}.{real.name}"      # hidden, and of the same kind by its ending
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


def write_whole(target: str | os.PathLike, content: str | bytes) -> None:
    """Write a file of text, in UTF-8, or of bytes, as `whole` does."""
    with whole(target) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


def _mode(real, target):
    """Return the permissions of the file that is there; None for none."""
    try:
        found = real.stat().st_mode
    except FileNotFoundError:
        return None
    if not (stat.S_ISREG(found) or stat.S_ISDIR(found)):        # which nothing replaces
        raise FileExistsError(errno.EEXIST, "exists and is no file: it is not replaced", str(target))
    return stat.S_IMODE(found)
