"""What trajectories are accepted, with which tolerances, and what is said of others: each error with its code."""
from types import SimpleNamespace as Message

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.limits import EnforcedLimits
from screw_dynamics.simulator.trajectory_goal import (
    Code,
    GoalError,
    GoalRules,
    Tolerances,
    begin_of,
    enforced,
    read_points,
    read_tolerances,
)
from support import planar_arm as arm

SECOND = 1_000_000_000
NAN, INF = float("nan"), float("inf")


def duration(seconds):
    return Message(sec=int(seconds // 1), nanosec=round(seconds % 1 * 1e9))


def point(time, positions=(0.1, 0.2), velocities=(), accelerations=(), effort=()):
    return Message(positions=positions, velocities=velocities, accelerations=accelerations, effort=effort,
                   time_from_start=duration(time))


def trajectory(*points, names=("elbow", "shoulder")):
    return Message(joint_names=list(names), points=list(points))


@pytest.fixture(scope="module")
def read():
    model = sd.Robot.from_urdf(arm.urdf()).model
    limits = EnforcedLimits(model, True)
    return lambda msg, **rules: read_points(msg, GoalRules(("shoulder", "elbow"), **rules), model, limits)


def test_joints_come_in_any_order_and_fields_as_far_as_given(read):
    points = read(trajectory(point(0.5), point(1.25, (3.0, 0.0), (0.5, -0.5), (1.0, 2.0), (7.0, 8.0)),
                             point(2.0, velocities=(0.0, 0.0))))
    assert points.joints.tolist() == [1, 0] and points.times.tolist() == [SECOND // 2, 5 * SECOND // 4, 2 * SECOND]
    assert points.order.tolist() == [0, 2, 1]
    assert points.position[1].tolist() == [3.0, 0.0] and points.acceleration[1].tolist() == [1.0, 2.0]
    assert points.effort[1].tolist() == [7.0, 8.0] and np.isnan(points.effort[[0, 2]]).all()


def test_efforts_that_are_all_zero_are_none(read):
    assert np.isnan(read(trajectory(point(1.0, effort=(0.0, 0.0)))).effort).all()


@pytest.mark.parametrize(
    ("msg", "code", "words"),
    [
        (trajectory(point(1.0), names=[]), Code.INVALID_JOINTS, ["shoulder, elbow"]),
        (trajectory(point(1.0, [0.1]), names=["elbow"]), Code.INVALID_JOINTS, ["'shoulder' is missing", "partial"]),
        (trajectory(point(1.0), names=["elbow", "knee"]), Code.INVALID_JOINTS, ["unknown joint 'knee'"]),
        (trajectory(point(1.0), names=["elbow", "finger"]), Code.INVALID_JOINTS, ["'finger' mimics 'elbow'"]),
        (trajectory(point(1.0), names=["elbow"] * 2), Code.INVALID_JOINTS, ["'elbow' is named twice"]),
        (trajectory(), Code.INVALID_GOAL, ["no points"]),
        (trajectory(*[point(1.0)] * 100_001), Code.INVALID_GOAL, ["100001 points", "1 to 100000"]),
        (trajectory(point(-0.5)), Code.INVALID_GOAL, ["point 0", "-0.5 s"]),
        (trajectory(point(1.0), point(1.0)), Code.INVALID_GOAL, ["point 1", "1.0 s", "later"]),
        (trajectory(point(1.0), point(2.0), point(1.5)), Code.INVALID_GOAL, ["point 2", "1.5 s", "2.0 s"]),
        (trajectory(point(1.0, [0.1])), Code.INVALID_GOAL, ["point 0", "1 positions for 2 joints"]),
        (trajectory(point(1.0, ())), Code.INVALID_GOAL, ["point 0", "0 positions"]),
        (trajectory(point(1.0, velocities=[0.0])), Code.INVALID_GOAL, ["1 velocities"]),
        (trajectory(point(1.0, effort=[0.0] * 3)), Code.INVALID_GOAL, ["3 effort"]),
        (trajectory(point(1.0, accelerations=[0.0, 0.0])), Code.INVALID_GOAL, ["accelerations require velocities"]),
        (trajectory(point(1.0, [NAN, 0.0])), Code.INVALID_GOAL, ["'elbow'", "positions nan"]),
        (trajectory(point(1.0), point(2.0, velocities=[0.0, INF])), Code.INVALID_GOAL,
         ["point 1", "'shoulder'", "velocities inf"]),
        (trajectory(point(1.0, effort=[0.0, -INF])), Code.INVALID_GOAL, ["'shoulder'", "effort -inf"]),
        (trajectory(point(1.0), point(2.0, [3.5, 0.0])), Code.INVALID_GOAL, ["point 1", "'elbow'", "3.5", "limits"]),
        (trajectory(point(1.0, velocities=[0.0, 0.25])), Code.INVALID_GOAL, ["'shoulder'", "velocity 0.25"]),
    ],
)
def test_what_is_wrong_is_named(read, msg, code, words):
    with pytest.raises(GoalError) as error:
        read(msg)
    assert error.value.code == code
    assert all(word in str(error.value) for word in words), str(error.value)


def test_partial_goals_and_ends_in_motion_where_they_are_allowed(read):
    assert read(trajectory(point(1.0, [0.5]), names=["elbow"]), allow_partial=True).joints.tolist() == [1]
    assert read(trajectory(point(1.0, velocities=[0.0, 0.25])), allow_end_velocity=True).velocity[0, 1] == 0.25


def test_limit_may_be_exceeded_by_rounding(read):
    assert read(trajectory(point(1.0, [3.0 + 1e-7, 0.0]))).position[0, 0] > 3.0


def test_begin_by_the_stamp(read):
    points, now, clock = read(trajectory(point(1.0), point(2.0))), 50 * SECOND, 900 * SECOND
    assert begin_of(0, points, now, clock) == now
    assert begin_of(clock - SECOND, points, now, clock) == now - SECOND
    assert begin_of(clock + SECOND, points, now, clock) == now + SECOND
    with pytest.raises(GoalError, match="ended 0.5 s ago") as error:
        begin_of(clock - 5 * SECOND // 2, points, now, clock)
    assert error.value.code == Code.OLD_HEADER_TIMESTAMP


def tolerance(name, position=0.0, velocity=0.0, acceleration=0.0):
    return Message(name=name, position=position, velocity=velocity, acceleration=acceleration)


def test_tolerances_of_a_goal_over_the_defaults():
    defaults = Tolerances(np.full((3, 2), 0.1), np.full((3, 2), 0.2), 3.0 * SECOND)
    index = {"shoulder": 0, "elbow": 1}
    warnings = []

    def read(path=(), goal=(), time=0.0):
        msg = Message(path_tolerance=path, goal_tolerance=goal, goal_time_tolerance=duration(time))
        return read_tolerances(msg, defaults, index, warnings.append)

    given = read([tolerance("elbow", 0.5, -1.0)], [tolerance("shoulder", velocity=0.7)], 1.5)
    assert given.path.tolist() == [[0.1, 0.5], [0.1, INF], [0.1, 0.1]]
    assert given.goal.tolist() == [[0.2, 0.2], [0.7, 0.2], [0.2, 0.2]]
    assert given.goal_time == 1.5 * SECOND and read(time=-1.0).goal_time == INF and read() .goal_time == 3.0 * SECOND
    assert not warnings
    for bad in ({"path": [tolerance("knee", 0.5)]}, {"goal": [tolerance("elbow", -0.5)]}, {"time": -2.0},
                {"path": [tolerance("elbow", NAN)]}):
        assert read(**bad) is defaults
    assert [word in text for word, text in zip(("knee", "-0.5", "-2.0", "nan"), warnings, strict=True)] == [True] * 4
    assert (enforced(0.0), enforced(0.3)) == (INF, 0.3)
