"""What commands do to the simulation: efforts, servos, timeouts and limits."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm
from support.real_robots import real_robot
from support.simulations import DT, NAN, commanded, simulate, track


# ------------------------------------------------------------------------------------------------- commands
def test_arm_stands_still_until_its_first_command_joint_by_joint(robot):
    simulation = simulate(robot, {"shoulder": 0.2})
    simulation.advance(1000)
    assert np.array_equal(simulation.q, (0.2, 0.0))
    assert np.allclose(simulation.joint_state().effort[:2], arm.gravity((0.2, 0.0)), atol=1e-12)
    simulation.command(np.array([NAN, 0.0]))
    simulation.advance(100)
    assert simulation.q[0] == 0.2 and simulation.q[1] < -0.01
    simulation.command(np.array([0.0, NAN]))
    simulation.advance(100)
    assert simulation.q[0] < 0.2 - 0.01


def test_commands_of_some_joints_merge_and_nan_keeps_the_last(robot):
    merged, whole = simulate(robot), simulate(robot)
    merged.command(np.array([3.0, NAN]))
    merged.command(np.array([NAN, -1.0]))
    merged.command(np.array([NAN, NAN]))
    whole.command(np.array([3.0, -1.0]))
    merged.advance(100)
    whole.advance(100)
    assert np.array_equal(merged.q, whole.q) and np.array_equal(merged.joint_state().effort[:2], (3.0, -1.0))


def test_stale_command_gives_way_at_its_step_and_not_before(robot):
    effort = np.array([5.0, 1.0])
    simulation = commanded(robot, effort, command_timeout=0.1)
    t, q, qd = robot.rollout([0, 0], [0, 0], [effort] * 100 + [[0, 0]] * 50, steps=150, friction=True, limits=True)
    simulation.advance(99)
    assert np.array_equal(simulation.joint_state().effort[:2], effort)
    simulation.advance(51)
    assert np.array_equal(simulation.q, q[-1]) and np.array_equal(simulation.qd, qd[-1])


def test_each_joint_has_its_own_timeout(robot):
    simulation = commanded(robot, [5.0, 1.0], 60, command_timeout=0.1)
    simulation.command(np.array([NAN, 2.0]))
    simulation.advance(60)
    assert np.array_equal(simulation.joint_state().effort[:2], (0.0, 2.0))


def test_hold_on_timeout_stops_the_arm_where_it_is(robot):
    simulation = commanded(robot, [0.0, 0.0], 100, command_timeout=0.1, on_timeout="hold")
    stopped = simulation.q
    assert np.abs(simulation.qd).max() > 0.1
    simulation.advance(1000)
    assert np.array_equal(simulation.q, stopped) and not simulation.qd.any()


def test_gravity_compensation_on_timeout_keeps_a_resting_arm_at_rest(robot):
    simulation = simulate(robot, {"shoulder": 0.4}, command_timeout=0.1, on_timeout="gravity_compensation")
    simulation.command(robot.gravity_torque(simulation.q))
    simulation.advance(5000)
    assert np.allclose(simulation.q, (0.4, 0.0), atol=1e-9)
    assert np.allclose(simulation.joint_state().effort[:2], arm.gravity((0.4, 0.0)), atol=1e-6)


CARRIED = {"drives_compensate": ("gravity",), "command_timeout": 0.0}


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_drives_that_carry_gravity_move_the_arm_as_without_gravity(robot, integrator):
    simulation = commanded(robot, [0.5, -0.2], 500, {"shoulder": 0.4}, integrator=integrator, **CARRIED)
    free = commanded(robot.with_gravity((0.0, 0.0, 0.0)), [0.5, -0.2], 500, {"shoulder": 0.4}, integrator=integrator)
    np.testing.assert_allclose(simulation.q, free.q, atol=1e-12 if integrator == "semi_implicit_euler" else 2e-3)
    effort = np.array([0.5, -0.2]) + arm.gravity(simulation.q)
    np.testing.assert_allclose(simulation.joint_state().effort[:2], effort, atol=1e-9)      # as such drives report


@pytest.mark.parametrize("hold", [True, False])
def test_drives_that_carry_gravity_hold_a_resting_arm_without_effort(robot, hold):
    simulation = simulate(robot, {"shoulder": 0.4}, hold_until_first_command=hold, **CARRIED)
    simulation.command(np.zeros(2))
    simulation.advance(2000)
    np.testing.assert_allclose(simulation.q, (0.4, 0.0), atol=1e-9)
    simulation.carry(robot.with_payload("forearm", 0.5, (0.3, 0.0, 0.0)), lambda robot: robot)
    simulation.advance(100)                                 # the drives do not know of the payload
    assert (np.abs(simulation.qd) > 0.05).all()


def test_a_weak_drive_carries_its_part_and_a_passive_joint_nothing(robot):
    simulation = simulate(robot, {"shoulder": 0.4}, **CARRIED)
    simulation.command(np.zeros(2))
    simulation.inject("joint_weak", "shoulder", 0.25)
    np.testing.assert_allclose(simulation.joint_state().effort[:2], np.array([0.25, 1.0]) * arm.gravity((0.4, 0.0)))
    simulation.set_modes({"elbow": "passive"})
    np.testing.assert_allclose(simulation.joint_state().effort[:2], np.array([0.25, 0.0]) * arm.gravity((0.4, 0.0)))


def test_the_weight_that_drives_carry_counts_for_the_effort_limits(robot):
    limit = arm.gravity((0.0, 0.0))[1] * 0.5
    weak = sd.Robot(replace(robot.model, effort_limit=np.array([np.inf, limit])), robot.gravity)
    simulation = commanded(weak, np.zeros(2), 1, **CARRIED)
    assert simulation.joint_state().effort[1] == pytest.approx(limit) and simulation.saturated.tolist() == [0, 1]


def test_motors_behind_springs_carry_the_links(robot):
    elastic = robot.with_drives({"elbow": sd.Drive(rotor_inertia=1e-4, ratio=50.0, stiffness=200.0, damping=2.0)})
    simulation = simulate(elastic, {"shoulder": 0.4}, **CARRIED)
    simulation.command(np.zeros(elastic.n))
    start = simulation.q
    simulation.advance(1000)
    np.testing.assert_allclose(simulation.q, start, atol=1e-6)
    shared = robot.with_drives({"elbow": sd.Drive(rotor_inertia=1e-4, ratio=50.0, stiffness=200.0,
                                                  coupling={"shoulder": 0.5})})
    with pytest.raises(ValueError, match="drives_compensate has gravity, but joint 'elbow'"):
        simulate(shared, **CARRIED)


@pytest.mark.parametrize(
    ("mode", "on_timeout", "command", "given_up", "at_command"),
    [
        ("effort", "zero", (5.0, 1.0), True, True),         # an effort is reported as it was commanded,
        ("effort", "zero", (500.0, 1.0), True, False),      # unless it was clipped
        ("velocity", "hold", (0.1, -0.2), True, True),      # reached
        ("velocity", "hold", (4.9, 1.0), True, False),      # not reached yet
        ("position", "zero", (0.1, 0.1), False, False),     # still acts
        ("position", "gravity_compensation", (0.0, 0.0), True, True),
    ],
)
def test_commands_that_no_longer_act_are_told_and_whether_silence_explains_it(
        robot, mode, on_timeout, command, given_up, at_command):
    """ros2_control's JointStateTopicSystem sends nothing while the state equals the command."""
    simulation = simulate(robot, command_mode=mode, on_timeout=on_timeout, command_timeout=0.3, servo_bandwidth=20.0)
    simulation.advance(400)
    assert not simulation.given_up.any()
    simulation.command(np.array([command[0], NAN]))
    simulation.advance(299)
    assert not simulation.given_up.any()
    simulation.advance(1)
    assert simulation.given_up.tolist() == [given_up, False] and simulation.at_command == at_command
    simulation.advance(200)
    assert simulation.given_up.tolist() == [given_up, False] and simulation.at_command == at_command
    simulation.command(np.array(command))
    assert not simulation.given_up.any()


def test_timeout_of_zero_is_never(robot):
    simulation = commanded(robot, [5.0, 1.0], 5000, command_timeout=0.0)
    assert np.array_equal(simulation.joint_state().effort[:2], (5.0, 1.0))


@pytest.mark.parametrize("friction", [True, False])
def test_velocity_servo_is_first_order_with_its_bandwidth(robot, friction):
    simulation = simulate(
        robot, command_mode="velocity", servo_bandwidth=40.0, joint_friction=friction, enforce_limits=False)
    target = np.array([0.3, -0.6])
    simulation.command(target)
    for k in range(1, 101):
        simulation.advance(1)
        assert np.allclose(simulation.qd, target * (1 - (1 - 40.0 * DT) ** k), atol=1e-12)


def test_position_servo_arrives_without_overshoot(robot):
    simulation = commanded(robot, [0.3, NAN], command_mode="position", enforce_limits=False)
    q = track(simulation, 400)
    assert (np.diff(q[:, 0]) > -1e-12).all() and q[-1, 0] == pytest.approx(0.3, abs=1e-6)
    assert not q[:, 1].any()   # not commanded: held
    simulation.advance(1000)   # a position does not go stale
    assert simulation.q[0] == pytest.approx(0.3, abs=1e-9)


def test_servo_never_gives_more_than_the_effort_limit_and_still_arrives(robot):
    simulation = commanded(robot, [2.0, -2.0], command_mode="position", servo_bandwidth=200.0, command_timeout=0.0)
    efforts = []
    for _ in range(3000):
        efforts.append(simulation.joint_state().effort[:2])
        simulation.advance(1)
    assert np.abs(efforts).max(axis=0).tolist() == [100.0, 50.0]
    assert (simulation.saturated > 0).all()
    assert np.allclose(simulation.q, (2.0, -2.0), atol=1e-6)


def test_position_servos_reach_a_far_command_at_no_more_than_the_velocity_limits():
    """Unlimited, the efforts of all joints of this arm saturate, one pulls the other, and they turn at 30 rad/s."""
    panda = real_robot("panda_description/urdf/panda.urdf")
    simulation = simulate(panda, command_mode="position", command_timeout=0.0)
    start = simulation.position
    goal = np.clip(start + 0.5, panda.limits.lower, panda.limits.upper)
    simulation.command(goal)
    fastest = np.abs([simulation.qd for _ in range(1000) if simulation.advance(1)]).max(axis=0)
    assert (fastest < 1.01 * panda.limits.velocity).all() and (fastest[:7] > 0.99 * panda.limits.velocity[:7]).all()
    assert np.allclose(simulation.position, goal, atol=1e-6)
    assert simulation.steps == 1000 and (simulation.saturated < 100).all()


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_set_points_on_their_way_are_the_same_in_any_number_of_steps_and_for_sensors(robot, integrator):
    settings = {"command_mode": "position", "integrator": integrator, "joint_friction": False}
    one, many = (simulate(robot, **settings) for _ in range(2))
    for command in ((1.0, -1.0), (NAN, 0.5)):
        for simulation in one, many:
            simulation.command(np.array(command))
        many.advance(70)
        for _ in range(70):
            before, qdd = one.qd, one.snapshot().qdd
            one.advance(1)
            assert np.allclose((one.qd - before) / DT, qdd, rtol=1e-9, atol=1e-9)
        assert np.array_equal(one.q, many.q) and np.array_equal(one.qd, many.qd)


def test_commands_slower_than_the_velocity_limit_are_followed_as_without_it(robot):
    """Bit for bit, when they come in each step."""
    unlimited = sd.Robot.from_urdf(arm.urdf().replace('velocity="5"', 'velocity="1e9"'))
    positions = []
    for each in robot, unlimited:
        simulation = simulate(each, command_mode="position")
        for k in range(300):
            simulation.command(np.array([0.9, -0.9]) * np.sin(5.0 * k * DT))      # at up to 4.5 rad/s
            simulation.advance(1)
        positions.append(simulation.q)
    assert np.array_equal(*positions) and abs(positions[0]).min() > 0.1


def test_set_points_start_where_a_joint_is_that_had_no_position_servo(robot):
    simulation = simulate(robot, command_timeout=0.0, joint_friction=False)
    simulation.command(np.array([5.0, 0.0]))
    simulation.advance(200)
    simulation.set_modes({"shoulder": "position", "elbow": "position"})
    simulation.advance(1)
    stopped = simulation.q
    simulation.command(stopped + (1.0, 0.0))
    simulation.advance(10)
    assert 0.0 < simulation.q[0] - stopped[0] < 0.05
    simulation.reset()
    simulation.command(np.array([1.0, 0.0]))
    simulation.advance(10)
    assert 0.0 < simulation.q[0] < 0.05


# ------------------------------------------------------------------------------------------------- limits
def test_joints_stop_at_their_position_limits(robot):
    simulation = commanded(robot, [100.0, 0.0], 400, {"shoulder": 2.9})
    assert simulation.q[0] == 3.0 and simulation.qd[0] == 0.0


def test_efforts_are_cut_at_the_limit_of_the_urdf_and_counted(robot):
    simulation, at_limit = simulate(robot), simulate(robot)
    simulation.command(np.array([1e6, 0.0]))
    at_limit.command(np.array([100.0, 0.0]))
    simulation.advance(20)
    at_limit.advance(20)
    assert np.array_equal(simulation.q, at_limit.q)
    assert simulation.joint_state().effort[0] == 100.0
    assert simulation.saturated.tolist() == [20, 0] and at_limit.saturated.tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore:limit effort is 0")
@pytest.mark.parametrize("limit", ["0", "0.0"])
def test_effort_limit_of_zero_limits_nothing(limit):
    robot = sd.Robot.from_urdf(arm.urdf().replace('effort="100"', f'effort="{limit}"'))
    simulation = commanded(robot, [1e3, 0.0])
    assert simulation.joint_state().effort[0] == 1e3


def test_limits_can_be_left_out(robot):
    simulation = commanded(robot, [500.0, 0.0], 200, {"shoulder": 2.9}, enforce_limits=False)
    assert simulation.q[0] > 3.5 and not simulation.saturated.any()


def test_velocity_and_position_commands_are_cut_at_their_limits(robot):
    fast, far = (simulate(robot, command_mode=mode, command_timeout=0.0) for mode in ("velocity", "position"))
    fast.command(np.array([0.0, 99.0]))
    fast.advance(300)
    assert fast.qd[1] == pytest.approx(5.0, abs=1e-5)
    far.command(np.array([0.0, -99.0]))
    far.advance(3000)
    assert far.q[1] == pytest.approx(-3.0, abs=1e-9)
    assert fast.saturated[1] >= 300 and far.saturated[1] >= 3000


# ------------------------------------------------------------------------------------------------- modes of joints
def test_each_joint_is_commanded_in_its_own_mode(robot):
    simulation = Simulation(robot, Settings(), modes={"elbow": "position"})
    simulation.command(np.array([5.0, -0.3]))
    simulation.advance(400)
    assert simulation.joint_state().effort[0] == 5.0 and simulation.q[1] == pytest.approx(-0.3, abs=1e-6)
    simulation.advance(600)     # the effort is stale, the position is held
    assert simulation.joint_state().effort[0] == 0.0 and simulation.q[1] == pytest.approx(-0.3, abs=1e-6)
    assert simulation.given_up.tolist() == [True, False]


def test_limits_of_a_command_are_those_of_its_mode(robot):
    simulation = Simulation(robot, Settings(command_timeout=0.0), modes={"elbow": "velocity"})
    simulation.command(np.array([99.0, 99.0]))      # of 100 N m and 5 rad/s
    simulation.advance(10)
    assert simulation.saturated.tolist() == [0, 10]


def test_joint_that_changes_its_mode_is_held_until_its_next_command(robot):
    simulation = commanded(robot, [0.0, 2.0], 100, command_timeout=0.0)
    simulation.set_modes({"shoulder": "position"})
    stopped = simulation.q[0]
    simulation.advance(10)
    assert simulation.q[0] == stopped and simulation.joint_state().effort[1] == 2.0
    simulation.command(np.array([stopped + 0.1, NAN]))
    simulation.advance(500)
    assert simulation.q[0] == pytest.approx(stopped + 0.1, abs=1e-6)


def test_mode_of_an_unknown_joint_and_unknown_mode_are_refused_by_name(robot):
    wrong = ({"knee": "effort"}, "unknown joint 'knee'"), ({"elbow": "torque"}, "joint 'elbow'.*torque")
    for modes, message in wrong:
        with pytest.raises(ValueError, match=message):
            Simulation(robot, modes=modes)
