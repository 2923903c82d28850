"""Kernels that an edit of a source file compiles anew: those whose code it can change, and none for a comment."""
import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache

import pytest

from screw_dynamics.algorithms.inverse_dynamics.classical import NewtonEuler
from screw_dynamics.kernel_cache import dependencies, store
from screw_dynamics.kernel_cache.dependencies import COMPILED, EVERYTHING, digests, sources_in
from screw_dynamics.kernel_cache.fingerprint import fingerprint
from screw_dynamics.kernel_cache.store import PACKAGE
from screw_dynamics.numba_internals.compiler import PLAIN
from screw_dynamics.numbers.tables import taking
from support.kernels import cache_with
from support.paths import ROOT, URDF

COMPILES = pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")
GRAVITY, JACOBIAN = "screw_dynamics.algorithms.gravity", "screw_dynamics.algorithms.jacobian"
LANES = "screw_dynamics.numbers.lanes"


@cache
def depends():
    """The paths of the files that each module depends on."""
    return dependencies.dependencies({path: ast.parse(text) for path, text in sources_in(PACKAGE).items()
                                      if path.endswith(".py")})


@cache
def sources():
    """All that two algorithms depend on, and how kernels are kept: the whole package takes five times as long."""
    return {path: text for path, text in sources_in(PACKAGE).items()
            if path.startswith("kernel_cache/") or path in depends()[GRAVITY] | depends()[JACOBIAN]}


@cache
def digested():
    return digests(sources())


def edited(path, old, new):
    """The modules whose hash is another after an edit of a file."""
    text = sources()[path].decode()
    assert old in text
    after = digests({**sources(), path: text.replace(old, new, 1).encode()})
    return {module for module, digest in digested().items() if after[module] != digest}


@pytest.mark.slow
def test_comments_docstrings_and_layout_do_not_count():
    text = sources()["numbers/lanes.py"].decode()
    other = re.sub(r'^(\s*)"""', r'\1"""In other words: ', text, flags=re.MULTILINE).replace(", ", ",  ")
    assert edited("numbers/lanes.py", text, "# A comment.\n\n" + other) == set()


@pytest.mark.slow
def test_an_edit_counts_for_what_imports_the_file():
    found = edited("algorithms/jacobian.py", "return ", "return 2 * ")
    assert {JACOBIAN, EVERYTHING} <= found and not {GRAVITY, LANES} & found
    assert GRAVITY in edited("screws/se3.py", "W.torque @ V.angular", "V.angular @ W.torque")


@pytest.mark.slow
def test_an_edit_of_what_numba_is_told_about_numbers_counts_for_all():
    assert edited("numbers/dual.py", "return ", "return 2 * ") >= {GRAVITY, JACOBIAN, LANES, EVERYTHING}


@pytest.mark.slow
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
    makes_code = re.compile(r"^\s*@(kernel|noinline|optimized_alone|infix|linear|value|compiled|overload|intrinsic)\b"
                            r"|@njit|\bjit_options=|\b(kernel|noinline|compiled)\(", re.MULTILINE)
    imports = re.compile(r"^from [\w.]*(values|cache|compiler|structs) import", re.MULTILINE)
    texts = {file: file.read_text() for file in PACKAGE.rglob("*.py")}
    compiling = {file.relative_to(PACKAGE).parts[0] for file, text in texts.items()
                 if makes_code.search(text) and imports.search(text)}
    assert "constraints" in compiling and compiling <= {*COMPILED, "kernel_cache"}


@pytest.mark.slow
def test_damaged_or_missing_hashes_are_found_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("SCREW_DYNAMICS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(store, "installed", store.own)
    monkeypatch.setattr(dependencies, "sources_in", lambda package: sources())
    expected = digested()
    for _ in range(2):
        dependencies._digests.cache_clear()
        assert dependencies._digests() == expected
        file, = tmp_path.glob("*.sources")
        file.write_bytes(file.read_bytes()[:-40])
    dependencies._digests.cache_clear()
    dependencies._digests()
    dependencies._digests.cache_clear()
    monkeypatch.setattr(dependencies, "digests", None)      # which was kept
    assert dependencies._digests() == expected


def test_tables_that_are_derived_from_one_are_told_apart_by_their_columns():
    one, other = (taking(NewtonEuler, inputs) for inputs in (("q", "qd", "qdd"), ("q", "qdd", "qd")))
    assert one.__qualname__ == other.__qualname__ and fingerprint(one) != fingerprint(other)


def test_docstrings_of_functions_do_not_count():
    def made(text):
        scope = {"__name__": __name__}
        exec(f"def f(x):\n    {text}\n    return [2.0 * x, 'kept']", scope)
        return scope["f"]
    one, other = made('"Twice."'), made('"Twice x."')
    assert one.__doc__ != other.__doc__ and fingerprint(one) == fingerprint(other)
    assert fingerprint(one) != fingerprint(made('"Twice."\n    x = 3.0 * x'))


def test_files_in_the_middle_of_an_edit_and_those_of_editors_are_no_sources(tmp_path):
    (tmp_path / "contact").mkdir()
    for name in "whole", "half", "._hidden":
        (tmp_path / "contact" / f"{name}.py").write_text("x = 1\n" if name == "whole" else "def f(:\n")
    (tmp_path / "contact" / ".#whole.py").symlink_to("nowhere")
    found = digests(sources_in(tmp_path))
    assert found.keys() == {"screw_dynamics.contact.whole", EVERYTHING}


def test_sources_that_were_edited_since_they_were_imported_have_no_hashes(monkeypatch):
    """A process of old code would find kernels of new code by them."""
    monkeypatch.setattr(dependencies, "_IMPORTED", 0.0)
    dependencies._digests.cache_clear()
    with pytest.raises(TypeError, match="edited since"):
        dependencies.digest(EVERYTHING)


def test_defaults_of_arguments_count():
    def made(gain, bias):
        def f(x, a=gain, *, b=bias):
            return a * x + b
        return f
    assert len({repr(fingerprint(made(*given))) for given in ((1.0, 2.0), (1.0, 3.0), (2.0, 2.0))}) == 3


@pytest.mark.slow
@COMPILES
def test_code_of_a_source_that_was_edited_since_it_was_imported_is_not_kept(tmp_path):
    """It would be found by the hash of what the source is now."""
    package = tmp_path / "screw_dynamics"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("ros", "machine_code"))
    program = f"""
import sys
from pathlib import Path
import screw_dynamics as sd
robot = sd.Robot.from_urdf({str(URDF / "double_pendulum.urdf")!r})
se3 = Path(sd.__file__).with_name("screws") / "se3.py"
if len(sys.argv) > 1:
    se3.write_text(se3.read_text() + "\\nEDITED = 1\\n")
robot.potential_energy([0.1, 0.2])"""
    kept = []
    for edit in ([], ["edit"]):
        cache = tmp_path / f"cache{len(edit)}"
        result = subprocess.run([sys.executable, "-c", program, *edit], cwd=tmp_path, check=True, env={
            **os.environ, "PYTHONPATH": str(tmp_path), **cache_with([], cache)}, capture_output=True, text=True)
        kept.append(len([*cache.glob("*.kernel*")]))
        assert ("se3.py has changed since this process imported it" in result.stderr) == bool(edit)
    assert kept == [1, 0]


# ------------------------------------------------------------------------------------------------- what Numba compiles
FORMS = ("gravity_torque", "jacobian", "integrate.groups", "rollout.semi_implicit_euler, batches", "inverse_kinematics",
         "joints.project.articulated", "forces, terms", "driven.hybrid_dynamics", "center_of_mass, batches")


@pytest.mark.slow
@COMPILES
def test_all_code_of_a_kernel_comes_from_modules_that_its_name_depends_on():
    done = subprocess.run([sys.executable, "-m", "support.lowered_modules", *FORMS], cwd=ROOT / "test", text=True,
                          capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found.keys() == {*FORMS}
    for name, (named, lowered) in found.items():
        known = set().union(*(depends()[module] for module in named if module in depends()))
        paths = {path for path in depends()[EVERYTHING] if dependencies._module(path) in lowered}
        assert len(paths) > 2 and paths <= known, (name, paths - known)
