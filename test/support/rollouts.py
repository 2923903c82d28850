"""Robots to roll out, the states they start from, and the motions that SciPy finds for them."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import screw_dynamics as sd
from support.paths import URDF
from support.random_trees import model_of, random_tree

METHODS = ("semi_implicit_euler", "rk4", "rk45")


def slider(mass=2.0, **joint):
    """A mass on a rail."""
    builder = sd.ModelBuilder("root")
    body = sd.inertia_matrix(mass, np.zeros(3), np.eye(3))
    builder.add_joint("slide", "cart", "root", [0, 0, 0, 1, 0, 0], inertia=body, **joint)
    return sd.Robot(builder.build())


PENDULUM = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
TREE = sd.Robot(model_of(random_tree(np.random.default_rng(5), 4), damping=0.3, friction=0.2))
MIMICS = sd.Robot(model_of(random_tree(np.random.default_rng(8), 5, mimics=2), damping=0.3, friction=0.2))
ROBOTS = {"pendulum": PENDULUM, "tree": TREE, "tree with mimics": MIMICS}
EACH_ROBOT = pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
EACH_METHOD = pytest.mark.parametrize("method", METHODS)


def states(robot, *lead):
    """Random q0 and qd0 (*lead, n)."""
    return np.random.default_rng(7).normal(size=(2, *lead, robot.n))


def rate_of(robot, effort=None, friction=False):
    """The equations of motion as y' = f(t, y) with y = (q, qd), under effort(t, q, qd)."""
    def rate(t, y):
        q, qd = y[:robot.n], y[robot.n:]
        tau = np.zeros(robot.n) if effort is None else effort(t, q, qd)
        if friction:
            tau = tau - robot.model.damping * qd - robot.model.friction * np.sign(qd)
        return np.r_[qd, robot.forward_dynamics(q, qd, tau)]
    return rate


def solved(robot, q0, qd0, times, *forces, **options):
    """(q, qd) at these times, by SciPy."""
    options = dict(method="DOP853", rtol=1e-13, atol=1e-13) | options
    solution = solve_ivp(rate_of(robot, *forces), (times[0], times[-1]), np.r_[q0, qd0], t_eval=times, **options)
    assert solution.success
    return solution.y.T[:, :robot.n], solution.y.T[:, robot.n:]


def error(found, expected):
    """The largest deviation of q and qd."""
    return max(np.abs(a - b).max() for a, b in zip(found, expected, strict=True))


def control(t, q, qd, tau):
    """A controller: efforts of time and state."""
    tau[0] = np.sin(20.0 * t) - 3.0 * q[0] - 0.5 * qd[1]
    tau[1] = -5.0 * q[1] - qd[1]
