"""Robots with series elastic joints: feed-forward against their equations of motion, and the example."""
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.analysis.elastic_joints import ElasticJoints
from screw_dynamics.model.drive import Antagonistic, Electric, Hardening, LeverArm
from support.floating_robots import hopper
from support.matrices import error
from support.paths import ROOT
from support.random_trees import model_of, random_tree

pytestmark = pytest.mark.slow     # with armature, in batches


@pytest.mark.parametrize("mimics", [0, 2])
def test_feed_forward_makes_links_and_motors_move_as_it_says(mimics, rng):
    robot = sd.Robot(model_of(random_tree(rng, 7, mimics)))
    elastic = ElasticJoints(robot, rng.uniform(100.0, 1000.0, robot.n), 0.3, rng.uniform(0.0, 2.0, robot.n))
    q, qd, qdd, *rates = rng.standard_normal((5, robot.n))
    motor = elastic.feed_forward(q, qd, qdd, *rates)
    assert error(motor.spring_torque, robot.inverse_dynamics(q, qd, qdd)) < 1e-13
    found = elastic.accelerations(q, qd, motor.position, motor.velocity, motor.torque)
    for acceleration, expected in zip(found, (qdd, motor.acceleration), strict=True):
        assert error(acceleration, expected) < 1e-10


def along(feed, n, rng):
    """The rates of a quantity of feed(q, q', ...) along q(t) of constant fourth derivative: by differences of order 4
    of that of one name, and as that of another name."""
    x, h = rng.standard_normal((5, n)), 1e-3

    def at(t):
        powers = [1.0, t, t**2 / 2.0, t**3 / 6.0, t**4 / 24.0]
        return feed(*(sum(c * r for c, r in zip(powers, x[k:], strict=False)) for k in range(5)))

    def rates(name, rate):
        ahead, back, far, before = (getattr(at(t), name) for t in (h, -h, 2.0 * h, -2.0 * h))
        return (8.0 * (ahead - back) - (far - before)) / (12.0 * h), getattr(at(0.0), rate)
    return rates


def test_position_and_velocity_of_the_motors_belong_together(rng):
    robot = sd.Robot(model_of(random_tree(rng, 4)))
    rates = along(ElasticJoints(robot, 300.0, 0.1).feed_forward, robot.n, rng)
    for name, rate in (("position", "velocity"), ("velocity", "acceleration")):
        assert error(*rates(name, rate)) < 1e-8


@pytest.mark.parametrize("arguments, message", [
    ((-1.0, 1.0), r"stiffness of joint 'waist': -1.0 must be > 0"),
    ((1.0, [1.0, 0.0, 1.0]), r"motor_inertia of joint 'lift': 0.0 must be > 0"),
    ((1.0, 1.0, -1e-9), r"motor_damping of joint 'waist': -1e-09 must be >= 0"),
    ((1.0, np.inf), "motor_inertia must be 3 finite numbers"),
    (("a", 1.0), "stiffness must be"), ((np.ones(2), 1.0), "stiffness .*3")])
def test_what_is_no_spring_or_motor_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ElasticJoints(sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf"), *arguments)


def test_arguments_of_other_shapes_are_refused():
    elastic, zero = ElasticJoints(sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf"), 1.0, 1.0), np.zeros(3)
    for call, name in ((lambda: elastic.feed_forward(zero, zero, zero, zero, None), "qdddd must be"),
                       (lambda: elastic.accelerations(zero, zero, zero, zero, np.zeros(4)), "torque has shape")):
        with pytest.raises(ValueError, match=name):
            call()


@pytest.mark.slow
def test_the_example_tracks_to_the_accuracy_of_its_integrator(tmp_path):
    picture = tmp_path / "elastic.png"
    command = [sys.executable, ROOT / "examples/elastic_joints.py", "--picture", picture]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240, cwd=ROOT).stdout
    flat, rigid = (float(x) for x in re.findall(r"at most (\S+) rad", printed))
    assert flat < 1e-10 and rigid > 1e-3 and picture.stat().st_size > 20_000


# ------------------------------------------------------------------------------------------------- robots with drives
HARD = Hardening((300.0, 2e4))
DRIVES = {"waist": sd.Drive(1e-4, 60.0, HARD, motor_damping=0.2, motor_friction=0.3, gear_loss=0.1),
          "lift": sd.Drive(1e-4, 80.0, Antagonistic(HARD), motor_damping=0.1),
          "slide": sd.Drive(1e-4, 50.0, LeverArm((2000.0, 0.0, 1e6), 0.4, 0.0, 0.1))}


def arm(**drives):
    return sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf").with_drives(drives or DRIVES)


def test_motors_of_any_springs_make_the_links_move_as_wanted(rng):
    """The whole state and all efforts, through the forward dynamics of the robot with drives."""
    elastic = ElasticJoints(arm())
    driven, settings = elastic.driven, {"lift": 0.03, "slide": 0.07}
    q, qd, qdd, *rates = rng.standard_normal((5, 4, 3))
    motion = elastic.feed_forward(q, qd, qdd, *rates, settings=settings)
    efforts = motion.tau + driven.drive_torque(motion.q, motion.qd) - driven.friction_torque(motion.qd)
    assert error(driven.forward_dynamics(motion.q, motion.qd, efforts), motion.qdd) < 1e-10
    assert (motion.tau[:, :3] == 0.0).all() and (motion.q[:, driven.q_slices["slide_lever"]] == 0.07).all()
    apart = motion.q[:, driven.q_slices["lift_motor_1"]] - motion.q[:, driven.q_slices["lift_motor_2"]]
    assert error(apart, np.full((4, 1), 0.06)) < 1e-12
    assert error(motion.torque[:, 1], motion.tau[:, [driven.v_slices[f"lift_motor_{i}"].start for i in (1, 2)]].sum(
        axis=1)) < 1e-12


OWN = [sd.forces.Spring("lift", 300.0, 2.0, 0.3), sd.forces.Spring({"waist": 1.0, "slide": -2.0}, 50.0, rest=0.1)]


def test_springs_of_the_robots_own_are_in_the_feed_forward(rng):
    """Through the forward dynamics of the robot with drives and springs."""
    elastic = ElasticJoints(arm(waist=sd.Drive(1e-4, 60.0, HARD), lift=sd.Drive(1e-4, 80.0, 900.0)).with_forces(OWN))
    driven, x = elastic.driven, rng.standard_normal((5, 3))
    motion = elastic.feed_forward(*x)
    efforts = motion.tau + driven.drive_torque(motion.q, motion.qd) - driven.friction_torque(motion.qd)
    assert error(driven.forward_dynamics(motion.q, motion.qd, efforts), motion.qdd) < 1e-10


SPINS = {"axis": (0.0, 0.0, 1.0)}


@pytest.mark.parametrize("drives", [
    {"waist": sd.Drive(1e-4, 60.0, HARD, coupling={"lift": 0.5, "slide": 0.1}), "slide": sd.Drive(1e-4, 50.0, 900.0),
     "lift": sd.Drive(1e-4, -80.0, HARD, gear_loss=0.1, motor_friction=0.1, coupling={"waist": -0.7})},
    {"waist": sd.Drive(1e-4, 60.0, HARD, coupling={"lift": 0.5}),
     "lift": sd.Drive(1e-3, 80.0, coupling={"waist": 2.0})},
    {"waist": sd.Drive(1e-4, 60.0, HARD), "slide": sd.Drive(1e-4, 50.0, carrier="yoke", **SPINS)}])
def test_motors_that_several_joints_turn_and_rigid_rotors_are_in_the_feed_forward(rng, drives):
    elastic = ElasticJoints(arm(**drives))
    driven = elastic.driven
    q, qd, qdd, *rates = rng.standard_normal((5, 4, 3))
    motion = elastic.feed_forward(q, qd, qdd, *rates)
    efforts = motion.tau + driven.drive_torque(motion.q, motion.qd) - driven.friction_torque(motion.qd)
    assert error(driven.forward_dynamics(motion.q, motion.qd, efforts), motion.qdd) < 1e-9
    assert (motion.q[:, :3] == q).all() and (motion.tau[:, elastic._links[[*elastic.robot.joint_names].index("waist")]]
                                             == 0.0).all()
    still = elastic.equilibrium(q[0])
    assert abs(driven.forward_dynamics(still.q, still.qd, still.tau + driven.drive_torque(still.q, still.qd))
               ).max() < 1e-9
    if all(drive.is_elastic for drive in drives.values()):
        aside = still.q + np.r_[0.01 * rng.standard_normal(3), np.zeros(driven.n - 3)]
        assert error(elastic.hanging(aside), still.q) < 1e-11


def test_a_joint_without_a_spring_keeps_its_own_motion_and_effort(rng):
    elastic = ElasticJoints(arm(waist=DRIVES["waist"], lift=sd.Drive(1e-4, 80.0)))
    q, qd, qdd, *rates = rng.standard_normal((5, 3))
    motion, expected = elastic.feed_forward(q, qd, qdd, *rates), elastic.robot.inverse_dynamics(q, qd, qdd)
    assert (motion.position[1:] == q[1:]).all() and error(motion.torque[1:], expected[1:]) < 1e-13
    assert error(motion.tau, np.r_[0.0, expected[1:], motion.torque[0]]) < 1e-13


def test_the_rotor_of_a_rigid_drive_turns_with_its_carrier_and_spins(rng):
    """Beside a spring elsewhere: through the forward dynamics of the robot with drives."""
    spins = sd.Drive(1e-4, 50.0, motor_friction=0.2, carrier="yoke", axis=(0.0, 0.0, 1.0))
    elastic = ElasticJoints(arm(waist=DRIVES["waist"], slide=spins))
    driven, motion = elastic.driven, elastic.feed_forward(*rng.standard_normal((5, 3)))
    efforts = motion.tau + driven.drive_torque(motion.q, motion.qd) - driven.friction_torque(motion.qd)
    assert error(driven.forward_dynamics(motion.q, motion.qd, efforts), motion.qdd) < 1e-10


def test_equilibria_stay_where_they_are_and_are_found_again(rng):
    elastic = ElasticJoints(arm())
    driven, q = elastic.driven, 0.5 * rng.standard_normal(3)
    still = elastic.equilibrium(q, settings={"slide": 0.05})
    efforts = still.tau + driven.drive_torque(still.q, still.qd)
    assert abs(driven.forward_dynamics(still.q, still.qd, efforts)).max() < 1e-11
    aside = still.q.copy()
    aside[:3] += 0.02 * rng.standard_normal(3)
    assert error(elastic.hanging(aside), still.q) < 1e-12


def test_no_equilibrium_is_found_where_there_is_none():
    """A slide that nothing holds falls, whatever the spring of another joint does."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("fall", "car", "base", (0.0, 0.0, 1.0), pitch=np.inf, mass=1.0)
    builder.add_screw("hip", "rod", "car", (0.0, 1.0, 0.0), mass=2.0, com=(0.3, 0.0, 0.0))
    elastic = ElasticJoints(sd.Robot(builder.build()).with_drives({"hip": sd.Drive(1e-4, 60.0, HARD)}))
    with pytest.raises(ValueError, match=r"hanging: no equilibrium was found from q = \[0.0.*; the residual is 29.43"):
        elastic.hanging(np.zeros(3))


def test_resonances_are_those_of_scipys_generalized_problem_and_of_two_masses(rng):
    elastic = ElasticJoints(arm())
    q = elastic.equilibrium(0.5 * rng.standard_normal(3)).q
    driven, n, h = elastic.driven, elastic.driven.n, 1e-6

    def held(x):
        return driven.gravity_torque(x) - driven.drive_torque(x, np.zeros(n))
    S = np.stack([(held(q + h * e) - held(q - h * e)) / (2.0 * h) for e in np.eye(n)], axis=-1)
    M = driven.mass_matrix(q)
    found = elastic.resonances(q)
    assert error(found.squared, eigh(0.5 * (S + S.T), M, eigvals_only=True)) < 1e-8
    assert error(found.shapes.T @ M @ found.shapes, np.eye(n)) < 1e-12
    locked = elastic.resonances(q, motors="locked")
    assert error(locked.squared, eigh(S[:3, :3], M[:3, :3], eigvals_only=True)) < 1e-8
    assert (locked.shapes[3:] == 0.0).all() and (locked.frequencies > 0.0).all()
    slide = ElasticJoints(arm(slide=sd.Drive(0.5, 1.0, 800.0)).with_gravity(np.zeros(3)))
    q = np.array([0.0, 0.0, 0.3, 0.3])
    m, B = slide.driven.mass_matrix(q)[2, 2], 0.5
    fastest = slide.resonances(q)
    assert fastest.frequencies[-1] * 2.0 * np.pi == pytest.approx(np.sqrt(800.0 * (1.0 / m + 1.0 / B)), rel=1e-12)


def test_a_link_gives_way_by_its_compliance(rng):
    """By the displacement of the equilibrium under a small wrench, of gravity's change too."""
    elastic = ElasticJoints(arm())
    q, link, size = elastic.equilibrium(0.5 * rng.standard_normal(3)).q, "gripper", 1e-3
    driven, C = elastic.driven, elastic.compliance(q, link)
    T = driven.forward_kinematics(q, link)
    for k in range(6):
        x = q.copy()
        for _ in range(3):                      # Newton's method for the links under the wrench
            J = driven.jacobian(x, link, "hybrid")[:, :3]
            missing = (driven.gravity_torque(x) - driven.drive_torque(x, np.zeros(driven.n)))[:3] - J.T[:, k] * size
            x[:3] -= np.linalg.solve(elastic._stiffness(x)[:3, :3], missing)
        moved = driven.forward_kinematics(x, link)
        turn = Rotation.from_matrix(moved[:3, :3] @ T[:3, :3].T).as_rotvec()
        assert error(np.r_[turn, moved[:3, 3] - T[:3, 3]] / size, C[:, k]) < 1e-3
    assert error(C, C.T) < 1e-9


@pytest.mark.parametrize("call, message", [
    (lambda: ElasticJoints(arm(waist=sd.Drive(1.0, electric=Electric(1.0, 1.0, 1.0)))), "joint 'waist' is electric"),
    (lambda: ElasticJoints(arm(waist=sd.Drive(1.0))), "no joint of the robot has an elastic drive"),
    (lambda: ElasticJoints(arm(waist=sd.Drive(1.0, 1.0, 9.0, damping=1.0))).feed_forward(*np.zeros((5, 3))),
     "feed_forward: the drive of joint 'waist' has damping"),
    (lambda: ElasticJoints(arm(waist=sd.Drive(1.0, 1.0, 9.0, backlash=0.1))).feed_forward(*np.zeros((5, 3))),
     "'waist' has backlash"),
    (lambda: ElasticJoints(arm(waist=sd.Drive(1.0, 1.0, 9.0, carrier="floor"))).feed_forward(*np.zeros((5, 3))),
     "'waist' has a carrier"),
    (lambda: ElasticJoints(arm(waist=sd.Drive(1.0, 1.0, 9.0, coupling={"lift": 2.0}),
                               lift=sd.Drive(1.0, 1.0, 9.0, coupling={"waist": 0.5}))),
     "couplings of the drives of waist, lift leave a motion of the joints that turns no motor"),
    (lambda: ElasticJoints(arm(waist=sd.Drive(1.0, 1.0, 9.0), lift=sd.Drive(
        1.0, motor_friction=1.0, coupling={"waist": 0.5}))).feed_forward(*np.zeros((5, 3))),
     "'lift' has friction of a rigid motor that several joints turn"),
    (lambda: ElasticJoints(arm().with_forces([sd.forces.Drag("boom", 0.3)])).feed_forward(*np.zeros((5, 3))),
     "feed_forward: Drag.* of the robot is not supported, only forces.Spring at joints of links"),
    (lambda: ElasticJoints(arm().with_forces([sd.forces.Spring("waist_motor", 3.0)])).equilibrium(np.zeros(3)),
     "feed_forward: Spring.*'waist_motor'.* is not supported"),
    (lambda: ElasticJoints(arm().with_forces([sd.forces.Friction("waist", 3.0)])).equilibrium(np.zeros(3)),
     "feed_forward: Friction.* is not supported"),
    (lambda: ElasticJoints(arm()).equilibrium(np.zeros(3), settings={"waist": 1.0}),
     "'waist' is not a joint with a drive of variable stiffness"),
    (lambda: ElasticJoints(arm()).equilibrium(np.zeros(3), settings={"slide": 0.2}), "0.2 is not within 0 and 0.1"),
    (lambda: ElasticJoints(arm()).resonances(np.zeros(8), motors="held"), "motors"),
    (lambda: ElasticJoints(arm()).resonances(np.full(8, np.nan)), "q"),
    (lambda: ElasticJoints(arm()).resonances(np.zeros((2, 8))), r"q must be one configuration \(8,\), not of"),
    (lambda: ElasticJoints(arm()).compliance(np.zeros((2, 8)), "gripper"), "q must be one configuration"),
    (lambda: ElasticJoints(arm()).hanging(np.zeros(8), np.zeros((2, 8))), "guess must be one configuration"),
    (lambda: ElasticJoints(arm()).equilibrium(np.zeros(3), settings={"slide": np.nan}), "settings of joint 'slide'"),
    (lambda: ElasticJoints(arm()).feed_forward(*np.zeros((5, 3)), neglect_damping="no"), "neglect_damping 'no' must"),
    (lambda: ElasticJoints(arm()).accelerations(*np.zeros((5, 3))), "joint 'lift' has 2 motors"),
    (lambda: ElasticJoints(sd.Robot.from_urdf(hopper(), floating_base=True), 1.0, 1.0), "'floating_base' is free")])
def test_what_cannot_be_told_of_elastic_robots_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("own", [[], OWN])
def test_motors_behind_springs_that_bend_move_as_their_derivatives_say(rng, own):
    feed = partial(ElasticJoints(arm().with_forces(own)).feed_forward, settings={"lift": 0.03, "slide": 0.07},
                   friction=False)
    rates = along(feed, 3, rng)
    for name, rate in (("q", "qd"), ("qd", "qdd")):
        assert error(*rates(name, rate)) < 1e-7


@pytest.mark.parametrize("motors", ["free", "locked"])
def test_shapes_of_oscillations_are_those_of_the_equations_of_motion(rng, motors):
    """S v = w^2 M v, of joints that move each other; and all have the same kinetic energy."""
    robot = sd.Robot(model_of(random_tree(rng, 4)))
    elastic = ElasticJoints(robot.with_drives(dict.fromkeys(robot.joint_names, sd.Drive(1e-4, 60.0, HARD))))
    q, h = elastic.equilibrium(0.3 * rng.standard_normal(4)).q, 1e-6
    driven, n = elastic.driven, elastic.driven.n
    moving = np.arange(n) if motors == "free" else np.arange(4)

    def held(x):
        return driven.gravity_torque(x) - driven.drive_torque(x, np.zeros(n))
    S = np.stack([(held(q + h * e) - held(q - h * e)) / (2.0 * h) for e in np.eye(n)], axis=-1)[np.ix_(moving, moving)]
    M, found = driven.mass_matrix(q)[np.ix_(moving, moving)], elastic.resonances(q, motors=motors)
    v = found.shapes[moving]
    assert error(S @ v, M @ v * found.squared) < 1e-7 and error(v.T @ M @ v, np.eye(len(moving))) < 1e-11
