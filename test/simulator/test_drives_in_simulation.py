"""A simulated robot whose joints are behind springs: commands move motors, sensors are on either side of the spring."""
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.elastic_joints import ElasticJoints
from screw_dynamics.analysis.spring_laws import give
from screw_dynamics.model.drive import Antagonistic, Hardening, LeverArm, Table, Thermal, TorqueSpeed
from screw_dynamics.simulator.heat import Heat
from screw_dynamics.simulator.limits import EnforcedLimits
from screw_dynamics.simulator.motors import actuated_joints, at_rest, command_names
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.simulator.trajectory_goal import GoalError, GoalRules, read_points
from support.paths import ROOT

ARM = sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf")
HARD = Hardening((2000.0, 1e6))
SOFT = ARM.with_drives({"lift": sd.Drive(1e-4, 80.0, HARD, 2.0), "slide": sd.Drive(1e-4, 200.0, 5000.0, 20.0)})
LIFT, SLIDE, LIFT_MOTOR, SLIDE_MOTOR = 1, 2, 3, 4
START = {"lift": 0.4, "slide": 0.1}


def simulation(robot=SOFT, **settings):
    return Simulation(robot, Settings(**{"dt": 5e-4, "hold_until_first_command": False, **settings}), START)


def test_names_of_commands_are_those_of_joints_and_of_what_stiffens_them():
    robot = ARM.with_drives({"waist": sd.Drive(1e-4, 80.0, Antagonistic(HARD)),
                             "slide": sd.Drive(1e-4, 80.0, LeverArm((10.0, 0.0, 1.0), 0.1, 0.0, 1.0))})
    assert command_names(robot.model) == ("waist_link", "lift", "slide_link", "waist_motor_1", "waist_motor_2", "slide",
                                          "slide_lever")
    assert actuated_joints(robot.model) == ("lift", "waist_motor_1", "waist_motor_2", "slide", "slide_lever")
    assert command_names(ARM.model) == actuated_joints(ARM.model) == ARM.joint_names


@pytest.mark.slow
def test_motors_start_where_springs_carry_the_links():
    robot = ARM.with_drives({"lift": sd.Drive(1e-4, 80.0, HARD),
                             "slide": sd.Drive(1e-4, 80.0, LeverArm((5000.0, 0.0, 100.0), 0.1, 0.0, 1.0))})
    q = np.array([0.0, 0.4, 0.1, 0.0, 0.0, 0.0])
    expected = ElasticJoints(robot).equilibrium(q[:3]).q
    assert abs(at_rest(robot, q) - expected).max() < 1e-15
    assert abs(Simulation(robot, Settings(), START).q - expected).max() < 1e-15


@pytest.mark.slow
def test_held_by_its_motors_a_robot_hangs_still_on_its_springs():
    """The spring's torque is what a torque sensor in the joint measures, and the motor's is the same at rest."""
    made = simulation(command_mode="position", command_timeout=0.0)
    start = made.q.copy()
    made.command(np.where(np.arange(5) >= LIFT_MOTOR, start, [0.0, np.nan, np.nan, 0.0, 0.0]))
    made.advance(2000)
    assert abs(made.q - start).max() < 1e-9
    state, weight = made.joint_state(), ARM.gravity_torque(start[:3])
    assert state.names == SOFT.joint_names
    for joint, motor in ((LIFT, LIFT_MOTOR), (SLIDE, SLIDE_MOTOR)):
        assert state.effort[joint] == pytest.approx(weight[joint], rel=1e-6)
        assert state.effort[motor] == pytest.approx(weight[joint], rel=1e-6)


@pytest.mark.slow
def test_motors_that_several_joints_turn_are_commanded_by_their_own_names():
    """A differential: at rest where its springs carry the links, whose weight is what sensors in the joints measure."""
    robot = ARM.with_drives({"lift": sd.Drive(1e-4, 80.0, HARD, coupling={"waist": 1.0}),
                             "waist": sd.Drive(1e-4, -80.0, 3000.0, coupling={"lift": -0.5})})
    assert actuated_joints(robot.model) == ("slide", "lift_motor", "waist_motor")
    made = simulation(robot, command_mode="position", command_timeout=0.0)
    start = made.q.copy()
    assert abs(start - ElasticJoints(robot).equilibrium(start[:3]).q).max() < 1e-15
    made.command(np.where(np.arange(5) >= 2, start, np.nan))
    made.advance(2000)
    state, weight = made.joint_state(), ARM.gravity_torque(start[:3])
    assert abs(made.q - start).max() < 1e-9 and abs(state.effort[:3] - weight).max() < 1e-6
    assert abs(state.effort[[4, 3]] - np.linalg.solve([[1.0, 1.0], [-0.5, 1.0]], weight[:2])).max() < 1e-6
    made.reset_to(["lift"], [0.3], [2.0])
    assert made.qd.tolist() == [0.0, 2.0, 0.0, 2.0, -1.0]
    limits = EnforcedLimits(ARM.with_drives({"lift": sd.Drive(1e-4, 80.0, 9.0, coupling={"slide": -2.0})}).model, True)
    gives = 80.0 / 9.0
    assert [limits.lowest[3], limits.highest[3]] == pytest.approx([-1.2 - 2.0 * 0.6 - gives, 1.2 + 2.0 * 0.2 + gives],
                                                                  rel=1e-15)


@pytest.mark.slow
def test_an_effort_on_a_joint_is_its_motors_and_energies_are_accounted_for():
    """As in a rollout of the robot with drives."""
    made = simulation(energy_balance=True, joint_friction=False)
    start, effort = made.q.copy(), np.array([0.3, np.nan, np.nan, 12.0, -3.0])
    made.command(effort)
    made.advance(400)
    tau = np.array([0.3, 0.0, 0.0, 12.0, -3.0])
    t, q, qd = SOFT.rollout(start, np.zeros(5), tau, 5e-4, 400)
    assert abs(made.q - q[-1]).max() < 1e-12 and abs(made.qd - qd[-1]).max() < 1e-11
    expected, account = SOFT.energy_balance(t, q, qd, tau), made.account()
    assert account.energy_residual == pytest.approx(expected.residual[-1], rel=1e-9)
    finer = SOFT.energy_balance(*SOFT.rollout(start, np.zeros(5), tau, 5e-5, 4000), tau)
    assert abs(finer.residual[-1]) < 0.2 * abs(account.energy_residual)     # of order 1


@pytest.mark.slow
def test_modes_and_faults_of_a_joint_are_those_of_its_motor():
    made = simulation()
    made.set_modes({"lift": "position"})
    target = made.q[LIFT_MOTOR] + 0.1
    made.command(np.array([0.0, np.nan, np.nan, target, 0.0]))
    made.advance(2000)
    assert made.q[LIFT_MOTOR] == pytest.approx(target, abs=1e-3)
    made.inject("joint_stuck", "lift")
    before = made.q[LIFT_MOTOR]
    made.command(np.array([0.0, np.nan, np.nan, target - 0.2, 0.0]))
    made.advance(500)
    assert made.q[LIFT_MOTOR] == before
    with pytest.raises(ValueError, match="unknown joint 'lift_motor'"):
        made.set_modes({"lift_motor": "effort"})


@pytest.mark.parametrize("mode", ["effort", "velocity"])
def test_a_motor_speeds_up_as_its_line_of_torque_over_speed_says(mode):
    """J w' = stall (1 - w / no_load): w = no_load (1 - exp(-t stall / (J no_load))), whatever is commanded beyond."""
    column = sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf", tip_link="column")
    robot = column.with_drives({"waist": sd.Drive(1e-4, -80.0, torque_speed=TorqueSpeed(0.5, 400.0))})
    robot = sd.Robot(replace(robot.model, effort_limit=np.array([1e3]), velocity_limit=np.array([np.inf])))
    made = Simulation(robot, Settings(dt=1e-4, command_mode=mode, command_timeout=0.0, joint_friction=False,
                                      servo_bandwidth=1000.0))
    made.command(np.array([500.0]))
    inertia, stall, no_load = robot.mass_matrix(np.zeros(1))[0, 0], 0.5 * 80.0, 400.0 / 80.0
    found = [made.qd[0]]
    for _ in range(600):
        made.advance(5)
        found.append(made.qd[0])
    t, rate = 5e-4 * np.arange(601), stall / (inertia * no_load)
    assert rate * t[-1] > 3.0
    np.testing.assert_allclose(found, no_load * (1.0 - (1.0 - 1e-4 * rate)**(t / 1e-4)), rtol=1e-9, atol=1e-12)
    assert made.saturated[0] == 3000 and found[-1] == pytest.approx(no_load * (1.0 - np.exp(-rate * t[-1])), rel=1e-3)
    lowest, highest = robot.effort_bounds(np.array([[0.0], [2.5], [-2.5], [6.0], [-500.0]]))
    assert highest.ravel().tolist() == pytest.approx([40.0, 20.0, 60.0, 0.0, 1e3])
    assert (-lowest.ravel()).tolist() == pytest.approx([40.0, 60.0, 20.0, 88.0, 0.0])
    free = Simulation(robot, Settings(dt=1e-4, command_timeout=0.0, joint_friction=False, enforce_limits=False))
    free.command(np.array([500.0]))
    free.advance(10)
    assert free.qd[0] == pytest.approx(500.0 / inertia * 1e-3, rel=1e-12)


@pytest.mark.slow
def test_a_motor_warms_up_and_gives_what_it_can_for_ever():
    """R C T' = ambient + R (u / k)^2 - T, until it would be too warm; brakes let it cool, and so does a reset."""
    thermal = Thermal(motor_constant=0.1, resistance=2.0, capacity=4.0, highest=100.0, ambient=20.0)
    robot = ARM.with_drives({"slide": sd.Drive(1e-4, -50.0, thermal=thermal), "lift": sd.Drive(1e-4, 80.0, HARD,
                                                                                                thermal=thermal)})
    robot = sd.Robot(replace(robot.model, effort_limit=np.full(4, np.inf)))
    lasting = 0.1 * np.sqrt(80.0 / 2.0) * 50.0
    assert thermal.lasting_torque * 50.0 == pytest.approx(lasting, rel=1e-15)

    def made(advanced):
        simulated = Simulation(robot, Settings(dt=1e-3, command_timeout=0.0), START)
        simulated.command(np.array([0.0, np.nan, 1.5 * lasting, 0.0]))
        for steps in advanced:
            simulated.advance(steps)
        return simulated

    one, other = made([4000]), made([1, 699, 77, 3223])
    assert one.heat.names == ("slide", "lift_motor")
    steady = 20.0 + 2.0 * (1.5 * lasting / 50.0 / 0.1)**2
    assert one.heat.temperatures.tolist() == pytest.approx([steady + (20.0 - steady) * np.exp(-4.0 / 8.0), 20.0])
    assert (one.heat.temperatures == other.heat.temperatures).all() and (one.q == other.q).all()
    warm = []
    for _ in range(300):
        one.advance(200)
        warm.append(one.heat.temperatures[0])
    assert max(warm) <= 100.0 + 1e-9 and warm[-1] == pytest.approx(100.0, abs=1e-3) and one.saturated[2] > 50_000
    assert one.joint_state().effort[2] == pytest.approx(lasting, rel=1e-6)
    one.inject("joint_stuck", "slide")
    one.advance(8000)
    assert one.heat.temperatures[0] == pytest.approx(20.0 + 80.0 * np.exp(-1.0), rel=1e-3)
    one.reset()
    assert one.heat.temperatures.tolist() == [20.0, 20.0]
    free = Simulation(robot, Settings(dt=1e-3, command_timeout=0.0, enforce_limits=False), START)
    free.command(np.array([0.0, np.nan, 1.5 * lasting, 0.0]))
    free.advance(30_000)
    assert free.heat.temperatures[0] == pytest.approx(steady + (20.0 - steady) * np.exp(-30.0 / 8.0)) and not (
        free.saturated.any())


def test_what_limits_a_motor_limits_each_of_two_on_a_joint():
    thermal = Thermal(motor_constant=0.1, resistance=2.0, capacity=4.0)
    robot = ARM.with_drives({"lift": sd.Drive(1e-4, -50.0, Antagonistic(HARD), thermal=thermal,
                                              torque_speed=TorqueSpeed(0.5, 400.0))})
    robot = sd.Robot(replace(robot.model, effort_limit=np.full(5, np.inf)))
    lowest, highest = robot.effort_bounds(np.array([0.0, 7.0, 0.0, 2.0, -4.0]))
    assert highest.tolist() == pytest.approx([np.inf] * 3 + [25.0 * 0.75, 25.0 * 1.5], rel=1e-15)
    assert lowest.tolist() == pytest.approx([-np.inf] * 3 + [-25.0 * 1.25, -25.0 * 0.5], rel=1e-15)
    ends = np.array([np.inf, -np.inf, np.nan, np.inf, -np.inf])      # where nothing limits, whatever the velocity
    assert robot.effort_bounds(ends)[1].tolist() == [np.inf, np.inf, np.inf, 0.0, np.inf]
    assert robot.effort_bounds(ends)[0].tolist() == [-np.inf, -np.inf, -np.inf, -np.inf, 0.0]
    heat = Heat(robot.model, Settings(dt=1e-3))
    heat.warm(np.array([[0.0, 0.0, 0.0, 30.0, -20.0]]))
    assert heat.names == ("lift_motor_1", "lift_motor_2")
    warmed = np.array([30.0, 20.0])**2 * (1e-3 / (4.0 * (0.1 * 50.0)**2))
    assert heat.temperatures - 25.0 == pytest.approx(warmed, rel=1e-3)


@pytest.mark.slow
def test_a_step_of_the_motor_makes_the_link_swing_at_its_resonance():
    """With a stiff position servo of the motor: the frequency is that with locked motors."""
    robot = ARM.with_drives({"lift": sd.Drive(1e-4, 80.0, 3000.0)})
    made = Simulation(robot, Settings(dt=2e-4, servo_bandwidth=1000.0, command_mode="position", command_timeout=0.0,
                                      joint_friction=False, hold_until_first_command=False), START)
    target = made.q.copy()
    made.advance(1)
    target[3] += 2e-3
    made.command(np.array([0.0, np.nan, 0.1, target[3]]))
    made.advance(500)
    found = []
    for _ in range(5000):
        made.advance(1)
        found.append(made.q[LIFT])
    swing = np.array(found) - np.mean(found)
    crossings = np.flatnonzero(np.diff(np.sign(swing)) > 0)
    frequency = (len(crossings) - 1) / ((crossings[-1] - crossings[0]) * 2e-4)
    locked = ElasticJoints(robot).resonances(made.q, motors="locked")
    alone = np.argmax(abs(locked.shapes[LIFT]))
    assert frequency == pytest.approx(locked.frequencies[alone], rel=0.02)


def test_a_joint_with_the_name_of_a_link_behind_a_spring_is_refused():
    builder = sd.ModelBuilder("base")
    builder.add_screw("a", "first", "base", (0.0, 0.0, 1.0), mass=1.0, com=(0.1, 0.0, 0.0))
    builder.add_screw("a_link", "second", "first", (0.0, 1.0, 0.0), mass=1.0, com=(0.1, 0.0, 0.0))
    robot = sd.Robot(builder.build()).with_drives({"a": sd.Drive(1e-3, 50.0, 900.0)})
    with pytest.raises(ValueError, match="joint 'a_link' has the name of a link behind a spring"):
        Simulation(robot, Settings())


@pytest.mark.slow
def test_positions_that_a_joint_cannot_have_are_clipped_or_refused_though_a_motor_has_no_ends():
    made = simulation(command_mode="position")
    upper, effort = ARM.model.upper[LIFT], ARM.model.effort_limit[LIFT]
    gives, = (x.real for x in np.roots([1e6, 0.0, 2000.0, -effort]) if abs(x.imag) < 1e-12)
    assert np.isfinite(upper) and made.limits.upper[LIFT_MOTOR] == np.inf
    made.command(np.array([0.0, np.nan, np.nan, upper + 3.0, 0.0]))
    made.advance(1)
    assert made.saturated[LIFT_MOTOR] == 1 and made._drives.value[LIFT_MOTOR] == pytest.approx(
        upper + gives, rel=1e-12)
    msg = SimpleNamespace(joint_names=["lift"], points=[SimpleNamespace(
        positions=[upper + 0.1], velocities=[], accelerations=[], effort=[],
        time_from_start=SimpleNamespace(sec=1, nanosec=0))])
    with pytest.raises(GoalError, match=f"joint 'lift': position {upper + 0.1} is outside its limits"):
        read_points(msg, GoalRules(("lift",)), SOFT.model, made.limits)


@pytest.mark.slow
def test_a_link_is_held_at_its_limit_by_a_motor_beyond_it():
    """There the spring carries it: the motor may be as far beyond as that takes."""
    upper = ARM.model.upper[LIFT]
    made = Simulation(SOFT, Settings(dt=5e-4, hold_until_first_command=False, command_mode="position",
                                     command_timeout=0.0), {"lift": upper, "slide": 0.1})
    beyond = made.q[LIFT_MOTOR]
    assert beyond > upper + 0.003
    made.command(np.array([0.0, np.nan, np.nan, beyond, made.q[SLIDE_MOTOR]]))
    made.advance(1000)
    assert made.q[LIFT] == pytest.approx(upper, abs=1e-9) and not made.saturated[[LIFT_MOTOR, SLIDE_MOTOR]].any()


@pytest.mark.parametrize("stiffness, gives", [
    (LeverArm((4.0, -8.0, 8.0), 0.1, 0.0, 1.0), 10.0 / 2.0), (LeverArm((4.0, 2.0, 0.0), 0.1, 1.0, 3.0), 10.0 / 6.0),
    (Antagonistic(Hardening((5.0,))), 2.0), (Table((0.1, 0.3), (2.0, 6.0)), 0.5)])
def test_springs_give_way_to_an_effort_as_far_as_they_do_where_they_are_softest(stiffness, gives):
    assert give(sd.Drive(1.0, stiffness=stiffness), 10.0) == pytest.approx(gives, rel=1e-14)
    assert give(sd.Drive(1.0, stiffness=stiffness), np.inf) == np.inf
    assert give(sd.Drive(1.0, stiffness=4.0, backlash=0.2), 2.0) == pytest.approx(0.6, rel=1e-14)


def test_efforts_in_a_trajectory_of_a_motor_behind_a_spring_are_refused():
    """They would replace the effort that it has to give, which its own way alone does not say."""
    made = simulation()
    msg = SimpleNamespace(joint_names=["waist", "lift"], points=[SimpleNamespace(
        positions=[0.1, 0.2], velocities=[], accelerations=[], effort=[3.0, 0.0],
        time_from_start=SimpleNamespace(sec=1, nanosec=0))])
    assert (read_points(msg, GoalRules(("waist", "lift")), SOFT.model, made.limits).effort == [[3.0, 0.0]]).all()
    msg.points[0].effort[1] = 2.0
    with pytest.raises(GoalError, match="point 0, joint 'lift': effort 2.0 is given, but its motor is behind a spring"):
        read_points(msg, GoalRules(("waist", "lift")), SOFT.model, made.limits)


def test_noise_and_resets_leave_motors_where_springs_carry_the_links():
    made = simulation(initial_noise=0.05)
    assert abs(made.q[:3] - [0.0, 0.4, 0.1]).max() > 1e-3
    assert abs(at_rest(SOFT, made.q) - made.q).max() == 0.0
    made.reset_to(["lift"], [0.7], [2.0])
    assert abs(at_rest(SOFT, made.q) - made.q).max() == 0.0
    assert made.qd[LIFT] == made.qd[LIFT_MOTOR] == 2.0 and made.qd[SLIDE_MOTOR] == 0.0
    made.reset_to(["lift", "lift_motor"], [0.7, 0.75])
    assert made.q[LIFT_MOTOR] == 0.75 and made.q[SLIDE_MOTOR] == at_rest(SOFT, made.q)[SLIDE_MOTOR]
    with pytest.raises(ValueError, match="unknown joint 'lift_link'"):
        made.reset_to(["lift_link"], [0.0])


@pytest.mark.slow
def test_friction_of_a_robots_own_acts_where_friction_does():
    robot, falling = sd.Robot.from_urdf("urdf/spherical_arm.urdf"), sd.forces.Friction("lift", 0.2, 0.5, 0.9, 0.05)
    ends = []
    for each, forces, friction in ((robot.with_forces([falling]), (), True), (robot, [falling], True),
                                   (robot.with_forces([falling]), (), False), (robot, (), False)):
        simulation = Simulation(each, Settings(hold_until_first_command=False, joint_friction=friction), forces=forces)
        simulation.advance(200)
        ends.append(simulation.q)
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[2], ends[3]) and abs(ends[0] - ends[2]).max() > 1e-3
