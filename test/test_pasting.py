"""Each block of Python on the pages can be pasted into Python's prompt, where a blank line ends what is indented, and
nothing else does."""
import re
import sys
from code import InteractiveConsole

import pytest

from support.paths import ROOT
from support.tutorials import TUTORIALS, cells

BLOCKS = [pytest.param(text, id=f"{path.relative_to(ROOT)}, {k}")
          for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
          for k, text in enumerate(re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"),
                                              re.DOTALL | re.MULTILINE))]
CELLS = [pytest.param(text, id=f"tutorials/{page}, {k}") for page in TUTORIALS for k, text in enumerate(cells(page))]


class Prompt(InteractiveConsole):
    """Python's prompt, at which statements are compiled and not run."""

    def runcode(self, code):
        pass

    def showsyntaxerror(self, *arguments, **options):
        raise sys.exc_info()[1]


def paste(text):
    """Paste lines, and then press Enter."""
    prompt = Prompt()
    for line in [*text.splitlines(), ""]:
        waits = prompt.push(line)
    assert not waits


@pytest.mark.parametrize("text", BLOCKS + CELLS)
def test_blocks_can_be_pasted(text):
    paste(text)


@pytest.mark.parametrize("text, error", [
    ("for k in range(3):\n    k += 1\nprint(k)\n", SyntaxError),
    ("class A:\n    x = 1\n\n    y = 2\n", IndentationError)])
def test_what_the_prompt_does_not_take_is_noticed(text, error):
    with pytest.raises(error):
        paste(text)
