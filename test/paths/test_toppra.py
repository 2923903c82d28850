"""Beside TOPP-RA of its authors, with the same grid: the same velocities, to the accuracy that it has itself."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.planning.paths import straight, through, time_optimal
from support.planar_arm import urdf

toppra = pytest.importorskip("toppra", reason="toppra, of the extra [bench], is not installed")
from toppra import algorithm, constraint  # noqa: E402

VELOCITY, ACCELERATION, EFFORT = np.array([2.0, 3.0]), np.array([9.0, 7.0]), np.array([20.0, 5.0])


def theirs(robot, path, s):
    """Velocities along the path at s."""
    class Curve(toppra.interpolator.AbstractGeometricPath):
        dof, path_interval, waypoints = robot.n, np.array([path.start, path.end]), None

        def __call__(self, at, order=0):
            return path.derivatives(np.asarray(at))[order]
    between = constraint.DiscretizationType.Interpolation
    limits = [constraint.JointVelocityConstraint(np.stack([-VELOCITY, VELOCITY], axis=-1)),
              constraint.JointAccelerationConstraint(np.stack([-ACCELERATION, ACCELERATION], axis=-1), between),
              constraint.JointTorqueConstraint(robot.inverse_dynamics, np.stack([-EFFORT, EFFORT], axis=-1),
                                               np.zeros(robot.n), between)]
    return algorithm.TOPPRA(limits, Curve(), gridpoints=s, solver_wrapper="seidel").compute_parameterization(0, 0)[1]


@pytest.mark.parametrize("make", [through, lambda robot, q: straight(robot, q, 0.05)])
def test_the_same_velocities(make):
    robot = sd.Robot.from_urdf(urdf())
    path = make(robot, [[0.1, 0.3], [0.9, -0.5], [0.3, 1.2], [-0.4, 0.8]])
    found = time_optimal(robot, path, velocity=VELOCITY, acceleration=ACCELERATION, effort=EFFORT, friction=False,
                         points=200)
    assert len({name.split()[0] for name in found.binding if name}) == 3        # each kind of limit binds somewhere
    assert found.sd == pytest.approx(theirs(robot, path, found.s), abs=2e-4 * found.sd.max())
