"""Copies of the repository in which the package is changed, and tests that are run there, with kernels of their own."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from screw_dynamics.testing.processes import killed_with_parent

from .coverage_map import Reaching
from .operators import Mutation

LEFT_OUT = shutil.ignore_patterns(".*", "build", "install", "log", "__pycache__", "*.egg-info")
BEING_MADE = shutil.ignore_patterns("*.lock", "*.tmp")      # files of a cache that may be gone before they are copied
ENDLESS = 300           # s: a test that takes longer hangs; it may compile kernels
PATIENCE = 60           # s: tests of nodes wait for so long for what a mutation may prevent
AT_ONCE = 400           # tests in one process of pytest
BUDGET = 120.0          # s: of tests that run a line the quickest, in plain Python and then as usual


class Tree:
    """A copy of the repository `root` at `path`. kernels: a folder of those of the sources as they are."""

    def __init__(self, root: Path, path: Path, kernels: Path):
        self.path, self._kernels, self._changed_kernels = path, kernels, path / "kernels"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(root, path, ignore=LEFT_OUT)

    def noticed(self, file: str, text: str, mutation: Mutation, tests: Sequence[Reaching]) -> str:
        """Return the test that notices a mutation of a file with this text, "" for none. One that fails without it, or
        that passes when it is run again, does not count. Afterwards the mutation is gone."""
        changed, new = self.path / file, mutation.applied(text)
        try:
            for some in groups(tests):
                while some:
                    changed.write_text(new)
                    failed = self._first_to_fail(some)
                    if failed is None:
                        break
                    again = self._first_to_fail([failed])
                    changed.write_text(text)
                    if again and self._first_to_fail([failed]) is None:
                        return failed.name
                    some = [test for test in some if test != failed]
            return ""
        finally:
            changed.write_text(text)
            shutil.rmtree(self._changed_kernels, ignore_errors=True)

    def _first_to_fail(self, tests):
        """Return the first test that fails, or that hangs or ends the process; None if all pass."""
        if not self._changed_kernels.exists():
            shutil.copytree(self._kernels, self._changed_kernels, copy_function=os.link, ignore=BEING_MADE)
        command = [sys.executable, "-m", "pytest", "-x", "-v", "-p", "no:cacheprovider", "-p", "no:rerunfailures",
                   "--timeout", str(ENDLESS), "--timeout-method", "thread", "-m", "", *(test.name for test in tests)]
        with tempfile.TemporaryFile("w+", errors="replace") as log:        # no pipe, which children may keep open
            process = subprocess.Popen(killed_with_parent(command), cwd=self.path, stdout=log, stderr=subprocess.STDOUT,
                                       env=self._environment(tests[0].plain), start_new_session=True)
            try:
                with suppress(subprocess.TimeoutExpired):                   # while files are collected
                    process.wait(ENDLESS + 10.0 * sum(test.seconds for test in tests))
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)                  # nodes that a failed test has left, too
                process.wait()
            log.seek(0)
            output = log.read()
        if process.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return None
        # That which was begun last; of files that cannot be collected the first.
        return next((test for line in reversed(output.splitlines()) for test in tests
                     if line.startswith(f"{test.name} ")), tests[0])

    def _environment(self, plain):
        """Return that of a process in which the copy of the package is the one that is imported."""
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
        if plain:
            environment["NUMBA_DISABLE_JIT"] = "1"
        return environment | {"SCREW_DYNAMICS_CACHE_DIR": str(self._changed_kernels), "TEST_PATIENCE": str(PATIENCE),
                              "PYTHONPATH": os.pathsep.join(map(str, (self.path, self.path / "test")))}


def groups(tests: Sequence[Reaching]) -> list[list[Reaching]]:
    """Return tests as they are run, those of each mode the quickest first, as many as the budget has time for: first a
    few, most mutations are noticed at once."""
    found = []
    for plain in (True, False):
        chosen, seconds = [], 0.0
        for test in (test for test in tests if test.plain == plain):
            seconds += test.seconds
            if seconds > BUDGET and chosen:
                break
            chosen.append(test)
        found += [some for some in (chosen[:10], *(chosen[k:k + AT_ONCE] for k in range(10, len(chosen), AT_ONCE)))
                  if some]
    return found
