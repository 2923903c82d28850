"""The momentum observer on simulated motions: what acts is known, and the filter's answer to it."""

from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from support.real_robots import real_robot

ROBOTS = {"panda": ("panda_description/urdf/panda.urdf", "panda_link8"),
          "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0")}
GAIN = 25.0


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    urdf, tip = ROBOTS[request.param]
    return real_robot(urdf, tip_link=tip)


def bent(robot):
    """A bent position."""
    return robot.integrate(robot.neutral(), np.linspace(0.4, -0.9, robot.n))


def fall(robot, effort, seconds=0.25, dt=1e-3, friction=False):
    """A motion under constant efforts, of a precise integrator, from a bent position: t, q, qd."""
    q0 = bent(robot)
    qd0 = np.linspace(-0.5, 0.5, robot.n)
    steps = round(seconds / dt)
    return robot.rollout(q0, qd0, effort, dt=dt, steps=steps, integrator="rk4", friction=friction, limits=False)


def observer_of(robot, gain=GAIN, **options):
    """An observer without friction, as the motions have none."""
    return sd.estimation.MomentumObserver(robot, gain, friction=False, **options)


def observed(observer, motion, effort):
    """The estimates at every sample."""
    return np.array([observer.update(t, q, qd, effort) for t, q, qd in zip(*motion, strict=True)])


def hold(robot):
    """Efforts that roughly hold the robot."""
    return robot.gravity_torque(bent(robot))


def push(robot):
    """Efforts that accelerate each joint by some 5 rad/s^2."""
    return 5.0 * np.diag(robot.mass_matrix(bent(robot)))


@pytest.mark.parametrize("own, seconds", [(False, 0.25), (True, 0.1)], ids=["one gain", "a gain of each joint"])
def test_a_constant_external_effort_comes_through_the_low_pass(robot, own, seconds):
    gain, effort, external = np.linspace(5.0, 50.0, robot.n) if own else GAIN, hold(robot), push(robot)
    motion = fall(robot, effort + external, seconds=seconds)
    estimate = observed(observer_of(robot, gain), motion, effort)
    np.testing.assert_allclose(estimate, (1.0 - np.exp(-gain * motion[0][:, None])) * external, atol=2e-4)


def test_armature_is_in_the_momentum(robot):
    """Of rotors that weigh as much as the links: without them it would be taken for an external effort."""
    a = np.diag(robot.mass_matrix(bent(robot)))
    geared = robot.with_armature(dict(zip(robot.joint_names, a, strict=True)))
    effort, external = hold(robot), push(robot)
    motion = fall(geared, effort + external)
    expected = (1.0 - np.exp(-GAIN * motion[0]))[:, None] * external
    np.testing.assert_allclose(observed(observer_of(geared), motion, effort), expected, atol=2e-4)
    assert np.abs(observed(observer_of(robot), motion, effort) - expected).max() > 0.1 * np.abs(external).max()


def test_without_contact_the_error_is_of_the_second_order_in_the_time_step(robot):
    motion = fall(robot, hold(robot), dt=5e-4)
    errors = []
    for every in (16, 8, 4):
        sampled = [x[::every] for x in motion]
        errors.append(np.abs(observed(observer_of(robot), sampled, hold(robot))).max())
    ratios = np.divide(errors[:-1], errors[1:])
    assert (ratios > 3.5).all() and errors[-1] < 1e-4, errors


@pytest.mark.slow       # rollouts with Lie-group joints
def test_a_wrench_on_a_floating_robot_comes_through_with_an_error_of_the_second_order():
    """A force on the base that no joint feels, and one on a joint; the base has no motors."""
    robot = real_robot(ROBOTS["panda"][0], tip_link="panda_link8", floating_base=True)
    effort, external = np.r_[np.zeros(6), hold(robot)[6:]], np.zeros(robot.n)
    external[[3, 8]] = 20.0, -2.0
    motion = fall(robot, effort + external, seconds=0.08)
    errors = []
    for every in (4, 2, 1):
        sampled = [x[::every] for x in motion]
        expected = (1.0 - np.exp(-GAIN * sampled[0]))[:, None] * external
        errors.append(np.abs(observed(observer_of(robot), sampled, effort) - expected).max())
    ratios = np.divide(errors[:-1], errors[1:])
    assert (ratios > 3.5).all() and errors[-1] < 1e-3 * external.max(), errors


def test_a_payload_is_an_external_effort_until_the_model_has_it(robot):
    tip = robot.link_names[-1]
    carrying = robot.with_payload(tip, 1.5, [0.02, 0.0, 0.05])
    motion = fall(carrying, hold(robot), seconds=0.4)
    middle = len(motion[0]) // 2
    observer = observer_of(robot)
    before = observed(observer, [x[:middle] for x in motion], hold(robot))[-1]
    assert np.abs(before).max() > 1.0
    observer.robot = carrying
    np.testing.assert_array_equal(observer.torque, before)
    since = motion[0][middle:] - motion[0][middle - 1]
    estimate = observed(observer, [x[middle:] for x in motion], hold(robot))
    np.testing.assert_allclose(estimate, np.exp(-GAIN * since)[:, None] * before, atol=1e-3)


def test_friction_of_the_model_is_taken_off():
    robot = real_robot("panda_description/urdf/panda.urdf", tip_link="panda_link8")
    damping, friction = 0.3 * push(robot), 0.2 * push(robot)
    rough = sd.Robot(replace(robot.model, damping=damping, friction=friction))
    motion = fall(rough, hold(rough), friction=True)
    included = observed(sd.estimation.MomentumObserver(rough, GAIN), motion, hold(rough))
    assert np.abs(observed(observer_of(rough), motion, hold(rough))).max() > 1.0
    slides = (np.abs(motion[2]) > 2e-3).all(axis=0)         # what holds a joint at rest is not known
    assert slides.sum() >= 3
    np.testing.assert_allclose(included[:, slides], 0.0, atol=0.02)


def test_after_a_gap_or_a_jump_back_in_time_it_starts_anew(robot):
    observer = observer_of(robot, gap=0.1)
    q, still, effort = np.full(robot.n, 0.3), np.zeros(robot.n), hold(robot) + 7.0
    for t in np.arange(10) * 0.01:
        observer.update(t, q, still, effort)
    assert np.abs(observer.torque).min() > 0.0
    before = observer.torque
    np.testing.assert_array_equal(observer.update(0.09, q, still, 2 * effort), before, "the same time: nothing is new")
    np.testing.assert_array_equal(observer.update(0.3, q, still, effort), np.zeros(robot.n), "a gap")
    assert observer.update(0.31, q, still, effort).all()
    np.testing.assert_array_equal(observer.update(0.2, q, still, effort), np.zeros(robot.n), "back in time")
    assert observer.update(0.21, q, still, effort).all()


def test_joints_have_times_of_their_own_and_those_without_effort_are_left_out(robot):
    whole, parts = (observer_of(robot) for _ in range(2))
    q, still, effort = np.full(robot.n, 0.3), np.zeros(robot.n), hold(robot) + 7.0
    first = np.arange(robot.n) < 2
    missing = np.where(first, np.nan, effort)
    for observer in (whole, parts):
        observer.update(0.0, q, still, effort)
    for k in range(1, 5):
        t = np.full(robot.n, k / 128)
        whole.update(t, q, still, effort)
        parts.update(np.where(first, t, t - 1 / 128), q, still, effort)
        parts.update(t, q, still, effort)
    np.testing.assert_allclose(parts.torque, whole.torque, rtol=1e-12)
    estimate = parts.update(0.05, q, still, missing)
    assert np.isnan(estimate[:2]).all()
    np.testing.assert_allclose(estimate[2:], whole.update(0.05, q, still, effort)[2:], rtol=1e-12)
    np.testing.assert_array_equal(parts.update(0.06, q, still, effort)[:2], 0.0)


@pytest.mark.parametrize("gain", [0.0, [1.0, 2.0], np.nan, [np.inf] * 7])
def test_a_gain_that_is_none_is_refused(gain):
    robot = real_robot("panda_description/urdf/panda.urdf", tip_link="panda_link8")
    with pytest.raises(ValueError, match="gain"):
        sd.estimation.MomentumObserver(robot, gain)


def test_another_robot_is_refused(robot):
    observer = observer_of(robot)
    with pytest.raises(ValueError, match="must have the joints"):
        observer.robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")


def test_several_states_at_once_are_refused(robot):
    observer, still = observer_of(robot), np.zeros(robot.n)
    for at in range(3):
        state = [still, still, still]
        state[at] = np.zeros((4, robot.n))
        with pytest.raises(ValueError, match=rf"{('q', 'qd', 'tau')[at]} must be of one state, not of shape \(4, "):
            observer.update(0.0, *state)
