"""Dynamics with closed loops: laws of mechanics, and two other formulations."""
import copy
import os
import pickle
import subprocess
import sys
import warnings

import mujoco
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.model.constraints import KINDS
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Gear, LoopJoint
from screw_dynamics.screws.groups import se3
from support import closed_states
from support.closed_states import moving
from support.linkages import Linkage, Pair, Part, four_bar, stewart
from support.paths import ROOT

pytestmark = pytest.mark.slow

BALLS = [f"ball_{k}" for k in range(6)]
LEGS = [f"leg_{k}" for k in range(6)]


def floating_four_bar():
    """A four-bar on a base that is free."""
    bars = four_bar()
    base = Part(np.eye(4), 3.0 * np.diag((0.1, 0.2, 0.3, 1.0, 1.0, 1.0)))
    pairs = [pair._replace(on="base") if pair.on == "ground" else pair for pair in bars.pairs]
    return Linkage({"base": base, **bars.parts}, [Pair("float", "free", "base", "ground", np.eye(4)), *pairs])


MECHANISMS = {**closed_states.MECHANISMS, "floating four-bar": lambda: floating_four_bar().closed(("C",))}


SLOW = pytest.mark.slow        # what compiles more than the kernels of one state of a tree without groups
CHEAP = "four-bar", "Bennett's linkage", "geared arm"
NAMES = [name if name in CHEAP else pytest.param(name, marks=SLOW) for name in MECHANISMS]


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_keep_the_constraints_and_wrenches_do_no_work(name, rng):
    """M qdd + h = tau + J^T lambda; as external wrenches on the tree, those of the loops cause the same motion."""
    loops = MECHANISMS[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    tau = rng.normal(size=robot.n)
    qdd, multipliers, wrenches = loops.forward_dynamics(q, qd, tau)
    J, scale = loops.jacobian(q), max(1.0, np.abs(qdd).max())
    assert np.linalg.norm(multipliers) < 1e-9 + (1.0 + 1e-9) * np.linalg.norm(                         # the shortest
        np.linalg.lstsq(J.T, robot.inverse_dynamics(q, qd, qdd) - tau, rcond=1e-9)[0])
    assert np.abs(J @ qdd + loops.drift(q, qd)).max() < 1e-10 * scale
    held = robot.inverse_dynamics(q, qd, qdd) - tau
    assert np.abs(held - J.T @ multipliers).max() < 1e-10 * max(1.0, np.abs(held).max())
    assert np.abs(held @ loops.admissible_velocities(q)).max() < 1e-10 * max(1.0, np.abs(held).max())
    load = np.zeros(robot.n)
    for loop, wrench in wrenches.items():
        part = loops.constraints.parts[loop]
        load += robot.jacobian(q, part.link, reference=part.on).T @ wrench
    if name != "geared arm":
        assert np.abs(load - held).max() < 1e-10 * max(1.0, np.abs(held).max())
        external = {}
        for loop, wrench in wrenches.items():
            part = loops.constraints.parts[loop]
            to_on = robot.forward_kinematics(q, part.link, part.on)
            for link, W in ((part.link, wrench), (part.on, -se3.Ad_dual(to_on, wrench))):
                external[link] = external.get(link, 0.0) + W
        assert np.abs(robot.forward_dynamics(q, qd, tau, external) - qdd).max() < 1e-9 * scale


@pytest.mark.parametrize(("linkage", "cut"), [(four_bar(), ("D",)), (four_bar(0.4), ("C",)), (four_bar(), ("B",)),
                                              pytest.param(stewart(), BALLS[1:], marks=SLOW)])
def test_accelerations_are_those_of_pinocchio(linkage, cut, rng):
    loops, pinocchio = linkage.closed(cut), linkage.pinocchio(cut)
    for _ in range(3):
        q, qd = moving(loops, rng)
        tau = rng.normal(size=loops.robot.n)
        qdd = loops.forward_dynamics(q, qd, tau).qdd
        assert np.abs(pinocchio(q, qd, tau) - qdd).max() < 1e-11 * max(1.0, np.abs(qdd).max())


@pytest.mark.parametrize(("linkage", "cut"), [(four_bar(), ("D",)), (four_bar(0.4), ("B",)),
                                              pytest.param(stewart(), BALLS[1:], marks=SLOW)])
def test_accelerations_are_those_of_mujoco_in_the_stiff_limit(linkage, cut, rng):
    """Its equalities give way, by 1 - d of what they hold; their impedance d is at most 0.9999."""
    model, loops = linkage.mujoco(cut), linkage.closed(cut)
    data, robot, q = mujoco.MjData(model), loops.robot, loops.robot.neutral()
    for speed in (0.0, 3.0):
        qd = speed * loops.project_velocity(q, rng.normal(size=robot.n))
        data.qvel[:] = qd
        mujoco.mj_forward(model, data)
        rest = np.zeros(robot.n)
        qdd, free = loops.forward_dynamics(q, qd, rest).qdd, robot.forward_dynamics(q, qd, rest)
        assert np.abs(data.qacc - qdd).max() < 5e-4 * np.abs(free).max() < 0.1 * np.abs(free - qdd).max()


@pytest.mark.parametrize(("linkage", "cut"), [
    (four_bar(0.4), ("C",)), pytest.param(stewart(), BALLS[1:], marks=SLOW),
    pytest.param(floating_four_bar(), ("A",), marks=SLOW)])
def test_accelerations_are_those_of_absolute_coordinates(linkage, cut, rng):
    loops = linkage.closed(cut)
    robot, q = loops.robot, loops.robot.neutral()
    qd = loops.project_velocity(q, rng.normal(size=robot.n))
    linkage = linkage._replace(pairs=[pair for pair in linkage.pairs if pair.kind != "free"])
    system = linkage.absolute({name: robot.jacobian(q, name) @ qd for name in linkage.parts})
    found = system.accelerations(0.0, *system.initial())
    qdd = loops.forward_dynamics(q, qd, np.zeros(robot.n)).qdd
    expected = [robot.jacobian(q, name) @ qdd + robot.jacobian_derivative(q, qd, name) @ qd for name in linkage.parts]
    assert np.abs(found - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed"])
def test_a_free_body_in_a_joint_moves_as_one_that_hangs_on_it(kind, rng):
    """The joint as a constraint, and as the macro joint of the same name; both on a link that moves."""
    pitch = {"pitch": 0.2} if kind in ("helical", "planar_helical") else {}
    inertia, placement = sd.inertia_matrix(2.0, (0.1, 0.2, 0.3), np.diag((0.3, 0.4, 0.5))), se3.exp(rng.normal(size=6))
    at = se3.exp(rng.normal(size=6))
    trees = []
    for hangs in (True, False):
        builder = sd.ModelBuilder("ground")
        builder.add_screw("A", "arm", "ground", (1, 2, 3), mass=1.0, inertia=np.eye(3))
        if hangs:
            builder.add_macro_joint(kind, "J", "body", "arm", placement, inertia, frame=at, **pitch)
        else:
            builder.add_group_joint("free", "J", "body", "arm", placement, inertia, frame=at)
        trees.append(sd.Robot(builder.build()))
    hanging, free = trees
    q, qd = rng.uniform(-1.0, 1.0, (2, hanging.n))
    twist = free.integrate(free.neutral(), np.r_[q[0], se3.log(
        np.linalg.inv(placement @ at) @ hanging.forward_kinematics(q, "body", "arm") @ at)])
    rates = np.r_[qd[0], se3.Ad_inv(at, hanging.jacobian(q, "body", reference="arm") @ qd)]
    loops = ClosedLoopRobot(free, [LoopJoint("J", kind, "body", "arm", at, placement @ at, **pitch)])
    assert np.abs(loops.residual(twist)).max() < 1e-12
    assert np.abs(loops.jacobian(twist) @ rates).max() < 1e-12
    qdd = loops.forward_dynamics(twist, rates, np.zeros(7)).qdd
    of_body = free.jacobian(twist, "body") @ qdd + free.jacobian_derivative(twist, rates, "body") @ rates
    expected = hanging.jacobian(q, "body") @ hanging.forward_dynamics(q, qd, np.zeros(hanging.n))
    expected = expected + hanging.jacobian_derivative(q, qd, "body") @ qd
    assert np.abs(of_body - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("slides", (False, True))
def test_gears_and_racks_move_as_mimic_joints(slides, rng):
    ratio, offset = (0.05, 0.1) if slides else (-3.0, 0.4)
    robots = []
    for mimic in (None, sd.Mimic("A", ratio, offset)):
        builder = sd.ModelBuilder("ground")
        options = {"mass": 1.0, "inertia": np.diag((0.1, 0.2, 0.3)), "com": (0.3, 0.1, 0.0)}
        builder.add_screw("A", "one", "ground", (0, 1, 0), **options)
        builder.add_screw("B", "two", "one", (0.6, 0, 0.8), (0.5, 0, 0), np.inf if slides else 0.0, mimic=mimic,
                          **options)
        builder.add_screw("C", "three", "two", (0, 1, 0), (1.0, 0, 0), **options)
        robots.append(sd.Robot(builder.build()))
    loops = ClosedLoopRobot(robots[0], [Gear("G", {"B": 1.0, "A": -ratio}, offset)])
    (q, qd), (tau_A, tau_B, tau_C) = rng.normal(size=(2, 2)), rng.normal(size=3)
    full, rates = np.array((q[0], ratio * q[0] + offset, q[1])), np.array((qd[0], ratio * qd[0], qd[1]))
    assert np.abs(loops.residual(full)).max() < 1e-15
    expected = robots[1].forward_dynamics(q, qd, np.array((tau_A + ratio * tau_B, tau_C)))
    found = loops.forward_dynamics(full, rates, (tau_A, tau_B, tau_C))
    assert np.abs(found.qdd[[0, 2]] - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())
    assert not found.wrenches and loops.mobility(full).degrees == 2


@pytest.mark.parametrize(("linkage", "cuts"), [(four_bar(), [("A",), ("B",), ("C",), ("D",)]),
                                               (stewart(), [BALLS[1:], [*BALLS[:4], "leg_4"]])])
def test_motion_does_not_depend_on_the_cut_joint(linkage, cuts, rng):
    """Accelerations of all bodies to machine precision, motions to the error of the method."""
    accelerations, ends, first = [], [], None
    for cut in cuts:
        loops = linkage.closed(cut)
        robot, q = loops.robot, loops.robot.neutral()
        J = np.concatenate([robot.jacobian(q, name) for name in linkage.parts])
        if first is None:
            first = J @ loops.project_velocity(q, rng.normal(size=robot.n))
        qd = np.linalg.lstsq(J, first, rcond=None)[0]
        assert np.abs(J @ qd - first).max() < 1e-12
        qdd = loops.forward_dynamics(q, qd, np.zeros(robot.n)).qdd
        accelerations.append([robot.jacobian(q, name) @ qdd + robot.jacobian_derivative(q, qd, name) @ qd
                              for name in linkage.parts])
        motion = loops.rollout(q, qd, dt=2e-3, steps=50, integrator="rk4")
        ends.append([robot.forward_kinematics(motion.q[-1], name) for name in linkage.parts])
    assert np.ptp(accelerations, axis=0).max() < 1e-9 * np.abs(accelerations).max()
    assert np.ptp(ends, axis=0).max() < 1e-7


@pytest.mark.parametrize("name", ("four-bar", "delta robot", "floating four-bar", "Bennett's linkage"))
def test_energy_and_constraints_are_kept(name, rng):
    loops = MECHANISMS[name]()
    q, qd = moving(loops, rng, 0.05)
    motion = loops.rollout(q, qd, dt=1e-3, steps=100, integrator="rk4")
    assert np.ptp(motion.energy) < 1e-7
    assert motion.residual.max() < 1e-12 and abs(motion.energy[0] - loops.energy(q, qd)) < 1e-12
    coarse = loops.rollout(q, qd, dt=4e-3, steps=25, projection=None, integrator="rk4")
    fine = loops.rollout(q, qd, dt=2e-3, steps=50, projection=None, integrator="rk4")
    errors = [max(np.abs(loops.robot.difference(x.q[-1], motion.q[-1])).max(), 1e-13) for x in (coarse, fine)]
    assert errors[0] < 1e-12 or errors[0] / errors[1] > 8.0                     # order 4
    rough = loops.rollout(q, qd, dt=1e-3, steps=20, integrator="semi_implicit_euler")
    assert rough.residual.max() < 1e-12


IN_PLAIN_PYTHON = """
import numpy as np, pytest
from support.linkages import bennett, four_bar
for loops in (four_bar().closed(("D",)), bennett()):
    q = loops.project(loops.robot.neutral() + 0.1)
    qd = loops.project_velocity(q, np.array((1.0, 0.0, 0.0)))
    motion = loops.rollout(q, qd, lambda t, q, qd: 0.0 * q, dt=2e-3, steps=6, integrator="rk4")
    assert np.ptp(motion.energy) < 1e-7 and motion.residual.max() < 1e-12, motion
    assert np.abs(motion.q[-1] - q).max() > 1e-3
    left = loops.rollout(q, qd, dt=2e-3, steps=6, projection=None, integrator="rk4")
    assert np.abs(left.residual - np.abs(loops.residual(left.q)).max(axis=-1)).max() < 1e-15 < left.residual[-1]
    for lost in range(2):
        state = [q.copy(), qd.copy()]
        state[lost][1] = np.nan
        with pytest.raises(ValueError, match="q0 and qd0 must be finite"):
            loops.rollout(*state, lambda t, q, qd: 0.0 * q, steps=2, integrator="rk4")
"""


def test_energy_and_constraints_are_kept_in_plain_python():
    """The same kernels, not compiled: in two seconds instead of a minute. What starts lost is refused."""
    subprocess.run([sys.executable, "-c", IN_PLAIN_PYTHON], cwd=ROOT / "test", check=True,
                   env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)})


def test_momentum_of_a_floating_mechanism_is_kept(rng):
    loops = floating_four_bar().closed(("C",), gravity=(0.0, 0.0, 0.0))
    q, qd = moving(loops, rng)
    motion = loops.rollout(q, qd, lambda t, q, qd: np.r_[np.zeros(6), np.sin(9.0 * t), 0.0, 0.2], 2e-3, 60, "rk4")
    momentum, com = loops.robot.centroidal_momentum(motion.q, motion.qd), loops.robot.center_of_mass(motion.q)
    assert np.ptp(momentum, axis=0).max() < 1e-8
    assert np.abs(np.diff(com, 2, axis=0)).max() < 1e-10
    assert np.ptp(motion.energy) > 1e-4


def test_efforts_of_redundant_actuation_cause_the_motion(rng):
    loops = MECHANISMS["four-bar"]()
    q, qd = moving(loops, rng)
    tau = np.array((0.7, 0.0, -0.4))                                        # A and D; B is passive
    qdd = loops.forward_dynamics(q, qd, tau).qdd
    least = loops.inverse_dynamics(q, qd, qdd, ("A", "D")).tau
    assert least[1] == 0.0 and np.linalg.norm(least) < np.linalg.norm(tau)
    given = loops.inverse_dynamics(q, qd, qdd, ("A", "D"), preferred=tau)
    assert np.abs(given.tau - tau).max() < 1e-10
    uneven = loops.inverse_dynamics(q, qd, qdd, ("A", "D"), weights=(1e8, 1.0, 1.0)).tau
    assert abs(uneven[0]) < 1e-6
    for efforts in (least, uneven, *(loops.inverse_dynamics(q, qd, qdd, which).tau for which in (("A",), None))):
        assert np.abs(loops.forward_dynamics(q, qd, efforts).qdd - qdd).max() < 1e-9
    assert np.abs(given.wrenches["C"] - loops.forward_dynamics(q, qd, tau).wrenches["C"]).max() < 1e-9
    external = {loops.robot.link_names[-1]: rng.normal(size=6)}             # M qdd + h = tau + J^T lambda + it
    pushed = loops.inverse_dynamics(q, qd, qdd, ("A", "D"), external=external)
    left = loops.robot.inverse_dynamics(q, qd, qdd, external) - pushed.tau - loops.jacobian(q).T @ pushed.multipliers
    assert np.abs(left).max() < 1e-9 and np.abs(pushed.tau - least).max() > 0.1


def test_the_legs_of_a_stewart_platform_hold_it(rng):
    loops = stewart().closed(BALLS[1:])
    robot, q = loops.robot, loops.robot.neutral()
    rest = np.zeros(robot.n)
    held = loops.inverse_dynamics(q, rest, rest, LEGS)
    assert np.abs(loops.forward_dynamics(q, rest, held.tau).qdd).max() < 1e-9
    with pytest.raises(ValueError, match="the actuated joints leg_0, leg_1, leg_2, leg_3, leg_4 cannot produce this"):
        loops.inverse_dynamics(q, rest, rest, LEGS[:5])


@pytest.mark.parametrize("name", ("four-bar", "Stewart platform", "floating four-bar", "Bennett's linkage"))
def test_batches_are_single_states(name, rng):
    loops = MECHANISMS[name]()
    states = [moving(loops, rng) for _ in range(3)]
    q, qd = (np.array(x) for x in zip(*states, strict=True))
    tau = rng.normal(size=qd.shape)
    batch = loops.forward_dynamics(q, qd, tau)
    efforts = loops.inverse_dynamics(q, qd, batch.qdd)
    for k in range(3):
        single = loops.forward_dynamics(q[k], qd[k], tau[k])
        scale = max(1.0, np.abs(single.qdd).max())
        assert np.abs(batch.qdd[k] - single.qdd).max() < 1e-10 * scale
        for loop, wrench in single.wrenches.items():
            assert np.abs(batch.wrenches[loop][k] - wrench).max() < 1e-9 * max(1.0, np.abs(wrench).max())
        assert np.abs(batch.multipliers[k] - single.multipliers).max() < 1e-9 * max(
            1.0, np.abs(single.multipliers).max())
        assert np.abs(efforts.tau[k] - loops.inverse_dynamics(q[k], qd[k], batch.qdd[k]).tau).max() < 1e-9 * scale


@pytest.mark.parametrize("name", ("four-bar", "floating four-bar", "Bennett's linkage"))
def test_motions_of_a_batch_are_those_of_its_states(name, rng):
    """Lanes whose ranks and pivots differ, and controllers of every kind: compiled, Python, and constant."""
    loops = MECHANISMS[name]()
    robot = loops.robot
    q, qd = (np.array(x) for x in zip(*(moving(loops, rng, 0.1) for _ in range(10)), strict=True))
    tau = 0.1 * rng.normal(size=qd.shape)
    batch = loops.rollout(q, qd, tau, dt=1e-3, steps=30, integrator="rk4")
    assert batch.q.shape == (10, 31, robot.nq) and batch.residual.max() < 1e-12 and batch.energy.shape == (10, 31)
    single = loops.rollout(q[7], qd[7], tau[7], dt=1e-3, steps=30, integrator="rk4")
    assert np.abs(batch.q[7] - single.q).max() < 1e-9 and np.abs(batch.qd[7] - single.qd).max() < 1e-8

    def compiled(t, q, qd, tau):
        tau[-1] = 0.3 * np.sin(20.0 * t) - 0.1 * qd[-1]

    def python(t, q, qd):
        return np.r_[np.zeros(len(qd) - 1), 0.3 * np.sin(20.0 * t) - 0.1 * qd[-1]]
    for states in ((q[0], qd[0]), (q[:3], qd[:3])):
        motions = [loops.rollout(*states, effort, dt=1e-3, steps=30, integrator="rk4") for effort in (compiled, python)]
        assert np.abs(motions[0].q - motions[1].q).max() < 1e-12 and np.ptp(motions[0].energy, axis=-1).min() > 1e-9


@pytest.fixture
def followed(rng):
    """A five-bar of which one joint follows another, and the same with a gear in its place; a state and efforts of
    both; and the number of the joint that follows."""
    found = []
    for mimic in (None, sd.Mimic("A", -0.5, 0.1)):
        builder = sd.ModelBuilder("ground")
        y, options = (0, 1, 0), {"mass": 1.0, "inertia": np.diag((0.1, 0.2, 0.3)), "com": (0.3, 0.1, 0.2)}
        builder.add_screw("A", "one", "ground", y, (0, 0, 0), **options)
        builder.add_screw("E", "side", "ground", (0.6, 0, 0.8), (0, 0.5, 0), mimic=mimic, **options)
        builder.add_screw("B", "two", "one", y, (0, 0, 0.5), **options)
        builder.add_screw("C", "three", "two", y, (0.5, 0, 0.8), **options)
        builder.add_screw("D", "four", "three", y, (1.0, 0, 0.5), **options)
        frame = se3.exp(np.array((-np.pi / 2, 0, 0, 0, 0, 0)))
        frame[:3, 3] = 1.0, 0, 0
        loops = [LoopJoint("F", "revolute", "four", frame=frame)]
        gear = [Gear("G", {"E": 1.0, "A": 0.5}, 0.1)] if mimic is None else []
        found.append(ClosedLoopRobot(sd.Robot(builder.build()), [*loops, *gear]))
    geared, mimics = found
    q, qd = moving(mimics, rng)
    E = geared.robot.joint_names.index("E")
    at, rate, tau = (np.insert(x, E, y) for x, y in ((q, 0.1 - 0.5 * q[0]), (qd, -0.5 * qd[0]),
                                                     (rng.normal(size=mimics.robot.n), 0.0)))
    assert np.abs(geared.residual(at)).max() < 1e-12
    return (mimics, q, qd, np.delete(tau, E)), (geared, at, rate, tau), E


def test_loops_of_robots_with_mimic_joints_in_plain_python():
    """The same kernels, not compiled: in a second instead of a quarter of a minute."""
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "slow", "-p", "no:cacheprovider",
                    f"{__file__}::{test_loops_of_robots_with_mimic_joints.__name__}"], cwd=ROOT, check=True,
                   env=os.environ | {"NUMBA_DISABLE_JIT": "1"})


def test_loops_of_robots_with_mimic_joints(followed):
    """By the mass matrix, where the other is solved by articulated bodies."""
    (mimics, *state), (geared, *other), E = followed
    qdd, _, wrenches = mimics.forward_dynamics(*state)
    expected = geared.forward_dynamics(*other)
    assert np.abs(qdd - np.delete(expected.qdd, E)).max() < 1e-10 * np.abs(qdd).max()
    assert np.abs(wrenches["F"] - expected.wrenches["F"]).max() < 1e-9 * np.abs(wrenches["F"]).max()


def test_motions_and_batches_of_loops_with_mimic_joints(followed):
    (mimics, q, qd, tau), (geared, at, rate, _), E = followed
    motions = [x.rollout(*state, None, 1e-3, 50, "rk4") for x, state in ((mimics, (q, qd)), (geared, (at, rate)))]
    assert np.abs(motions[0].q - np.delete(motions[1].q, E, axis=1)).max() < 1e-9
    assert np.ptp(motions[0].energy) < 1e-6
    qdd, batch = (mimics.forward_dynamics(x, qd, tau).qdd for x in (q, np.tile(q, (3, 1))))
    assert np.abs(batch - qdd).max() < 1e-9 * np.abs(qdd).max()


def test_far_from_the_origin_and_fast_nothing_is_lost(rng):
    """A four-bar at the end of a tree that moves fast, a kilometer away."""
    found = []
    for far in (0.0, 1e3):
        bars = four_bar()
        place = np.eye(4)
        place[:3, 3] = far, -far, far
        moved = Linkage({name: part._replace(pose=place @ part.pose) for name, part in bars.parts.items()},
                        [pair._replace(frame=place @ pair.frame) for pair in bars.pairs]).closed(("C",))
        q = np.array((0.3, 0.1, -0.2))
        q = moved.project(q if not found else found[0][0], held=("A",))
        qd = moved.project_velocity(q, (2.0, 0.0, 0.0))
        found.append((q, qd, moved.forward_dynamics(q, qd, (0.1, 0.2, 0.3)).qdd))
    for near, far in zip(*found, strict=True):
        assert np.abs(near - far).max() < 1e-10 * max(1.0, np.abs(near).max())


def test_copies_are_the_same_mechanism():
    loops = ClosedLoopRobot(four_bar().closed(("D",)).robot, [Gear("G", {"A": 1, "B": -0.5}), Gear("H", {"C": 1}, 0.2)])
    for other in (pickle.loads(pickle.dumps(loops)), copy.deepcopy(loops)):
        assert repr(other) == repr(loops) and other.rows == loops.rows
        assert np.array_equal(other.residual((0.1, 0.2, 0.3)), loops.residual((0.1, 0.2, 0.3)))


def failing(t, q, qd):
    raise LookupError("no effort")


def test_wrong_settings_are_refused():
    loops = MECHANISMS["four-bar"]()
    q, rest = loops.robot.neutral(), np.zeros(3)
    with pytest.raises(ValueError, match="integrator .* 'euler' must be one of semi_implicit_euler, rk4, rk45, impl"):
        loops.rollout(q, rest, integrator="euler")
    for effort, says in ((3.0, r"effort has shape \(\), but must end in 3"),
                         ([0.0, np.inf, 0.0], r"effort\[1\] is inf"),
                         (lambda t, q, qd: None, "effort must be made of real numbers, not None")):
        with pytest.raises(ValueError, match=says):
            loops.rollout(q, rest, effort, steps=1, integrator="rk4")
    with pytest.raises(ValueError, match=r"weights must be > 0, not \[1.0, 0.0, 1.0\]"):
        loops.inverse_dynamics(q, rest, rest, weights=(1.0, 0.0, 1.0))
    with pytest.raises(ValueError, match="locked: joint 'Z' does not exist"):
        loops.mobility(q, locked="Z")
    with pytest.raises(ValueError, match="preferred has shape"):
        loops.inverse_dynamics(q, rest, rest, preferred=(1.0, 0.0))
    with pytest.raises(ValueError, match="Jacobian is not finite: is q finite"):
        loops.forward_dynamics(np.nan * q, rest, rest)
    with pytest.raises(ValueError, match="actuated: joint 'Z' does not exist"):
        loops.inverse_dynamics(q, rest, rest, ("Z",))


@pytest.mark.parametrize("lead", [(), (2,)])
def test_open_starts_are_told(lead, rng):
    """Of a batch the first state alone is open. What rounding opens is not told."""
    loops = MECHANISMS["four-bar"]()
    q, qd = moving(loops, rng)
    first = np.ones(1) if not lead else np.array(((1.0,), (0.0,)))
    open_q, open_qd = q + 0.1 * first * (1.0, 0.0, 0.0), qd + 0.1 * first * (1.0, 0.0, 0.0)
    for state, says in (((open_q, qd), r"q0 leaves 'C' \([0-9.]+ rad or m\) open: start at project"),
                        ((q, open_qd), r"qd0 opens 'C' \([0-9.]+ rad/s or m/s\): start with project_velocity")):
        with pytest.warns(UserWarning, match=says) as caught:
            loops.rollout(*state, steps=1)
        assert [x.filename for x in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loops.rollout(np.broadcast_to(q, (*lead, 3)) + 1e-9, 1e3 * qd + 1e-7, steps=1)


def test_simulations_that_fail_say_why():
    loops = MECHANISMS["four-bar"]()
    q, rest = loops.robot.neutral(), np.zeros(3)
    with pytest.raises(ValueError, match=r"effort has shape \(2,\), but must end in 3"):
        loops.rollout(q, rest, lambda t, q, qd: [1.0, 2.0], integrator="rk4")
    with pytest.raises(LookupError, match="no effort"):
        loops.rollout(q, rest, failing, integrator="rk4")
    with pytest.raises(ArithmeticError, match="opened too far by t = .* shorter steps may help: .* in 'C'"):
        loops.rollout(q, rest, (1e4, 0.0, 0.0), dt=0.5, integrator="rk4")
    with pytest.raises(ArithmeticError, match=r"t = 0\.004 s on: effort\[0\] of the controller .*lambda.* is nan at "
                                              r"t = 0\.003 s"):
        loops.rollout(q, rest, lambda t, q, qd: [np.nan if t > 2.5e-3 else 1.0, 0.0, 0.0], dt=1e-3, steps=6)
    with pytest.raises(ArithmeticError, match="by t = 0.5 s"):
        loops.rollout(np.tile(q, (9, 1)), rest, np.outer(np.arange(9) == 5, (1e4, 0, 0)), 0.5, 2, "rk4")


def test_a_tree_without_inertia_is_refused_and_one_without_loops_is_itself(rng):
    bars = four_bar()
    light = bars.parts | {"rocker": bars.parts["rocker"]._replace(inertia=np.zeros((6, 6)))}
    loops = bars._replace(parts=light).closed(("D",))
    with pytest.raises(ValueError, match="mass matrix of the tree is singular: a joint moves no inertia"):
        loops.forward_dynamics(loops.robot.neutral(), np.zeros(3), np.zeros(3))
    robot = four_bar().closed(("D",)).robot
    tree, (q, qd, tau) = ClosedLoopRobot(robot, []), rng.normal(size=(3, 3))
    assert tree.mobility(q) == (3, 0, 0, {}, False)
    assert np.array_equal(tree.project(q), q) and np.array_equal(tree.project_velocity(q, qd), qd)
    assert np.abs(tree.forward_dynamics(q, qd, tau).qdd - robot.forward_dynamics(q, qd, tau)).max() < 1e-12
    assert np.abs(tree.inverse_dynamics(q, qd, tau).tau - robot.inverse_dynamics(q, qd, tau)).max() < 1e-12
