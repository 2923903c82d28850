"""The three sources of the acceleration of ~/inverse_dynamics, without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.ros.dynamics.acceleration import DesiredAcceleration, FiniteDifference, ZeroAcceleration
from screw_dynamics.ros.node.joint_state import Fault, JointStateCache

S = 1_000_000_000
JOINTS = ("a", "b")


def observe(source, cache, names, velocity, stamp):
    msg = SimpleNamespace(name=list(names), position=[0.0] * len(names), velocity=velocity, effort=[])
    if cache.update(msg, stamp, stamp):
        source.observe(cache)


def desired(names, accelerations):
    return SimpleNamespace(joint_names=list(names), points=[SimpleNamespace(accelerations=accelerations)])


def test_zero():
    np.testing.assert_array_equal(ZeroAcceleration(2).value(S), [0, 0])


def test_finite_difference_is_the_change_of_velocity_over_the_time_of_the_stamps():
    source, cache = FiniteDifference(2, S), JointStateCache(JOINTS)
    observe(source, cache, JOINTS, [1.0, 2.0], 10 * S)
    assert source.value(0) is None
    observe(source, cache, JOINTS, [1.5, 1.0], 10 * S + S // 2)
    np.testing.assert_array_equal(source.value(0), [1, -2])
    observe(source, cache, JOINTS, [9.0, 9.0], 10 * S + S // 2)
    np.testing.assert_array_equal(source.value(0), [1, -2], "no time has passed")


def test_finite_difference_takes_each_joint_at_its_own_stamps():
    source, cache = FiniteDifference(2, S), JointStateCache(JOINTS)
    for names, velocity, stamp in (("a", 1.0, 10), ("b", 5.0, 11), ("a", 2.0, 12), ("b", 5.5, 13)):
        observe(source, cache, names, [velocity], stamp * S // 4)
    np.testing.assert_array_equal(source.value(0), [2, 1])


def test_finite_difference_starts_anew_after_a_gap_and_after_time_backwards():
    source, cache = FiniteDifference(2, S), JointStateCache(JOINTS)
    for stamp in (10, 11):
        observe(source, cache, JOINTS, [0.0, 0.0], stamp * S)
    assert source.value(0) is not None
    for stamp in (20, 15):
        observe(source, cache, JOINTS, [0.0, 0.0], stamp * S)
        assert source.value(0) is None


def test_desired_merges_until_complete_and_goes_stale():
    source = DesiredAcceleration(JOINTS, S)
    source.take(desired(("b", "x"), [2.0, float("nan")]), 10 * S)
    assert source.value(10 * S) is None
    source.take(desired(("a",), [1.0]), 11 * S)
    np.testing.assert_array_equal(source.value(11 * S), [1, 2])
    assert source.value(11 * S + 1) is None, "b is older than the timeout"
    source.take(desired(("a", "b"), [3.0, 4.0]), 12 * S)
    source.clear()
    assert source.value(12 * S) is None


@pytest.mark.parametrize(
    "msg, says",
    [
        (SimpleNamespace(joint_names=["a"], points=[]), "points is empty"),
        (desired(("a", "b"), []), "accelerations has 0 values for 2 joint_names"),
        (desired(("a", "b"), [1.0, float("inf")]), "acceleration of joint 'b' is inf"),
    ],
)
def test_a_bad_desired_changes_nothing(msg, says):
    source = DesiredAcceleration(JOINTS, S)
    source.take(desired(JOINTS, [1.0, 2.0]), S)
    with pytest.raises(Fault, match=says):
        source.take(msg, S)
    np.testing.assert_array_equal(source.value(S), [1, 2])
