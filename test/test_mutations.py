"""`make planted`: what is changed, where, and that a change which no test notices is told."""
import ast
import os
import re
import subprocess
import sys
import time
from collections import Counter

import pytest
from mutations import trees
from mutations.coverage_map import Reaching, in_function, statement
from mutations.draw import draw
from mutations.operators import mutations

from support.ended import wait_until_ended
from support.paths import ROOT


@pytest.mark.parametrize("source, expected", [
    ("y = a + b", {"y = (a - b)", "y = a"}), ("y = a * b - c", {"y = (a * b + c)", "y = (a * b)"}),
    ("y -= b", {"y += b"}), ("y = -a", {"y = a"}), ("y = x[0]", {"y = x[1]"}), ("y = x[-1]", {"y = x[-2]"}),
    ("y = a < b", {"y = (a >= b)"}), ("y = a is not b", {"y = (a is b)"}), ("y = not a", {"y = a"}),
    ("y = a and b", {"y = (a or b)", "y = a"}), ("y = 3", {"y = 4"}), ("y = 0.5", {"y = 1.0"}),
    ("y = 0.0", {"y = 1.0"}), ("y = True", {"y = False"}), ("y = f(a, b)", {"y = f(b, a)"}),
    ("y = f(a,\n  b)", {"y = f(b, a)"}), ("é = 'é', -a", {"é = 'é', a"}),
    # Nothing that a test could see: equal arguments, tolerances, texts, types, messages.
    *((same, set()) for same in ("y = max(a, b)", "y = f(a, a)", "y = 1e-9", "y = 'a' + b",
                                 "y = 'a' + b + c", "y = isinstance(a, b)", "y = 1e7",
                                 "def f(x: T[0] = None): pass", "y = f'{a + b}'", "if TYPE_CHECKING:\n    y = 1"))])
def test_operators(source, expected):
    found = mutations(source)
    assert {m.applied(source) for m in found} == expected
    assert all(ast.dump(ast.parse(m.applied(source))) != ast.dump(ast.parse(source)) for m in found)
    assert all(source.encode()[m.begin:m.end].decode() == m.old for m in found)


def test_the_line_of_an_expression_is_its_first():
    found = mutations("y = f(a,\n  b)\nz = -w\n")
    assert [(m.kind, m.line) for m in found] == [("arguments", 1), ("sign", 3)]


def test_each_comparison_becomes_its_opposite():
    for sign, opposite in {"<": ">=", ">": "<=", "==": "!=", "is": "is not", "in": "not in"}.items():
        assert [m.new for m in mutations(f"a {sign} b")] == [f"(a {opposite} b)"]
        assert [m.new for m in mutations(f"a {opposite} b")] == [f"(a {sign} b)"]


def test_places_are_drawn_with_a_seed_in_proportion_to_lines():
    texts = {"long.py": "y = a + b\n" * 900, "short.py": "y = a + b\n" * 100, "none.py": "", "words.py": "# no\n" * 50}
    found = draw(texts, 400, 1)
    assert found == draw(texts, 400, 1) and found != draw(texts, 400, 2)
    assert len(draw(texts, 10**4, 1)) == 2000               # all that there are
    counts = Counter(file for file, _ in found)
    assert len(set(found)) == 400 and counts.keys() == {"long.py", "short.py"}
    assert 22 <= counts["short.py"] <= 58                   # 40 expected, with a standard deviation of 6


def test_the_quickest_tests_are_run_first_within_a_budget(monkeypatch):
    tests = [Reaching(plain, f"{plain} {k}", 1.0 * k) for plain in (True, False) for k in range(100)]
    chosen = [*tests[:16], *tests[100:116]]                 # 0 + 1 + ... + 15 = 120 s
    assert trees.BUDGET == 120.0
    assert trees.groups(tests) == [chosen[:10], chosen[10:16], chosen[16:26], chosen[26:]]
    monkeypatch.setattr(trees, "AT_ONCE", 3)
    assert [len(some) for some in trees.groups(tests)] == [10, 3, 3, 10, 3, 3]
    long = Reaching(True, "long", 2.0 * trees.BUDGET)
    assert trees.groups([long]) == [[long]]


SOURCE = """LIMIT = 3


def f(a, b=2):
    if (a
            > b):
        return g(a,
                 b)
    return 0


async def h():
    return 1
"""


@pytest.mark.parametrize("line, lines, inside", [(1, (1, 1), False), (4, (4, 4), False), (6, (5, 6), True),
                                                 (8, (7, 8), True), (9, (9, 9), True), (13, (13, 13), True)])
def test_tests_of_a_statement_are_those_of_all_its_lines(line, lines, inside):
    assert statement(SOURCE, line) == lines and in_function(SOURCE, line) == inside


PACKAGE = """FACTOR = 2


def double(x):
    return x * FACTOR


def half(x):
    return x / 4


def unseen(x):
    return x[3]
"""
TESTS = """import os
import subprocess
import sys

from screw_dynamics import double, unseen


def test_of_what_copies_lack():
    assert os.path.exists(".hidden") == (double(1) == 2)


def test_double():
    assert double(3) == 6


def test_half():
    code = "import screw_dynamics as s; assert s.half(4) == 1"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_little():
    assert unseen([1] * 9) == 1


def test_machine_code():
    assert "NUMBA_DISABLE_JIT" not in os.environ and unseen([1] * 9) == 1
"""


@pytest.fixture
def project(tmp_path):
    """A repository with a package of which one test looks at a function, and a process that another starts at the next;
    one test fails in copies, and one in plain Python."""
    for folder in ("screw_dynamics", "test"):
        (tmp_path / folder).mkdir()
    (tmp_path / "screw_dynamics" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "test" / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / ".hidden").touch()
    return tmp_path


def environment(kernels):
    """That of the command, whose dozens of processes load no more plugins of pytest than it asks for."""
    return os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'test'}", "SCREW_DYNAMICS_CACHE_DIR": str(kernels),
                         "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin,pytest_timeout"}


def run(project, kernels, *options):
    done = subprocess.run([sys.executable, "-m", "mutations", "--jobs", "2", "--root", str(project), *options],
                          capture_output=True, text=True, env=environment(kernels))
    report = project / "build" / "planted" / "report.txt"
    return done, report.read_text() if report.exists() else ""


@pytest.mark.slow
def test_what_no_test_notices_is_told(project, tmp_path_factory):
    kernels = tmp_path_factory.mktemp("kernels")
    done, report = run(project, kernels, "-n", "9")
    assert done.returncode == 1, done.stderr
    assert report.startswith("3 mutations with seed 1, 1 not noticed: 66.7% noticed")       # all that there are
    assert report.splitlines()[0] in done.stdout
    missed, all_of_them = report.split("\n\n", 2)[1:]
    assert missed.count("NOT NOTICED in 3 runs of tests\n    - x[3]\n    + x[4]") == missed.count("NOT NOTICED") == 1
    assert re.search(r"__init__.py:1 .*test_it.py::test_double\n    - 2\n    \+ 3\n", all_of_them)
    assert re.search(r"__init__.py:9 .*test_it.py::test_half\n    - 4\n    \+ 5\n", all_of_them)
    for tree in (project / "build" / "planted").glob("tree_*"):
        assert (tree / "screw_dynamics" / "__init__.py").read_text() == PACKAGE
    again, _ = run(project, kernels, "-n", "9")             # from what is kept, and without measuring
    assert "measuring" in done.stdout and "measuring" not in again.stdout and "66.7% noticed" in again.stdout
    (project / "test" / "test_it.py").write_text(f"{TESTS}\n\ndef test_unseen():\n    assert unseen(range(9)) == 3\n")
    done, report = run(project, kernels, "-n", "9")
    assert done.returncode == 0 and "3 mutations with seed 1, 0 not noticed: 100.0% noticed" in report, done.stdout


@pytest.mark.parametrize("options, says", [
    (("-n", "0"), "argument -n: 0 must be >= 1"), (("nowhere",), "no file of screw_dynamics with nowhere in its path")])
def test_what_cannot_be_done_is_refused(project, tmp_path, options, says):
    done, _ = run(project, tmp_path / "kernels", *options)
    assert done.returncode == 2 and says in done.stderr


@pytest.mark.slow
def test_a_measurement_that_does_not_end_is_no_map(project, tmp_path):
    (project / "test" / "test_it.py").write_text("import os\n\n\ndef test_it():\n    os._exit(3)\n")
    done, report = run(project, tmp_path / "kernels", "--jobs", "1")
    assert done.returncode == 1 and "pytest ended with" in done.stderr and not report


@pytest.mark.slow
def test_a_killed_run_leaves_no_test_behind(project, tmp_path):
    pid = tmp_path / "pid"
    (project / "test" / "test_it.py").write_text(
        f"import os, pathlib, time\n\n\ndef test_it():\n    pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\n"
        "    time.sleep(600)\n")
    # In plain Python, which is measured first, a test has 3 s: without a limit it would sleep on.
    started = subprocess.Popen([sys.executable, "-c", "from mutations import coverage_map; coverage_map.LIMIT = 600; "
                                "from mutations.__main__ import main; main()", "--jobs", "1", "--root",
                                str(project)],
                               env=environment(tmp_path / "kernels"), stdout=subprocess.DEVNULL)
    while not (pid.exists() and pid.read_text()):
        assert started.poll() is None
        time.sleep(0.05)
    started.kill()
    started.wait()
    wait_until_ended(int(pid.read_text()))
