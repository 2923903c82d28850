"""Files that are whole or absent: written under another name first."""
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(target: Path, folder: Path | None = None) -> Iterator[Path]:
    """A path to write to, in a folder, by default the target's, which becomes the target, all at once.

    Nothing is left of what fails, on a full disk say, and what was there before stays; an OSError has the target's
    name. A target that is a link stays one: the file that it leads to is written. A file that is there keeps its
    mode."""
    real = Path(os.path.realpath(target))
    new = (folder or real.parent) / f".{target.name}.{os.uname().nodename}.{os.getpid()}"
    try:
        yield new
        if real.is_file():
            new.chmod(real.stat().st_mode & 0o7777)
        os.replace(new, real)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error
    finally:
        new.unlink(missing_ok=True)
