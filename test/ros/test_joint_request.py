"""Requests of services: any order, extra joints, and what is said of a bad one."""

import numpy as np
import pytest

from screw_dynamics.ros.dynamics.joint_request import JointRequest
from screw_dynamics.ros.node.joint_state import JointMap

JOINTS = JointMap(("a", "b", "c"))


def test_no_names_mean_the_order_of_the_model():
    request = JointRequest(JOINTS, [])
    assert request.joint_names == ("a", "b", "c")
    np.testing.assert_array_equal(request.read([1, 2, 3], "position"), [1, 2, 3])


def test_arrays_go_into_model_order_and_results_come_back_in_that_of_the_request():
    request = JointRequest(JOINTS, ["c", "wheel", "a", "b"])
    assert request.joint_names == ("c", "a", "b")
    q = request.read([3, np.nan, 1, 2], "position")
    np.testing.assert_array_equal(q, [1, 2, 3])
    np.testing.assert_array_equal(request.arrange(q), [3, 1, 2])
    np.testing.assert_array_equal(request.arrange(np.array([q, 10 * q])), [[3, 1, 2], [30, 10, 20]])
    np.testing.assert_array_equal(
        request.arrange_square(np.outer(q, 10 * q)), np.outer([3, 1, 2], [30, 10, 20]))


def test_velocities_of_a_base_come_before_the_joints_in_the_order_of_the_request():
    request = JointRequest(JOINTS, ["c", "a", "b"], ("turn", "slide"))
    assert request.joint_names == ("turn", "slide", "c", "a", "b")
    np.testing.assert_array_equal(request.arrange(np.array([10, 20, 1, 2, 3])), [10, 20, 3, 1, 2])


def test_an_empty_field_may_stand_for_zeros():
    np.testing.assert_array_equal(JointRequest(JOINTS, []).read_or_zero([], "velocity"), np.zeros(3))


@pytest.mark.parametrize(
    "names, values, says",
    [
        (["a", "b"], [1, 2], "joint_names: joint 'c' of the model is missing"),
        (["a", "b", "c", "a"], [1, 2, 3, 4], "joint 'a' is named twice"),
        (["c", "b", "a"], [1, 2], "position: 2 values for 3 joints"),
        (["x", "a", "b", "c"], [1, 2, 3], "position: 3 values for 4 joints"),
        (["c", "b", "a"], [1, np.inf, 2], "position of joint 'b' is inf"),
    ],
)
def test_a_bad_request_is_refused_naming_joint_and_value(names, values, says):
    with pytest.raises(ValueError, match=says):
        JointRequest(JOINTS, names).read(values, "position")
