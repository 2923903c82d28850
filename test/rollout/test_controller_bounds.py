"""Controllers that fail, out of bounds above all: an error with their line, in every form and in the functions that
they call; else memory of somebody else is read and written in silence."""
from types import ModuleType

import numba
import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import ROOT

ROBOT = sd.Robot.from_urdf(ROOT / "urdf" / "double_pendulum.urdf")
SUITE = ModuleType("gains")         # a user's module


@numba.njit
def put(x, k):
    x[k] = 1.0


@numba.njit
def countdown(x, k):
    return x[k] if k == 9 else countdown(x, k + 1)


SUITE.put = put


def writes(t, q, qd, tau):
    tau[200_000_000] = 1.0


def reads(robot, t, q, qd, tau):
    tau[:] = robot.gravity_torque(q)
    if t > 0.0045:
        tau[0] = q[5000]


def backwards(t, q, qd, tau):
    tau[-3] += 1.0


def of_seven(robot, t, q, qd, tau):
    for k in range(7):
        tau[k] = -q[k]


def with_helper(t, q, qd, tau):
    put(tau, 50)


def with_module(t, q, qd, tau):
    SUITE.put(tau, 50)


def with_closure(t, q, qd, tau):
    helper = (put,)
    helper[0](tau, 50)


def with_inner(t, q, qd, tau):
    def inner(k):
        put(tau, k)
    inner(50)


def recursive(t, q, qd, tau):
    tau[0] = countdown(q, 0)


def of_local_array(t, q, qd, tau):
    x = np.zeros((2, 3))
    x[1, int(q[0]) + 3] = 1.0


def singular(t, q, qd, tau):
    tau[:] = np.linalg.solve(np.zeros((2, 2)), q)


def too_many(t, q, qd, tau):
    tau[:] = np.ones(3)


FAILING = [(writes, IndexError, "tau[200_000_000] = 1.0", "index 200000000 is out of bounds", 0.0),
           (reads, IndexError, "tau[0] = q[5000]", "index 5000 is out of bounds", 0.005),
           (backwards, IndexError, "tau[-3] += 1.0", "index -3 is out of bounds", 0.0),
           (of_seven, IndexError, "tau[k] = -q[k]", "index 2 is out of bounds", 0.0),
           (with_helper, IndexError, "x[k] = 1.0", "index 50 is out of bounds", 0.0),
           (with_module, IndexError, "x[k] = 1.0", "index 50 is out of bounds", 0.0),
           (with_closure, IndexError, "x[k] = 1.0", "index 50 is out of bounds", 0.0),
           (with_inner, IndexError, "x[k] = 1.0", "index 50 is out of bounds", 0.0),
           (recursive, IndexError, "return x[k] if k == 9", "index 9 is out of bounds", 0.0),
           (of_local_array, IndexError, "x[1, int(q[0]) + 3] = 1.0", "out of bounds for axis 1 with size 3", 0.0),
           (singular, np.linalg.LinAlgError, "tau[:] = np.linalg.solve(np.zeros((2, 2)), q)", "ingular", 0.0),
           (too_many, ValueError, "tau[:] = np.ones(3)", "could not broadcast", 0.0)]


@pytest.mark.slow
@pytest.mark.parametrize("controller, kind, code, reason, when, lead", [
    *(pytest.param(*row, (), id=row[0].__name__) for row in FAILING),
    *(pytest.param(*row, (9,), id=f"{row[0].__name__} in a batch") for row in FAILING
      if row[0] in (reads, of_seven, with_helper, singular))])
def test_a_failure_is_an_error_with_its_line(controller, kind, code, reason, when, lead):
    with pytest.raises(kind) as caught:
        ROBOT.rollout(np.zeros((*lead, 2)), np.zeros(2), controller, steps=9)
    message = str(caught.value)
    assert message.startswith(f"controller {controller.__name__}(") and reason in message and f": {code}" in message
    assert f"{__file__}, line " in message and f"at t = {when:g}, q = [" in message


def test_the_state_of_the_failure_is_told():
    """The state that is printed is that of the motion without the failure."""
    def controller(t, q, qd, tau):
        tau[2 if q[0] > 0.3 else 0] = 0.0
    _, q, qd = ROBOT.rollout([0.2, 0.0], [3.0, 0.0], steps=99)
    k = np.argmax(q[:, 0] > 0.3)
    with pytest.raises(IndexError) as caught:
        ROBOT.rollout([0.2, 0.0], [3.0, 0.0], controller, steps=99)
    assert f"q = {q[k].tolist()}, qd = {qd[k].tolist()}" in str(caught.value)


@pytest.mark.slow
def test_efforts_along_a_motion_are_checked_too():
    """Those of an energy balance."""
    motion = ROBOT.rollout(np.zeros(2), np.zeros(2), steps=9)
    with pytest.raises(IndexError, match=r"tau\[200_000_000\] = 1.0"):
        ROBOT.energy_balance(*motion, writes)


def test_numba_s_unchecked_indices_are_refused():
    def controller(t, q, qd, tau):
        tau.flat[9] = 1.0
    with pytest.raises(sd.ControllerError, match="attribute flat, whose indices Numba does not check: use x.ravel"):
        ROBOT.rollout(np.zeros(2), np.zeros(2), controller, steps=9)


def test_checks_can_be_left_out():
    """By Numba's own word: this one reads past a view, in memory that is its own."""
    @numba.njit(boundscheck=False)
    def past_the_end():
        x = np.arange(8.0)[2:4]
        return x[3]

    def controller(t, q, qd, tau):
        tau[0] = past_the_end()
    expected = ROBOT.rollout([0.1, 0.2], [0.0, 0.0], [5.0, 0.0], steps=9)[1]
    np.testing.assert_array_equal(ROBOT.rollout([0.1, 0.2], [0.0, 0.0], controller, steps=9)[1], expected)


def test_a_function_that_was_compiled_without_checks_is_compiled_again():
    """And the user's own stays as it was."""
    put(np.zeros(3), 1)
    compiled = list(put.signatures)
    with pytest.raises(IndexError, match="index 50"):
        ROBOT.rollout(np.zeros(2), np.zeros(2), with_helper, steps=1)
    assert put.signatures == compiled and with_helper.__globals__["put"] is put
