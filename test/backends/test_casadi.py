"""The bridge to CasADi: values, Jacobians, gradients and Hessians of expressions, and IPOPT through it."""
import re
import subprocess
import sys

import numpy as np
import pytest

from support.bridged import NAMES, calls, derivatives
from support.linearized import ROBOTS, near, robot_called
from support.paths import ROOT
from support.real_robots import PATHS

casadi = pytest.importorskip("casadi", reason="CasADi is not installed: pip install screw_dynamics[casadi]")


def bridge(name):
    from screw_dynamics.backends.casadi import CasadiRobot  # takes CasADi
    robot = robot_called(name)
    return robot, CasadiRobot(robot)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("function", NAMES)
def test_values_jacobians_and_gradients(name, function, rng):
    robot, bridged = bridge(name)
    ours, theirs, inputs = calls(robot, bridged, rng)[function]
    symbols = [casadi.MX.sym(f"x{k}", len(x)) for k, x in enumerate(inputs)]
    y, weights = theirs(*symbols), rng.standard_normal(ours(*inputs).shape)
    expected, value = derivatives(ours, inputs), ours(*inputs)
    scalar = casadi.dot(y, casadi.DM(weights))
    f = casadi.Function("f", symbols, [y, *(casadi.jacobian(y, x) for x in symbols),
                                       *(casadi.gradient(scalar, x) for x in symbols)])
    found = [x.full() for x in f(*inputs)]
    assert np.array_equal(found[0].reshape(value.shape), value)
    for k, by in enumerate(expected):
        columns = by if by.ndim == 2 else by.swapaxes(0, 1).reshape(-1, by.shape[-1])   # CasADi's order
        near(found[1 + k], columns, 1e-9)
        near(found[1 + len(inputs) + k][:, 0], np.tensordot(weights, by, weights.ndim), 1e-9)


@pytest.mark.parametrize("function, bound", [
    pytest.param("inverse_dynamics", 1e-9, marks=pytest.mark.slow), ("forward_dynamics", 1e-5)])
def test_second_derivatives(function, bound, rng):
    """Exact ones of inverse dynamics, and differences of exact first ones."""
    robot, bridged = bridge("fixed")
    _, theirs, inputs = calls(robot, bridged, rng)[function]
    x, weights = casadi.MX.sym("x", 3 * robot.n), rng.standard_normal(robot.n)
    hessian, _ = casadi.hessian(casadi.dot(theirs(*casadi.vertsplit(x, robot.n)), weights), x)
    found = casadi.Function("h", [x], [hessian])(np.concatenate(inputs)).full()

    def gradient(x):
        return weights @ np.hstack(getattr(robot, f"{function}_derivatives")(*np.split(x, 3)))
    near(found, derivatives(gradient, [np.concatenate(inputs)])[0], bound)


@pytest.mark.slow
def test_a_nonlinear_program_finds_the_least_efforts_that_hold_a_point(rng):
    robot, bridged = bridge("fixed")
    q, zero, tip = casadi.MX.sym("q", 6), np.zeros(6), robot.link_names[-1]
    known = robot.random_configuration(seed=rng)
    point = robot.forward_kinematics(known, tip)[:3, 3]
    solver = casadi.nlpsol("hold", "ipopt", {
        "x": q, "f": casadi.sumsqr(bridged.inverse_dynamics(q, zero, zero)),
        "g": bridged.forward_kinematics(q, tip)[:3, 3]}, {
            "ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes",
            "ipopt.hessian_approximation": "limited-memory"})
    found = solver(x0=known, lbg=point, ubg=point)
    assert solver.stats()["success"]
    least = found["x"].full().ravel()
    near(robot.forward_kinematics(least, tip)[:3, 3], point, 1e-7)
    assert (robot.gravity_torque(least)**2).sum() < 0.99 * (robot.gravity_torque(known)**2).sum()


def test_what_it_refuses():
    _, bridged = bridge("fixed")
    x = casadi.MX.sym("x", 6)
    with pytest.raises(ValueError, match="link 'nose' does not exist"):
        bridged.forward_kinematics(x, "nose")
    with pytest.raises(ValueError, match=r"dt 0\.0 must be finite and > 0"):
        bridged.step(x, x, x, 0.0)
    with pytest.raises(ValueError, match=r"dt is a constant, and must be a number, not MX\(dt\)"):
        bridged.step(x, x, x, casadi.MX.sym("dt"))
    with pytest.raises(RuntimeError, match="Got 2-by-1. Allowed dimensions"):
        bridged.mass_matrix(x[:2])


@pytest.mark.slow
def test_the_example_reaches_its_goal():
    command = [sys.executable, "-W", "ignore", ROOT / "examples" / "optimal_control.py",
               PATHS["panda_description/urdf/panda.urdf"]]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout
    # Two successes of IPOPT: rounding, which depends on the processor, decides which tolerance is met first.
    assert printed.startswith(("Solve_Succeeded", "Solved_To_Acceptable_Level"))
    off, speed = re.search(r"ends (\S+) m from the goal, joints at most (\S+) rad/s", printed).groups()
    assert float(off) < 1e-6 and float(speed) < 1e-6
    cost, standing = re.search(r"cost (\S+), of standing still (\S+)", printed).groups()
    assert float(cost) < float(standing)
