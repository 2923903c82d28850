"""Controllers that know the robot: compiled they do what they do in plain Python, in and out of lanes; kept on disk."""
import math
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import prepare
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.rollout import controllers
from support.kernels import cache_with
from support.paths import ROOT
from support.random_trees import model_of, random_tree
from support.real_robots import PATHS

PANDA_URDF = PATHS["panda_description/urdf/panda.urdf"]
PANDA = sd.Robot.from_urdf(PANDA_URDF, tip_link="panda_link8")
FINGERS = sd.Robot.from_urdf(PANDA_URDF)
PENDULUM = sd.Robot.from_urdf(ROOT / "urdf" / "double_pendulum.urdf")
HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
GAINS = np.linspace(40.0, 5.0, 7)


# A program whose arguments are gains: it prints where a controller of each leads.
GAINS_GIVEN = f"""
import sys
import numpy as np
import screw_dynamics as sd
robot = sd.Robot.from_urdf({str(ROOT / "urdf" / "double_pendulum.urdf")!r})
goal, damping = np.array([0.3, -0.2]), 4.0
for gain in map(float, sys.argv[1:]):
    def controller(robot, t, q, qd, tau):
        tau[:] = gain * (goal - q) - damping * qd + robot.gravity_torque(q)
    print(gain, robot.rollout([0.1, 0.2], [0.0, 0.0], controller, steps=100)[1][-1])
"""


# ------------------------------------------------------------------------------------------------- the robot's methods
def gravity_compensation(robot, t, q, qd, tau):
    tau[:] = GAINS * (HOME - q) - 2.0 * qd + robot.gravity_torque(q)


def computed_torque(robot, t, q, qd, tau):
    a = np.zeros_like(q)
    a += 30.0 * (HOME + 0.1 * np.sin(t) - q) - 10.0 * qd
    tau[:] = robot.inverse_dynamics(q, qd, a)


def by_matrices(robot, t, q, qd, tau):
    a = 30.0 * (HOME - q) - 10.0 * qd
    tau[:] = robot.mass_matrix(q) @ a + robot.coriolis_matrix(q, qd) @ qd + robot.gravity_torque(q)


def impedance(robot, t, q, qd, tau):
    J = robot.jacobian(q, "panda_link8", "hybrid", "panda_link1")[3:]
    x = robot.forward_kinematics(q, "panda_link8", reference="panda_link1")[:3, 3]
    Jd = robot.jacobian_derivative(q, qd, "panda_link8", "hybrid", "panda_link1")[3:]
    f = np.clip(200.0 * (np.array([0.4, 0.0, 0.3]) - x), -20.0, 20.0) - 20.0 * (J @ qd) - 0.1 * Jd @ qd
    tau[:] = J.T @ f + robot.gravity_torque(q) - qd


def on_energy(robot, t, q, qd, tau):
    E = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    out = np.empty_like(q)
    robot.coriolis_torque(q, qd, out=out)
    tau[:] = -0.01 * E * qd + out + robot.friction_torque(qd) + 0.1 * robot.forward_dynamics(q, qd, out)
    tau[robot.n - 1] = min(max(-5.0 * q[6], -1.0), abs(qd[0]) + math.cos(q[1]) ** 2)


ALL = gravity_compensation, computed_torque, by_matrices, impedance, on_energy
EACH = pytest.mark.parametrize("controller", [
    pytest.param(f, marks=[pytest.mark.slow] * (f in (by_matrices, impedance, on_energy))) for f in ALL],
    ids=lambda f: f.__name__)       # each is compiled


def in_python(robot, controller, q, steps, dt):
    """The last state of a simulation whose controller Python runs, with the Robot itself."""
    qd = 0.1 * q
    for k in range(steps):
        tau = np.zeros(robot.n)
        controller(robot, k * dt, q.copy(), qd.copy(), tau)
        q, qd = robot.step(q, qd, tau, dt)
    return q, qd


def forms():
    """The forms in which controllers have been compiled, in order."""
    return [key[1] for key in controllers._kept]


@pytest.mark.slow
@EACH
def test_compiled_as_in_plain_python(controller):
    q0 = HOME + 0.1
    _, q, qd = PANDA.rollout(q0, 0.1 * q0, controller, dt=2e-3, steps=50)
    np.testing.assert_allclose((q[-1], qd[-1]), in_python(PANDA, controller, q0, 50, 2e-3), rtol=1e-11, atol=1e-11)


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("threads", [1, 2])
def test_on_lanes_as_alone(rng, controller, threads):
    q0 = HOME + 0.2 * rng.normal(size=(19, 7))
    _, q, qd = PANDA.rollout(q0, 0.1 * q0, controller, dt=2e-3, steps=20, threads=threads)
    for i in (0, 7, 8, 18):
        alone = PANDA.rollout(q0[i], 0.1 * q0[i], controller, dt=2e-3, steps=20)
        np.testing.assert_allclose((q[i], qd[i]), alone[1:], rtol=1e-11, atol=1e-11)
    assert threads == 2 or controllers.LANES in forms()


@pytest.mark.slow
def test_these_run_on_lanes():
    q0 = np.tile(HOME, (9, 1))
    for controller in (gravity_compensation, computed_torque, by_matrices, on_energy):
        controllers._kept.clear()
        PANDA.rollout(q0, q0, controller, steps=1)
        assert forms() == [controllers.LANES], controller.__name__


@pytest.mark.parametrize("method", ["rk4", "rk45"])
def test_under_every_integrator(rng, method):
    q0 = HOME + 0.1 * rng.normal(size=(9, 7))
    _, q, _ = PANDA.rollout(q0, 0 * q0, computed_torque, dt=5e-3, steps=8, integrator=method, rtol=1e-9, atol=1e-9)
    for i in (0, 8):
        _, alone, _ = PANDA.rollout(q0[i], 0 * HOME, computed_torque, dt=5e-3, steps=8, integrator=method, rtol=1e-9,
                                    atol=1e-9)
        np.testing.assert_allclose(q[i], alone, atol=1e-8)


def bounded(robot, t, q, qd, tau):
    tau[:] = np.maximum(np.minimum(-30.0 * q, 2.0), -1.0)


def test_extremes_on_lanes_are_those_of_plain_python(rng):
    q0 = rng.normal(size=(9, 7))
    _, q, qd = PANDA.rollout(q0, 0.1 * q0, bounded, dt=2e-3, steps=10)
    assert forms()[-1] == controllers.LANES
    for i in (0, 8):
        np.testing.assert_allclose((q[i, -1], qd[i, -1]), in_python(PANDA, bounded, q0[i], 10, 2e-3), atol=1e-11)


def branching(robot, t, q, qd, tau):
    tau[:] = robot.gravity_torque(q)
    if q[0] > 0.0:
        tau[0] += np.linalg.solve(robot.mass_matrix(q), qd)[0]


@pytest.mark.slow
def test_what_branches_runs_on_one_state_after_another(rng):
    q0 = HOME + 0.2 * rng.normal(size=(9, 7))
    _, q, _ = PANDA.rollout(q0, 0.1 * q0, branching, steps=10)
    assert forms()[-1] == controllers.SEQUENTIAL
    for i in range(9):
        np.testing.assert_allclose(q[i], PANDA.rollout(q0[i], 0.1 * q0[i], branching, steps=10)[1], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("robot", [FINGERS, PENDULUM.specialize(), *(
    pytest.param(sd.Robot(model_of(random_tree(np.random.default_rng(5), 4), damping=0.3, friction=0.2),
                          representation=form), marks=[] if form == "body" else pytest.mark.slow)
    for form in REPRESENTATIONS)], ids=["mimic joints", "specialized", *REPRESENTATIONS])
@pytest.mark.parametrize("lead", [(), (9,)])
def test_exact_compensation_leaves_nothing(robot, lead):
    """Inverse dynamics of no acceleration, and friction: rates stay as they are, of any kind of robot."""
    def controller(robot, t, q, qd, tau):
        tau[:] = robot.inverse_dynamics(q, qd, np.zeros_like(q))
        tau += 0.0 * robot.friction_torque(qd)
    q0, qd0 = np.random.default_rng(1).uniform(-0.5, 0.5, (2, *lead, robot.n))
    _, q, qd = robot.rollout(q0, qd0, controller, dt=1e-3, steps=30)
    np.testing.assert_allclose(qd, np.broadcast_to(qd0[..., None, :], qd.shape), atol=1e-10)


def test_a_payload_and_another_gravity_are_those_of_the_robot():
    heavy = PANDA.with_payload("panda_link8", 2.0).with_gravity((0.0, 0.0, -5.0))

    def controller(robot, t, q, qd, tau):
        tau[:] = robot.gravity_torque(q)
    for robot in (PANDA, heavy, PANDA):
        _, q, _ = robot.rollout(HOME, 0 * HOME, controller, steps=100)
        np.testing.assert_allclose(q[-1], HOME, atol=1e-9)


@pytest.mark.slow
def test_gains_may_change_between_rollouts():
    """A global or closure value is part of the code: never that of an earlier call."""
    def factory(gain):
        def controller(robot, t, q, qd, tau):
            tau[:] = robot.gravity_torque(q) + gain
        return controller
    ends = [PANDA.rollout(HOME, 0 * HOME, factory(gain), steps=5)[1][-1] for gain in (0.0, 1.0, 0.0)]
    assert (ends[0] == ends[2]).all() and abs(ends[0] - ends[1]).min() > 0


# ------------------------------------------------------------------------------------------------- refused
class Gains:
    stiffness = 3.0


HOLDER = Gains()


def helper(x):
    return 2.0 * x


def unknown_object(robot, t, q, qd, tau):
    tau[:] = 0.0
    tau[:] = HOLDER.stiffness * q


def unknown_link(robot, t, q, qd, tau):
    tau[0] = robot.jacobian(q, "panda_hnd")[0, 0]


def variable_link(robot, t, q, qd, tau):
    for name in ("panda_link1", "panda_link2"):
        tau[0] += robot.forward_kinematics(q, name)[0, 3]


def wrong_representation(robot, t, q, qd, tau):
    tau[:] = robot.jacobian(q, "panda_link8", "hybird")[0]


def not_jitted(robot, t, q, qd, tau):
    tau[:] = helper(q)


def unknown_method(robot, t, q, qd, tau):
    tau[:] = robot.gravity(q)


def with_list(robot, t, q, qd, tau):
    tau[:] = robot.inverse_dynamics(q, qd, [0.0] * 7)


def with_external(robot, t, q, qd, tau):
    tau[:] = robot.forward_dynamics(q, qd, tau, external={"panda_link8": np.zeros(6)})


def returning(robot, t, q, qd, tau):
    return robot.gravity_torque(q)


CONSTANT = np.zeros(7)


def writing_a_slice(robot, t, q, qd, tau):
    tau[:] = 0.0
    CONSTANT[:] += q


def writing_an_entry(robot, t, q, qd, tau):
    CONSTANT[0] = q[0]


REFUSED = [
    (writing_a_slice, 2, "CONSTANT[:] += q", "it writes into an array that it may only read: those of the module"),
    (writing_an_entry, 1, "CONSTANT[0] = q[0]", "it writes into an array that it may only read: those of the module"),
    (unknown_object, 2, "tau[:] = HOLDER.stiffness * q", "Untyped global name 'HOLDER'"),
    (unknown_link, 1, "tau[0] = robot.jacobian(", "link 'panda_hnd' does not exist; the model has panda_link0, "),
    (variable_link, None, "", "must be constant strings"), (not_jitted, 1, "helper(q)", "Untyped global name 'helper'"),
    (wrong_representation, 1, "tau", "representation 'hybird' must be one of body, spatial, hybrid, mixed"),
    (unknown_method, 1, "robot.gravity(q)", "Unknown attribute 'gravity' of type Robot"),
    (with_list, 1, "[0.0] * 7", "robot.inverse_dynamics: qdd must be a float64 array (n,), not list(float64)"),
    (with_external, 1, "tau", "external is not available in a controller"),
    (returning, None, "", "it returns array(float64, 1d, C); it must return nothing, and set tau")]


def test_what_returns_something_is_refused_in_plain_python_too():
    with pytest.raises(ValueError, match="controller returning(?s:.*)returns .*; it must return nothing, and set tau"):
        PANDA.rollout(np.zeros(7), np.zeros(7), returning, steps=1)


@pytest.mark.parametrize("controller, line, text, reason", REFUSED, ids=[row[0].__name__ for row in REFUSED])
@pytest.mark.parametrize("lead", [(), (9,)])
def test_an_error_names_the_line_the_reason_and_the_way_out(controller, line, text, reason, lead):
    for _ in range(2):
        with pytest.raises(sd.ControllerError) as caught:
            PANDA.rollout(np.zeros((*lead, 7)), np.zeros(7), controller, steps=3)
        message = str(caught.value)
        number = controller.__code__.co_firstlineno + (line or 0)
        assert f"controller {controller.__name__}(robot, t, q, qd, tau) cannot be compiled" in message
        assert reason in message
        assert line is None or f"{__file__}, line {number}: " in message
        assert text in message and "a Python function effort(t, q, qd)" in message and message.count("\n") == 3
        assert isinstance(caught.value, ValueError) and caught.value.__cause__ is not None      # Numba's own error


def with_gain(t, q, qd, tau, k=100.0):
    tau[:] = -k * q


def with_default(robot, t, q, qd, tau=None):
    pass


def with_more(t, q, qd, tau, *more):
    pass


def by_other_names(t, q, dq, u):
    pass


def without_velocity(robot, t, q, tau):
    pass


NONE = [
    (with_gain, "has the parameter k=100.0"), (with_default, "has a default for tau=None, which is always given"),
    (with_more, r"has the parameter \*more"), (lambda *, t, q, qd, tau: None, "has the parameter t"),
    (by_other_names, "has the parameter dq"), (without_velocity, "has no parameter qd"),
    (lambda: None, "has no parameter t, q, qd, tau"), (print, "is a builtin_function_or_method"), (Gains, "is a type")]


@pytest.mark.parametrize("controller, reason", NONE, ids=[str(row[0]).split()[1] for row in NONE])
@pytest.mark.parametrize("lead", [(), (9,)])
def test_what_is_no_controller_is_refused(controller, reason, lead):
    with pytest.raises(sd.ControllerError, match=rf"{reason}; .*function controller\(robot, t, q, qd, tau\) or"):
        PANDA.rollout(np.zeros((*lead, 7)), HOME, controller, steps=1)


def rebinding(robot, t, q, qd, tau):
    tau = robot.gravity_torque(q)           # noqa: F841


def unpacking(t, q, qd, tau):
    _, (tau, _) = 1.0, (-q, 2.0)            # noqa: F841


def in_a_loop(t, q, qd, tau):
    for tau in (q, qd):
        tau[0] = 1.0


def in_an_expression(t, q, qd, tau):
    if (tau := -q)[0] > 0.0:                # noqa: F841
        pass


def sometimes(t, q, qd, tau):
    tau[:] = -q
    if t > 0.5:
        tau = tau * 2.0


def for_an_inner_one(t, q, qd, tau):
    def inner():
        return tau
    tau = -q
    inner()


def into_the_array(t, q, qd, tau):
    tau[:] = -3.0 * q


def by_operators(t, q, qd, tau):
    torque = tau
    tau += -1.0 * q if t >= 0.0 else q
    tau *= 2.0
    torque -= q


@pytest.mark.parametrize("controller, line", [
    (rebinding, 1), (unpacking, 1), (in_a_loop, 1), (in_an_expression, 1), (sometimes, 3), (for_an_inner_one, 3),
    (numba.njit(rebinding), 1)], ids=lambda x: f"{getattr(x, '__name__', x)}{' jitted' * hasattr(x, 'py_func')}")
@pytest.mark.parametrize("lead", [(), (9,)])
def test_a_controller_that_rebinds_tau_is_refused(controller, line, lead):
    """It would set nothing, without a word."""
    python = getattr(controller, "py_func", controller)
    where = f"{__file__}, line {python.__code__.co_firstlineno + line}: "
    with pytest.raises(sd.ControllerError) as caught:
        PANDA.rollout(np.zeros((*lead, 7)), HOME, controller, steps=1)
    assert "assigns to the name tau" in str(caught.value) and "tau[:] = ..." in str(caught.value)
    assert where in str(caught.value)


@pytest.mark.slow
def test_operators_that_write_into_tau_set_efforts():
    for lead in ((), (9,)):
        q0 = np.full((*lead, 7), 0.1)
        np.testing.assert_allclose(*(PANDA.rollout(q0, HOME, each, steps=9)[1] for each in (
            into_the_array, by_operators)), rtol=0.0, atol=1e-15)


@pytest.mark.slow
def test_parameters_are_found_by_name():
    """In whatever order: efforts -q for what is called q."""
    def controller(tau, q, qd, t):
        tau[:] = -q - 2.0 * qd

    def in_order(t, q, qd, tau):
        tau[:] = -q - 2.0 * qd
    for lead in ((), (9,)):
        q0 = np.full((*lead, 7), 0.1)
        np.testing.assert_array_equal(*(PANDA.rollout(q0, HOME, each, steps=9)[1] for each in (controller, in_order)))


def of_a_short_configuration(robot, t, q, qd, tau):
    tau[:] = robot.gravity_torque(q[:3])


def of_a_short_acceleration(robot, t, q, qd, tau):
    tau[:] = robot.inverse_dynamics(q, qd, qd[:3])


@pytest.mark.slow
@pytest.mark.parametrize("controller, name, call", [
    (of_a_short_configuration, "q", r"gravity_torque\(q\[:3\]\)"),
    (of_a_short_acceleration, "qdd", r"inverse_dynamics\(q, qd, qd\[:3\]\)")])
def test_a_vector_of_another_length_raises(controller, name, call):
    for lead in ((), (9,)):
        with pytest.raises(ValueError, match=rf"{name} has shape \(3,\), but must end in 7.\n.*{call}"):
            PANDA.rollout(np.zeros((*lead, 7)), HOME, controller, steps=3)


# ------------------------------------------------------------------------------------------------- kept on disk
SCRIPT = f"""
import sys
import numba
import numpy as np
from numba.core import event
import screw_dynamics as sd
GAIN, TIP = {{gain}}, "panda_link8"
@numba.njit
def spring(q):
    return {{factor}} * q
def controller(robot, t, q, qd, tau):
    J = robot.jacobian(q, TIP)
    tau[:] = robot.gravity_torque(q) - GAIN * qd - spring(q) + J[5] * 0.0
robot = sd.Robot.from_urdf({str(PANDA_URDF)!r}, tip_link="panda_link8")
q = np.full(7, 0.1)
with event.install_recorder("numba:compile") as compiled:
    ends = [robot.rollout(np.tile(q, (*lead, 1)), q, controller, steps=9)[1][..., -1, 0].flat[-1] for lead in {{leads}}]
print(repr(float(ends[0])), abs(ends[0] - ends[-1]) < 1e-14, len(compiled.buffer))
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing_unless_a_gain_or_a_helper_changes(tmp_path):
    def run(gain, factor, *leads):
        file = tmp_path / "script.py"
        file.write_text(SCRIPT.format(gain=gain, factor=factor, leads=leads))
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-W", "ignore", file], env=environment, capture_output=True, text=True,
                              check=True)
        end, same, compiled = done.stdout.split()
        assert same == "True"
        return float(end), int(compiled)
    odd = int.from_bytes(os.urandom(4), "big") / 2.0**32        # never used before, by any test run
    first, compiled = run(odd, 2.0, (), (9,))
    assert compiled > 0
    for gain, factor, lead in ((odd + 1.0, 2.0, ()), (odd, 3.0, (9,))):
        other, compiled = run(gain, factor, lead)
        assert compiled > 0 and abs(other - first) > 1e-9
    assert run(odd, 2.0, (), (9,)) == (first, 0)


# ------------------------------------------------------------------------------------------------- several processes
def ends(*gains, **environment):
    """What the program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", GAINS_GIVEN, *gains], capture_output=True, text=True,
                          env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_without_numba_s_internals_controllers_lead_to_the_same_ends(tmp_path):
    """Under kernels that are there, and without a file of their own that another process could load."""
    plain = dict(SCREW_DYNAMICS_NUMBA_INTERNALS="0", **cache_with(prepare.forms("core"), tmp_path))
    both = ends("20", "30", **plain)
    assert both == ends("20", "30") and both[0] != both[1].replace("30", "20", 1)
    assert not [*tmp_path.glob("controller*")]


@pytest.mark.slow
def test_controllers_that_several_processes_compiled_are_not_mixed_up(tmp_path):
    """Numba counts functions in each process from the same number on, and sets have the same order in all. All else is
    there, and not counted."""
    def lines(*gains):
        return ends(*gains, **cache)
    PENDULUM.rollout([0.1, 0.2], [0.0, 0.0], steps=1)       # all that it takes is there now
    cache = cache_with(prepare.forms("core"), tmp_path / "cache")
    apart = lines("20") + lines("30")
    first, last = lines("20", "40")                         # one loaded, one compiled
    assert first == apart[0] and len(set(line.partition(" ")[2] for line in (*apart, last))) == 3
    assert lines("20", "30", "40") == [*apart, last]        # all loaded


def test_a_controller_may_call_python(capsys):
    """Slowly: by Numba's objmode."""
    def controller(t, q, qd, tau):
        with numba.objmode():
            print("called")
        tau[:] = 0.0
    PANDA.rollout(HOME, np.zeros(7), controller, steps=1)
    assert capsys.readouterr().out == "called\n"
