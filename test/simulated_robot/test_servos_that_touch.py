"""Servos against what they touch: they hold loads where they were told to, give way at their limits, and measure what
they give; also of robots with closed loops.

Compiled these are slow tests; in plain Python they are among the fast ones, test/scene/test_in_plain_python.py."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.closed_loops import ClosedLoopRobot
from screw_dynamics.contact.shapes import Box
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.simulated_robot.settings import Settings
from screw_dynamics.simulated_robot.simulation import Simulation
from support.loop_robots import four_bar, standing_four_bar
from support.touching_robots import at, gripper, press_scene

pytestmark = [] if PLAIN else [pytest.mark.slow]
heavy = pytest.mark.skipif(PLAIN, reason="takes too many steps for plain Python")

G, BOX, MASS = 9.81, 0.1, 5.0
TRAY = at(0.9, 0.0, 0.49)           # a plate, in the frame of the last link


def arm(effort=200.0):
    """Three joints about y, stretched along x at q = 0, with a tray at their end."""
    builder, limits = sd.ModelBuilder("base"), sd.Limits(lower=-3.0, upper=3.0, effort=effort, velocity=10.0)
    for joint, child, parent, x, mass in (("shoulder", "upper", "base", 0.0, 2.0), ("elbow", "fore", "upper", 0.4, 1.0),
                                          ("wrist", "tray", "fore", 0.8, 0.3)):
        builder.add_screw(joint, child, parent, axis=(0, 1, 0), point=(x, 0, 0.5), mass=mass, com=(x + 0.1, 0, 0.5),
                          inertia=4e-3 * mass * np.eye(3), limits=limits)
    return sd.Robot(builder.build())


def servos(robot, scene, initial=None, **settings):
    simulation = Simulation(robot, Settings(**{"command_mode": "position", "command_timeout": 0.0, **settings}),
                            initial, scene=scene)
    start = np.where(simulation._commands.passive, np.nan, simulation.position)
    simulation.command(start)
    return simulation


def with_box(effort=200.0, **settings):
    """An arm at rest at q = 0 with a box on its tray."""
    robot = arm(effort)
    scene = sd.Scene(robot, shapes={"tray": (Box((0.2, 0.2, 0.02)), TRAY)}, friction=0.8)
    scene.add_box("box", (BOX,) * 3, MASS, at(0.9, 0.0, 0.55))
    return servos(robot, scene, **settings)


def weight_on(robot, q, link, body):
    """The wrench of the box's weight on a link, in its frame."""
    C = robot.forward_kinematics(q, link)
    force = C[:3, :3].T @ (0.0, 0.0, -MASS * G)
    return np.r_[np.cross(C[:3, :3].T @ (body[:3] - C[:3, 3]), force), force]


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", pytest.param("rk4", marks=heavy)])
def test_an_arm_holds_a_box_where_it_was_told_to_and_measures_its_weight(integrator):
    simulation = with_box(integrator=integrator)
    simulation.advance(150 if PLAIN else 500)
    q, robot = simulation.q, simulation.robot
    assert abs(q).max() < (1e-8 if PLAIN else 2e-9) and simulation.fault is None       # it comes nearer as it settles
    wrench, rest = weight_on(robot, q, "tray", simulation.entity("box").pose), np.zeros(3)
    law = robot.inverse_dynamics(q, rest, rest, {"tray": wrench})
    assert abs(law - robot.gravity_torque(q)).max() > 40.0
    np.testing.assert_allclose(simulation.joint_state().effort, law, rtol=1e-7)
    assert not simulation.saturated.any()


def test_a_servo_at_its_limit_gives_way_as_the_law_of_the_loaded_arm_says():
    """The shoulder has 40 N m and needs 56; elbow and wrist hold, and the box rides along."""
    simulation = with_box(40.0)
    simulation.advance(20)
    before = simulation.qd
    simulation.advance(20)
    robot, middle = simulation.robot, 0.5 * (before + simulation.qd)
    rate = (simulation.qd - before) / 0.02
    loaded = robot.with_payload("tray", MASS, com=(0.9, 0.0, 0.55), inertia=MASS * BOX**2 / 6.0 * np.eye(3))
    np.testing.assert_allclose(rate[1:], 0.0, atol=1e-6)
    efforts = loaded.inverse_dynamics(simulation.q, middle, rate)
    assert efforts[0] == pytest.approx(-40.0, rel=1e-3)                         # of a state half way through
    assert simulation.joint_state().effort[0] == pytest.approx(-40.0, rel=1e-12)
    np.testing.assert_array_equal(simulation.saturated, (40, 0, 0))


def test_a_servo_that_presses_gives_its_limit_and_does_not_wind_up():
    """The lift is told to go through the ground: it presses with its 500 N and all weights, and lets go at once."""
    robot = gripper()
    simulation = servos(robot, press_scene(robot), {"lift": -0.349})
    told = np.array([-0.4, 0.0, 0.0])
    simulation.command(told)
    simulation.advance(100)
    touch, = simulation.touches()
    assert {touch.first, touch.second} == {"hand", "ground"}
    assert abs(touch.force[2]) == pytest.approx(500.0 + 2.9 * G, rel=1e-9)
    assert simulation.joint_state().effort[0] == pytest.approx(-500.0, rel=1e-12)
    assert simulation.saturated[0] > 50
    simulation.command(np.array([simulation.q[0], 0.0, 0.0]))
    simulation.advance(5)
    assert simulation.joint_state().effort[0] > -1.0                            # it stands there
    simulation.command(np.array([-0.3, 0.0, 0.0]))
    simulation.advance(5)
    assert not simulation.touches() and simulation.qd[0] > 0.0


def test_a_servo_does_not_press_into_a_stop_that_it_runs_into():
    """A lift that is told to stop at its upper end, from so near that its servo cannot slow it down: the stop takes its
    velocity, and what the servo gives from then on is the weight."""
    builder = sd.ModelBuilder("base")
    limits = sd.Limits(lower=-1.0, upper=0.1, effort=200.0, velocity=10.0)
    builder.add_screw("lift", "dish", "base", axis=(0, 0, 1), pitch=np.inf, mass=2.0, com=(0, 0, 0), limits=limits)
    robot = sd.Robot(builder.build())
    simulation = servos(robot, sd.Scene(robot, ground=True, shapes={}))
    simulation.reset_to(["lift"], [0.095], [1.0])
    simulation.command(np.array([0.1]))
    efforts = []
    for _ in range(20):
        simulation.advance(1)
        efforts.append(simulation.joint_state().effort[0])
    assert simulation.q[0] == 0.1 and abs(simulation.qd[0]) < 1e-12
    assert max(efforts) == pytest.approx(2.0 * G, rel=1e-9)     # it slows down, and holds; it never pushes upwards


@pytest.mark.parametrize("share", [0.5, 0.0])
def test_a_weak_servo_gives_its_share_of_what_a_load_takes_too(share):
    """A lift holds a ball in a dish: s (W + M w^2 e) = W, for the weight W and the mass M of lift and ball; without any
    strength both fall."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("lift", "dish", "base", axis=(0, 0, 1), pitch=np.inf, mass=2.0, com=(0, 0, 0))
    robot = sd.Robot(builder.build())
    scene = sd.Scene(robot, shapes={"dish": (Box((0.2, 0.2, 0.02)), at(z=-0.01))})
    scene.add_sphere("ball", 0.05, 3.0, at(z=0.05))
    simulation = servos(robot, scene, servo_bandwidth=300.0)
    simulation.inject("joint_weak", "lift", share)
    simulation.advance(100 if share else 40)
    if not share:
        np.testing.assert_allclose(simulation.qd, -G * 0.04, rtol=1e-9)
        return
    sag = (1.0 / share - 1.0) * G / 300.0**2
    assert simulation.q[0] == pytest.approx(-sag, rel=1e-3)
    assert simulation.joint_state().effort[0] == pytest.approx(5.0 * G, rel=1e-3)


def test_servos_in_a_loop_hold_a_box_and_the_loop_stays_closed():
    loops = ClosedLoopRobot.from_urdf(four_bar())
    robot = loops.robot
    q = loops.project(np.array([-0.3, 0.0, 0.0]), held=["A"])
    scene = sd.Scene(loops, shapes={"coupler": (Box((0.4, 0.2, 0.02)), at(0.4, 0.0, 0.19))}, friction=0.8)
    scene.add_box("box", (BOX,) * 3, MASS, robot.forward_kinematics(q, "coupler") @ at(0.4, 0.0, 0.25))
    simulation = servos(robot, scene, {"A": -0.3})
    simulation.advance(80)
    assert abs(simulation.q[0] + 0.3) < 1e-9 and abs(loops.residual(simulation.q)).max() < 1e-12
    wrench = weight_on(robot, simulation.q, "coupler", simulation.entity("box").pose)
    rest = np.zeros(3)
    law = loops.inverse_dynamics(simulation.q, rest, rest, external={"coupler": wrench}, actuated="A").tau
    assert law[0] > 5.0
    np.testing.assert_allclose(simulation.joint_state().effort, law, atol=1e-6)
    held = loops.forward_dynamics(simulation.q, rest, law, {"coupler": wrench}).wrenches["D"]
    np.testing.assert_allclose(simulation.snapshot().loads["rocker"], held, atol=1e-5)      # what sensors feel of it


@heavy
def test_a_four_bar_stands_on_the_ground_by_itself_and_moves_its_crank():
    """Its frame is a plate that lies on the ground; the loop is closed, and the ground carries all weights."""
    loops = ClosedLoopRobot.from_urdf(standing_four_bar(), floating_base=True)
    scene = sd.Scene(loops, ground=True)
    simulation = servos(loops.robot, scene, servo_bandwidth=200.0,
                        initial_base_pose=(0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0))
    simulation.advance(10)
    told = np.full(loops.robot.n, np.nan)
    told[loops.robot.v_slices["A"]] = 0.05
    simulation.command(told)
    simulation.advance(300)
    assert simulation.q[loops.robot.q_slices["A"]] == pytest.approx(0.05, abs=1e-5)
    assert abs(loops.residual(simulation.q)).max() < 1e-12 and simulation.q[2] == pytest.approx(0.05, abs=1e-9)
    carried = sum(touch.force if touch.first != "ground" else -touch.force for touch in simulation.touches())
    np.testing.assert_allclose(carried, (0.0, 0.0, 8.5 * G), atol=1e-6)
