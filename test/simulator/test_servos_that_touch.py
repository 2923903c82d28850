"""Servos against what they touch: they hold loads where they were told to, give way at their limits, and measure what
they give; also of robots with closed loops.

Compiled these are slow tests; in plain Python they take fewer steps."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Box
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support.loop_robots import four_bar, standing_four_bar
from support.polyhedra import at
from support.touching_robots import gripper, press_scene

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


def lift(gravity=-G, **options):
    """A dish of 2 kg on a lift."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("lift", "dish", "base", axis=(0, 0, 1), pitch=np.inf, mass=2.0, com=(0, 0, 0), **options)
    return sd.Robot(builder.build(), gravity=(0.0, 0.0, gravity))


def with_ball(robot, gap=0.0, restitution=0.0, **settings):
    """A lift at 0, and a ball of 3 kg on its dish."""
    scene = sd.Scene(robot, shapes={"dish": (Box((0.2, 0.2, 0.02)), at(z=-0.01))}, restitution=restitution)
    scene.add_sphere("ball", 0.05, 3.0, at(z=0.05 + gap))
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


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_servo_does_not_press_into_a_stop_that_it_runs_into(up):
    """A lift that is told to stop at its upper end, from so near that its servo cannot slow it down: the stop takes its
    velocity, and what the servo gives from then on is the weight; and its mirror image, where all falls upwards."""
    limits = sd.Limits(lower=min(-up, 0.1 * up), upper=max(-up, 0.1 * up), effort=200.0, velocity=10.0)
    robot = lift(gravity=-up * G, limits=limits)
    simulation = servos(robot, sd.Scene(robot, ground=True, shapes={}))
    simulation.reset_to(["lift"], [0.095 * up], [up])
    simulation.command(np.array([0.1 * up]))
    efforts = []
    for _ in range(20):
        simulation.advance(1)
        efforts.append(up * simulation.joint_state().effort[0])
    assert simulation.q[0] == 0.1 * up and abs(simulation.qd[0]) < 1e-12
    assert max(efforts) == pytest.approx(2.0 * G, rel=1e-9)     # it slows down, and holds; it never pushes upwards


def test_a_lift_that_is_not_strong_enough_for_a_ball_falls_with_it():
    simulation = with_ball(lift(limits=sd.Limits(-1.0, 1.0, effort=30.0, velocity=10.0)))
    simulation.advance(40)
    np.testing.assert_allclose(simulation.qd, (30.0 / 5.0 - G) * 0.04, rtol=1e-9)
    assert simulation.joint_state().effort[0] == pytest.approx(30.0, rel=1e-12) and simulation.saturated[0] == 40


def test_a_brake_that_holds_a_load_measures_its_weight():
    simulation = with_ball(lift())
    simulation.inject("joint_stuck", "lift")
    simulation.advance(40)
    assert simulation.q[0] == 0.0 and simulation.joint_state().effort[0] == pytest.approx(5.0 * G, rel=1e-9)


def test_what_penetrates_is_parted_by_the_masses_whatever_servos_do():
    """Displacements that correct are no motion: a servo does not hold against them, and brings its joint back."""
    simulation = with_ball(lift(gravity=0.0), -1e-3)
    simulation.advance(1)
    assert simulation.q[0] == pytest.approx(-1e-3 * 3.0 / 5.0, rel=1e-6)
    assert simulation.entity("ball").pose[2] == pytest.approx(0.05 - 1e-3 * 3.0 / 5.0, rel=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.0])
def test_a_weak_servo_gives_its_share_of_what_a_load_takes_too(share):
    """A lift holds a ball in a dish: s (W + M w^2 e) = W, for the weight W and the mass M of lift and ball; without any
    strength both fall."""
    simulation = with_ball(lift(), servo_bandwidth=300.0)
    simulation.inject("joint_weak", "lift", share)
    simulation.advance(100 if share else 40)
    if not share:
        np.testing.assert_allclose(simulation.qd, -G * 0.04, rtol=1e-9)
        return
    sag = (1.0 / share - 1.0) * G / 300.0**2
    assert simulation.q[0] == pytest.approx(-sag, rel=1e-3)
    assert simulation.joint_state().effort[0] == pytest.approx(5.0 * G, rel=1e-3)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
def test_a_blow_moves_a_lift_as_its_servo_is_strong(share):
    """Newton's impact of a ball on a dish, without gravity: on one that a servo holds, as on a wall; on one with a weak
    servo, or none, as on a free body, of whose momentum the servo then takes its share."""
    simulation = with_ball(lift(gravity=0.0), 5e-4, restitution=0.5)
    if share < 1.0:
        simulation.inject("joint_weak", "lift", share)
    simulation.place("ball", twist=np.array([0.0, 0.0, 0.0, 0.0, 0.0, -1.0]))
    blow = simulation.joint_state().effort[0] * 1e-3        # of the step that follows
    simulation.advance(1)
    taken = 1.5 * 3.0 if share == 1.0 else 1.5 * 3.0 * 2.0 / (3.0 + 2.0)
    assert simulation.entity("ball").twist[5] == pytest.approx(-1.0 + taken / 3.0, rel=1e-6)
    assert simulation.qd[0] == pytest.approx((share - 1.0) * taken / 2.0, abs=1e-6)
    assert blow == pytest.approx(share * taken, rel=1e-6)


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
