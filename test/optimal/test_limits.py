"""Limits of the model that problems of motion have: of which joints, in which order, and what is said of wrong ones."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.planning.optimal import JointPosition, Velocity
from screw_dynamics.planning.optimal.limits import effort_bounds, limits_of_model


@pytest.fixture
def robot():
    """Three joints, of which the second has no end and the first no largest velocity."""
    builder, inertia = sd.ModelBuilder("base"), sd.inertia_matrix(1.0, np.zeros(3), np.eye(3))
    for k, limits in enumerate((sd.Limits(lower=-1.0, upper=2.0, effort=10.0), sd.Limits(effort=20.0, velocity=5.0),
                                sd.Limits(lower=-0.5, upper=0.7, effort=30.0, velocity=6.0))):
        builder.add_joint(f"joint {k}", f"link {k}", f"link {k - 1}" if k else "base", (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
                          inertia=inertia, limits=limits)
    return sd.Robot(builder.build())


def test_joints_with_ends_have_limits_of_positions_and_all_of_velocities(robot):
    position, velocity = limits_of_model(robot)
    assert isinstance(position.quantity, JointPosition) and isinstance(velocity.quantity, Velocity)
    assert tuple(position.quantity.labels(robot, np.arange(3))) == ("joint 0", "joint 2")
    assert list(position.lower) == [-1.0, -0.5] and list(position.upper) == [2.0, 0.7]
    assert list(velocity.lower) == [-np.inf, -5.0, -6.0] and list(velocity.upper) == [np.inf, 5.0, 6.0]


def test_efforts_are_bounded_by_what_their_own_joints_bear(robot):
    driven = np.array([2, 0])
    for given, lower, upper in ((True, [-30.0, -10.0], [30.0, 10.0]), (False, [-np.inf] * 2, [np.inf] * 2),
                                (([-1.0, -2.0, -3.0], 4.0), [-3.0, -1.0], [4.0, 4.0])):
        found = effort_bounds(given, robot.model, driven)
        assert list(found[0]) == lower and list(found[1]) == upper


def test_wrong_bounds_are_told_with_the_joint_that_has_them(robot):
    with pytest.raises(ValueError, match="of 'joint 2' must have lower <= upper, .* not 3.0 and 2.0"):
        effort_bounds(([0.0, 0.0, 3.0], 2.0), robot.model, np.array([1, 2]))
    with pytest.raises(ValueError, match="effort_limits must be True, False or"):
        effort_bounds((1.0, 2.0, 3.0), robot.model, np.array([0]))
