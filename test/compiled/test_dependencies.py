"""Which kernels an edit of a source file compiles anew: those whose code it can change, and of no comment any."""
import ast
import re
from functools import cache

import pytest
from numba.core.typed_passes import NativeLowering

from screw_dynamics import prepare
from screw_dynamics.compiled.functions import form_of_words
from screw_dynamics.kernel_cache import dependencies
from screw_dynamics.kernel_cache.cache import PLAIN, types_of
from screw_dynamics.kernel_cache.dependencies import COMPILED, EVERYTHING, digests, sources_in
from screw_dynamics.kernel_cache.fingerprint import fingerprint
from screw_dynamics.kernel_cache.store import PACKAGE

COMPILES = pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")
GRAVITY, JACOBIAN = "screw_dynamics.algorithms.gravity", "screw_dynamics.algorithms.jacobian"
LANES = "screw_dynamics.numbers.lanes"


@cache
def sources():
    return sources_in(PACKAGE)


@cache
def digested():
    return digests(sources())


def edited(path, old, new):
    """The modules whose hash is another after an edit of a file."""
    text = sources()[path].decode()
    assert old in text
    after = digests({**sources(), path: text.replace(old, new, 1).encode()})
    return {module for module, digest in digested().items() if after[module] != digest}


def test_comments_docstrings_and_layout_do_not_count():
    text = sources()["numbers/lanes.py"].decode()
    assert edited("numbers/lanes.py", text, "# A comment.\n\n" + re.sub(r'^"""', '"""Otherwise said: ', text)) == set()


def test_an_edit_counts_for_what_imports_the_file():
    found = edited("algorithms/jacobian.py", "return ", "return 2 * ")
    assert {JACOBIAN, EVERYTHING} <= found and not {GRAVITY, LANES} & found
    assert GRAVITY in edited("screws/se3.py", "W.torque @ V.angular", "V.angular @ W.torque")


def test_an_edit_of_what_numba_is_told_about_numbers_counts_for_all():
    assert edited("numbers/dual.py", "return ", "return 2 * ") >= {GRAVITY, JACOBIAN, LANES, EVERYTHING}


def test_an_edit_of_how_kernels_are_linked_counts_for_all_and_one_of_how_they_are_kept_for_users_functions():
    for path, old in ("kernel_cache/runtime.c", "int"), ("kernel_cache/shared_objects.py", '"-O1"'):
        assert edited(path, old, old[::-1]) == digested().keys()
    assert edited("kernel_cache/store.py", "return ", "return 0 or ") == {EVERYTHING}


def test_what_is_imported_within_functions_or_by_name_counts():
    trees = {path: ast.parse(text) for path, text in {
        "numbers/a.py": "def f():\n    from ..screws import b\n", "screws/b.py": "c = f('screw_dynamics.model.c')",
        "model/__init__.py": "from .c import d", "model/c.py": "d = 1",
        "forces/e.py": "from ..model import d, c"}.items()}
    found = dependencies.dependencies(trees)
    assert found["screw_dynamics.numbers.a"] == {"numbers/a.py", "screws/b.py", "model/c.py"}
    assert found["screw_dynamics.model"] == {"model/__init__.py", *found["screw_dynamics.numbers.a"]}
    assert found["screw_dynamics.forces.e"] == {"forces/e.py", *found["screw_dynamics.model"]}


def test_a_module_that_is_not_of_the_package_depends_on_all_of_it():
    assert dependencies.digest("elsewhere") == dependencies.digest(EVERYTHING) != dependencies.digest(GRAVITY)


def test_every_package_with_kernels_counts():
    """An edited kernel is other machine code, wherever it lies."""
    makes_code = re.compile(r"@kernel|\bkernel\(|@compiled\(|@overload\(|@intrinsic|@njit")
    assert {file.relative_to(PACKAGE).parts[0] for file in PACKAGE.rglob("*.py")
            if makes_code.search(file.read_text())} <= {*COMPILED, "kernel_cache"}


def test_damaged_or_missing_hashes_are_found_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("SCREW_DYNAMICS_CACHE_DIR", str(tmp_path))
    expected = digested()
    for _ in range(2):
        dependencies._digests.cache_clear()
        assert dependencies._digests() == expected
        file, = tmp_path.glob("*.sources")
        file.write_bytes(file.read_bytes()[:-40])


# ------------------------------------------------------------------------------------------------- what Numba compiles
MODULE_OF = {}          # of Numba's libraries of functions


@pytest.fixture
def lowered(monkeypatch):
    """The modules of all functions that became part of the last kernel that was lowered."""
    from screw_dynamics.numba_internals import linking
    found = set()
    run_pass, callers_first = NativeLowering.run_pass, linking.callers_first

    def lower(self, state):
        done = run_pass(self, state)
        MODULE_OF[state.library] = state.func_id.func.__module__
        return done

    def linked(libraries):
        libraries = [*callers_first(libraries)]
        found.update(MODULE_OF[library] for library in libraries if library in MODULE_OF)
        return iter(libraries)
    monkeypatch.setattr(NativeLowering, "run_pass", lower)
    monkeypatch.setattr(linking, "callers_first", linked)
    return found


FORMS = "gravity_torque", "gravity_torque, batches", "jacobian", "inverse_dynamics.classical", "integrate.groups"


@COMPILES
@pytest.mark.parametrize("names", [FORMS, pytest.param(None, marks=pytest.mark.slow)], ids=["some", "of a Robot"])
def test_all_code_of_a_kernel_comes_from_modules_that_its_name_depends_on(names, lowered):
    from numba import njit

    from screw_dynamics.numba_internals.compiler import CALLED, FLAGS, start
    from screw_dynamics.numba_internals.objects import ModuleCompiler
    start()
    forms = prepare.forms("core", "floating_bases")
    depends = dependencies.dependencies({path: ast.parse(text) for path, text in sources().items() if path[-1] == "y"})
    for name in names or forms:
        form = form_of_words(forms[name])
        lowered.clear()
        njit(**FLAGS, **CALLED, pipeline_class=ModuleCompiler)(form.compiled.function).compile(types_of(form.signature))
        known = set().union(*(depends[module] for module in modules_of(form.compiled.function)))
        paths = {path for path in depends[EVERYTHING] if dependencies._module(path) in lowered}
        assert len(paths) > 2 and paths <= known, (name, paths - known)


def modules_of(function):
    """The modules in the fingerprint of a function."""
    text = repr(fingerprint(function))
    return {module for module in digested() if f"'{module}'" in text}
