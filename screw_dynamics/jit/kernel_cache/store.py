"""Folders that hold machine code: their paths, the trust in them, and the format of their files.

Loading machine code runs it. A file is therefore read only if nobody but this user and root can have written it, and
used only if its checksum is right: a flipped bit could cause a crash or a wrong torque."""
import ctypes
import fcntl
import hashlib
import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
SHARED_OBJECT = ".kernel.so"
OBJECT = ".kernel.o"
SOURCES = ".sources"    # of the hashes in dependencies.py
PARSED = ".parsed"      # of what they are made from, which only serves after an edit
LOCK, TEMPORARY = ".kernel.lock", ".kernel.tmp"
FORMER = ".kernel"      # of earlier versions
UNUSED = 60 * 86400     # s: a file that no process has loaded for this long is removed
PATIENCE = 60.0         # s: how long to wait for another process that compiles the same code
OTHERS = stat.S_IWGRP | stat.S_IWOTH

_MAGIC = b"screw_dynamics machine code 2\n"        # ends a file, after the checksum of the data before it
_log = logging.getLogger("screw_dynamics")
_logged: set[str] = set()


def warn_once(text: str) -> None:
    """Log a warning at its first occurrence in this process."""
    if text not in _logged:
        _logged.add(text)
        _log.warning(text)


class Folder:
    """A folder of machine-code files that only these users (uid) may write."""

    def __init__(self, path: Path, owners: set[int]):
        self.path, self._owners = path, owners

    def read(self, name: str, suffix: str) -> bytes | None:
        """Return the data of a name; None if there is no such file, or if it is damaged or not trusted."""
        with suppress(OSError), open(self.file(name, suffix), "rb") as file:
            for what, status in ((self.path, self.path.stat()), (file.name, os.fstat(file.fileno()))):
                fault = self._fault(status)
                if fault:
                    warn_once(f"machine code in {what} is not used: {fault}")
                    return None
            data, end = _parted(file.read())
            if end == hashlib.sha256(data).digest() + _MAGIC:
                with suppress(OSError):
                    os.utime(file.fileno())                     # marks the file as used: see `write`
                return data
        return None

    def write(self, name: str, data: bytes, suffix: str) -> Path:
        """Write a file atomically, and remove files that are unused for long. Raises OSError if the file cannot be
        written."""
        from tempfile import mkstemp  # of modules that take longer to import than to load a kernel

        self._make()
        handle, temporary = mkstemp(dir=self.path, suffix=TEMPORARY)
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
            lock = open(self.file(name, LOCK), "w")
        except OSError:                                         # no folder to write to: no turns
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
        """Remove all machine code. Return the number of removed kernels."""
        files = self._files()
        for file in files:
            file.unlink(missing_ok=True)
        return sum(file.name.endswith((SHARED_OBJECT, OBJECT)) for file in files)

    def file(self, name: str, suffix: str) -> Path:
        """Return the path of a file, which need not exist."""
        return self.path / f"{name}{suffix}"

    def _files(self):
        """Return the files that this class has written into the folder."""
        return [file for suffix in (SHARED_OBJECT, OBJECT, SOURCES, PARSED, LOCK, TEMPORARY, FORMER)
                for file in self.path.glob(f"*{suffix}")]

    def _make(self):
        """Make the folder if it does not exist. Raises OSError if it is not trusted or cannot be made."""
        self.path.mkdir(mode=0o755, parents=True, exist_ok=True)
        fault = self._fault(self.path.stat())
        if fault:
            raise OSError(fault)

    def unfit(self) -> str | None:
        """Return the reason for which the folder is not used; None if it is trusted. The folder is made if it does not
        exist."""
        try:
            self._make()
        except OSError as error:
            return error.strerror or str(error)
        return None

    def _fault(self, status):
        """Return the reason for which a file or a folder is not trusted, or None."""
        if status.st_uid not in self._owners:
            return f"it belongs to another user ({status.st_uid})"
        shared = status.st_mode & OTHERS
        if shared & stat.S_IWOTH or shared and not _is_private(status.st_gid):
            return f"other users may write it (mode {stat.S_IMODE(status.st_mode):o})"
        return None


def _parted(contents):
    """Return the data of a file, as passed to `write`, and the trailer that `write` appended."""
    size = max(len(contents) - 32 - len(_MAGIC), 0)
    return contents[:size], contents[size:]


def _is_private(gid):
    """Return True for a group of one user. Debian and Fedora make one such group for each user, and the user's files
    are group-writable."""
    import grp
    import pwd
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}


def installed() -> Folder:
    """Return the folder of kernels that came with the package. A checkout may have an installed package beside it: then
    its kernels, which serve the same sources. The owner of the source files is trusted, because their code runs
    anyway."""
    place = PACKAGE
    if not (place / "machine_code").is_dir():
        import sysconfig

        place = Path(sysconfig.get_path("purelib"), PACKAGE.name)
    return Folder(place / "machine_code", {0, os.geteuid(), os.stat(__file__).st_uid})


def own() -> Folder:
    """Return the user's folder: the first of `candidate_folders` that is trusted, made if it does not exist. The
    reasons for which earlier ones are not used are logged once. If none is trusted, return the first, whose `read` and
    `write` report the fault."""
    first, refused = None, []
    for path in candidate_folders():
        folder = Folder(path, {0, os.geteuid()})
        if not (fault := folder.unfit()):
            if refused:
                warn_once(f"{'; '.join(refused)}; {path} is used instead")
            return folder
        first = first or folder
        refused.append(f"machine code in {path} is not used: {fault}")
    return first


def found(name: str, suffix: str) -> tuple[Path, bytes] | None:
    """Return the path and the data of a file of the installed package, or else of the user's folder; None if neither
    has it."""
    for place in (installed, own):          # no warning about the user's folder if the installed one has the file
        folder = place()
        if (data := folder.read(name, suffix)) is not None:
            return folder.file(name, suffix), data
    return None


def address_in(path: Path) -> int:
    """Return the address of the symbol of a shared object, which stays loaded; 0 if the system cannot load it."""
    try:
        return ctypes.cast(ctypes.CDLL(str(path.resolve())).kernel, ctypes.c_void_p).value or 0
    except OSError as error:
        warn_once(f"kernels in {path.parent} cannot be loaded as shared objects: {error}")
        return 0


def keep(name: str, data: bytes, suffix: str) -> Path | None:
    """Write a file into the user's folder. If that fails, return None and log a warning once."""
    folder = own()
    try:
        return folder.write(name, data, suffix)
    except OSError as error:
        warn_once(f"machine code cannot be kept in {folder.path}, and every process compiles it anew: "
                  f"{error.strerror or error}. SCREW_DYNAMICS_CACHE_DIR chooses another folder")
        return None


def candidate_folders() -> Iterator[Path]:
    """Yield candidate folders: $SCREW_DYNAMICS_CACHE_DIR, else screw_dynamics in $NUMBA_CACHE_DIR or $XDG_CACHE_HOME;
    ~/.cache/screw_dynamics; a folder of this user for temporary files."""
    chosen, caches = (os.environ.get("SCREW_DYNAMICS_CACHE_DIR"),
                      os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME"))
    for path in (chosen, not chosen and caches and f"{caches}/screw_dynamics", "~/.cache/screw_dynamics"):
        with suppress(RuntimeError):                            # a user without a home
            if path:
                yield Path(path).expanduser()
    import tempfile

    try:
        shared = tempfile.gettempdir()
    except OSError:                                             # no temporary folder can be written
        shared = "/tmp"
    yield Path(shared, f"screw_dynamics_{os.geteuid()}")
