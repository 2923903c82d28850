"""Force elements in a Simulation: under motors, servos, pushes, sensors and closed loops, as in a rollout."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm
from support.loop_robots import four_bar

pytestmark = pytest.mark.slow

START = {"shoulder": 0.3, "elbow": -0.4}
DT = 1e-3


def acting():
    return [forces.PointSpring("flange", 60.0, 1.0, 0.2, (0.1, 0.0, 0.0), other_point=(0.5, 0.2, 0.4)),
            forces.Spring({"shoulder": 1.0, "elbow": -0.5}, 4.0, 0.1),
            forces.Drag("forearm", 0.2, 0.3, flow=(0.0, 0.5, 0.0)),
            forces.LinkWrench("flange", ((0, 0.1, 0, 1.0, 2.0, 3.0), (0, 0, 0, -4.0, 0, 2.0)), "root", (0.0, 0.2))]


def simulation(**settings):
    joints = settings.pop("joints", START)
    return Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(dt=DT, enforce_limits=False, joint_friction=False,
                                                               hold_until_first_command=False, **settings),
                      joints, forces=acting())


def test_efforts_move_it_as_a_rollout():
    simulated = simulation()
    simulated.command(np.array([0.5, -0.2]))
    for steps in 30, 1, 69:                     # the elements' time goes on
        simulated.advance(steps)
    q0 = np.array([START[joint] for joint in simulated.joint_names])
    _, q, qd = simulated.robot.rollout(q0, np.zeros(2), [0.5, -0.2], DT, 100, forces=acting(), limits=False)
    assert abs(simulated.q - q[-1]).max() <= 1e-13 and abs(simulated.qd - qd[-1]).max() <= 1e-12


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_a_push_makes_the_loop_of_motors_take_the_same_steps(integrator):
    """Under a push of 0 N each step has efforts of its own, by another kernel."""
    simulated, other = simulation(integrator=integrator), simulation(integrator=integrator)
    for one in simulated, other:
        one.command(np.array([0.5, -0.2]))
    other.push("forearm", np.zeros(6) + 1e-300)
    for one in simulated, other:
        one.advance(50)
    assert abs(simulated.q - other.q).max() <= 1e-12 and abs(simulated.qd - other.qd).max() <= 1e-10


def test_servos_compensate_what_acts():
    """A servo prescribes an acceleration, whatever acts; its effort is what this takes."""
    free = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(dt=DT, command_mode="position", enforce_limits=False,
                                                               joint_friction=False), START)
    held = simulation(command_mode="position")
    for one in free, held:
        one.command(np.array([0.5, 0.2]))
        one.advance(40)
    assert abs(free.q - held.q).max() <= 1e-11
    total = held.robot.total_force(acting())
    f = total.efforts(held.q, held.qd, held.time_ns * 1e-9)
    assert abs(f).max() > 0.5
    assert abs(free.snapshot().effort - held.snapshot().effort - f).max() <= 0.05 * abs(f).max()


def test_sensors_feel_what_acts():
    """The accelerations of a step, and the efforts at rest under a spring alone."""
    simulated = simulation()
    simulated.command(np.zeros(2))
    simulated.advance(20)
    q, qd, t = simulated.q, simulated.qd, simulated.time_ns * 1e-9
    expected = simulated.robot.step(q, qd, np.zeros(2), DT, forces=acting(), t=t, limits=False)[1]
    assert abs(simulated.snapshot().qdd - (expected - qd) / DT).max() <= 1e-9
    loads = simulated.snapshot().loads
    net = simulated.robot.external_torque(q, loads)
    joints = simulated.robot.total_force([x for x in acting() if isinstance(x, forces.Spring)]).efforts(q, qd, t)
    whole = simulated.robot.total_force(acting()).efforts(q, qd, t)
    assert abs(net + joints - whole).max() <= 1e-12


def test_the_account_of_energy_closes():
    simulated = simulation(energy_balance=True, integrator="rk4")
    simulated.command(np.array([0.5, -0.2]))
    simulated.advance(150)
    account = simulated.account()
    assert account.friction > 1e-3 and abs(account.work) > 1e-3
    assert abs(account.energy_residual) <= 1e-6 * (abs(account.work) + account.friction)


def test_closed_loops_have_forces():
    loops = ClosedLoopRobot.from_urdf(four_bar())
    robot, joint = loops.robot, loops.robot.joint_names[0]
    q0, still = loops.project(np.full(robot.nq, 0.3)), np.zeros(robot.n)
    spring = [forces.Spring(joint, 30.0, 0.0, 1.0)]
    t, q, _, energy, _ = loops.rollout(q0, still, dt=1e-3, steps=300, forces=spring, integrator="rk4")
    assert abs(energy - energy[0]).max() <= 1e-6 * abs(energy).max()
    without = loops.rollout(q0, still, dt=1e-3, steps=300, integrator="rk4")
    assert abs(q[-1] - without.q[-1]).max() > 0.05


def test_a_simulated_loop_moves_as_the_loop_does():
    loops = ClosedLoopRobot.from_urdf(four_bar())
    robot, joint = loops.robot, loops.robot.joint_names[0]
    spring, errors = [forces.Spring(joint, 30.0, 2.0, 1.0)], []
    for dt in 1e-3, 5e-4:
        simulated = Simulation(robot, Settings(dt=dt, enforce_limits=False, joint_friction=False,
                                               hold_until_first_command=False), {joint: 0.3}, forces=spring)
        q0, steps = simulated.q, round(0.1 / dt)
        simulated.command(np.zeros(robot.n))
        simulated.advance(steps)
        motion = loops.rollout(q0, np.zeros(robot.n), dt=dt, steps=steps, forces=spring, integrator="rk4")
        errors.append(abs(simulated.q - motion.q[-1]).max())
    moved = abs(motion.q[-1] - q0).max()
    assert moved > 0.05 and errors[0] < 0.03 * moved and errors[1] < 0.6 * errors[0]       # order 1


@pytest.mark.parametrize("damping", [0.0, 1e3])
def test_a_simulated_loop_takes_a_stiff_spring_at_the_end_of_the_step(damping):
    """Far stiffer than explicit steps take: it comes to rest, as far from its end as the weight bends it."""
    loops, stiffness = ClosedLoopRobot.from_urdf(four_bar()), 1e7
    joint = loops.robot.joint_names[0]
    simulated = Simulation(loops.robot, Settings(dt=DT, enforce_limits=False, joint_friction=False,
                                                 hold_until_first_command=False), {joint: 0.3},
                           forces=[forces.Spring(joint, stiffness, damping, 0.25)])
    simulated.command(np.zeros(loops.robot.n))
    simulated.advance(100)
    weight = abs(loops.robot.gravity_torque(simulated.q)).max()
    assert abs(simulated.qd).max() < 1e-6 and abs(simulated.q[0] - 0.25) < weight / stiffness
