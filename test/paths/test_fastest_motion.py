"""Laws of the fastest motion: what scales it, what does not change it, and that it is within its limits."""
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import screw_dynamics as sd
from screw_dynamics.planning.paths import Path, straight, through, time_optimal
from support.planar_arm import urdf
from support.real_robots import real_robot
from support.sliders import plotter

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])


@pytest.fixture(scope="module")
def panda():
    return real_robot("panda_description/urdf/panda.urdf",
                      lock={"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0})


@pytest.fixture(scope="module")
def arm():
    return sd.Robot.from_urdf(urdf())


@pytest.fixture(scope="module")
def waypoints():
    return HOME + 0.25 * np.random.default_rng(1).standard_normal((6, 7))


def test_it_is_within_its_limits_between_points_with_an_error_of_second_order(panda, waypoints):
    beyond = []
    for points in (250, 500, 1000):
        found = time_optimal(panda, waypoints, acceleration=ACCELERATION, effort=0.4 * panda.model.effort_limit,
                             points=points)
        t = np.linspace(0.0, found.duration, 5001)[1:-1]
        motion = found.at(t)
        tau = panda.inverse_dynamics(motion.q, motion.qd, motion.qdd) + panda.friction_torque(motion.qd)
        assert abs(tau - motion.tau).max() < 1e-9
        share = max(np.abs(x / limit).max() for x, limit in (
            (motion.qd, panda.model.velocity_limit), (motion.qdd, ACCELERATION), (tau, 0.4 * panda.model.effort_limit)))
        assert share <= found.worst(8).share + 1e-4
        beyond.append(share - 1.0)
    assert beyond[2] < 1e-3 and beyond[2] < 0.25 * beyond[0]


def test_efforts_are_those_of_inverse_dynamics_on_a_curved_path(arm):
    """Some effort is at its limit most of the time, and none beyond."""
    limit = np.array([45.0, 14.0])
    found = time_optimal(arm, [[0.1, 0.3], [0.9, -0.9], [0.3, 1.5]], effort=limit, velocity=np.inf)
    motion = found.at(np.linspace(0.0, found.duration, 2001)[1:-1])
    share = np.abs(arm.inverse_dynamics(motion.q, motion.qd, motion.qdd) + arm.friction_torque(motion.qd)) / limit
    assert share.max() < 1.002 and np.median(share.max(axis=1)) > 0.999


def test_samples_are_a_motion(panda, waypoints):
    found = time_optimal(panda, waypoints, acceleration=ACCELERATION)
    samples, h = found.sampled(500.0), 1e-4
    assert samples.t[1] == 0.002 and samples.t[-1] == found.duration and len(samples.t) == len(samples.q)
    assert samples.q[[0, -1]] == pytest.approx(waypoints[[0, -1]], abs=1e-12)
    assert abs(samples.qd[[0, -1]]).max() < 1e-12
    t = samples.t[1:-1]
    assert abs((found.at(t + h).q - found.at(t - h).q) / (2.0 * h) - found.at(t).qd).max() < 2e-3
    for s, q in zip(found.problem.path.waypoints, waypoints, strict=True):
        assert found.problem.path.q(s) == pytest.approx(q, abs=1e-12)


def test_twice_the_velocity_takes_half_the_time(arm):
    """Efforts without gravity, and accelerations, are of second order in the velocity."""
    robot, path = arm.with_gravity((0.0, 0.0, 0.0)), [[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]]
    slow, fast = (time_optimal(robot, path, velocity=k * 2.0, acceleration=k * k * 9.0, effort=k * k * 8.0,
                               friction=False) for k in (1.0, 2.0))
    assert fast.duration == pytest.approx(0.5 * slow.duration, rel=1e-10)
    assert fast.qd == pytest.approx(2.0 * slow.qd, abs=1e-8)


def test_the_way_back_takes_as_long(arm):
    path = np.array([[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]])
    there, back = (time_optimal(arm, x, acceleration=5.0, effort=40.0, friction=False, points=3000)
                   for x in (path, path[::-1]))
    assert back.duration == pytest.approx(there.duration, rel=1e-5)


def test_it_does_not_depend_on_the_parameter_of_the_path(arm):
    q = np.array([[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]])
    path = through(arm, q)
    other = through(arm, q, 3.0 + 7.0 * path.waypoints)
    first, second = (time_optimal(arm, x, acceleration=5.0, effort=40.0) for x in (path, other))
    assert second.duration == pytest.approx(first.duration, rel=1e-9)


def test_more_room_is_never_slower(arm):
    path = [[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]]
    durations = [time_optimal(arm, path, acceleration=a, effort=e).duration
                 for a, e in ((3.0, 30.0), (6.0, 30.0), (6.0, 60.0), (np.inf, 60.0))]
    assert durations == sorted(durations, reverse=True)


def test_no_chatter_where_a_coefficient_vanishes():
    """On a circle the acceleration of x does not depend on s'' where x is extreme: there s' = sqrt(limit / radius)."""
    circle = CubicSpline(np.linspace(0.0, 4.0 * np.pi, 400), np.stack(
        [np.cos(np.linspace(0.0, 4.0 * np.pi, 400)), np.sin(np.linspace(0.0, 4.0 * np.pi, 400))], axis=-1))
    found = time_optimal(plotter(), Path(plotter(), circle), acceleration=1.0, points=2000)
    inside = (found.s > 1.0) & (found.s < 11.0)
    assert found.sd[inside].max() <= np.sqrt(np.sqrt(2.0)) + 1e-3
    for crossing in np.pi * np.arange(1, 7) / 2.0:
        assert np.interp(crossing, found.s, found.sd) == pytest.approx(1.0, abs=2e-3)
    # s'' goes up and down once in each quarter, by about 2: chatter would add its height at each point.
    assert np.abs(np.diff(found.sdd[inside])).sum() < 40.0
    assert found.worst().share < 1.0 + 1e-3


def test_intervals_are_halved_where_limits_would_be_exceeded_inside(arm):
    """On narrow corners velocities turn within few intervals."""
    path = straight(arm, [[0.1, 0.3], [0.9, -0.5], [0.3, 1.2], [-0.4, 0.8]], 0.002)
    found = time_optimal(arm, path, velocity=2.0, acceleration=8.0, points=50)
    assert len(found.s) > len(path.grid(50)) and found.worst(8).share < 1.003


def test_links_keep_their_speed(arm):
    path = straight(arm, [[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]], 0.05)
    found = time_optimal(arm, path, acceleration=20.0, link_speed={"flange": (0.4, 1.0), "forearm": 0.5})
    motion = found.at(np.linspace(0.0, found.duration, 1001))
    V = np.einsum("tij,tj->ti", arm.jacobian(motion.q, "flange", "hybrid"), motion.qd)
    speed, turn = np.linalg.norm(V[:, 3:], axis=1).max(), np.linalg.norm(V[:, :3], axis=1).max()
    assert 0.999 < max(speed / 0.4, turn) < 1.001
    assert {"speed of 'flange'", "angular speed of 'flange'"} & set(found.binding)


@pytest.mark.parametrize("jerk", [1e-3, 1e-9])
def test_a_thousandth_of_the_jerk_takes_ten_times_as_long(arm, jerk):
    """Where no other limit binds: so slowly, too, that efforts at the ends are of no account."""
    path = through(arm, [[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]])
    fast, slow = (time_optimal(arm, path, jerk=x, points=30) for x in (jerk, jerk / 1e3))
    assert slow.duration == pytest.approx(10.0 * fast.duration, rel=1e-6)


def test_bounded_jerk_is_slower_than_without_and_within_all_limits(arm):
    path = through(arm, [[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]])
    bound = time_optimal(arm, path, acceleration=8.0, effort=40.0, points=300)
    found = time_optimal(arm, path, acceleration=8.0, effort=40.0, jerk=80.0, points=200)
    assert bound.duration < found.duration < 1.25 * bound.duration
    t, h = np.linspace(0.0, found.duration, 2001)[1:-1], 1e-5
    jerk = (found.at(t + h).qdd - found.at(t - h).qdd) / (2.0 * h)
    breaks = np.interp(path.breaks, found.s, found.t)
    away = (abs(t[:, None] - breaks) > 2.0 * h).all(axis=1)     # the path's third derivative jumps there
    assert abs(jerk[away]).max() < 80.0 * 1.001
    motion = found.at(t)
    assert abs(motion.qdd).max() < 8.0 * 1.001 and abs(motion.tau).max() < 40.0 * 1.001
    assert found.qdd[[0, -1]] == pytest.approx(np.zeros((2, 2)), abs=1e-9)
    assert "jerk of" in " ".join(found.binding)
