"""A simulated robot in a scene: it holds, presses and drops, its sensors feel it, and objects move by themselves."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Box, Sphere
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.scene.contact_model import ContactModel
from screw_dynamics.scene.objects import SceneObject
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support.polyhedra import at
from support.simulations import NAN
from support.sliders import beside_a_plane
from support.touching_robots import FOOT, GRIPPER, HIPS, LEG, gripper, gripper_scene, press_scene, quadruped

# A node with a scene compiles kernels of contacts at its first start, for a minute or two.
pytestmark = pytest.mark.slow

G = 9.81


@pytest.fixture(scope="module")
def robot():
    return gripper()


def simulate(robot, scene, initial=None, modes=None, instrumented=None, **settings):
    settings = {"command_timeout": 0.0, **settings}
    return Simulation(robot, Settings(**settings), initial, modes=modes, scene=scene, instrumented=instrumented)


def hold(simulation, grip=20.0):
    """Close the fingers on the ball, by forces of `grip` N, and hold the lift where it is."""
    simulation.set_modes({"lift": "position"})
    simulation.command(np.array([0.0, -grip, grip]))
    return simulation


def touching(simulation, name):
    """The names of what touches an object or a link."""
    return [other for touch in simulation.touches() if name in touch[:2] for other in touch[:2] if other != name]


def state(simulation):
    return np.concatenate((simulation.q, simulation.qd, simulation.environment.q, simulation.environment.qd))


def test_objects_move_as_in_a_rollout_of_the_scene_while_the_robot_is_held(robot):
    scene = gripper_scene(robot)
    simulation = simulate(robot, scene)
    simulation.advance(400)
    alone = sd.Scene(sd.Robot(sd.ModelBuilder("world").build()), ground=True)
    alone.add_sphere("ball", 0.05, 0.3, at(z=0.3))
    motion = alone.rollout(alone.neutral(), steps=400)
    np.testing.assert_array_equal(simulation.q, np.zeros(3))
    np.testing.assert_allclose(simulation.entity("ball").pose, motion.q[-1], atol=1e-9)
    assert simulation.entity("ball").pose[2] == pytest.approx(0.05, abs=1e-6)


def test_the_same_bits_however_many_steps_are_made_at_a_time_and_whoever_measures(robot):
    simulations = [hold(simulate(robot, gripper_scene(robot))) for _ in range(2)]
    simulations[0].advance(120)
    for _ in range(60):
        simulations[1].advance(2)
        simulations[1].touches(), simulations[1].joint_state()
    np.testing.assert_array_equal(state(simulations[0]), state(simulations[1]))
    simulations[0].reset()
    hold(simulations[0]).advance(120)
    np.testing.assert_array_equal(state(simulations[0]), state(simulations[1]))


def test_a_gripper_holds_its_ball_by_friction_and_carries_its_weight(robot):
    simulation = hold(simulate(robot, gripper_scene(robot)))
    simulation.advance(300)
    before = simulation.entity("ball").pose
    simulation.advance(500)
    assert np.abs(simulation.entity("ball").pose - before).max() < 1e-6          # it does not creep
    touches = simulation.touches()
    assert {frozenset((touch.first, touch.second)) for touch in touches} == {
        frozenset(("ball", "left")), frozenset(("ball", "right"))}
    on_box = sum(touch.force if touch.first == "ball" else -touch.force for touch in touches)
    np.testing.assert_allclose(on_box, (0.0, 0.0, 0.3 * G), atol=1e-6)
    grip, = (touch.force[1] for touch in touches if "left" in touch[:2])
    assert abs(grip) == pytest.approx(20.0, abs=1e-6)


@pytest.mark.parametrize(("kind", "value"), [("object_dropped", 0.0), ("surface_slippery", 0.0)])
def test_a_ball_that_is_dropped_or_slippery_falls_out_of_the_gripper(robot, kind, value):
    simulation = hold(simulate(robot, gripper_scene(robot)))
    simulation.advance(200)
    assert simulation.entity("ball").pose[2] > 0.29
    simulation.inject(kind, "ball", value, delay=0.01, duration=0.5)
    simulation.advance(400)
    assert simulation.entity("ball").pose[2] < 0.06
    assert {*touching(simulation, "ball")} == {"ground"}
    simulation.reset()
    hold(simulation).advance(200)
    assert simulation.entity("ball").pose[2] > 0.29


def test_a_force_torque_sensor_feels_the_contact_and_efforts_balance_it(robot):
    """The lift presses down with 30 N: the ground pushes with this and all weights, the wrist feels 30 N and what
    is above it."""
    scene = press_scene(robot)
    instrumented = sd.Robot(model_of(GRIPPER, apart=["wrist"]))
    simulation = simulate(robot, scene, {"lift": -0.349}, instrumented=instrumented, force_torques=("wrist",),
                          hold_until_first_command=False)
    simulation.set_modes({"left_finger": "position", "right_finger": "position"})
    simulation.command(np.array([-30.0, 0.0, 0.0]))
    simulation.advance(600)
    touch, = simulation.touches()
    assert {touch.first, touch.second} == {"hand", "ground"}
    force = touch.force if touch.first == "hand" else -touch.force
    np.testing.assert_allclose(force, (0.0, 0.0, 2.9 * G + 30.0), atol=1e-6)
    assert touch.point == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    wrench = simulation.force_torque("wrist")
    np.testing.assert_allclose(wrench, (0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * G + 30.0), atol=1e-6)


def test_spawning_and_deleting_leave_all_others_as_they_are(robot):
    simulation = hold(simulate(robot, gripper_scene(robot)))
    simulation.advance(200)
    before = simulation.q, simulation.qd, simulation.entity("ball")
    simulation.spawn(SceneObject("brick", Sphere(0.05), 1.0, at(x=0.5, z=0.05)))
    assert simulation.environment.spawned == {"brick"}
    np.testing.assert_array_equal(simulation.entity("ball").pose, before[2].pose)
    simulation.advance(300)
    np.testing.assert_allclose(simulation.entity("ball").pose, before[2].pose, atol=1e-6)
    np.testing.assert_allclose(simulation.entity("brick").pose[:3], (0.5, 0.0, 0.05), atol=1e-6)
    simulation.push("brick", (0.0, 0.0, 0.0, 5.0, 0.0, 0.0))
    simulation.delete("ball")
    brick = simulation.entity("brick")
    np.testing.assert_allclose(brick.pose[:3], (0.5, 0.0, 0.05), atol=1e-6)
    simulation.delete("brick")
    simulation.advance(10)                          # nothing but the ground is left
    with pytest.raises(ValueError, match="object 'brick' must be one of ground"):
        simulation.entity("brick")


def box(k, **pose):
    return SceneObject(f"box{k}", Box((0.1, 0.1, 0.1)), 1.0, at(**{"x": 0.3 + 0.2 * k, "z": 0.05, **pose}))


def test_boxes_come_down_one_by_one_and_have_the_motion_of_a_scene_with_room_for_all(robot):
    """17 have 68 contacts: the first steps with the last of them are made anew, with more memory."""
    simulations = [simulate(robot, sd.Scene(robot, ground=True)) for _ in range(3)]
    for simulation in simulations:
        for k in range(17):
            simulation.spawn(box(k, z=0.075 + 0.005 * k))
    simulations[0].environment.contact_model.have_room()
    for _ in range(80):
        simulations[1].advance(2)
    for simulation in simulations[::2]:
        simulation.advance(160)
    assert simulations[0].environment.contact_model.most > simulations[1].environment.contact_model.most > 68
    assert not any(simulation.fault for simulation in simulations)
    for other in simulations[1:]:
        np.testing.assert_array_equal(state(other), state(simulations[0]))
    weight = sum(abs(touch.force[2]) for touch in simulations[1].touches())
    assert weight == pytest.approx(17 * G, rel=1e-9)


def test_an_object_with_which_too_much_would_touch_is_not_spawned_and_nothing_changes(robot):
    simulation = simulate(robot, sd.Scene(robot, ground=True, max_contacts=8))
    for k in range(2):
        simulation.spawn(box(k))
    simulation.advance(10)
    before = state(simulation)
    with pytest.raises(ValueError, match="object 'box2' cannot be added: max_contacts 8 must be larger by at least 4"):
        simulation.spawn(box(2))
    np.testing.assert_array_equal(state(simulation), before)
    assert list(simulation.environment.objects) == ["ground", "box0", "box1"]
    assert simulation.advance(10) == 10 and simulation.fault is None
    simulation.spawn(box(2, z=0.2))                         # it falls, up to where contacts are looked for
    made = simulation.advance(400)
    assert made < 400 and "more would touch at once than max_contacts, 8" in simulation.fault
    before, gap = (0.15 - 0.5 * G * 1e-6 * n * (n + 1) for n in (made - 1, made))      # by Euler's steps
    assert simulation.entity("box2").pose[2] - 0.05 == pytest.approx(gap, abs=1e-12)
    assert gap < 0.02 < before


def test_an_object_for_whose_contacts_there_is_no_memory_is_not_spawned_and_nothing_changes(robot, monkeypatch):
    def touches(*_):
        raise MemoryError
    simulation = simulate(robot, sd.Scene(robot, ground=True))
    simulation.spawn(box(0))
    before = state(simulation)
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(ContactModel, "touches", touches)
        simulation.spawn(box(1))
    np.testing.assert_array_equal(state(simulation), before)
    assert list(simulation.environment.objects) == ["ground", "box0"]
    assert simulation.advance(10) == 10 and simulation.fault is None


def test_contacts_that_the_solver_gives_up_are_known_until_a_reset():
    """A slider along x touches a surface that rises, which it cannot follow: no impulse is enough."""
    scene = beside_a_plane("lift", -0.1, (0.0, 0.0, 0.3))
    simulation = simulate(scene.robots, scene, hold_until_first_command=False)
    assert simulation.unsolved == 0.0
    simulation.touches()                                    # what sensors find is no motion
    assert simulation.unsolved == 0.0
    simulation.advance(4)
    assert simulation.unsolved == pytest.approx(0.3, rel=1e-12)
    away = (0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0)
    simulation.place("lift", away)
    simulation.advance(4)
    assert simulation.unsolved == pytest.approx(0.3, rel=1e-12)
    simulation.reset()
    simulation.place("lift", away)
    simulation.advance(4)
    assert simulation.unsolved == 0.0


@pytest.mark.parametrize("kind", ["object_dropped", "surface_slippery"])
def test_a_fault_of_an_object_that_was_deleted_waits_for_one_of_its_name(robot, kind):
    value = " 0.0" if kind == "surface_slippery" else ""
    simulation = simulate(robot, gripper_scene(robot), fault_schedule=(f"{kind} ball{value} at 0.003",))
    ball = simulation.environment.objects["ball"]
    simulation.delete("ball")
    assert simulation.advance(5) == 5 and simulation.fault is None
    simulation.spawn(ball)
    assert simulation.advance(2) == 2
    around = simulation.environment.contact_model
    pairs = {frozenset(around.colliders[i].name for i in (pair.first, pair.second)): pair.mu for pair in around.pairs}
    if kind == "object_dropped":
        assert frozenset(("ball", "ground")) in pairs and frozenset(("ball", "left")) not in pairs
    else:
        assert pairs[frozenset(("ball", "left"))] == 0.0
    simulation.reset()
    assert simulation.advance(5) == 5


def test_objects_are_placed_and_moved_and_a_reset_brings_them_back(robot):
    scene = gripper_scene(robot)
    scene.add_plane("table", at(z=0.1))
    simulation = simulate(robot, scene)
    simulation.place("ball", (1.0, 0.0, 0.3, 0.0, 0.0, 0.0, 2.0), (0.0,) * 6)
    simulation.advance(400)
    np.testing.assert_allclose(simulation.entity("ball").pose[:3], (1.0, 0.0, 0.15), atol=1e-6)
    simulation.place("table", (0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 1.0))
    simulation.advance(400)                         # it stood on the table, which is gone
    np.testing.assert_allclose(simulation.entity("ball").pose[2], 0.05, atol=1e-6)
    simulation.reset()
    np.testing.assert_array_equal(simulation.entity("ball").pose[:3], (0.0, 0.0, 0.3))
    np.testing.assert_array_equal(simulation.entity("table").pose[:3], (0.0, 0.0, 0.1))


@pytest.mark.parametrize(("change", "message"), [
    (lambda s: s.place("ball", (NAN, 0, 0, 0, 0, 0, 1)), "object 'ball': pose must be 7 finite numbers"),
    (lambda s: s.place("ball", (0, 0, 0, 0, 0, 0, 0)), "the quaternion must not be 0"),
    (lambda s: s.place("ball", (1e9, 0, 0, 0, 0, 0, 1)), "must be within 100000"),
    (lambda s: s.place("ball", None, (NAN,) * 6), "object 'ball': twist must be 6 finite numbers"),
    (lambda s: s.place("ground", None, (1.0,) * 6), "object 'ground' is fixed"),
    (lambda s: s.place("bok", (0, 0, 0, 0, 0, 0, 1)), "object 'bok' must be one of ground, ball"),
    (lambda s: s.delete("left"), "object 'left' must be one of ground, ball"),
    (lambda s: s.spawn(SceneObject("ball", Box((1, 1, 1)))), "object 'ball': the name is taken"),
    (lambda s: s.spawn(SceneObject("left", Box((1, 1, 1)))), "object 'left': the name is taken"),
    (lambda s: s.set_friction("ball", -0.1), "friction"),
    (lambda s: s.set_friction("nothing", 0.1), "'nothing' is not a link or object with a shape"),
    (lambda s: s.inject("surface_slippery", "nothing", 0.1), "unknown surface 'nothing'"),
    (lambda s: s.inject("object_dropped", "ground"), "unknown object 'ground', there are ball"),
])
def test_what_cannot_be_is_refused_by_name_and_changes_nothing(robot, change, message):
    simulation = simulate(robot, gripper_scene(robot))
    before, contact_model = state(simulation), simulation.environment.contact_model
    with pytest.raises(ValueError, match=message):
        change(simulation)
    np.testing.assert_array_equal(state(simulation), before)
    assert simulation.environment.contact_model is contact_model and "ball" in simulation.environment.objects


def test_friction_that_changes_at_run_time_acts_from_then_on(robot):
    """A box on the ground, pushed with 1 N: it sticks, and slides at F / m - mu g when the ground is icy."""
    scene = sd.Scene(robot, ground=True)
    scene.add_box("ball", (0.1, 0.1, 0.05), 0.3, at(x=0.5, z=0.025))
    simulation = simulate(robot, scene)
    simulation.advance(50)
    simulation.push("ball", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    simulation.advance(100)
    assert abs(simulation.entity("ball").pose[0] - 0.5) < 1e-9
    simulation.set_friction("ground", 0.0)
    simulation.advance(100)
    assert simulation.entity("ball").twist[3] == pytest.approx(0.1 / 0.3, rel=1e-6)


def test_gravity_and_payload_of_the_robot_may_change_in_a_scene(robot):
    simulation = hold(simulate(robot, gripper_scene(robot)))
    simulation.advance(100)
    simulation.robot = robot.with_gravity((0.0, 0.0, 0.0))
    start = simulation.entity("ball").twist[5]
    simulation.inject("object_dropped", "ball")
    simulation.advance(100)
    assert simulation.entity("ball").twist[5] == pytest.approx(start, abs=1e-9)


def test_robots_alone_refuse_what_is_of_scenes(robot):
    simulation = Simulation(robot)
    with pytest.raises(ValueError, match="the simulator has no scene"):
        simulation.spawn(SceneObject("brick", Box((0.1, 0.1, 0.1)), 1.0))
    assert simulation.touches() == []


def test_a_quadruped_stands_on_its_servos_and_carries_its_weight():
    """Its feet press with 14 kg, and it stands still, where its servos are told to be."""
    robot = sd.Robot.from_urdf(quadruped(), floating_base=True)
    bent = {joint: 0.6 if joint.endswith("hip") else -1.2 for joint in robot.joint_names[1:]}
    height = 2.0 * LEG * np.cos(0.6) + FOOT
    simulation = Simulation(
        robot, Settings(initial_base_pose=(0, 0, height, 0, 0, 0, 1), command_timeout=0.0), bent,
        modes=dict.fromkeys(bent, "position"), scene=sd.Scene(robot, ground=True))
    simulation.command(np.array([NAN] * 6 + list(bent.values())))
    simulation.advance(500)
    assert simulation.q[2] == pytest.approx(height, abs=1e-8) and np.abs(simulation.q[3:6]).max() < 1e-8
    np.testing.assert_allclose(simulation.q[7:], list(bent.values()), atol=1e-8)
    touches = simulation.touches()
    assert len(touches) == 4 and {touch.second for touch in touches} | {touch.first for touch in touches} == {
        "ground", *(f"{leg}_foot" for leg in HIPS)}
    carried = sum(touch.force if touch.first != "ground" else -touch.force for touch in touches)
    np.testing.assert_allclose(carried, (0.0, 0.0, 14.0 * G), atol=1e-6)
