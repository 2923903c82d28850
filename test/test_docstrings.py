"""First lines of docstrings: they say what a function does or returns, as those of NumPy and SciPy do."""
import ast

import pytest

from support.paths import ROOT

OPENERS = "What", "How", "Whether", "Where", "Which", "Why", "The same"
FILES = sorted((ROOT / "screw_dynamics").rglob("*.py"))
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef


@pytest.mark.parametrize("package", sorted({file.relative_to(ROOT).parts[1] for file in FILES}))
def test_no_first_line_opens_as_a_question(package):
    found = [f"{file.relative_to(ROOT)}: {text.splitlines()[0]}"
             for file in FILES if file.relative_to(ROOT).parts[1] == package
             for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, DOCUMENTED)
             and (text := ast.get_docstring(node) or "").startswith(tuple(f"{opener} " for opener in OPENERS))]
    assert found == []
