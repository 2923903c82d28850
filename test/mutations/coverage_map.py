"""Which tests run a line of the package: measured once by coverage.py, in build/planted, until a source changes.

The everyday tests are run twice. As usual: what of kernels is compiled is not seen. And in plain Python
(NUMBA_DISABLE_JIT=1) without those of nodes: there kernels are seen line by line; a test that takes longer than LIMIT
or fails so does not count."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .reach import CONTEXT, PASSED

LIMIT = 20              # s: a test in plain Python
PACKAGE = "screw_dynamics"
SETTINGS = """[run]
source = {root}/screw_dynamics
parallel = true
sigterm = true
data_file = {folder}/data
context = ${{{context}-}}
"""


class Test(NamedTuple):
    """A test as pytest names it, whether it runs in plain Python, and the seconds that it takes then."""

    plain: bool
    name: str
    seconds: float


class CoverageMap:
    """The map of the repository `root`, which is measured if it is not in `folder`. jobs: how many processes."""

    def __init__(self, root: Path, folder: Path, jobs: int, sources: Mapping[Path, str]):
        key = hashlib.sha256(repr(sorted((str(file.relative_to(root)), text) for file, text in sources.items())
                                  ).encode()).hexdigest()
        self._root, self._parts = root, {}
        for plain in (True, False):
            part = folder / ("plain" if plain else "compiled")
            if not (part / "key").exists() or (part / "key").read_text() != key:
                _measure(root, part, plain, jobs)
                (part / "key").write_text(key)
            self._parts[plain] = part

    def tests_of(self, file: Path, first: int, last: int) -> list[Test]:
        """Return the tests that run one of these lines of a file, or, where none does so by itself, as when a module is
        imported, any line of the file; those in plain Python first, and then by their times."""
        found = []
        for plain, part in self._parts.items():
            data, passed = _data(part), _passed(part)
            by_line = data.contexts_by_lineno(str(file))
            names = {name for line in range(first, last + 1) for name in by_line.get(line, ()) if name}
            names = names or {name for some in by_line.values() for name in some if name}
            found += [Test(plain, name, passed[name]) for name in names if name in passed]
        return sorted(found, key=lambda test: (not test.plain, test.seconds, test.name))


@cache
def _data(part):
    from coverage import CoverageData

    data = CoverageData(str(part / "data"))
    data.read()
    return data


@cache
def _passed(part):
    return json.loads((part / "passed.json").read_text())


def _measure(root, part, plain, jobs):
    """Run the tests under coverage.py. They may fail: in plain Python some need machine code."""
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    settings = part / "settings"
    settings.write_text(SETTINGS.format(root=root, folder=part, context=CONTEXT))
    environment = os.environ | {
        "COVERAGE_PROCESS_START": str(settings), CONTEXT: "", PASSED: str(part / "passed.json"),
        "PYTHONPATH": os.pathsep.join(map(str, (root, root / "test", Path(__file__).parents[1])))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutations.reach", "-p", "no:cacheprovider", "-n", str(jobs),
               "--dist", "loadfile", "--no-loadscope-reorder"]
    if plain:
        environment["NUMBA_DISABLE_JIT"] = "1"
        command += ["--ignore", "test/ros", "--timeout", str(LIMIT)]
    print(f"measuring which {'tests in plain Python' if plain else 'tests'} run which lines", flush=True)
    with (part / "log").open("w") as log:
        subprocess.run(command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT)
    subprocess.run([sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={settings}"], cwd=root, check=True,
                   env=os.environ | {CONTEXT: ""})
