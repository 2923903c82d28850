"""`make planted`: what is changed, where, and that a change which no test notices is told."""
import ast
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from mutations.coverage_map import Test as ATest
from mutations.coverage_map import in_function, statement
from mutations.draw import draw
from mutations.operators import mutations
from mutations.trees import BUDGET, groups

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
                                 "def f(x: T[0] = None): pass", "y = f'{a + b}'", "if TYPE_CHECKING:\n    y = 1"))])
def test_operators(source, expected):
    found = mutations(source)
    assert {m.applied(source) for m in found} == expected
    assert all(ast.dump(ast.parse(m.applied(source))) != ast.dump(ast.parse(source)) for m in found)
    assert all(source.encode()[m.begin:m.end].decode() == m.old for m in found)


def test_places_are_drawn_with_a_seed_in_proportion_to_lines():
    texts = {Path("long.py"): "y = a + b\n" * 900, Path("short.py"): "y = a + b\n" * 100,
             Path("empty.py"): "# none\n" * 50}
    found = draw(texts, 400, 1)
    assert found == draw(texts, 400, 1) and found != draw(texts, 400, 2)
    assert len(draw(texts, 10**4, 1)) == 2000               # all that there are
    counts = Counter(file.name for file, _ in found)
    assert len(set(found)) == 400 and 10 <= counts["short.py"] <= 90 and counts["empty.py"] == 0


def test_the_quickest_tests_are_run_first_within_a_budget():
    tests = [ATest(plain, f"{plain} {k}", 1.0 * k) for plain in (True, False) for k in range(100)]
    found = groups(tests)
    assert [some[0].plain for some in found] == [True, True, False, False]
    assert found[0] == tests[:10] and sum(test.seconds for some in found for test in some) <= 2.0 * BUDGET
    assert groups([ATest(True, "long", 2.0 * BUDGET)]) == [[ATest(True, "long", 2.0 * BUDGET)]]


SOURCE = """LIMIT = 3


def f(a, b=2):
    if (a
            > b):
        return g(a,
                 b)
    return 0
"""


@pytest.mark.parametrize("line, lines, inside", [(1, (1, 1), False), (4, (4, 4), False), (6, (5, 6), True),
                                                 (8, (7, 8), True), (9, (9, 9), True)])
def test_tests_of_a_statement_are_those_of_all_its_lines(line, lines, inside):
    assert statement(SOURCE, line) == lines and in_function(SOURCE, line) == inside


@pytest.fixture
def project(tmp_path):
    """A repository with a package of two functions, of which a test looks at one, and a process that it starts at the
    other; in plain Python another test fails."""
    for folder in ("screw_dynamics", "test"):
        (tmp_path / folder).mkdir()
    (tmp_path / "screw_dynamics" / "__init__.py").write_text(
        "def double(x):\n    return x + x\n\n\ndef half(x):\n    return x / 2\n\n\ndef unseen(x):\n    return x[3]\n")
    (tmp_path / "test" / "test_it.py").write_text(
        "import os\nimport subprocess\nimport sys\n\nfrom screw_dynamics import double, unseen\n\n\n"
        "def test_double():\n    assert double(3) == 6\n\n\n"
        "def test_half():\n    code = 'import screw_dynamics as s; assert s.half(4) == 2'\n"
        "    subprocess.run([sys.executable, '-c', code], check=True)\n\n\n"
        "def test_little():\n    assert unseen([1] * 9) == 1\n\n\n"
        "def test_machine_code():\n    assert 'NUMBA_DISABLE_JIT' not in os.environ\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


@pytest.mark.slow
def test_what_no_test_notices_is_told(project, tmp_path_factory):
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'test'}",
                   "SCREW_DYNAMICS_CACHE_DIR": str(tmp_path_factory.mktemp("kernels"))}
    done = subprocess.run([sys.executable, "-m", "mutations", "-n", "4", "--jobs", "2", "--root", str(project)],
                          capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 1, done.stderr
    report = (project / "build" / "planted" / "report.txt").read_text()
    assert report.startswith("4 mutations with seed 1, 1 not noticed: 75.0% noticed")
    assert report.splitlines()[0] in done.stdout
    missed, all_of_them = report.split("\n\n", 2)[1:]
    assert missed.count("NOT NOTICED by 2 tests") == 1 and "    - x[3]\n    + x[4]" in missed
    assert "test/test_it.py::test_double\n    - x + x\n    + (x - x)\n" in all_of_them
    assert "test/test_it.py::test_half\n    - 2\n    + 3\n" in all_of_them
    for tree in (project / "build" / "planted").glob("tree_*"):
        assert (tree / "screw_dynamics" / "__init__.py").read_text() == (
            project / "screw_dynamics" / "__init__.py").read_text()
