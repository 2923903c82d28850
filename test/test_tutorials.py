"""Every cell of every tutorial runs, and the check at its end holds. `make docs` executes these pages as notebooks; as
programs they take less."""
import re

import pytest

from support.forked import Interpreter
from support.tutorials import FOLDER, OF_NODES, TUTORIALS, cells


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter(FOLDER, "screw_dynamics", "matplotlib.pyplot") as interpreter:
        yield interpreter


LONG = "contact_and_friction", "closed_loops", "drives"    # kernels that no other fast test needs


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(page, marks=[*[pytest.mark.slow] * (page in LONG)])
                                  for page in TUTORIALS if page not in OF_NODES])
def test_tutorials_run(interpreter, page):
    interpreter.run("\n".join(cells(page)))


@pytest.mark.slow
def test_a_check_that_fails_fails_the_test(interpreter):
    with pytest.raises(AssertionError, match="AssertionError: too far"):
        interpreter.run("\n".join([*cells("symbolic_equations"), "assert 1 == 2, 'too far'"]))


def test_tutorials_say_what_comes_out_and_check_it():
    listed = re.findall(r"^\| \[.*?\]\((\w+)\.md\)", (FOLDER / "index.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(TUTORIALS)
    for page, text in TUTORIALS.items():
        assert "This tutorial" in text.split("\n## ")[0], page
        assert "assert " in cells(page)[-1] and "## Check" in text, page
