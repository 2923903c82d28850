"""Every public function and method is annotated in full, and the interface serves a user's typed script."""
import ast

import pytest

import screw_dynamics as sd
from support import typed_user
from support.paths import ROOT, URDF

MODULES = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "screw_dynamics").rglob("*.py"))}


def public_functions(node):
    """Functions and methods that no name with a leading underscore hides, and that are in no other function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not child.name.startswith("_"):
                yield child
        elif not (isinstance(child, ast.ClassDef) and child.name.startswith("_")):
            yield from public_functions(child)


def lacking(function):
    """The arguments, and "return", that have no annotation."""
    of = function.args
    arguments = [*of.posonlyargs, *of.args, of.vararg, *of.kwonlyargs, of.kwarg]
    bare = [a.arg for a in arguments if a and a.annotation is None]
    return [name for name in bare if name not in ("self", "cls")] + ["return"] * (function.returns is None)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_is_annotated(name):
    functions = public_functions(ast.parse(MODULES[name].read_text(encoding="utf-8")))
    assert {f"{f.name}, line {f.lineno}": lacking(f) for f in functions if lacking(f)} == {}


@pytest.mark.slow
def test_a_typed_script_of_a_user_runs():
    typed_user.use(URDF / "double_pendulum.urdf")


@pytest.mark.slow
def test_a_typed_script_of_derivatives_runs():
    robot = typed_user.read(URDF / "double_pendulum.urdf")
    typed_user.along_a_motion(robot, *[[0.1] * robot.n] * 2)
    typed_user.parameters(robot, *[[0.1] * robot.n] * 2)
    assert typed_user.scene(robot) == (robot.nq + 7, 1.0)


def test_the_stub_has_what_the_package_has():
    """Under the names by which it is found, and what is imported at its first use from there."""
    lines = ast.parse((ROOT / "screw_dynamics" / "__init__.pyi").read_text(encoding="utf-8")).body
    typed = {alias.asname: f"{line.module or ''}.{alias.name}".strip(".")
             for line in lines if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert {*typed, "__version__"} == {*sd.__all__}
    first_used = sd._MODULES | {name: f"{module}.{name}" for name, module in sd._FUNCTIONS.items()}
    assert {name: typed[name] for name in first_used} == first_used


@pytest.mark.parametrize("kind", [sd.Robot, sd.ModelBuilder])
def test_a_typed_script_of_a_user_takes_every_method(kind):
    source = (ROOT / "test" / "support" / "typed_user.py").read_text(encoding="utf-8")
    used = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    assert {name for name in dir(kind) if not name.startswith("_")} <= used
