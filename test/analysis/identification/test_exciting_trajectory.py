"""Exciting motions stay within all limits, and show more than others do."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.identification import base_parameters, exciting_trajectory
from screw_dynamics.analysis.identification.exciting_trajectory import _Search
from support.real_robots import real_robot

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arm():
    return real_robot("ur_description/urdf/ur5_robot.urdf", tip_link="wrist_3_link")


def regressor(robot, trajectory, base):
    """The base regressor along a trajectory, of efforts over their limits."""
    t, *motion = trajectory.samples(30.0)
    Y = base.columns(robot.torque_regressor(*motion)) / robot.model.effort_limit[:, None]
    return Y.reshape(-1, len(base))


def test_it_starts_and_ends_at_rest_and_its_derivatives_are_its_own(arm):
    trajectory = exciting_trajectory(arm, period=4.0, harmonics=3, iterations=0)
    for t in (0.0, 4.0):
        q, qd, qdd = trajectory(t)
        np.testing.assert_allclose([qd, qdd], 0.0, atol=1e-12)
        np.testing.assert_allclose(q, trajectory(0.0)[0], atol=1e-12)
    t, h = np.linspace(0.3, 3.7, 11), 1e-5
    for k in (0, 1):
        slope = (trajectory(t + h)[k] - trajectory(t - h)[k]) / (2.0 * h)
        np.testing.assert_allclose(slope, trajectory(t)[k + 1], atol=1e-7)
    assert [len(x) for x in trajectory.samples(50.0)] == [200] * 4


@pytest.mark.parametrize("criterion", ["determinant", "condition"])
def test_it_shows_more_than_it_did_at_the_start_within_the_limits(arm, criterion):
    base = base_parameters(arm)
    options = dict(period=6.0, harmonics=3, friction=False, velocity=np.linspace(1.0, 2.0, 6), acceleration=3.0)
    first, best = (exciting_trajectory(arm, criterion=criterion, iterations=k, **options) for k in (0, 12))
    A, B = (regressor(arm, trajectory, base) for trajectory in (first, best))
    if criterion == "determinant":
        assert np.linalg.slogdet(B.T @ B)[1] > np.linalg.slogdet(A.T @ A)[1] + 5.0
    else:
        assert np.linalg.cond(B / np.linalg.norm(B, axis=0)) < 0.95 * np.linalg.cond(A / np.linalg.norm(A, axis=0))
    _, q, qd, qdd = best.samples(200.0)
    model = arm.model
    assert (model.lower < q).all() and (q < model.upper).all()
    assert (np.abs(qd) < options["velocity"]).all() and (np.abs(qdd) < 3.0).all()
    assert (np.abs(arm.inverse_dynamics(q, qd, qdd)) < model.effort_limit).all()
    tightest = np.max([np.abs(qd).max(axis=0) / options["velocity"], np.abs(qdd).max(axis=0) / 3.0,
                       np.abs(q - best.center).max(axis=0) / (model.upper - best.center)], axis=0)
    assert (tightest > 0.5).all()                                               # and come near one of them


@pytest.mark.parametrize("criterion", ["determinant", "condition"])
@pytest.mark.parametrize("friction", [True, False])
def test_derivatives_of_the_objective_are_its_own(arm, rng, criterion, friction):
    """By central differences, for heavy links, whose efforts have a penalty."""
    heavy = arm.with_payload("wrist_3_link", 40.0)
    lower, upper = arm.model.lower, arm.model.upper
    search = _Search(heavy, 6.0, 3, (lower, upper, np.ones(6), 2.0 * np.ones(6)), base_parameters(heavy, friction),
                     friction, criterion)
    x, h = rng.standard_normal(search.size), 1e-5
    assert search.equations(x)[1] > 0.1
    value, found = search.cost_and_slopes(x)
    expected = [(search.cost(x + h * e) - search.cost(x - h * e)) / (2.0 * h) for e in np.eye(len(x))]
    assert value == pytest.approx(search.cost(x))
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


def test_what_cannot_be_is_refused(arm):
    with pytest.raises(ValueError, match="^joint 'shoulder_pan_joint' has no room to move: .* velocity 0, "):
        exciting_trajectory(arm, velocity=0.0)
    with pytest.raises(ValueError, match=r"^velocity \[1.0, 2.0\] must be one number, or one for each of 6"):
        exciting_trajectory(arm, velocity=[1.0, 2.0])
    weak = sd.Robot(replace(arm.model, effort_limit=np.where(np.arange(6) == 1, 1.0, arm.model.effort_limit)))
    with pytest.raises(ValueError, match="^the effort of joint 'shoulder_lift_joint' reaches .* times its limit"):
        exciting_trajectory(weak, iterations=0)
    with pytest.raises(ValueError, match="criterion"):
        exciting_trajectory(arm, criterion="trace")
    with pytest.warns(sd.UrdfWarning, match="without joints"):
        block = sd.Robot.from_urdf("<robot name='block'><link name='base'/></robot>")
    with pytest.raises(ValueError, match="^exciting_trajectory: the robot has no joints that move$"):
        exciting_trajectory(block)
    with pytest.raises(ValueError, match="^links: no link to estimate moves and has a mass"):
        sd.identify(block, np.arange(9.0), np.empty((9, 0)), np.empty((9, 0)))
    with pytest.raises(ValueError, match="^exciting_trajectory: only joints of one degree of freedom are supported"):
        exciting_trajectory(real_robot("ur_description/urdf/ur5_robot.urdf", floating_base=True))
