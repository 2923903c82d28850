"""Copies of the repository in which faults are planted, and tests that are run there, with kernels of their own."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from .table import Fault, Stage, place, sources

PACKAGE = "screw_dynamics"
LEFT_OUT = shutil.ignore_patterns(".*", "build", "install", "log", "__pycache__", "*.egg-info")
LIMIT = 900             # s: tests that take longer hang, which is noticed too
PATIENCE = 60           # s: tests of nodes wait for so long for what a fault may prevent
# pytest's exit codes; the last two of a file that cannot be imported, and of one that is skipped as a whole, as its
# library is not installed.
PASSED, FAILED, INTERRUPTED, NONE = 0, 1, 2, 5


class Tree:
    """A copy of the repository `root` at `path`. kernels: a folder of machine code for the sources as they are."""

    def __init__(self, root: Path, path: Path, kernels: Path):
        self._root, self._path, self._kernels = root, path, kernels
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(root, path, ignore=LEFT_OUT)
        self._tests = {file.name: file for file in (path / "test").rglob("test_*.py")}      # names are told apart

    def _place(self, fault):
        return place(fault, sources(self._path / PACKAGE))[0]

    def _file(self, test):
        return self._tests[test.partition("::")[0]]

    def key(self, fault: Fault) -> str:
        """A hash of the file that gets a fault, of the fault, and of its tests."""
        tests = [self._file(name).read_text() for stage in fault.stages for name in stage.tests]
        return hashlib.sha256(repr((self._place(fault).read_text(), fault, tests)).encode()).hexdigest()[:16]

    def plant(self, fault: Fault) -> str:
        """The test that notices a fault, "" for none; the fault is gone afterwards, with all that was compiled of
        it."""
        file, cache = self._place(fault), self._path / "machine_code"
        file.write_text(fault.planted(file.read_text()))
        shutil.copytree(self._kernels, cache, copy_function=os.link)
        try:
            return next(filter(None, (self.run(stage, cache) for stage in fault.stages)), "")
        finally:
            shutil.rmtree(cache)
            shutil.copy2(self._root / file.relative_to(self._path), file)

    def run(self, stage: Stage, cache: Path) -> str:
        """The first test of a stage that fails, or how else it ends, with machine code in a folder; "" if all pass."""
        names = " ".join(stage.tests)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "-p", "no:cacheprovider", "-m", "",
                   *(str(self._file(name)) + "".join(name.partition("::")[1:]) for name in stage.tests)]
        with tempfile.TemporaryFile("w+", errors="replace") as log:        # no pipe, which children may keep open
            process = subprocess.Popen(command, cwd=self._path, env=self._environment(stage, cache), stdout=log,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                return f"{names}: more than {LIMIT} s"
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)                  # nodes that a failed test has left, too
                process.wait()
            log.seek(0)
            output = log.read()
        if process.returncode in (PASSED, NONE):
            return ""
        failed = re.search(r"^(?:FAILED|ERROR) (?:[^\s:]*/)?(test_\w+\.py.*?)(?: - .*)?$", output, re.MULTILINE)
        if failed and process.returncode in (FAILED, INTERRUPTED):
            return failed[1]
        if process.returncode < 0:
            return f"{names}: signal {-process.returncode}"
        raise RuntimeError(f"pytest ended with {process.returncode}:\n{output}")

    def _environment(self, stage, cache):
        """Of a process in which the copy of the package is the one that is imported."""
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
        if stage.plain:
            environment["NUMBA_DISABLE_JIT"] = "1"
        return environment | {"SCREW_DYNAMICS_CACHE_DIR": str(cache), "TEST_PATIENCE": str(PATIENCE),
                              "PYTHONPATH": os.pathsep.join(map(str, (self._path, self._path / "test")))}
