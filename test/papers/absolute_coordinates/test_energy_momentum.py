"""The energy-momentum method: what it keeps, its order, kinds of joints, springs; discrete gradients by their law."""
import numpy as np
import pytest
from scipy.linalg import expm

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import (
    DIRECT,
    SEMIDIRECT,
    Body,
    Joint,
    JointSpring,
    MultibodySystem,
    Spring,
    simulate,
)
from screw_dynamics.papers.absolute_coordinates.discrete_gradient import Ends, cayley, of_products
from screw_dynamics.papers.absolute_coordinates.energy_momentum import EnergyMomentum
from screw_dynamics.screws.arrays import tilde
from studies.examples import examples
from support.random_trees import random_body, random_pose

SYSTEMS = {e.name: e.system for e in examples()}
KINDS = ("revolute", "prismatic", "cylindrical", "helical", "spherical", "planar", "universal", "fixed")


def chain(rng, kinds, ground=True, springs=()):
    """Bodies with frames off their centers of mass, joined one to the next."""
    names = [f"body {k}" for k in range(len(kinds) + (not ground))]
    bodies = [Body(name, sd.inertia_matrix(*random_body(rng)), random_pose(rng), rng.normal(size=6)) for name in names]
    pairs = zip(kinds, names[not ground:], [*((None,) if ground else ()), *names], strict=False)
    joints = [Joint(f"joint {k}", kind, body, random_pose(rng), on, pitch=0.3 * (kind == "helical"))
              for k, (kind, body, on) in enumerate(pairs)]
    return MultibodySystem(bodies, joints, springs, (0.0, 0.0, -9.81) if ground else (0.0, 0.0, 0.0))


def energies(system, motion):
    E = np.array([system.energy(*state) for state in zip(motion.poses, motion.velocities, strict=True)])
    return np.abs(E - E[0]).max() / max(map(system.kinetic_energy, motion.poses, motion.velocities))


def open_by(system, motion):
    return max(np.abs(system.residuals(poses)).max() for poses in motion.poses)


@pytest.mark.parametrize("kinds", [KINDS[:4], KINDS[4:]])
def test_energy_and_joints_of_every_kind(rng, kinds):
    springs = [Spring("body 2", (0.1, 0.2, 0.3), "body 0", stiffness=50.0, length=0.3),
               Spring("body 3", stiffness=20.0)]
    springs += [JointSpring("joint 0", 30.0, rest=0.2), JointSpring("joint 1", 40.0)] if kinds[0] == "revolute" else []
    system = chain(rng, kinds, springs=springs)
    assert sum(system.redundancy().values()) == 0
    motion = simulate(system, 0.2, 5e-3, "energy_momentum")
    assert np.abs(motion.poses[-1] - motion.poses[0]).max() > 0.1
    assert energies(system, motion) < 1e-13 and open_by(system, motion) < 1e-14
    by_rk4 = simulate(system, 0.2, 5e-3)
    assert energies(system, by_rk4) > 1e-9           # what others do in these steps
    assert np.abs(by_rk4.poses[-1] - motion.poses[-1]).max() < 1e-2


@pytest.mark.parametrize("group", (SEMIDIRECT, DIRECT))
def test_momenta_of_what_floats(rng, group):
    springs = [Spring("body 2", (0.1, 0.2, 0.3), "body 0", stiffness=50.0, length=0.3), JointSpring("joint 0", 30.0)]
    system = chain(rng, ("revolute", "helical", "cylindrical"), ground=False, springs=springs).with_groups(group)
    motion = simulate(system, 0.3, 1e-2, "energy_momentum")
    P = np.array([system.momentum(*state) for state in zip(motion.poses, motion.velocities, strict=True)])
    assert np.abs(P - P[0]).max() < 1e-13 * np.abs(P).max() and energies(system, motion) < 1e-13


@pytest.mark.parametrize("name", ("heavy_top", "four_bar", "cardan"))
def test_order_2_against_rk4(name):
    system = SYSTEMS[name]
    expected = simulate(system, 0.1, 1e-3).poses[-1]
    errors = [np.abs(simulate(system, 0.1, dt, "energy_momentum").poses[-1] - expected).max() for dt in (4e-3, 2e-3)]
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.15


def test_velocities_satisfy_the_constraints_to_order_2():
    system, found = SYSTEMS["heavy_top"], []
    for dt in (4e-3, 2e-3):
        motion = simulate(system, 0.2, dt, "energy_momentum")
        found.append(max(np.abs(system.velocity_residuals(*state)).max()
                         for state in zip(motion.poses, motion.velocities, strict=True)))
    assert abs(np.log2(found[0] / found[1]) - 2.0) < 0.3


def test_projected_velocities_keep_the_energy_and_the_order():
    system, errors = SYSTEMS["four_bar"], []
    expected = simulate(system, 0.1, 1e-3).poses[-1]
    for dt in (4e-3, 2e-3):
        motion = simulate(system, 0.1, dt, "energy_momentum", projection="velocities")
        states = list(zip(motion.poses, motion.velocities, strict=True))
        assert max(np.abs(system.velocity_residuals(*state)).max() for state in states) < 1e-13
        assert energies(system, motion) < 1e-13 and open_by(system, motion) < 1e-14
        errors.append(np.abs(motion.poses[-1] - expected).max())
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.15


@pytest.mark.slow
def test_dampers_and_wrenches_do_the_work_that_is_missed(rng):
    def push(t, poses, twists):
        return np.array([(0.3, 0.1, -0.2, np.sin(5.0 * t), 2.0, 0.5)]) - 0.1 * twists
    errors = []
    for dt in (4e-3, 2e-3):
        rng = np.random.default_rng(3)
        body = Body("body", sd.inertia_matrix(*random_body(rng)), random_pose(rng), rng.normal(size=6))
        pivot = Joint("pivot", "revolute", "body", random_pose(rng))
        springs = [Spring("body", (0.2, 0.1, 0.0), stiffness=30.0, damping=2.0), JointSpring("pivot", 5.0, 0.3)]
        system = MultibodySystem([body], [pivot], springs, wrenches=push)
        motion = simulate(system, 0.1, dt, "energy_momentum")
        errors.append(np.abs(motion.poses[-1] - simulate(system, 0.1, 1e-3).poses[-1]).max())
    assert errors[1] < 1e-4 and abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.15


def test_cayley_is_a_turn(rng):
    x = rng.normal(size=3)
    angle = 2.0 * np.arctan(np.linalg.norm(x) / 2)
    assert np.abs(cayley(x) - expm(angle * tilde(x) / np.linalg.norm(x))).max() < 1e-15
    assert np.abs((np.eye(3) - tilde(x) / 2) @ cayley(x) - np.eye(3) - tilde(x) / 2).max() < 1e-15


def test_residuals_change_by_their_gradient_with_mean_arms(rng):
    system = chain(rng, KINDS[:3])
    method, g = EnergyMomentum(system), system.initial().poses
    w, v, h = rng.normal(size=(2, 3, 3)).tolist() + [0.7]
    ends = method._ends(g, h, np.array(w), np.array(v))
    assert isinstance(ends, Ends)
    changed = system.constraints.residuals(ends.R1, ends.r1) - system.constraints.residuals(ends.R0, ends.r0)
    W = np.concatenate((ends.turns, ends.r1 - ends.r0), axis=1)         # h v of the frames' origins
    by_body, by_other = of_products(system.constraints, system.constraints.slides, ends)
    rates = (by_body * W[system.constraints.body]).sum(axis=1) + (by_other * W[system.constraints.on]).sum(axis=1)
    assert np.abs(changed).max() > 0.1 and np.abs(rates - changed).max() < 1e-14


def test_arguments_that_make_no_sense():
    with pytest.raises(ValueError, match=r"baumgarte must be \(0, 0\), not \(1.0, 1.0\)"):
        top = SYSTEMS["heavy_top"]
        simulate(MultibodySystem(top.bodies, top.joints, baumgarte=(1.0, 1.0)), 0.1, 1e-2, "energy_momentum")
    with pytest.raises(ArithmeticError, match="the iteration did not converge at t = 0 s: shorter steps than 5 s"):
        simulate(SYSTEMS["double_pendulum"], 10.0, 5.0, "energy_momentum")


@pytest.mark.slow
def test_energy_of_a_robot_with_a_loop_over_many_steps():
    from studies.drift_loops import in_absolute_coordinates
    found = in_absolute_coordinates("energy_momentum", None, 1_000)
    assert found["largest"] < 1e-12 and found["residual"] < 1e-14
