"""Which tests run a line of the package: measured by coverage.py in a copy of the repository.

The everyday tests are run twice. As usual: what of kernels is compiled is not seen. And in plain Python
(NUMBA_DISABLE_JIT=1) without those of nodes: there kernels are seen line by line; a test that takes longer than LIMIT
or fails so does not count."""
import ast
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from screw_dynamics.testing.processes import killed_with_parent

from . import reach
from .reach import CONTEXT, PASSED

LIMIT = 3               # s: a test in plain Python
PACKAGE = "screw_dynamics"
SETTINGS = """[run]
source = {tree}/screw_dynamics
parallel = true
sigterm = true
core = ctrace
data_file = {folder}/data
context = ${{{context}-}}
"""


class Reaching(NamedTuple):
    """A test as pytest names it, whether it runs in plain Python, and the seconds that it takes then."""

    plain: bool
    name: str
    seconds: float


class CoverageMap:
    """The map of a copy of the repository, which is measured if it is not in `folder`. jobs: how many processes."""

    def __init__(self, tree: Path, folder: Path, jobs: int):
        self._tree, self._parts = tree, {plain: folder / ("plain" if plain else "compiled") for plain in (True, False)}
        for plain, part in self._parts.items():
            if not (part / "done").exists():
                _measure(tree, part, plain, jobs)
                (part / "done").touch()

    def tests_of(self, file: str, text: str, line: int) -> list[Reaching]:
        """Return the tests that run the statement at a line of a file of the package with this text: those in plain
        Python first, each kind by its times. For a statement that runs when its module is imported, or that no test
        runs, they are the tests that run any line of the file; for a file that no test runs, those of its folder or
        name."""
        found, (first, last) = [], statement(text, line)
        module = Path(file).relative_to(PACKAGE)
        beside = (*(f"test/{part}/" for part in module.parts[:-1]), f"test/test_{module.stem}.py")
        for plain, part in self._parts.items():
            by_line, passed = _data(part).contexts_by_lineno(str(self._tree / file)), _passed(part)
            names = {name for k in range(first, last + 1) for name in by_line.get(k, ()) if name}
            if not names or not in_function(text, line):
                names = ({name for some in by_line.values() for name in some if name}
                         or {name for name in passed if name.startswith(beside)})
            found += [Reaching(plain, name, passed[name]) for name in names if name in passed]
        return sorted(found, key=lambda test: (not test.plain, test.seconds, test.name))


def statement(text: str, line: int) -> tuple[int, int]:
    """Return the first and the last line of the innermost statement at a line; of one with a body those before that."""
    first, last = line, line
    for node in _statements(text):                      # outer ones first
        if node.lineno <= line <= node.end_lineno:
            body = getattr(node, "body", None)
            first, last = node.lineno, max(line, body[0].lineno - 1) if body else node.end_lineno
    return first, last


def in_function(text: str, line: int) -> bool:
    """Return True for a line of a function's body, which does not run when the module is imported."""
    return any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
               and node.body[0].lineno <= line <= node.end_lineno for node in _statements(text))


@cache
def _statements(text):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]


@cache
def _data(part):
    from coverage import CoverageData

    data = CoverageData(str(part / "data"))
    data.read()
    return data


@cache
def _passed(part):
    return json.loads((part / "passed.json").read_text())


def _measure(tree, part, plain, jobs):
    """Run the tests under coverage.py. Some may fail: in plain Python a few need machine code."""
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    settings = part / "settings"
    settings.write_text(SETTINGS.format(tree=tree, folder=part, context=CONTEXT))
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"} | {
        "COVERAGE_PROCESS_START": str(settings), CONTEXT: "", PASSED: str(part / "passed.json"),
        "PYTHONPATH": os.pathsep.join(map(str, (tree, tree / "test", Path(__file__).parents[1])))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutations.reach", "-p", "no:cacheprovider",
               "-n", str(jobs), "--dist", "loadfile", "--no-loadscope-reorder"]
    if plain:
        environment |= {"NUMBA_DISABLE_JIT": "1", reach.LIMIT: str(LIMIT)}
        command += ["--ignore", "test/ros", "--timeout", "0"]
    print(f"measuring which {'tests in plain Python' if plain else 'tests'} run which lines", flush=True)
    with (part / "log").open("w") as log:
        done = subprocess.run(killed_with_parent(command), cwd=tree, env=environment, stdout=log,
                              stderr=subprocess.STDOUT)
    if done.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not _passed(part):
        raise RuntimeError(f"pytest ended with {done.returncode}: see {part / 'log'}")
    subprocess.run([sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={settings}"], cwd=tree, check=True,
                   env=os.environ | {CONTEXT: ""})
