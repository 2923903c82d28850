"""docs/troubleshooting.md quotes messages that the sources write."""
import ast
import re
from functools import cache

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")


def texts(tree):
    """All texts in a module, those that are filled in with an ellipsis for each value."""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield re.sub(r"%[sd]|%\.\d?f|\{[^}]*\}", "…", node.value)


@cache
def written():
    """What the package and its set-up write."""
    return [text for folder in ("screw_dynamics", "tools") for path in (ROOT / folder).rglob("*.py")
            for text in texts(ast.parse(path.read_text(encoding="utf-8")))]


def holds(message, text):
    """Whether the words of a message between its gaps are in a text, in their order."""
    at = 0
    for words in filter(str.strip, re.split("…", message)):
        found = text.find(words.strip(), at)
        if found < 0:
            return False
        at = found + len(words.strip())
    return True


def quoted():
    """The messages of the tables."""
    tables = re.findall(r"^\| message \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [re.match(r"\| `(.+?)` \|", line)[1] for table in tables for line in table.splitlines()]


def test_every_message_is_still_written():
    known = written()
    assert len(quoted()) > 45
    assert [message for message in quoted() if not any(holds(message, text) for text in known)] == []


def test_a_message_that_is_gone_would_be_noticed():
    assert not any(holds("no such message is written …", text) for text in written())
