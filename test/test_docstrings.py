"""Docstrings: first lines say what a function does or returns, as those of NumPy and SciPy do; of what the reference on
the site has they are in NumPy's form, by numpydoc."""
import ast
import importlib
import inspect
import re

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import screw_dynamics as sd
from support.paths import ROOT

OPENERS = "What", "How", "Whether", "Where", "Which", "Why", "The same"
FILES = sorted((ROOT / "screw_dynamics").rglob("*.py"))
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
# A summary of one line that begins with a capital and ends with a period; no section out of order; Parameters with the
# names of the signature in its order, types and descriptions; Returns or Yields, described.
CODES = {"GL03", "GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "SS04", "SS05", "SS06", "PR01", "PR02", "PR03", "PR04",
         "PR07", "RT01", "RT03", "YD01"}
INHERITED = {"PR01", "RT01"}        # sections that a method may leave to that of a base class, which it overrides


@pytest.mark.parametrize("package", sorted({file.relative_to(ROOT).parts[1] for file in FILES}))
def test_no_first_line_opens_as_a_question(package):
    found = [f"{file.relative_to(ROOT)}: {text.splitlines()[0]}"
             for file in FILES if file.relative_to(ROOT).parts[1] == package
             for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, DOCUMENTED)
             and (text := ast.get_docstring(node) or "").startswith(tuple(f"{opener} " for opener in OPENERS))]
    assert found == []


def in_the_reference():
    """{full name: (the object, codes)} of classes, methods and functions of the reference, inherited ones once."""
    pages = "".join(path.read_text() for path in (ROOT / "docs/reference").glob("*.md"))
    found = {f"screw_dynamics.{name}": getattr(sd, name) for name in sd.__all__}
    for module in map(importlib.import_module, re.findall(r"automodule:: (\S+)", pages)):
        here = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
        found |= {f"{module.__name__}.{name}": getattr(module, name) for name in getattr(module, "__all__", here)
                  if not name.startswith("_")}
    once = {id(thing): (name, (thing, CODES)) for name, thing in found.items() if callable(thing)}
    for name, thing in found.items():
        bases = [base for base in getattr(thing, "__mro__", ()) if base.__module__.startswith("screw_dynamics")]
        for key in {key for base in bases for key in vars(base) if not key.startswith("_")}:
            method = getattr(thing, key, None)
            if inspect.isroutine(method) and callable(method):
                overrides = sum(key in vars(base) for base in bases) > 1
                once.setdefault(id(method), (f"{name}.{key}", (method, CODES - INHERITED if overrides else CODES)))
    return dict(once.values())


@pytest.mark.parametrize("name", sorted(NAMED := in_the_reference()))
def test_docstring_is_in_numpy_s_form(name):
    thing, codes = NAMED[name]
    assert not [error for error in validate(get_doc_object(thing))["errors"] if error[0] in codes]
