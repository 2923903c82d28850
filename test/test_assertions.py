"""Every test asserts something, by itself or by a function or a method of the tests that it calls."""
import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from support.paths import ROOT

CHECKS = {"raises", "warns", "fail"}        # of pytest


class Function(NamedTuple):
    """Of a test file: method of what it calls on objects, function of what it calls by name; see `keys`."""

    file: str
    name: str
    asserts: bool
    calls: frozenset[tuple[str, str]]


def insists(node: ast.AST) -> bool:
    """True for an assertion, a process that must end well, and warnings that are made errors."""
    if isinstance(node, ast.Call):
        return (any(keyword.arg == "check" and ast.unparse(keyword.value) == "True" for keyword in node.keywords)
                or getattr(node.func, "attr", "") == "simplefilter" and ast.unparse(node).endswith("('error')"))
    return isinstance(node, ast.Assert)


def called(node: ast.AST) -> Iterable[tuple[str, str]]:
    """(object, function) of each call in a piece of code: ("a", "f") of a.f(), ("", "f") of f()."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            f = call.func
            yield (getattr(f.value, "id", "."), f.attr) if isinstance(f, ast.Attribute) else ("", getattr(f, "id", ""))


def imported(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """What names in a file stand for: (last name of a module, name in it), or (module, "") for a module."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                found[name.asname or name.name] = (node.module or "").rpartition(".")[2], name.name
        elif isinstance(node, ast.Import):
            found |= {name.asname or name.name: (name.name.rpartition(".")[2], "") for name in node.names}
    return found


def functions(file: Path) -> Iterable[tuple[tuple[str, str], Function]]:
    """The functions of a file by (file, name), and methods by ("", name), since nobody knows whose method is called."""
    tree = ast.parse(file.read_text())
    names = imported(tree)
    methods = {f for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef) for f in cls.body}
    for f in ast.walk(tree):
        if isinstance(f, ast.FunctionDef):
            given, calls = {argument.arg for argument in f.args.args}, set()
            for of, name in called(f):
                module, inner = names.get(of, ("", ""))
                calls.add((inner or module, name) if of else ("", name) if name in given     # a fixture: an object
                          else names.get(name, (file.stem, name)))
            asserts = any(map(insists, ast.walk(f))) or any(
                name in CHECKS or name.startswith("assert") for _, name in calls)
            yield ("" if f in methods else file.stem, f.name), Function(file.name, f.name, asserts, frozenset(calls))


def without_assertion(files: Iterable[Path]) -> list[str]:
    """The tests that neither assert, nor call anything in these files that does."""
    known = defaultdict(list)
    for file in files:
        for key, function in functions(file):
            known[key].append(function)
    asserting, before = {key for key, found in known.items() if any(f.asserts for f in found)}, -1
    while len(asserting) != before:
        before = len(asserting)
        asserting |= {key for key, found in known.items() if any(f.calls & asserting for f in found)}
    return sorted(f"{f.file}::{f.name}" for found in known.values() for f in found
                  if f.name.startswith("test_") and not f.asserts and not f.calls & asserting)


@pytest.mark.slow
def test_every_test_asserts_something():
    assert without_assertion((ROOT / "test").rglob("*.py")) == []


def test_a_test_that_asserts_nothing_is_found(tmp_path):
    (tmp_path / "helper.py").write_text(
        "def check(x):\n    assert x\n\n\ndef build(x):\n    check(x)\n\n\n"
        "class Node:\n    def wait(self):\n        build(1)\n")
    (tmp_path / "test_some.py").write_text('''
import other
from support import helper
from support.helper import build as made


def test_nothing():
    print(other.build().build())


def test_by_a_name():
    made(1)


def test_by_a_module():
    helper.build(1)


def test_by_a_method(node):
    node.wait()


def test_by_an_error():
    with pytest.raises(ValueError):
        int("")
''')
    assert without_assertion(tmp_path.glob("*.py")) == ["test_some.py::test_nothing"]
