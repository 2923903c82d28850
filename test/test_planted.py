"""`make planted`: its table fits the package, every file has a fault, and what no test notices is told."""
import os
import subprocess
import sys

import pytest
from planted.table import LENGTH, Fault, bare, place, read, sources

from support.paths import ROOT

TABLE = sorted((ROOT / "test" / "planted" / "faults").glob("*.txt"))
LEAST = 200


@pytest.fixture(scope="module")
def texts():
    return sources(ROOT / "screw_dynamics")


def test_every_fault_can_be_planted(texts):
    """Where one cannot, the line it is in has changed: so should its rows in the table."""
    wrong, tests = [], {file.name for file in (ROOT / "test").rglob("test_*.py")}
    for fault in read(TABLE):
        try:
            place(fault, texts)
        except (ValueError, SyntaxError) as error:
            wrong.append(str(error))
        wrong += [f"there is no {name}" for stage in fault.stages for name in stage.tests
                  if name.partition("::")[0] not in tests]
    assert wrong == []


def test_every_file_that_is_not_short_has_a_fault(texts):
    """python -m planted.suggest FILE, with test/ in PYTHONPATH, has some to choose from."""
    faults = read(TABLE)
    assert len(set(faults)) == len(faults) >= LEAST
    assert [str(file.relative_to(ROOT)) for file in bare(faults, texts)] == [], f"files of more than {LENGTH} lines"


def test_a_piece_of_several_lines_keeps_their_indentation():
    fault, text = Fault("a = 1\nb = 2", "a = 1\nb = 3", ()), "b = 2\nif c:\n    a = 1\n    b = 2\n"
    assert fault.planted(text) == "b = 2\nif c:\n    a = 1\n    b = 3\n"


@pytest.mark.parametrize("old, new, says", [
    ("x = 2", "x = 3", "nowhere; near: x = 1"), ("x = 1", "x = 1", "are the same"), ("y", "z", "in some.py, some.py")])
def test_a_fault_that_cannot_be_planted_is_told(tmp_path, old, new, says):
    (tmp_path / "some.py").write_text("x = 1\ny = y\n")
    with pytest.raises(ValueError, match=says):
        place(Fault(old, new, ()), sources(tmp_path))


@pytest.fixture
def project(tmp_path):
    """A repository with a package of two functions, of which a slow test looks at one, and a table of faults. Another
    file of tests is skipped."""
    for folder in ("screw_dynamics", "test", "table"):
        (tmp_path / folder).mkdir()
    (tmp_path / "screw_dynamics" / "__init__.py").write_text(
        "def double(x):\n    return x + x\n\n\ndef half(x):\n    return x / 2\n")
    (tmp_path / "test" / "test_it.py").write_text(
        "import logging\n\nimport pytest\n\nfrom screw_dynamics import double\n\n\n"
        "def test_some():\n    assert double(0) == 0\n\n\n"
        "@pytest.mark.slow\n@pytest.mark.parametrize('way', ['to/fro'])\n"
        "def test_double(way):\n    logging.error('none of the test')\n    assert double(3) == 6\n")
    (tmp_path / "test" / "test_more.py").write_text(
        "import pytest\n\npytest.skip('of a library that is not there', allow_module_level=True)\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n")
    (tmp_path / "table" / "some.txt").write_text(
        "compiled test_it.py::test_double\n- x + x\n+ x - x\n\n"
        "compiled test_more.py\ncompiled test_it.py\n- x / 2\n+ x * 2\n")
    return tmp_path


def planted(project):
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'test'}", "SCREW_DYNAMICS_CACHE_DIR": str(project / "kernels")}
    return subprocess.run([sys.executable, "-m", "planted", "--root", str(project), "--table",
                           str(project / "table"), "--jobs", "2"], capture_output=True, text=True,
                          env=os.environ | environment)


@pytest.mark.slow
def test_what_no_test_notices_is_told(project):
    done = planted(project)
    assert done.returncode == 1, done.stderr
    report = (project / "build" / "planted.txt").read_text()
    assert report.startswith("2 faults, 1 not noticed: 50.0% noticed") and report.splitlines()[0] in done.stdout
    assert "NOT NOTICED\n    - x / 2\n    + x * 2\n" in report
    assert "test_it.py::test_double[to/fro]\n    - x + x\n    + x - x\n" in report
    assert "return x + x" in (project / "screw_dynamics" / "__init__.py").read_text()
    with (project / "test" / "test_it.py").open("a") as file:                   # whose results count no more then
        file.write("\n\ndef test_half():\n    from screw_dynamics import half\n    assert half(2) == 1\n")
    assert planted(project).returncode == 0


@pytest.mark.slow
def test_tests_that_fail_without_a_fault_are_told(project):
    (project / "test" / "test_it.py").write_text("def test_double():\n    assert False\n")
    done = planted(project)
    assert done.returncode == 1 and "test_it.py::test_double" in done.stdout and "faults" not in done.stdout
