"""Kernels that an edit of a source file compiles anew: those whose code it can change, and none for a comment."""
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache

import pytest

from screw_dynamics.algorithms.inverse_dynamics.classical import NewtonEuler
from screw_dynamics.jit.kernel_cache import dependencies, store
from screw_dynamics.jit.kernel_cache.dependencies import COMPILED, EVERYTHING, digests, sources_in
from screw_dynamics.jit.kernel_cache.fingerprint import fingerprint
from screw_dynamics.jit.kernel_cache.store import PACKAGE
from screw_dynamics.jit.numba_internals.compiler import PLAIN
from screw_dynamics.numbers.tables import taking
from support.kernels import cache_with
from support.paths import ROOT, URDF

COMPILES = pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")
GRAVITY, JACOBIAN = "screw_dynamics.algorithms.gravity", "screw_dynamics.algorithms.jacobian"
LANES = "screw_dynamics.numbers.lanes"


@cache
def sources():
    return sources_in(PACKAGE)


@cache
def parsed_one(path, text):
    return dependencies.parsed({path: text})


def parse(files):
    """As dependencies.parsed, without what this process has parsed before."""
    return {path: source for file in files.items() for path, source in parsed_one(*file).items()}


@cache
def digested():
    return digests(sources(), parse)


def edited(path, old, new):
    """The definitions whose hash is another after an edit of a file, as {module: {name}}."""
    text = sources()[path].decode()
    assert old in text
    after = digests({**sources(), path: text.replace(old, new, 1).encode()}, parse)
    return {module: names for module, before in digested().items()
            if (names := {name for name, digest in before.items() if after[module][name] != digest})}


@pytest.mark.slow
def test_comments_docstrings_and_layout_do_not_count():
    text = sources()["numbers/lanes.py"].decode()
    other = re.sub(r'^(\s*)"""', r'\1"""In other words: ', text, flags=re.MULTILINE).replace(", ", ",  ")
    assert edited("numbers/lanes.py", text, "# A comment.\n\n" + other) == {}


@pytest.mark.slow
def test_an_edit_counts_for_the_definitions_that_reach_it():
    found = edited("algorithms/jacobian.py", "def put_column(", "def put_column(not_used, ")
    assert {"put_column", "jacobian", ""} <= found[JACOBIAN] and "put_twist" not in found[JACOBIAN]
    assert EVERYTHING in found and not {GRAVITY, LANES} & found.keys()
    assert "gravity_torque" in edited("screws/vectors.py", "def cross(", "def cross(not_used, ")[GRAVITY]


@pytest.mark.slow
def test_an_edit_of_what_numba_is_told_about_numbers_counts_for_all():
    assert edited("numbers/dual.py", "return ", "return 2 * ") == {m: {*names} for m, names in digested().items()}


@pytest.mark.slow
def test_an_edit_of_how_kernels_are_linked_counts_for_all_and_one_of_how_they_are_kept_for_users_functions():
    for path, old in ("jit/kernel_cache/runtime.c", "int"), ("jit/kernel_cache/building.py", '"-O1"'):
        assert edited(path, old, old[::-1]).keys() == digested().keys()
    assert edited("jit/kernel_cache/store.py", "return ", "return 0 or ").keys() == {EVERYTHING}


def reached(module, name, texts):
    """The definitions that one reaches, as module.name, in a package with these files."""
    files = {f"{path}.py": text.encode() for path, text in texts.items()}
    found = dependencies.definitions(dependencies.parsed(files), {})
    return {f"{m.removeprefix('screw_dynamics.')}.{n}"
            for m, n in found.named(found.reached(f"screw_dynamics.{module}", name))}


def test_names_count_in_the_module_and_through_imports():
    files = {"model/__init__": "from .b import g, unused", "model/b": "unused = 0\ndef g():\n    return k\nk = 1",
             "forces/a": "from ..model import b, g as other\ndef f():\n    return other()\ndef h():\n    return b.k"}
    assert reached("forces.a", "f", files) == {"forces.a.f", "model.b.g", "model.b.k"}
    assert reached("forces.a", "h", files) == {"forces.a.h", "model.b.k"}
    assert reached("model", "", {"model/__init__": "from . import b", "model/b": "x = 1"}) == set()


def test_imports_within_functions_names_in_strings_and_whole_modules_count():
    files = {"screws/b": "c, d = 1, 2", "model/m": "x = 1\ny = 2",
             "forces/a": "def f():\n    from ..screws.b import c\n    return c\ndef g():\n    return eval('2 * k')\n"
                          "k = 1\ndef h():\n    return i('screw_dynamics.screws.b.d')\nimport screw_dynamics.model.m "
                          "as m\ndef all_of(x=m):\n    return x"}
    assert reached("forces.a", "f", files) == {"forces.a.f", "screws.b.c", "screws.b.d"}      # one statement
    assert reached("forces.a", "g", files) == {"forces.a.g", "forces.a.k"}
    assert reached("forces.a", "h", files) == {"forces.a.h", "screws.b.c", "screws.b.d"}
    assert reached("forces.a", "all_of", files) == {"forces.a.all_of", "model.m.x", "model.m.y"}


def test_what_an_import_registers_counts_for_the_modules_that_import_it():
    files = {"screws/b": "@infix('@')\ndef times(a, b):\n    return g\ng = 2\n@kernel\ndef plain(): pass",
             "screws/c": "from .b import g\nfor name in []:\n    register(name)\ng.of = h = negated\n"
                         "def negated(): pass",
             "forces/a": "from ..screws.c import g\ndef f(): pass", "model/m": "def f(): pass"}
    assert reached("forces.a", "f", files) == {"forces.a.f", "screws.b.times", "screws.b.g", "screws.c.name",
                                               "screws.c.h", "screws.c.negated"}
    assert reached("model.m", "f", files) == {"model.m.f"}


def test_numbers_and_all_that_they_reach_count_always():
    files = {"numbers/a": "from ..screws import b\nx = b.k", "screws/b": "k = 1\nother = 2", "model/m": "y = 3"}
    assert reached("model.m", "y", files) == {"model.m.y", "numbers.a.x", "screws.b.k"}


def test_the_same_code_with_other_meanings_of_its_names_has_another_hash():
    def of(first):
        files = {"forces/a.py": f"from {first} import sqrt\ndef f(x):\n    return sqrt(x)".encode()}
        return digests(files)["screw_dynamics.forces.a"]["f"]
    assert of("math") == of("math") != of("numpy")


def test_a_module_that_is_not_of_the_package_depends_on_all_of_it():
    assert dependencies.digest("elsewhere", "f") == dependencies.digest(EVERYTHING) != dependencies.digest(GRAVITY)
    assert dependencies.digest(GRAVITY, "nothing") is None


def test_every_package_with_kernels_counts():
    """An edited kernel is other machine code, wherever it lies."""
    makes_code = re.compile(r"^\s*@(kernel|noinline|optimized_alone|infix|linear|value|compiled|overload|intrinsic)\b"
                            r"|@njit|\bjit_options=|\b(kernel|noinline|compiled)\(", re.MULTILINE)
    imports = re.compile(r"^from [\w.]*(values|cache|compiler|structs) import", re.MULTILINE)
    texts = {file: file.read_text() for file in PACKAGE.rglob("*.py")}
    compiling = {str(file.relative_to(PACKAGE)) for file, text in texts.items()
                 if makes_code.search(text) and imports.search(text)}
    assert "constraints/rows.py" in compiling
    assert not {file for file in compiling if not file.startswith((*COMPILED, "jit/kernel_cache/"))}


def test_hashes_and_parsed_files_are_kept_and_found_anew_if_they_are_damaged(tmp_path, monkeypatch):
    files = {path: text for path, text in sources().items() if path.startswith(("jit/kernel_cache", "screws"))}
    monkeypatch.setenv("SCREW_DYNAMICS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(store, "installed", store.own)
    monkeypatch.setattr(dependencies, "sources_in", lambda package: files)
    expected = digests(files)

    def found():
        dependencies._digests.cache_clear()
        return dependencies._digests()
    for _ in range(2):
        assert found() == expected
        for file in tmp_path.glob("*"):
            file.write_bytes(file.read_bytes()[:-40])
    assert found() == expected
    parsed, done = dependencies.parsed, []
    monkeypatch.setattr(dependencies, "parsed", lambda files: done.append({*files}) or parsed(files))
    assert found() == expected and not done                 # the hashes were kept
    files["screws/so3.py"] += b"\nx = 1"
    assert found() == digests(files, parsed) != expected
    assert done == [{"screws/so3.py"}]                      # the other files were


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
    (tmp_path / "collision").mkdir()
    for name in "whole", "half", "._hidden":
        (tmp_path / "collision" / f"{name}.py").write_text("x = 1\n" if name == "whole" else "def f(:\n")
    (tmp_path / "collision" / ".#whole.py").symlink_to("nowhere")
    found = digests(sources_in(tmp_path))
    assert found.keys() == {"screw_dynamics.collision.whole", EVERYTHING}


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
def test_all_code_of_a_kernel_comes_from_definitions_that_its_name_depends_on():
    done = subprocess.run([sys.executable, "-m", "support.lowered_definitions", *FORMS], cwd=ROOT / "test", text=True,
                          capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found.keys() == {*FORMS}
    defined = dependencies.definitions(parse({p: text for p, text in sources().items() if p.endswith(".py")}), {})
    for name, (named, lowered) in found.items():
        known = set().union(*(defined.named(defined.reached(*each)) for each in named))
        compiled = {(module, function) for module, function in lowered if function in digested().get(module, ())}
        assert len({module for module, _ in compiled}) > 2 and compiled <= known, (name, compiled - known)
