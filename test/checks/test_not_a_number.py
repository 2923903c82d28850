"""Numbers that are not finite: what is computed of a NaN is NaN, in that state of a batch alone, and what searches or
builds refuses it by name. Oracle of what depends on a number: the same call with another number."""
import inspect

import numpy as np
import pytest

import screw_dynamics as sd
from support.batches import EACH_METHOD, PENDULUM, ROBOTS, method, states
from support.calls import CASES, FLOATING, label, rare

# What looks for something, or builds a robot; times of recordings are arguments of this kind too.
REFUSING = {"from_urdf", "from_mjcf", "Robot", "with_gravity", "with_payload", "with_root_inertia",
            "inverse_kinematics", "velocities", "project", "ClosedLoopRobot.rollout"}
RECORDED = {("energy_balance", "t"), ("momentum_balance", "t")}
OF_STATES = [case for case in CASES if case[0].__name__ not in {*REFUSING, "plot"}
             and (case[0].__name__, case[2]) not in RECORDED and inspect.ismethod(case[0])
             and isinstance(case[0].__self__, sd.Robot) and case[3].ndim]


def numbers(found):
    """All the numbers of a result, which may be arrays in tuples."""
    if isinstance(found, (tuple, list)):
        return np.concatenate([np.zeros(0), *map(numbers, found)])
    return np.ravel(found).astype(float) if isinstance(found, (np.ndarray, float)) else np.zeros(0)


@pytest.mark.filterwarnings("ignore::screw_dynamics.DivergenceWarning", "ignore::screw_dynamics.LimitsWarning",
                            "ignore::RuntimeWarning")
@pytest.mark.parametrize("function, given, name, value", [
    pytest.param(*case, marks=rare(case[0].__name__), id=f"{label(case[0])}, {case[2]}") for case in OF_STATES])
def test_what_depends_on_a_nan_is_nan(function, given, name, value):
    if name == "tau" and function.__name__ == "momentum_balance":
        value = np.zeros(FLOATING.n)
    before = numbers(function(**given | {name: value}))
    for k in (0, value.size - 1):
        changed, lost = value.copy(), value.copy()
        changed.flat[k] += 0.13
        lost.flat[k] = np.nan
        depends = numbers(function(**given | {name: changed})) != before
        after = numbers(function(**given | {name: lost}))
        assert np.isnan(after[depends]).all() and ((after == before) | np.isnan(after))[~depends].all()


@pytest.mark.parametrize("function, given, name, value", [
    pytest.param(*case, marks=[pytest.mark.slow] * label(case[0]).startswith("ClosedLoopRobot"),
                 id=f"{label(case[0])}, {case[2]}") for case in CASES
    if {case[0].__name__, label(case[0])} & REFUSING or (case[0].__name__, case[2]) in RECORDED])
def test_what_searches_or_builds_refuses_a_nan_by_name(function, given, name, value):
    lost = value.copy()
    lost.flat[-1] = np.nan
    with pytest.raises(ValueError, match=rf"{name}\b.* (finite|in \[0, 1\]|> 0)|q0 and qd0 must be finite"):
        function(**given | {name: lost if value.ndim else lost.item()})


@EACH_METHOD
def test_other_states_of_a_batch_do_not_notice(rng, name):
    robot = ROBOTS["tree with mimics"]
    call, inputs = method(robot, name)
    given = states(rng, robot, inputs, 19)
    lost = given.copy()
    lost[:, [3, 17]] = np.nan
    good = np.delete(np.arange(19), (3, 17))
    found, expected = call(*lost), call(*given)
    assert (found[good] == expected[good]).all()
    assert all(np.array_equal(np.isnan(found[k]), np.isnan(call(*lost[:, k]))) for k in (3, 17))


# ------------------------------------------------------------------------------------------------- rollouts
def quaternion_of_0():
    return FLOATING, {"q0": np.zeros(FLOATING.nq)}, "the quaternion of joint 'floating_base' in its q0 is 0"


def one_of_many():
    q0 = np.zeros((9, 2))
    q0[4, 1] = np.nan
    return PENDULUM, {"q0": q0}, r"state 4 of \(9,\) is not finite from t = 0 s on; its q0\[1\] is nan"


def infinite_velocity():
    return PENDULUM, {"qd0": np.array([np.inf, 0.0])}, r"its qd0\[0\] is inf"


def constant_effort():
    return PENDULUM, {"effort": np.array([0.0, np.nan])}, r"its effort\[..., 1\] is nan"


def efforts_of_intervals():
    effort = np.zeros((3, 2))
    effort[2, 0] = -np.inf
    return PENDULUM, {"effort": effort}, r"from t = 0.003 s on; its effort\[..., 0\] is -inf"


@pytest.mark.parametrize("case", [quaternion_of_0, one_of_many, infinite_velocity, constant_effort,
                                  efforts_of_intervals])
def test_a_rollout_says_what_has_no_motion(case):
    """And does not advise a shorter step, which would not help."""
    robot, given, reason = case()
    with pytest.warns(sd.DivergenceWarning, match=f"{reason}(?!.*dt smaller)"):
        robot.rollout(**{"q0": robot.neutral(), "qd0": np.zeros(robot.n)} | given, steps=3)


def test_a_quaternion_of_0_gives_nan():
    zero, motion = np.zeros(FLOATING.nq), np.zeros((2, FLOATING.n))
    for found in (FLOATING.gravity_torque(zero), FLOATING.inverse_dynamics(zero, *motion),
                  FLOATING.forward_dynamics(zero, *motion), FLOATING.forward_kinematics(zero, "gripper")[:3]):
        assert np.isnan(found).all()
    with pytest.raises(ValueError, match="joint 'floating_base': the quaternion 0 0 0 0 has no direction"):
        FLOATING.normalize(zero)
