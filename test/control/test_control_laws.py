"""Control laws: each by the equation of its closed loop, and the same function wherever laws run."""
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.linalg import expm

import screw_dynamics as sd
from screw_dynamics import control
from screw_dynamics.control import law, parameter
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm
from support.laws import Integral, with_integral
from support.real_robots import real_robot

PANDA, HAND = "panda_description/urdf/panda.urdf", "panda_hand"
START = np.array([0.1, -0.5, 0.2, -2.0, -0.1, 1.5, 0.7])
DT = 1e-3
GAINS = dict(stiffness=np.arange(20.0, 90.0, 10.0), damping=np.arange(2.0, 9.0))


@pytest.fixture(scope="module")
def panda():
    return real_robot(PANDA, lock={"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0})


@pytest.fixture(scope="module")
def planar():
    return sd.Robot.from_urdf(planar_arm.urdf())


def evaluated(law, robot, q, qd, parameters=None, **reference):
    """The efforts of a law without a state."""
    return law.cycle(robot, 0.0, q, qd, law.references(robot, reference), (), law.values(robot, parameters))[0]


@pytest.fixture
def motion():
    """A state and a reference: q, qd, position, velocity, acceleration."""
    rng = np.random.default_rng(3)
    return (START + rng.uniform(-0.2, 0.2, 7), *rng.uniform(-1.0, 1.0, (1, 7)), START, *rng.uniform(-1.0, 1.0, (2, 7)))


# ------------------------------------------------------------------------------------------------- closed loops
def test_computed_torque_makes_the_error_equation_linear_and_the_joints_independent(panda, motion):
    q, qd, position, velocity, acceleration = motion
    tau = evaluated(control.computed_torque, panda, q, qd, control.ComputedTorque(**GAINS), position=position,
                    velocity=velocity, acceleration=acceleration)
    wanted = acceleration + GAINS["stiffness"] * (position - q) + GAINS["damping"] * (velocity - qd)
    np.testing.assert_allclose(panda.forward_dynamics(q, qd, tau), wanted, atol=1e-9)


def test_joint_impedance_keeps_the_inertia_of_the_robot(panda, motion):
    q, qd, position, velocity, acceleration = motion
    tau = evaluated(control.joint_impedance, panda, q, qd, control.JointImpedance(**GAINS), position=position,
                    velocity=velocity, acceleration=acceleration)
    e, rate = position - q, velocity - qd
    left = (panda.mass_matrix(q) @ (acceleration - panda.forward_dynamics(q, qd, tau))
            + panda.coriolis_matrix(q, qd) @ rate + GAINS["damping"] * rate + GAINS["stiffness"] * e)
    np.testing.assert_allclose(left, 0.0, atol=1e-10)


def test_gravity_compensation_loses_the_energy_of_its_damping_alone(panda):
    qd0 = np.linspace(-0.5, 0.5, 7)
    for damping in (0.0, 0.5):
        controller = control.gravity_compensation.controller(panda, control.GravityCompensation(damping))
        t, q, qd = panda.rollout(START, qd0, controller, dt=DT, steps=300, integrator="rk4", limits=False)
        energy = panda.kinetic_energy(q, qd)
        lost = damping * np.concatenate([[0.0], np.cumsum(0.5 * DT * ((qd[1:] ** 2).sum(1) + (qd[:-1] ** 2).sum(1)))])
        np.testing.assert_allclose(energy + lost, energy[0], rtol=2e-5 if damping else 1e-9)


@pytest.mark.parametrize("law", [control.pd_with_gravity, control.joint_impedance])
def test_springs_in_the_joints_are_passive_and_leave_no_error(planar, law):
    reference = {"position": [0.3, -0.4], "velocity": [0.0, 0.0], "acceleration": [0.0, 0.0]}
    reference = {name: reference[name] for name in law.reference}
    t, q, qd = planar.rollout([1.0, 0.5], [0.0, 0.0], law.controller(planar, reference=reference), dt=DT, steps=6000,
                              integrator="rk4")
    stored = planar.kinetic_energy(q, qd) + 0.5 * 40.0 * ((q - [0.3, -0.4]) ** 2).sum(axis=1)
    assert (np.diff(stored) <= 1e-12).all()
    np.testing.assert_allclose(q[-1], [0.3, -0.4], atol=1e-6)


def test_a_cartesian_impedance_is_passive_and_gives_way_by_force_over_stiffness(panda):
    impedance, pose = control.cartesian_impedance(HAND), panda.forward_kinematics(START, HAND)
    gains = control.CartesianImpedance(posture_stiffness=0.0, posture_damping=0.0)
    away = START + np.array([0.2, -0.1, 0.1, 0.15, 0.2, -0.2, 0.1])
    controller = impedance.controller(panda, gains, {"pose": pose, "position": START})
    t, q, qd = panda.rollout(away, np.zeros(7), controller, dt=DT, steps=1000, integrator="rk4", limits=False)
    T = panda.forward_kinematics(q, HAND)
    stored = (panda.kinetic_energy(q, qd) + 0.5 * 400.0 * ((T[:, :3, 3] - pose[:3, 3]) ** 2).sum(axis=1)
              + 0.5 * 30.0 * np.trace(np.eye(3) - pose[:3, :3].T @ T[:, :3, :3], axis1=1, axis2=2))
    assert stored[0] > 1.0 and (np.diff(stored) <= 1e-9).all() and stored[-1] < 0.2 * stored[0]
    controller = impedance.controller(panda, None, {"pose": pose, "position": START})
    force = np.array([0.0, 8.0, 0.0])                   # along y of the root
    push = {HAND: np.concatenate([np.zeros(3), pose[:3, :3].T @ force])}
    t, q, qd = panda.rollout(START, np.zeros(7), controller, dt=DT, steps=6000, every=6000, external=push, limits=False)
    moved = panda.forward_kinematics(q[-1], HAND)[:3, 3] - pose[:3, 3]
    np.testing.assert_allclose(moved, force / 400.0, atol=1e-3)


def test_the_posture_of_a_cartesian_impedance_does_not_accelerate_the_link(panda, motion):
    q, qd = motion[:2]
    pose, J = panda.forward_kinematics(START, HAND), panda.jacobian(q, HAND, "hybrid")
    accelerations = [panda.forward_dynamics(q, qd, evaluated(
        control.cartesian_impedance(HAND), panda, q, qd,
        control.CartesianImpedance(posture_stiffness=k, posture_damping=0.0), pose=pose, position=START))
        for k in (0.0, 10.0)]
    change = accelerations[1] - accelerations[0]
    assert np.abs(change).max() > 1.0
    np.testing.assert_allclose(J @ change, 0.0, atol=1e-3)


def test_the_observer_finds_a_known_wrench_and_the_robot_gives_way(planar):
    wrench, K = np.array([0.0, -6.0, 0.0, 0.0, 0.0, 0.0]), 40.0         # about the joints' axes
    external = planar.jacobian([0.0, 0.0], "forearm").T @ wrench
    loop = control.collision_reaction.loop(
        planar, DT, control.CollisionReaction(observer_gain=K, threshold=4.0, reflex=0.5),
        {"position": [0.3, -0.4], "velocity": [0.0, 0.0]})
    q, qd, found = np.array([0.3, -0.4]), np.zeros(2), []
    for k in range(200):
        tau = loop(k * DT, q, qd)
        found.append((loop.state["external"], loop.state["collided"][0]))
        q, qd = planar.step(q, qd, tau, DT, external={"forearm": wrench})
    r, collided = np.array([x for x, _ in found]), np.array([x for _, x in found])
    t = DT * np.arange(200)
    np.testing.assert_allclose(r, external * (1.0 - np.exp(-K * t))[:, None], atol=0.05 * 6.0)
    np.testing.assert_allclose(r[-1], external, rtol=5e-3)
    first = int(collided.argmax())
    assert abs(t[first] - np.log(3.0) / K) < 3 * DT and collided[first:].all() and not collided[:first].any()
    assert (qd * external).sum() > 0.05                                 # the robot moves as it is pushed


def test_an_admittance_moves_as_its_masses_dampers_and_springs_do(planar):
    wrench, start = np.array([0.0, -3.0, 0.0, 0.0, 0.0, 0.0]), np.array([0.3, -0.4])
    loop = control.admittance("forearm").loop(
        planar, DT, control.Admittance(mass=[1.0, 0.5], damping=[8.0, 3.0], stiffness=[30.0, 20.0]),
        {"position": start, "velocity": [0.0, 0.0], "acceleration": [0.0, 0.0], "wrench": wrench})
    q, qd = start, np.zeros(2)
    for k in range(500):
        q, qd = planar.step(q, qd, loop(k * DT, q, qd), DT, external={"forearm": wrench})
    for i, (m, d, s) in enumerate(((1.0, 8.0, 30.0), (0.5, 3.0, 20.0))):
        A = np.array([[0, 1, 0], [-s / m, -d / m, 1 / m], [0, 0, 0]])
        x = (expm(0.5 * A) @ (0.0, 0.0, 3.0))[0]                        # 3 N m on both joints
        assert q[i] - start[i] == pytest.approx(x, rel=0.02)


def test_a_robot_that_moves_at_the_first_cycle_has_no_collision(planar):
    loop = control.collision_reaction.loop(planar, DT, None, {"position": [0.3, -0.4], "velocity": [0.8, -0.5]})
    q, qd = np.array([0.3, -0.4]), np.array([0.8, -0.5])
    momentum = planar.mass_matrix(q) @ qd
    assert np.abs(50.0 * momentum).max() > 10.0         # what an observer from a momentum of 0 finds
    for k in range(20):
        q, qd = planar.step(q, qd, loop(k * DT, q, qd), DT)
        assert np.abs(loop.state["external"]).max() < 0.1 and not loop.state["collided"].any()


# ------------------------------------------------------------------------------------------------- where laws run
def test_an_integrator_brings_a_robot_to_its_reference_against_gravity(planar):
    loop = with_integral.loop(planar, DT, Integral(rate=2.0, gain=[80.0, 40.0]), {"position": [0.3, -0.4]})
    t, q, qd = planar.rollout([0.0, 0.0], [0.0, 0.0], loop, dt=DT, steps=5000, every=5000)
    np.testing.assert_allclose(q[-1], [0.3, -0.4], atol=1e-3)
    with pytest.raises(ValueError, match="semi_implicit_euler"):
        planar.rollout([0.0, 0.0], [0.0, 0.0], with_integral.loop(planar, DT, None, {"position": [0.3, -0.4]}), dt=DT,
                       steps=3, integrator="rk4")


@pytest.mark.parametrize("law", [control.gravity_compensation, control.pd_with_gravity, control.computed_torque,
                                 control.joint_impedance, control.cartesian_impedance("forearm")])
def test_the_same_function_runs_compiled_on_lanes_and_in_plain_python(planar, law):
    values = {"position": [0.3, -0.4], "velocity": [0.1, 0.2], "acceleration": [0.0, 0.0],
              "pose": planar.forward_kinematics([0.3, -0.4], "forearm")}
    reference = {name: values[name] for name in law.reference}
    starts = np.random.default_rng(1).uniform(-0.5, 0.5, (9, 2))
    t, q, qd = planar.rollout(starts, np.zeros(2), law.controller(planar, reference=reference), dt=DT, steps=100)
    one, plain = (planar.rollout(starts[8], np.zeros(2), x, dt=DT, steps=100) for x in (
        law.controller(planar, reference=reference), law.loop(planar, DT, None, lambda t: reference)))
    for _, found, _ in (one, plain):
        np.testing.assert_allclose(found, q[8], atol=1e-12)


def test_a_reference_may_be_a_function_of_time(planar):
    import numba

    @numba.njit
    def wave(t):
        return (np.array([0.2 * np.sin(t), 0.1 * t]), np.array([0.2 * np.cos(t), 0.1]),
                np.array([-0.2 * np.sin(t), 0.0]))
    controller = control.computed_torque.controller(planar, reference=wave)
    t, q, qd = planar.rollout([0.0, 0.0], [0.2, 0.1], controller, dt=DT, steps=1000, integrator="rk4")
    np.testing.assert_allclose(q, np.stack([0.2 * np.sin(t), 0.1 * t], axis=1), atol=1e-4)


def test_a_law_commands_a_simulation_as_it_does_a_rollout(planar):
    loops = [with_integral.loop(planar, DT, None, {"position": [0.3, -0.4]}) for _ in range(2)]
    simulation = Simulation(planar, Settings(hold_until_first_command=False))
    for k in range(200):
        simulation.command(loops[0](k * DT, simulation.q, simulation.qd))
        simulation.advance(1)
    t, q, qd = planar.rollout([0.0, 0.0], [0.0, 0.0], loops[1], dt=DT, steps=200, friction=True, limits=True)
    np.testing.assert_allclose(simulation.q, q[-1], atol=1e-12)


# ------------------------------------------------------------------------------------------------- what is refused
REST = {"position": [0.0, 0.0], "velocity": [0.0, 0.0]}


@dataclass(frozen=True)
class Hidden:
    """Parameters with a name that no named tuple has."""

    _gain: float = parameter(1.0, "gain")


def of_dt(robot, t, q, qd, reference, state, parameters):
    """A law of the time since the cycle before, which returns efforts alone."""
    return q * state.dt


@pytest.mark.parametrize(("call", "says"), [
    (lambda robot: control.pd_with_gravity.values(robot, control.PdWithGravity(stiffness=-1.0)), "stiffness is -1.0"),
    (lambda robot: control.pd_with_gravity.values(robot, control.PdWithGravity(damping=np.ones(3))), "damping"),
    (lambda robot: control.pd_with_gravity.values(robot, Integral()), "must be PdWithGravity"),
    (lambda robot: with_integral.values(robot, Integral(rate=np.ones(2))), "rate has shape"),
    (lambda robot: with_integral.values(robot, Integral(rate=np.nan)), "rate is nan"),
    (lambda robot: with_integral.controller(robot, None, {"position": [0.0, 0.0]}), "state integral"),
    (lambda robot: control.pd_with_gravity.controller(robot, None, {"position": [0.0, 0.0]}), "position, velocity"),
    (lambda robot: control.pd_with_gravity.controller(robot, None, REST | {"velocity": [0.0]}), "velocity has shape"),
    (lambda robot: control.pd_with_gravity.loop(robot, 0.0, None, REST), "period"),
    (lambda robot: control.pd_with_gravity.loop(robot, DT, None, {"velocity": [0.0, 0.0]}), "position, velocity"),
    (lambda robot: law(reference=("pose",))(with_integral.function), "needs link="),
    (lambda robot: law()(lambda robot, t, q, qd: q), "must be a function of robot, t, q, qd, reference"),
    (lambda robot: law(reference=("speed",))(with_integral.function), "speed"),
    (lambda robot: law(state={"dt": 1})(with_integral.function), "dt"),
    (lambda robot: law(parameters=int)(with_integral.function), "must be a dataclass"),
    *((lambda robot, name=name: law(state={name: 1})(with_integral.function), name)
      for name in ("a b", "_x", "class")),
    (lambda robot: law(parameters=Hidden)(with_integral.function), "_gain"),
    (lambda robot: law(reference="position")(with_integral.function), "'position'"),
    (lambda robot: law(reference=("position", "position"))(with_integral.function), "'position' .* twice"),
    (lambda robot: control.pd_with_gravity.loop(robot.model, DT, None, REST), "robot must be a Robot"),
    (lambda robot: control.pd_with_gravity.loop(robot, DT, None, [1, 2]), "must be a dict"),
    (lambda robot: control.pd_with_gravity.loop(robot, DT, None, lambda t: None)(0.0, np.zeros(2), np.zeros(2)),
     "must be a dict"),
    (lambda robot: control.pd_with_gravity.loop(robot, DT, None, REST | {"position": [np.nan, 0.0]}),
     r"reference position\[0\] is nan"),
    (lambda robot: law(reference=("pose",), link="forearm")(with_integral.function).loop(
        robot, DT, None, {"pose": np.ones((4, 4))}), "reference pose"),
    (lambda robot: control.pd_with_gravity.loop(robot, DT, None, REST)(0.0, np.zeros(3), np.zeros(2)), r"q .*\(3,\)"),
    (lambda robot: control.pd_with_gravity.loop(robot, DT, None, REST)(0.0, np.zeros(2), 0.0), r"qd .*\(\)"),
    (lambda robot: robot.rollout([0.0, 0.0], effort=control.gravity_compensation, steps=1), "law.controller"),
    (lambda robot: law()(of_dt).loop(robot, DT)(0.0, np.zeros(2), np.zeros(2)), "dt"),
    (lambda robot: law(state={"x": 1})(of_dt).loop(robot, DT)(0.0, np.zeros(2), np.zeros(2)), "law of_dt .*efforts, "),
    (lambda robot: parameter(1.0, "gain", upper=0.0), "default 1.0"),
    (lambda robot: law()(with_integral.function).loop(robot, DT)(0.0, np.zeros(2), np.zeros(2)), "position"),
])
def test_what_does_not_fit_is_refused_by_name(planar, call, says):
    with pytest.raises((ValueError, AttributeError), match=says):
        call(planar)


def test_efforts_that_are_not_finite_or_have_another_shape_end_the_loop(planar):
    @law()
    def broken(robot, t, q, qd, reference, state, parameters):
        return q / 0.0 if t < 1.0 else q[:1]
    with pytest.raises(ValueError, match="law broken .*efforts"), np.errstate(all="ignore"):
        broken.loop(planar, DT)(0.0, np.ones(2), np.zeros(2))
    with pytest.raises(ValueError, match="shape"):
        broken.loop(planar, DT)(2.0, np.ones(2), np.zeros(2))
    robot = sd.Robot.from_urdf(planar_arm.urdf(), floating_base=True)
    with pytest.raises(ValueError, match="joints of one degree of freedom"):
        control.gravity_compensation.loop(robot, DT)


def test_a_state_that_is_not_finite_ends_the_loop_with_the_state_before(planar):
    @law(state={"x": 1})
    def broken(robot, t, q, qd, reference, state, parameters):
        state.x[0] = np.nan
        return [0.0, 0.0], (state.x,)
    loop = broken.loop(planar, DT)
    with pytest.raises(ValueError, match=r"law broken .*state x\[0\] is nan"):
        loop(0.0, np.zeros(2), np.zeros(2))
    assert loop.state["x"] == [0.0]


def test_a_law_that_writes_to_its_arguments_changes_no_array_of_the_caller(planar):
    @law(state={"x": "joint"})
    def writing(robot, t, q, qd, reference, state, parameters):
        q *= 2.0
        return [0.0, np.nan if t > 0.0 else 0.0], (q,)
    q = np.array([0.3, -0.4])
    loop = writing.loop(planar, DT)
    assert loop(0.0, q, np.zeros(2)).shape == (2,) and q.tolist() == [0.3, -0.4]
    assert loop.state["x"].tolist() == [0.6, -0.8]
    with pytest.raises(ValueError, match=r"law writing .*efforts\[1\] is nan"):
        loop(1.0, q, np.zeros(2))


@pytest.mark.parametrize("t", [0.0, -DT])
def test_a_cycle_that_is_not_later_than_the_one_before_names_the_remedies(planar, t):
    loop = control.gravity_compensation.loop(planar, DT)
    loop(0.0, np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match=r"loop.reset\(\).*semi_implicit_euler.*law.controller"):
        loop(t, np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("shape", ["()", "(1,)", "(3,)"])
def test_a_controller_whose_efforts_have_another_shape_is_refused(planar, shape):
    def short(robot, t, q, qd, reference, state, parameters):
        return q[:1]

    def scalar(robot, t, q, qd, reference, state, parameters):
        return q[0]

    def long(robot, t, q, qd, reference, state, parameters):
        return np.zeros(3) + q[0]
    function = {"()": scalar, "(1,)": short, "(3,)": long}[shape]
    with pytest.raises(ValueError, match=f"law {function.__name__} returns efforts"):
        planar.rollout([0.1, 0.2], effort=law()(function).controller(planar), steps=2)
