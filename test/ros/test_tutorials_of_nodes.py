"""The tutorials that run nodes: every cell, and the check at the end. That of CI runs the tests of examples/ci."""
import pytest

from support.forked import Interpreter
from support.tutorials import FOLDER, OF_NODES, cells

pytestmark = pytest.mark.slow


# Its tests are those of examples/ci, which others run too.
@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.slow] * (page == "robot_in_ci"))
                                  for page in OF_NODES])
def test_tutorials_run(page):
    with Interpreter(FOLDER) as interpreter:
        interpreter.run("\n".join(cells(page)))
