"""Copies of the repository in which faults are planted, and tests that are run there, with kernels of their own."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .table import Fault, Stage, place, sources

PACKAGE = "screw_dynamics"
LEFT_OUT = shutil.ignore_patterns(".*", "build", "install", "log", "__pycache__", "*.egg-info")
LIMIT = 900             # s: tests that take longer hang
PASSED, FAILED, BROKEN = 0, 1, 2        # pytest's exit codes; BROKEN: a test file could not be imported


class Outcome(NamedTuple):
    """by: the test that noticed, "" for none."""

    by: str
    output: str


class Tree:
    """A copy of the repository `root` at `path`. kernels: a folder of machine code for the sources as they are."""

    def __init__(self, root: Path, path: Path, kernels: Path):
        self._root, self.path, self._kernels = root, path, kernels
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(root, path, ignore=LEFT_OUT)
        self._files = {file.name: file for file in (path / "test").rglob("test_*.py")}

    def texts(self) -> dict[Path, str]:
        """The sources of the package."""
        return sources(self.path / PACKAGE)

    def key(self, fault: Fault) -> str:
        """A hash of the file that gets a fault, of the fault, and of its tests."""
        file, _ = place(fault, self.texts())
        tests = [self._files[name].read_text() for stage in fault.stages for name in stage.tests]
        return hashlib.sha256(repr((file.read_text(), fault, tests)).encode()).hexdigest()[:16]

    def plant(self, fault: Fault) -> Outcome:
        """What the tests say of a fault, which is gone afterwards, with all that was compiled of it."""
        file, _ = place(fault, self.texts())
        file.write_text(fault.planted(file.read_text()))
        cache = self.path / "machine_code"
        shutil.copytree(self._kernels, cache, copy_function=os.link)
        try:
            for stage in fault.stages:
                outcome = self.run(stage, cache)
                if outcome.by:
                    break
            return outcome
        finally:
            shutil.rmtree(cache)
            shutil.copy2(self._root / file.relative_to(self.path), file)

    def run(self, stage: Stage, cache: Path) -> Outcome:
        """Run tests until the first that fails, with machine code in a folder."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=short", "-p", "no:cacheprovider",
                   *(str(self._files[name].relative_to(self.path)) for name in stage.tests)]
        environment = os.environ | {"PYTHONPATH": f"{self.path}:{self.path / 'test'}",
                                    "SCREW_DYNAMICS_CACHE_DIR": str(cache)}
        environment.pop("NUMBA_DISABLE_JIT", None)
        if stage.plain:
            environment["NUMBA_DISABLE_JIT"] = "1"
        with subprocess.Popen(command, cwd=self.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return Outcome(f"{' '.join(stage.tests)} took longer than {LIMIT} s", process.communicate()[0])
            finally:
                _end(process.pid)
        if process.returncode in (PASSED, FAILED, BROKEN):
            failed = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", output, re.MULTILINE)
            return Outcome("" if process.returncode == PASSED else failed[1] if failed else output[-200:], output)
        if process.returncode < 0:
            return Outcome(f"{' '.join(stage.tests)} ended by signal {-process.returncode}", output)
        raise RuntimeError(f"pytest ended with {process.returncode}:\n{output}")


def _end(group):
    """End what a test has left running, a node of a test that failed say."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
