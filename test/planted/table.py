"""The table of faults: pieces of the package's source, what becomes of each, and the tests that should notice.

The files in faults/ look like a patch. A line `plain` or `compiled` has names of test files, run with NUMBA_DISABLE_JIT
or as usual, one line after the other until a test fails; they hold for the faults below. A fault is a piece of a line,
or of lines, which is in the package exactly once, wherever that is: a file may move, a function get another name.

    plain test_laws.py test_energy.py
    compiled test_batch.py

    - tau[k] = dot(W[i], X)
    + tau[k] = -dot(W[i], X)
"""
import ast
import difflib
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

LENGTH = 60             # lines: a longer file of the package has a fault
MODES = "plain", "compiled"


class Stage(NamedTuple):
    """Test files by name, or tests in them, file::test, that are run at once: without Numba's JIT if `plain`."""

    plain: bool
    tests: tuple[str, ...]


class Fault(NamedTuple):
    """What is planted, lines without indentation, and the stages that should notice."""

    old: str
    new: str
    stages: tuple[Stage, ...]

    def found(self, text: str) -> list[re.Match]:
        """Where it can be planted in a source."""
        if self.old.partition("\n")[0] not in text:        # most are not: a regular expression takes longer
            return []
        return list(re.finditer(r"\n( *)".join(map(re.escape, self.old.split("\n"))), text))

    def planted(self, text: str) -> str:
        """The source with the fault."""
        place, = self.found(text)
        indent = "\n" + (place[1] if place.re.groups else "")
        return text[:place.start()] + self.new.replace("\n", indent) + text[place.end():]


def read(files: Iterable[Path]) -> list[Fault]:
    """The faults in files of the table; ValueError for a line that is none of it."""
    faults = []
    for file in files:
        stages: tuple[Stage, ...] = ()
        old, new = [], []
        for number, line in enumerate([*file.read_text().splitlines(), "#"], 1):
            word, _, rest = line.partition(" ")
            if new and word != "+":
                faults.append(Fault("\n".join(old), "\n".join(new), stages))
                old, new = [], []
            if word in MODES:
                follows = bool(stages) and not (faults and faults[-1].stages is stages)
                stages = (*(stages if follows else ()), Stage(word == "plain", tuple(rest.split())))
            elif word == "-":
                old.append(rest.strip())
            elif word == "+" and old and stages:
                new.append(rest.strip())
            elif line.strip() and word != "#" or old:
                raise ValueError(f"{file.name}:{number}: {line!r} does not belong here")
    return faults


def sources(package: Path) -> dict[Path, str]:
    """The text of each file of the package: of Python, and of templates of C."""
    files = [*package.rglob("*.py"), *package.glob("c_code/templates/*/*")]
    return {file: file.read_text() for file in sorted(files)}


def place(fault: Fault, texts: dict[Path, str]) -> tuple[Path, int]:
    """The file of a fault and its line; ValueError unless what it replaces is there once, and Python reads it."""
    found = [(file, match) for file, text in texts.items() for match in fault.found(text)]
    if len(found) != 1:
        near = difflib.get_close_matches(
            fault.old, {line.strip() for text in texts.values() for line in text.splitlines()}, 1)
        where = ", ".join(file.name for file, _ in found) or f"nowhere{'; near: ' * bool(near)}{''.join(near)}"
        raise ValueError(f"{fault.old!r} must be in the package once, but is in {where}")
    (file, match), text = found[0], texts[found[0][0]]
    if file.suffix == ".py" and _same(text, fault.planted(text)):
        raise ValueError(f"{fault.old!r} and {fault.new!r} are the same")
    return file, text[:match.start()].count("\n") + 1


def _same(text, other):
    """True for what differs in comments and blanks alone; SyntaxError for what Python cannot read."""
    return _tree(text) == ast.dump(ast.parse(other))


@lru_cache(maxsize=8)
def _tree(text):
    """What Python reads of a file of the package, in which several faults follow each other."""
    return ast.dump(ast.parse(text))


def bare(faults: Iterable[Fault], texts: dict[Path, str]) -> list[Path]:
    """Files of more than LENGTH lines without a fault."""
    faults = list(faults)
    return [file for file, text in texts.items()
            if len(text.splitlines()) > LENGTH and not any(fault.found(text) for fault in faults)]
