"""The tutorials that run nodes: every cell, and the check at the end."""
import pytest

from support.forked import Interpreter
from support.tutorials import FOLDER, OF_NODES, cells

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", OF_NODES)
def test_tutorials_run(page):
    with Interpreter(FOLDER) as interpreter:
        interpreter.run("\n".join(cells(page)))
