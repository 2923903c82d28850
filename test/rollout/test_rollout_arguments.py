"""Arguments that rollouts of robots, mechanisms and scenes share: durations, wrenches, Python functions, records."""
from functools import partial
from inspect import Parameter, signature

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout.controllers import ControllerError
from screw_dynamics.scene import Scene
from support import planar_arm

ARM = sd.Robot.from_urdf(planar_arm.urdf())
Q, QD, TIP = np.array((0.3, -0.4)), np.array((1.0, 0.5)), ARM.link_names[-1]


def arguments(cls):
    return list(signature(cls.rollout).parameters.values())[1:]


def test_all_have_the_same_arguments():
    """The same names, defaults and order. Robots alone have springs and record, mechanisms projection, scenes contacts
    and progress."""
    shared = [p.name for p in arguments(sd.Robot) if all(p.name in signature(cls.rollout).parameters
                                                         for cls in (ClosedLoopRobot, Scene))]
    assert shared == ["q0", "qd0", "effort", "dt", "steps", "integrator", "duration", "friction", "limits", "every",
                      "forces", "external", "threads"]
    found = [[p for p in arguments(cls) if p.name in shared] for cls in (sd.Robot, ClosedLoopRobot, Scene)]
    assert found[0] == found[1] == found[2]
    assert [p.name for p in found[0] if p.kind is Parameter.POSITIONAL_OR_KEYWORD] == shared[:6]
    for cls in (sd.Robot, Scene):
        assert [p for p in signature(cls.rollout_gradient).parameters][2:8] == shared[:6]
    assert [cls.step.__code__.co_varnames[3] for cls in (sd.Robot, Scene)] == ["effort"] * 2


def test_a_duration_stands_for_steps_and_without_velocities_motions_start_at_rest():
    for found, expected in zip(ARM.rollout(Q, duration=0.3, dt=0.01), ARM.rollout(Q, 0.0 * Q, steps=30, dt=0.01),
                               strict=True):
        np.testing.assert_array_equal(found, expected)
    assert ARM.rollout(np.array((Q, Q)), duration=0)[1].shape == (2, 1, 2)
    t, _, _ = ARM.rollout(Q, duration=0.3, dt=0.1)                          # 2.9999999999999996 steps
    assert len(t) == 4


@pytest.mark.parametrize("given, says", [
    (dict(duration=0.3, steps=30), "duration 0.3 and steps 30: give one of them"),
    (dict(duration=0.35, dt=0.1), r"duration 0.35 s must be a multiple of dt = 0.1 s"),
    (dict(duration=-0.1), "duration -0.1 must be finite and >= 0"),
    (dict(steps=2.0), "steps 2.0 must be an int, .* duration=2.0"),
    (dict(steps=np.float32(2.0)), "steps 2.0 must be an int"),
    (dict(duration=5e-10), "duration 5e-10 s must be a multiple"),
    (dict(duration=np.nan), "duration nan"),
    (dict(duration="long"), "duration 'long'"), (dict(duration=0.1, dt=0.0), "dt 0"),
    (dict(duration=0.3, every=7), "steps 300 must be a multiple of every = 7"),
    (dict(external=[1.0]), r"external must be .*not \[1.0\]"),
    (dict(external={TIP: (1.0, 2.0)}), rf"external\['{TIP}'\]"),
    (dict(external={"nothing": np.ones(6)}), "nothing")])
def test_what_cannot_be_is_refused(given, says):
    for call in (ARM, ClosedLoopRobot(ARM)):
        with pytest.raises(ValueError, match=says):
            call.rollout(Q, **given)


@pytest.mark.slow       # compiles the sum of forces
def test_external_wrenches_act_all_the_time():
    """After a step of semi-implicit Euler velocities are dt times the accelerations of forward dynamics under them, and
    an arm that they hold does not move."""
    W = {TIP: np.array((0.2, -0.5, 0.3, 1.0, 2.0, -3.0))}
    _, _, qd = ARM.rollout(Q, QD, dt=1e-3, steps=1, external=W)
    np.testing.assert_allclose((qd[1] - QD) / 1e-3, ARM.forward_dynamics(Q, QD, 0.0 * Q, external=W), rtol=1e-9)
    np.testing.assert_array_equal(ARM.step(Q, QD, np.zeros(2), 1e-3, external=W)[1], qd[1])
    still = ARM.gravity_torque(Q) - ARM.external_torque(Q, W)
    _, q, _ = ARM.rollout(Q, effort=still, duration=0.1, external=W)
    assert np.abs(q - Q).max() < 1e-9


# ------------------------------------------------------------------------------------------------- functions of Python
def law(t, q, qd):
    return np.sin(9.0 * t) - 0.3 * qd - [2.0 * q[0], 0.0]


def compiled_law(t, q, qd, tau):
    tau[:] = np.sin(9.0 * t) - 0.3 * qd
    tau[0] -= 2.0 * q[0]


def test_a_python_function_gives_efforts():
    found = ARM.rollout(Q, QD, law, dt=1e-2, steps=50)
    for mine, expected in zip(found, ARM.rollout(Q, QD, compiled_law, dt=1e-2, steps=50), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-13)


@pytest.mark.slow       # compiles rollouts of mechanisms
def test_mechanisms_take_python_functions():
    loops = ClosedLoopRobot(ARM).rollout(Q, QD, law, dt=1e-2, steps=50)
    np.testing.assert_allclose(loops.q, ARM.rollout(Q, QD, law, dt=1e-2, steps=50)[1], atol=1e-12)


def test_of_a_batch_each_state_is_as_alone():
    calls = []

    def counted(t, q, qd):
        calls.append(t)
        return law(t, q, qd)
    q0, qd0 = np.array([[Q], [2.0 * Q], [Q - 1.0]]), np.array([QD, -QD])
    t, q, qd = ARM.rollout(q0, qd0, counted, dt=1e-2, steps=6, every=2)
    assert q.shape == qd.shape == (3, 2, 4, 2) and len(calls) == 36
    np.testing.assert_array_equal(q[1, 1], ARM.rollout(q0[1, 0], qd0[1], law, dt=1e-2, steps=6, every=2)[1])
    assert ARM.rollout(np.zeros((0, 2)), QD, law, steps=4)[1].shape == (0, 5, 2)


def test_what_a_python_function_does_wrong_is_told():
    for steps, every in (3, 1), (10**9, 10**9):                 # at once: so many steps would take an hour
        with pytest.raises(ZeroDivisionError):
            ARM.rollout(Q, QD, lambda t, q, qd: 1 / 0, steps=steps, every=every)
    for wrong in (None, 1.0, np.ones(3), np.ones((1, 2)), "up"):
        with pytest.raises(ValueError, match="effort"):
            ARM.rollout(Q, QD, partial(lambda wrong, t, q, qd: wrong, wrong), steps=3)


def test_a_motion_that_diverges_under_a_python_function_is_told():
    with pytest.warns(sd.DivergenceWarning):
        ARM.rollout(Q, QD, lambda t, q, qd: [np.nan, 0.0], steps=3)


@pytest.mark.parametrize("wrong", [lambda q, qd, t: -q, lambda x, t, q: x], ids=["time last", "time second"])
def test_the_order_of_arguments_is_not_guessed(wrong):
    with pytest.raises(ValueError, match=r"a Python function of efforts is effort\(t, q, qd\)"):
        ARM.rollout(Q, QD, wrong, steps=3)


def test_arguments_with_defaults_are_not_counted():
    def damped(t, q, qd, gain=2.0, *, offset=0.1):
        return offset - gain * qd
    for law_ in damped, partial(damped, gain=2.0):
        np.testing.assert_array_equal(ARM.rollout(Q, QD, law_, steps=5)[1],
                                      ARM.rollout(Q, QD, lambda t, q, qd: 0.1 - 2.0 * qd, steps=5)[1])


def forgets_the_time(q, qd, tau):
    tau[:] = -q


def test_a_controller_without_all_its_arguments_is_no_python_function():
    with pytest.raises(ControllerError, match="no parameter t"):
        ARM.rollout(Q, QD, forgets_the_time, steps=3)


# ------------------------------------------------------------------------------------------------- records
@pytest.mark.parametrize("effort", [
    law, pytest.param(compiled_law, marks=pytest.mark.slow)], ids=["Python", "compiled"])
def test_efforts_of_a_controller_are_recorded(effort):
    motion = ARM.rollout(Q, QD, effort, dt=1e-2, steps=20, every=4, record="effort")
    expected = [law(*state) for state in zip(*motion, strict=True)]
    np.testing.assert_allclose(motion.recorded["effort"], expected, atol=1e-14)


def test_given_efforts_are_recorded_as_they_acted():
    tau = np.arange(12.0).reshape(6, 2)
    motion = ARM.rollout(Q, QD, tau, dt=1e-2, steps=6, every=2, record=("effort", "residual"))
    np.testing.assert_array_equal(motion.recorded["effort"], tau[[0, 2, 4, 5]])
    for constant in (None, tau[1]):
        motion = ARM.rollout(np.array((Q, 2.0 * Q, Q)), QD, constant, dt=1e-2, steps=1, record="effort")
        expected = np.zeros((3, 2, 2)) + (0.0 if constant is None else constant)
        np.testing.assert_array_equal(motion.recorded["effort"], expected)


def in_place(t, q, qd):
    tau = law(t, q, qd)
    q[:], qd[:] = np.nan, np.nan
    return tau


def test_a_python_function_gets_copies():
    """In the rollout, and where its efforts are recorded and their work is found."""
    found, expected = (ARM.rollout(Q, QD, f, dt=1e-2, steps=5, record="effort") for f in (in_place, law))
    for mine, theirs in zip((*found, found.recorded["effort"]), (*expected, expected.recorded["effort"]), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_recorded_efforts_are_read_by_the_rules_of_the_rollout():
    """(3, 2) for states (2, 3) is one for each, though there are three samples."""
    tau = np.arange(6.0).reshape(3, 2)
    motion = ARM.rollout(np.zeros((2, 3, 2)), QD, tau, dt=1e-2, steps=2, record="effort")
    np.testing.assert_array_equal(motion.recorded["effort"], np.broadcast_to(tau[:, None], (2, 3, 3, 2)))
    assert ARM.rollout(Q, QD, np.zeros((0, 2)), steps=0, record="effort").recorded["effort"].tolist() == [[0.0, 0.0]]


# ------------------------------------------------------------------------------------------------- scenes
def two_balls():
    scene = Scene(sd.Robot(sd.ModelBuilder("stand").build()), shapes={}, ground=True)
    for k in range(2):
        scene.add_sphere(f"ball {k}", 0.1, mass=1.0, pose=sd.se3.exp(np.array((0.0, 0.0, 0.0, k, 0.0, 0.1))))
    return scene


@pytest.mark.slow       # compiles contacts
def test_scenes_take_python_functions():
    """Of a batch each state is as alone, contacts too, and progress is told of all; contacts make room for more."""
    scene, told = two_balls(), []

    def push(t, q, qd):
        return np.tile((0.0, 0.0, 0.0, 2.0, 0.0, 0.0), 2)

    def compiled_push(t, q, qd, tau):
        tau[3], tau[9] = 2.0, 2.0
    q0 = np.tile(scene.neutral(), (3, 1))
    q0[1, 2] += 0.3
    found = scene.rollout(q0, effort=push, dt=1e-3, steps=40, every=4, progress=told.append)
    expected = scene.rollout(q0, effort=compiled_push, dt=1e-3, steps=40, every=4)
    np.testing.assert_allclose(found.q, expected.q, atol=1e-12)
    np.testing.assert_allclose(found.contacts.force, expected.contacts.force, atol=1e-9)
    assert told == sorted(told) and told.count(1.0) == 1
    alone = two_balls().rollout(q0[0], effort=push, dt=1e-3, steps=40, every=4)
    np.testing.assert_array_equal(alone.q, found.q[0])
    assert scene.rollout(np.zeros((0, scene.nq)), effort=push, steps=2).q.shape == (0, 3, scene.nq)


@pytest.mark.slow
def test_a_function_that_fails_for_want_of_room_for_contacts_is_called_again():
    """Until there is room, a step misses contacts: the balls fall."""
    scene = two_balls()
    scene.contact_model.have_room(0)

    def watching(t, q, qd):
        if q[2] < 0.0999:
            raise ArithmeticError("the ball is in the ground")
        return np.zeros(12)
    assert scene.rollout(np.tile(scene.neutral(), (2, 1)), effort=watching, dt=1e-3, steps=60).q[..., 2].min() > 0.0999
