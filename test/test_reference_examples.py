"""Every public name has an example in the reference, which runs, and whose objects pickle and copy."""
import importlib
import importlib.util
import inspect
import re
from collections import deque
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import screw_dynamics as sd
from support.copies import check, same
from support.forked import Interpreter
from support.paths import ROOT

# Pages of the reference that list modules, whose functions and classes they show.
MODULES = ("absolute_coordinates", "calibration", "campaigns", "closed_loops", "contacts",
           "differential_inverse_kinematics", "elastic_joints", "estimation", "geometric_sensitivity",
           "identification", "lie_groups", "logs", "optimal", "paths", "se3", "smooth_motion", "so3", "testing")
VALUES = {"Pose", "Twist", "Wrench", "Rotation", "Stumpff"}     # of kernels: on arrays, arrays stand for them
OF_VALUES = {f"so3.{name}" for name in ("matrix", "rotate_columns", "rotate_matrix", "rotate_symmetric", "rotation",
                                        "stumpff")}
NEEDS = {"testing": "rclpy", "robot_first_use": "viser", "estimation": "daqp", "models": "mujoco", "logs": "pyarrow"}
FOLDER = ROOT / "docs" / "reference" / "examples"


def load():
    """docs/examples_of_reference.py."""
    spec = importlib.util.spec_from_file_location("examples_of_reference", ROOT / "docs" / "examples_of_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public_names():
    """Those that the reference shows."""
    names = {"Robot", *(f"Robot.{name}" for name in dir(sd.Robot) if not name.startswith("_"))}
    names |= {name for name in sd.__all__ if callable(getattr(sd, name))} - {"ClosedLoopRobot", "ElasticJoints"}
    for module in MODULES:
        if module == "testing" and importlib.util.find_spec("rclpy") is None:
            continue
        found = getattr(sd, module) if module in sd.__all__ else importlib.import_module(f"screw_dynamics.{module}")
        offered = getattr(found, "__all__", None) or [
            name for name, x in vars(found).items()
            if not name.startswith("_") and inspect.getmodule(x) is found and callable(x)]
        names |= {f"{module}.{name}" for name in offered if callable(getattr(found, name)) and name not in VALUES}
    return names - OF_VALUES


def test_every_public_name_has_an_example_and_every_example_a_name():
    found = set(load().examples())
    assert public_names() - found == set()
    assert found - public_names() <= ({name for name in found if name.startswith("testing.")}
                                      if importlib.util.find_spec("rclpy") is None else {
                                          "absolute_coordinates.Coordinates"})


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter(ROOT, "screw_dynamics", "support.copies") as interpreter:
        yield interpreter


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_examples_run(interpreter, page):
    pytest.importorskip(NEEDS.get(page, "numpy"))
    text = (FOLDER / f"{page}.py").read_text()
    if page == "testing":               # whose objects are nodes
        interpreter.run(text)
        return
    names = list(load().parts(text)[1])
    everywhere = sorted(name for name in load().examples() if not name.startswith("testing."))
    interpreter.run(f"import sys\nsys.modules['support.copies'].run({text!r}, {names!r}, {everywhere!r})")


def spline(height):
    return CubicSpline([0.0, 1.0, 2.0], [0.0, height, 0.0])


@pytest.mark.parametrize("one, other", [
    (SimpleNamespace(x=1.0), SimpleNamespace(x=2.0)), (deque([1, 2]), deque([2, 1])), (Path("a"), Path("b")),
    (Fraction(1, 3), Fraction(2, 3)), (re.compile("a"), re.compile("b")), (np.float64(1.0), np.float64(2.0)),
    (spline(1.0), spline(2.0)), (np.random.default_rng(1), np.random.default_rng(2)), ({1}, {2})])
def test_copies_with_another_state_are_noticed(one, other):
    """Of types of other packages too."""
    check(one)
    assert not same([one], [other], {})
