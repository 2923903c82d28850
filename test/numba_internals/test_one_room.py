"""What Numba does not document is taken by one package alone."""
import ast
import operator
from pathlib import Path

import numba
import pytest
from numba import types
from numba.core.typing.npydecl import NumpyRulesInplaceArrayOperator

import screw_dynamics

PACKAGE = Path(screw_dynamics.__file__).parent
ROOM = PACKAGE / "jit" / "numba_internals"
# Numba's chapters on extending it show these of numba.core; all of llvmlite's ir and binding is documented.
DOCUMENTED = {"numba", "numba.types", "numba.extending", "numba.config", "numba.core.cgutils", "numba.core.errors",
              "llvmlite", "llvmlite.ir", "llvmlite.binding"}
# Of dispatchers, target contexts and compile results.
ATTRIBUTES = {"_can_compile", "targetctx", "call_conv", "codegen", "fndesc", "library"}


def modules(tree):
    """The modules that a source imports, or imports names of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{name.name}" for name in node.names}
            yield from inner & DOCUMENTED if node.module == "numba.core" and inner <= DOCUMENTED else {node.module}


@pytest.fixture(scope="module")
def sources():
    """The syntax trees of all files but those of the room."""
    files = [path for path in PACKAGE.rglob("*.py") if ROOM not in path.parents]
    assert len(files) > 200
    return {str(path.relative_to(PACKAGE)): ast.parse(path.read_text()) for path in files}


@pytest.mark.slow
def test_nobody_else_imports_what_numba_does_not_document(sources):
    found = {(path, module) for path, tree in sources.items() for module in modules(tree)
             if module.partition(".")[0] in ("numba", "llvmlite") and module not in DOCUMENTED}
    assert found == set()


@pytest.mark.slow
def test_nobody_else_reads_what_numba_s_objects_hide(sources):
    found = {(path, node.attr) for path, tree in sources.items() for node in ast.walk(tree)
             if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES}
    assert found == set()


# ------------------------------------------------------------------------------------------------- the user's Numba
def test_operators_in_place_are_typed_as_without_this_package():
    """By Numba's own class, which is as it came; controllers on lanes have been imported."""
    import screw_dynamics.rollout.controllers  # noqa: F401
    assert NumpyRulesInplaceArrayOperator.generic.__module__ == NumpyRulesInplaceArrayOperator.__module__
    arrays = [types.Array(kind, 1, "C") for kind in (types.float64, types.float32, types.int64, types.complex128)]
    context = numba.core.registry.cpu_target.typing_context
    context.refresh()
    for name in ("iadd", "isub", "imul", "itruediv"):
        op = getattr(operator, name)
        for left in arrays:
            for right in (*arrays, types.float64, types.int64):
                template = type("Own", (NumpyRulesInplaceArrayOperator,), dict(key=op))(context)
                try:
                    own = template.generic((left, right), {})
                except AttributeError:          # what Numba raises where it has nothing
                    continue
                assert context.resolve_function_type(op, (left, right), {}) == own


def test_operators_in_place_of_a_user_work_as_numpy():
    import numpy as np

    import screw_dynamics.rollout.controllers  # noqa: F401

    @numba.njit
    def changed(x, y):
        x += y
        x *= 2.0
        x -= 1.0
        x /= y
        return x
    x, y = np.arange(1.0, 4.0), np.array([1, 2, 4])
    assert np.array_equal(changed(x.copy(), y), ((x + y) * 2.0 - 1.0) / y)
    assert changed(x.astype(np.float32), y).dtype == np.float32
