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

from .coverage_map import Test
from .operators import Mutation

LEFT_OUT = shutil.ignore_patterns(".*", "build", "install", "log", "__pycache__", "*.egg-info")
LIMIT = 300             # s: a test that takes longer hangs; it may compile kernels
PATIENCE = 60           # s: tests of nodes wait for so long for what a mutation may prevent
AT_ONCE = 400           # tests in one process of pytest
BUDGET = 120.0          # s: of tests that run a line the quickest, in plain Python and then as usual
# pytest's exit codes; INTERRUPTED and NOT_FOUND of a file that cannot be imported, NONE where all are skipped.
PASSED, FAILED, INTERRUPTED, NOT_FOUND, NONE = 0, 1, 2, 4, 5


class Tree:
    """A copy of the repository `root` at `path`. kernels: a folder of those of the sources as they are."""

    def __init__(self, root: Path, path: Path, kernels: Path):
        self._root, self._path, self._kernels = root, path, kernels
        self._sound: dict[Test, bool] = {}
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(root, path, ignore=LEFT_OUT)

    def noticed(self, file: Path, mutation: Mutation, tests: Sequence[Test]) -> str:
        """Return the test that notices a mutation, "" for none. One that fails in the copy without it does not count.
        The mutation is gone afterwards, with all that was compiled of it."""
        for some in groups(tests):
            while some:
                failed = self._changed(file, mutation, some)
                if failed is None:
                    break
                if self._passes(failed):
                    return failed.name
                some = [test for test in some if test != failed]
        return ""

    def _changed(self, file, mutation, tests):
        """Return the first test that fails with a mutation, None if all pass."""
        changed, cache = self._path / file.relative_to(self._root), self._path / "kernels"
        changed.write_text(mutation.applied(changed.read_text()))
        shutil.copytree(self._kernels, cache, copy_function=os.link)
        try:
            return self._run(tests, cache)
        finally:
            shutil.rmtree(cache, ignore_errors=True)
            shutil.copy2(file, changed)

    def _passes(self, test):
        """Return True if a test passes without a mutation."""
        if test not in self._sound:
            self._sound[test] = self._run([test], self._kernels) is None
        return self._sound[test]

    def _run(self, tests, cache):
        """Return the first test that fails, or that hangs or ends the process; None if all pass."""
        command = [sys.executable, "-m", "pytest", "-x", "-v", "-p", "no:cacheprovider", "-p", "no:rerunfailures",
                   "--timeout", str(LIMIT), "--timeout-method", "thread", "-m", "", *(test.name for test in tests)]
        with tempfile.TemporaryFile("w+", errors="replace") as log:        # no pipe, which children may keep open
            process = subprocess.Popen(command, cwd=self._path, env=self._environment(tests[0].plain, cache),
                                       stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                process.wait(LIMIT * (2 + len(tests)))
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)                  # nodes that a failed test has left, too
                process.wait()
            log.seek(0)
            output = log.read()
        if process.returncode in (PASSED, NONE):
            return None
        if process.returncode not in (FAILED, INTERRUPTED, NOT_FOUND) and process.returncode > 0:
            raise RuntimeError(f"pytest ended with {process.returncode}:\n{output}")
        # That which was begun last; of files that cannot be imported the first.
        return next((test for line in reversed(output.splitlines()) for test in tests
                     if line.startswith(f"{test.name} ")), tests[0])

    def _environment(self, plain, cache):
        """Return that of a process in which the copy of the package is the one that is imported."""
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
        if plain:
            environment["NUMBA_DISABLE_JIT"] = "1"
        return environment | {"SCREW_DYNAMICS_CACHE_DIR": str(cache), "TEST_PATIENCE": str(PATIENCE),
                              "PYTHONPATH": os.pathsep.join(map(str, (self._path, self._path / "test")))}


def groups(tests: Sequence[Test]) -> list[list[Test]]:
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
