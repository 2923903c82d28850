"""Folders that hold machine code: where they are, which of them are trusted, and what a file in one looks like.

Loading machine code runs it. A file is therefore read only if nobody but this user and root can have written it, and
used only if its checksum is right: a flipped bit would otherwise be a crash, or a wrong torque."""
import fcntl
import hashlib
import logging
import os
import stat
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SUFFIX = ".kernel"      # of Numba's compile results
SHARED_OBJECT = ".kernel.so"
SOURCES = ".sources"    # of what dependencies.py finds
UNUSED = 60 * 86400     # s: a file that no process has loaded for so long is removed
PATIENCE = 60.0         # s: how long to wait for another process that compiles the same code, before compiling it too
OTHERS = stat.S_IWGRP | stat.S_IWOTH

_MAGIC = b"screw_dynamics machine code 2\n"        # ends a file, with the checksum of what comes before
_log = logging.getLogger("screw_dynamics")
_said: set[str] = set()


def say_once(text: str) -> None:
    """Log a warning, the first time in this process that there is reason to."""
    if text not in _said:
        _said.add(text)
        _log.warning(text)


class Folder:
    """Files of machine code in a folder that one of these users (uid), and nobody else, may write."""

    def __init__(self, path: Path, owners: set[int]):
        self.path, self._owners = path, owners

    def read(self, name: str, suffix: str = SUFFIX) -> bytes | None:
        """Return the data of a name; None if there is no such file, or it is damaged or not to be trusted."""
        with suppress(OSError), open(self.file(name, suffix), "rb") as file:
            for what, status in ((self.path, self.path.stat()), (file.name, os.fstat(file.fileno()))):
                fault = self._fault(status)
                if fault:
                    say_once(f"machine code in {what} is not used: {fault}")
                    return None
            data, end = _parted(file.read())
            if end == hashlib.sha256(data).digest() + _MAGIC:
                with suppress(OSError):
                    os.utime(file.fileno())                     # in use: see `write`
                return data
        return None

    def write(self, name: str, data: bytes, suffix: str = SUFFIX) -> Path:
        """Write a file at once, and remove those that are long unused. Raises OSError if that is not possible."""
        self._make()
        handle, temporary = tempfile.mkstemp(dir=self.path, suffix=f"{SUFFIX}.tmp")
        try:
            with open(handle, "wb") as file:
                os.fchmod(handle, 0o644)
                file.write(data + hashlib.sha256(data).digest() + _MAGIC)
            os.replace(temporary, self.file(name, suffix))
        except BaseException:
            os.unlink(temporary)
            raise
        for old in self._files():
            with suppress(OSError):
                if old.stat().st_mtime < time.time() - UNUSED:
                    old.unlink()
        return self.file(name, suffix)

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Let processes that are about to write the same file take turns, for PATIENCE at most."""
        try:
            self._make()
            lock = open(f"{self.file(name)}.lock", "w")
        except OSError:                                         # nowhere to write: each for itself
            yield
            return
        with lock:
            for _ in range(int(PATIENCE / 0.05)):
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    time.sleep(0.05)
            try:
                yield
            finally:
                with suppress(OSError):
                    os.unlink(lock.name)

    def clear(self) -> int:
        """Remove all machine code; returns how many files that were."""
        files = self._files()
        for file in files:
            file.unlink(missing_ok=True)
        return sum(file.name.endswith((SUFFIX, SHARED_OBJECT)) for file in files)

    def file(self, name: str, suffix: str = SUFFIX) -> Path:
        """Return the path of a file, which need not exist."""
        return self.path / f"{name}{suffix}"

    def _files(self):
        """Return the files that this class has written into the folder."""
        return [file for suffix in (SUFFIX, SHARED_OBJECT, SOURCES, f"{SUFFIX}.lock", f"{SUFFIX}.tmp")
                for file in self.path.glob(f"*{suffix}")]

    def _make(self):
        """Make the folder if it does not exist. Raises OSError if nothing can be kept in it."""
        self.path.mkdir(mode=0o755, parents=True, exist_ok=True)
        fault = self._fault(self.path.stat())
        if fault:
            raise OSError(fault)

    def unfit(self) -> str | None:
        """Return the reason why the folder is not used; None if it is trusted. Make it, if it does not exist."""
        try:
            self._make()
        except OSError as error:
            return error.strerror or str(error)
        return None

    def _fault(self, status):
        """Return the reason why a file or a folder is not trusted, or None."""
        if status.st_uid not in self._owners:
            return f"it belongs to another user ({status.st_uid})"
        shared = status.st_mode & OTHERS
        if shared & stat.S_IWOTH or shared and not _is_private(status.st_gid):
            return f"other users may write it (mode {stat.S_IMODE(status.st_mode):o})"
        return None


def _parted(contents):
    """Return the contents of a file as they were given to `write`, and what that put after them."""
    size = max(len(contents) - 32 - len(_MAGIC), 0)
    return contents[:size], contents[size:]


def _is_private(gid):
    """True for a group of one user: Debian and Fedora make one for each, with files that it may write."""
    import grp
    import pwd
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}


def installed() -> Folder:
    """Return the kernels that came with the package; in a checkout, beside which it may be installed too, those of the
    installed one, which serve the same sources. Whoever owns the source files is trusted: they run all the same."""
    own, copy = (place / "machine_code" for place in (PACKAGE, Path(sysconfig.get_path("purelib"), PACKAGE.name)))
    return Folder(own if own.is_dir() else copy, {0, os.geteuid(), os.stat(__file__).st_uid})


def own() -> Folder:
    """Return the user's: the first of `places` that is trusted, made if it does not exist. Why others are not is logged
    once; without any, it is the first, of which `read` and `write` tell what is wrong."""
    first, refused = None, []
    for path in places():
        folder = Folder(path, {0, os.geteuid()})
        if not (fault := folder.unfit()):
            if refused:
                say_once(f"{'; '.join(refused)}; {path} is used instead")
            return folder
        first = first or folder
        refused.append(f"machine code in {path} is not used: {fault}")
    return first


def found(name: str, suffix: str) -> tuple[Path, bytes] | None:
    """Return a file of what came with the package, or of the user's, and its data; None if neither has it."""
    for place in (installed, own):          # of the user's folder nothing is logged where the other serves
        folder = place()
        if (data := folder.read(name, suffix)) is not None:
            return folder.file(name, suffix), data
    return None


def keep(name: str, data: bytes, suffix: str) -> Path | None:
    """Write a file into the user's folder; None, with a line in the log, once, if that is not possible."""
    folder = own()
    try:
        return folder.write(name, data, suffix)
    except OSError as error:
        say_once(f"machine code cannot be kept in {folder.path}, and every process compiles it anew: "
                 f"{error.strerror or error}. SCREW_DYNAMICS_CACHE_DIR chooses another folder")
        return None


def places() -> Iterator[Path]:
    """$SCREW_DYNAMICS_CACHE_DIR, else screw_dynamics in $NUMBA_CACHE_DIR or $XDG_CACHE_HOME; ~/.cache/screw_dynamics;
    a folder of this user for temporary files."""
    chosen, caches = (os.environ.get("SCREW_DYNAMICS_CACHE_DIR"),
                      os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME"))
    for path in (chosen, not chosen and caches and f"{caches}/screw_dynamics", "~/.cache/screw_dynamics"):
        with suppress(RuntimeError):                            # a user without a home
            if path:
                yield Path(path).expanduser()
    try:
        shared = tempfile.gettempdir()
    except OSError:                                             # none that can be written
        shared = "/tmp"
    yield Path(shared, f"screw_dynamics_{os.geteuid()}")
