"""Forces that a robot has of its own act wherever it moves, as if they were given; friction among them is friction."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.forces import without_friction
from screw_dynamics.model.drives import without_drives
from screw_dynamics.model.joining import Mounted, join

OWN = [forces.Spring({"waist": 1.0, "lift": -0.5}, 30.0, 0.2), forces.PointSpring("gripper", 40.0, 1.0, 0.2),
       forces.Drag("boom", 0.3, 0.1, flow=(1.0, 0.5, 0.0)),
       forces.LinkWrench("gripper", (0, 0, 1.0, 2.0, 0, 0), "root")]
FALLING = forces.Friction("lift", 0.2, 0.5, 0.9, 0.05)


@pytest.fixture(scope="module")
def robot():
    return sd.Robot.from_urdf("urdf/spherical_arm.urdf")


@pytest.fixture
def state(rng, robot):
    return rng.uniform(-0.3, 0.3, (2, robot.n))


@pytest.mark.slow
def test_they_act_as_if_they_were_given(robot, state):
    own = robot.with_forces(OWN)
    assert own.forces == tuple(OWN) and robot.forces == () and own.with_forces([]).model.digest == robot.model.digest
    for options in ({}, {"integrator": "rk4"}):
        for a, b in zip(own.rollout(*state, dt=1e-3, steps=5, limits=False, **options),
                        robot.rollout(*state, dt=1e-3, steps=5, limits=False, forces=OWN, **options), strict=True):
            assert np.array_equal(a, b)
    for a, b in zip(own.step(*state, np.ones(3), 1e-3), robot.step(*state, np.ones(3), 1e-3, forces=OWN), strict=True):
        assert np.array_equal(a, b)
    np.testing.assert_array_equal(own.drive_torque(*state), robot.total_force(OWN).efforts(*state))
    np.testing.assert_array_equal(own.drive_energy(state[0]), robot.total_force(OWN).potential_energy(state[0]))


@pytest.mark.slow
def test_the_energy_balance_of_a_motion_with_them_closes(robot, state):
    own = robot.with_forces([*OWN, FALLING])
    motion = own.rollout(*state, dt=1e-4, steps=2000, integrator="rk4", limits=False, friction=True, record="energy")
    energy = motion.recorded["energy"]
    assert energy.friction[-1] > 0.01 and abs(energy.residual).max() < 1e-9


@pytest.mark.slow
def test_friction_among_them_is_that_of_hess_and_soom_and_acts_where_friction_does(robot, state):
    own, qd = robot.with_forces([FALLING]), np.array([0.3, -0.04, 0.1])
    expected = 0.2 * 0.04 + 0.5 + 0.4 / (1.0 + (0.04 / 0.05) ** 2)
    np.testing.assert_allclose(own.friction_torque(qd), [0.0, -expected, 0.0], rtol=1e-15)
    assert not own.drive_torque(state[0], qd).any()
    free, rubbing = (own.rollout(*state, dt=1e-3, steps=5, friction=friction)[2] for friction in (False, True))
    assert np.array_equal(free, robot.rollout(*state, dt=1e-3, steps=5)[2])
    assert np.array_equal(rubbing, robot.rollout(*state, dt=1e-3, steps=5, forces=[FALLING])[2])
    assert np.array_equal(own.step(*state, np.zeros(3), 1e-3, friction=True)[1],
                          robot.step(*state, np.zeros(3), 1e-3, forces=[FALLING])[1])
    assert not without_friction(own.model).forces


def test_a_robot_on_another_root_takes_them_along(robot, state):
    """Efforts do not depend on where, and how turned, a robot without gravity is mounted."""
    turned = np.eye(4)
    turned[:3] = [[0, -1, 0, 0.3], [0, 0, -1, 0.1], [1, 0, 0, 0.2]]
    own = robot.with_gravity((0, 0, 0)).with_forces([*OWN, FALLING])
    both = sd.Robot(join(own.model, [Mounted(own.model, "b/", turned)]), (0, 0, 0))
    assert len(both.forces) == 2 * len(own.forces) and both.forces[-1].joint == "b/lift"
    q, qd = np.tile(state, 2)
    expected = own.drive_torque(*state) - own.friction_torque(state[1])
    np.testing.assert_allclose(both.drive_torque(q, qd) - both.friction_torque(qd), np.tile(expected, 2), rtol=1e-12,
                               atol=1e-12)


def test_those_on_a_motor_go_with_it(robot):
    driven = robot.with_drives({"lift": sd.Drive(1e-4, 80.0, 2000.0)}).with_forces(
        [forces.Friction("lift_motor", 0.1), FALLING])
    assert without_drives(driven.model).forces == (FALLING,)


def test_what_no_robot_can_have_of_its_own_is_refused(robot):
    def push(t, q, qd, p, tau):
        tau[0] = 1.0
    for wrong, says in (([forces.Custom(push)], "with_forces: Custom.*must be one of Drag, Friction"),
                        ([forces.Friction("elbow", 0.1)], "joint 'elbow' does not exist"),
                        (3, "forces must be a list of elements")):
        with pytest.raises(ValueError, match=says):
            robot.with_forces(wrong)


@pytest.mark.slow
def test_a_compiled_controller_is_told_that_it_would_not_have_all_friction(robot, state):
    from screw_dynamics.numbers.values import PLAIN

    def compensate(robot, t, q, qd, tau):
        tau[:] = robot.friction_torque(qd)
    own = robot.with_forces([FALLING])
    if PLAIN:
        own.rollout(*state, effort=compensate, dt=1e-3, steps=2)
    else:
        with pytest.raises(ValueError, match=r"controller cannot call robot.friction_torque of a robot with friction"):
            own.rollout(*state, effort=compensate, dt=1e-3, steps=2)
