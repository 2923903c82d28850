"""What each fault in a JointState gets, without ROS: a message is anything with its fields."""

import array
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.ros.node.joint_state import (
    KNOWN_NAME_LISTS,
    KNOWN_SIZE,
    MOST_NAMES,
    Fault,
    JointMap,
    JointStateCache,
    listed,
)

S = 1_000_000_000
JOINTS = ("a", "b", "c")
NAN, INF = float("nan"), float("inf")


def message(names=JOINTS, position=(1.0, 2.0, 3.0), velocity=(0.1, 0.2, 0.3), effort=()):
    return SimpleNamespace(
        name=list(names),
        **{k: array.array("d", v) for k, v in {"position": position, "velocity": velocity, "effort": effort}.items()},
    )


@pytest.fixture
def notices():
    return []


@pytest.fixture
def cache(notices):
    return JointStateCache(JOINTS, notify=notices.append)


def test_a_shuffled_message_with_extra_joints_comes_out_in_model_order(cache, notices):
    msg = message(("c", "wheel", "a", "b"), (3, NAN, 1, 2), (0.3, INF, 0.1, 0.2), (NAN,) * 4)
    assert cache.update(msg, 5 * S, 7 * S)
    np.testing.assert_array_equal(cache.position, [1, 2, 3])
    np.testing.assert_array_equal(cache.velocity, [0.1, 0.2, 0.3])
    assert cache.stamp == 5 * S and cache.age(9 * S) == 2 * S
    assert [(f.severity, str(f)) for f in notices] == [("debug", "joints of another robot ignored: wheel")]
    cache.update(msg, 6 * S, 8 * S)
    assert len(notices) == 1, "the same names are looked at once"


def test_joints_that_are_stale_or_repeat_their_stamp_are_named(cache):
    cache.update(message(), S, S)
    before = cache.stamps.copy()
    assert cache.stale(2 * S, S) == cache.repeated(before, S) == ()
    cache.update(message(("b", "c"), (2, 3), (0, 0)), S, 3 * S)
    assert cache.stale(3 * S, S) == ("a",) and cache.stale(5 * S, S) == JOINTS
    assert cache.repeated(before, S) == ("b", "c")
    cache.update(message(("c",), (3,), (0,)), 2 * S, 4 * S)
    assert cache.repeated(before, S) == ("b",)
    assert cache.repeated(np.zeros(3, dtype=np.int64), S) == ()


def test_efforts_are_merged_as_they_are_and_unknown_where_a_message_has_none(cache):
    cache.update(message(("c", "a"), (3, 1), (0, 0), (0.3, INF)), S, S)
    cache.update(message(("b",), (2,), (0,), (0.2,)), S, S)
    np.testing.assert_array_equal(cache.effort, [INF, 0.2, 0.3])
    cache.update(message(("a",), (1,), (0,)), S, S)
    np.testing.assert_array_equal(cache.effort, [NAN, 0.2, 0.3])
    cache.clear()
    assert np.isnan(cache.effort).all()


@pytest.mark.parametrize(
    "wrong, reason, says",
    [
        ({"position": (1, 2)}, "length mismatch", "position has 2 values for 3 names"),
        ({"velocity": (1, 2, 3, 4)}, "length mismatch", "velocity has 4 values for 3 names"),
        ({"effort": (1,)}, "length mismatch", "effort has 1 values for 3 names"),
        ({"names": ()}, "length mismatch", "position has 3 values for 0 names"),
        ({"names": ("a", "b", "a")}, "duplicate joint", "joint 'a' is named twice"),
        ({"position": ()}, "no position", "position is empty"),
        ({"position": (1, NAN, 3)}, "non-finite value", "position of joint 'b' is nan"),
        ({"position": (1, 2, -INF)}, "non-finite value", "position of joint 'c' is -inf"),
        ({"velocity": (NAN, 0, 0)}, "non-finite value", "velocity of joint 'a' is nan"),
        ({"velocity": (INF, NAN, NAN)}, "non-finite value", "velocity of joint 'a' is inf"),
    ],
)
def test_a_bad_message_is_a_fault_and_changes_nothing(cache, wrong, reason, says):
    cache.update(message(), S, S)
    with pytest.raises(Fault, match=says.replace("(", r"\(")) as fault:
        cache.update(message(**wrong), 2 * S, 2 * S)
    assert fault.value.reason == reason
    assert fault.value.severity == "warn"       # whatever is wrong: the next message may be right
    np.testing.assert_array_equal(cache.position, [1, 2, 3])
    assert cache.stamp == S and cache.age(2 * S) == S


def test_missing_joints_are_waited_for_and_never_zero(cache):
    assert not cache.update(message(("c", "a"), (3, 1), (0.3, 0.1)), S, S)
    assert not cache.complete and cache.missing == ("b",) and np.isnan(cache.position[1])
    assert cache.update(message(("b",), (2,), ()), S, 2 * S)
    np.testing.assert_array_equal(cache.position, [1, 2, 3])
    np.testing.assert_array_equal(cache.velocity, [0.1, 0, 0.3])
    assert cache.age(3 * S) == 2 * S, "the state is as old as its oldest joint"
    cache.update(message(("a", "c"), (1, 3), ()), 2 * S, 3 * S)
    assert cache.age(3 * S) == S, "now b is the oldest"


def test_a_message_of_other_joints_only_is_no_news(cache):
    cache.update(message(), S, S)
    assert not cache.update(message(("x",), (1,), ()), 9 * S, 9 * S)
    assert cache.stamp == S and cache.age(2 * S) == S


@pytest.mark.parametrize("velocity", [(), (NAN, NAN, NAN)])
def test_absent_velocities_follow_the_fallback(cache, velocity):
    assert cache.update(message(velocity=velocity), S, S)
    np.testing.assert_array_equal(cache.velocity, 0)
    cache.velocity_fallback = "error"
    with pytest.raises(Fault, match="velocity_fallback"):
        cache.update(message(velocity=velocity), 2 * S, 2 * S)


def test_not_measured_counts_joints_of_the_model_only(cache):
    assert cache.update(message(("wheel", *JOINTS), (0, 1, 2, 3), (4.0, NAN, NAN, NAN)), S, S)
    np.testing.assert_array_equal(cache.velocity, 0)


def test_time_backwards_clears_the_caches(cache, notices):
    cache.update(message(), 10 * S, S)
    assert not cache.update(message(("a",), (1,), ()), 4 * S, S), "b and c are of another time"
    assert notices[0].reason == "time backwards" and "6.000000 s" in str(notices[0])
    assert cache.missing == ("b", "c")
    assert cache.update(message(), 5 * S, S)
    assert len(notices) == 1


def test_stamps_of_a_simulation_after_those_of_the_system_are_named_so(cache, notices):
    cache.update(message(), 1_795_820_848 * S, S)
    cache.update(message(), 12 * S, S)
    assert [str(notice) for notice in notices] == [
        "stamps changed from the system's time to simulated time, 12.000 s: caches cleared"]


def test_publishers_of_different_joints_need_not_agree_on_the_time(cache, notices):
    cache.update(message(("a", "b"), (1, 2), ()), 10 * S, S)
    assert cache.update(message(("c",), (3,), ()), 4 * S, S)
    assert cache.update(message(("a", "b"), (1, 2), ()), 11 * S, S)
    assert notices == []


def test_an_unstamped_message_is_taken_at_any_time(cache, notices):
    cache.update(message(), 10 * S, S)
    assert cache.update(message(), 0, 2 * S)
    assert cache.age(2 * S) == 0 and notices == []


def test_index_arrays_are_reused_while_the_names_do_not_change():
    joints = JointMap(JOINTS)
    first = joints.select(["c", "a"])
    assert joints.select(["c", "a"]) is first
    assert joints.select(["a", "c"]) is not first
    assert joints.select(["c", "a"]) is first, "two publishers that alternate are both remembered"


def test_a_stream_of_ever_new_names_does_not_fill_the_memory():
    joints = JointMap(JOINTS)
    for i in range(10 * KNOWN_NAME_LISTS):
        joints.select([f"joint{i}"])
    assert len(joints._selections) <= KNOWN_NAME_LISTS


def test_long_lists_and_long_names_do_not_fill_the_memory_either():
    joints = JointMap(JOINTS)
    tracemalloc.start()
    for i in range(KNOWN_NAME_LISTS):
        joints.select([*JOINTS, *(f"joint {i} {k}" for k in range(MOST_NAMES - 3))])
        joints.select([*JOINTS, f"{i}" * 1_000_000])
        assert len(joints.select(JOINTS).target) == 3
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 3 * KNOWN_SIZE


def test_more_names_than_any_robot_has_are_refused_at_once():
    names = [str(k) for k in range(MOST_NAMES)]
    assert JointMap(names).select(names).complete
    with pytest.raises(Fault, match="10001 joint names, at most 10000 are allowed"):
        JointMap(JOINTS).select([*names, "one more"])
    large = JointMap([str(k) for k in range(2 * MOST_NAMES)])
    assert large.select(large.joint_names) is large.select(large.joint_names), "a model's own joints are remembered"


def test_a_message_names_only_a_few_of_many():
    assert listed([str(k) for k in range(1000)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 992 more"
    assert listed(["x" * 100]) == "x" * 77 + "..."


def test_huge_positions_are_finite(cache):
    assert cache.update(message(position=(1e308, 1e308, -1e308)), S, S)
