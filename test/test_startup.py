"""Start-up: nothing is imported, compiled or started that is not needed yet."""
import os
import subprocess
import sys

import pytest

from support.paths import ROOT
from support.real_robots import PATHS

PANDA = PATHS["panda_description/urdf/panda.urdf"]
FOREIGN = (
    "rclpy", "sensor_msgs", "launch", "matplotlib", "pinocchio", "mujoco", "sympy", "mpmath", "pandas", "IPython",
    "pytest", "setuptools", "dask", "distributed", "xarray", "pyarrow", "scipy.integrate", "scipy.linalg",
    "scipy.sparse", "scipy.special")


def run(script, **environment):
    """What a script prints in a new process, word by word."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_imports_nothing_foreign():
    modules = run("import sys, screw_dynamics; print(*sys.modules)")
    assert "screw_dynamics.robot.robot" in modules
    assert not {module for module in modules for name in FOREIGN if f"{module}.".startswith(f"{name}.")}


def test_a_first_torque_imports_no_rollouts_and_nothing_that_builds_kernels():
    """They would take half as long again."""
    modules = run(f"""
import sys, screw_dynamics as sd
robot = sd.Robot.from_urdf({str(PANDA)!r})
robot.gravity_torque(robot.neutral())
print(*sys.modules)""")
    packages = {module.split(".")[1] for module in modules if module.startswith("screw_dynamics.")}
    assert "algorithms" in packages and not {"constraints", "contact", "scene", "sweeps"} & packages
    assert not {"screw_dynamics.rollout.rollout", "screw_dynamics.jit.kernel_cache.building", "subprocess", "tempfile",
                "numba", "numpy.random"} & {*modules}


@pytest.mark.slow
@pytest.mark.parametrize("node", ["dynamics", "simulator"])
def test_a_node_starts_without_what_few_calls_need(node):
    pytest.importorskip("rclpy")
    modules = run(f"import sys, screw_dynamics.ros.{node}.node; print(*sys.modules)")
    assert "rclpy" in modules and not {"scipy.signal", "scipy.stats", "scipy.interpolate", "matplotlib"} & {*modules}


@pytest.mark.slow
@pytest.mark.parametrize("node", ["DynamicsNode", "SimulatorNode"])
def test_kernels_of_a_node_come_without_linear_algebra_of_scipy(node):
    """It takes half as long to import as the whole package, and Numba does so for a kernel that calls np.any."""
    pytest.importorskip("rclpy")
    script = f"""
import sys
import screw_dynamics as sd
from screw_dynamics.ros.{node.removesuffix("Node").lower()}.node import {node}
from screw_dynamics.ros.node.preparation import prepare
prepare({node}.steps, sd.Robot.from_urdf({str(PANDA)!r}), print)
print("scipy.linalg" in sys.modules)"""
    run(script)                                 # compiles what is not at hand, which takes more of SciPy
    assert run(script) == ["False"]


@pytest.mark.slow
def test_formulations_are_imported_when_they_are_used():
    """By name, as an attribute of the package or from it; and dir() lists them before."""
    assert run("""
import sys
import screw_dynamics as sd
print("screw_dynamics.papers.formulations" in sys.modules)
print({"formulations", "symbolic", "Robot", "shapes"} <= {*dir(sd)}, "counting" in dir(sd))
print(sd.counting.operations.__name__, sd.formulations.closed_form.lagrange.mass_matrix.__name__)
print("sympy" in sys.modules)""") == [
        "False", "True", "False", "operations", "mass_matrix", "False"]


@pytest.mark.slow
def test_attributes_are_the_modules_themselves():
    assert run("""
import screw_dynamics as sd
from screw_dynamics import calibration
import screw_dynamics.analysis.calibration as module
print(sd.calibration is module, calibration is module, "calibration" in sd.__all__)""") == ["True", "True", "True"]


@pytest.mark.slow
def test_reading_a_robot_compiles_nothing_and_starts_no_thread(tmp_path):
    """Where the cache is empty too."""
    assert run(f"""
import threading
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    import screw_dynamics
    screw_dynamics.Robot.from_urdf({str(PANDA)!r})
print(len(compiled.buffer), threading.active_count())""", NUMBA_CACHE_DIR=str(tmp_path)) == ["0", "1"]


@pytest.mark.slow
def test_import_cost_in_imports_of_numpy(capsys):
    """A figure for the log, of processor time; what a busy machine takes is no fact to assert."""
    script = """
import time
begin = time.process_time()
import numpy
middle = time.process_time()
import screw_dynamics
print(middle - begin, time.process_time() - middle)"""
    numpy, package = map(min, zip(*(map(float, run(script)) for _ in range(3)), strict=True))
    with capsys.disabled():
        print(f"\nimport of screw_dynamics: {package:.2f} s after numpy, {package / numpy:.1f} times numpy")
    assert package > 0.0


# All methods, for one state and for a batch, without mimic joints and with.
EVERYTHING = f"""
import numpy as np
from numba.core import event
import screw_dynamics as sd

with event.install_recorder("numba:compile") as compiled:
    for robot in (sd.Robot.from_urdf({str(PANDA)!r}, tip_link="panda_link8"), sd.Robot.from_urdf({str(PANDA)!r})):
        for x in np.zeros(robot.n), np.zeros((9, robot.n)):
            robot.gravity_torque(x), robot.potential_energy(x), robot.body_poses(x), robot.body_poses(x, "spatial")
            robot.coriolis_torque(x, x), robot.kinetic_energy(x, x), robot.body_twists(x, x), robot.body_jacobians(x)
            robot.inverse_dynamics(x, x, x), robot.forward_dynamics(x, x, x)
            robot.mass_matrix(x), robot.coriolis_matrix(x, x)
            robot.external_torque(x, {{"panda_link4": np.ones(6)}}), robot.friction_torque(x)
            robot.forward_kinematics(x, "panda_link8"), robot.jacobian(x, "panda_link8")
            robot.jacobian_derivative(x, x, "panda_link8")
            for method in ("semi_implicit_euler", "rk4", "rk45"):
                robot.rollout(x, x, integrator=method, steps=2)
print(len(compiled.buffer))
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing():
    """Not the smallest helper: the first process has left everything in the cache."""
    run(EVERYTHING)
    assert run(EVERYTHING) == ["0"]
