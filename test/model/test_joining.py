"""Models joined on one root: each part moves as it does alone."""
from dataclasses import fields

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.model.joining import FreeBody, Mounted, join
from support import matrices
from support.matrices import error
from support.random_trees import model_of, random_body, random_pose, random_tree

RNG = np.random.default_rng(29)
ARM = model_of(random_tree(RNG, 5, mimics=1), limits=sd.Limits(-1, 2, 3, 4), damping=0.1, friction=0.2, armature=0.3)
LEG = model_of(random_tree(RNG, 4, of=("free", "revolute", "spherical")), damping=0.3)
MOUNT = random_pose(RNG)
GRAVITY = (0.3, -2.0, -9.0)


def inertia():
    return sd.inertia_matrix(*random_body(RNG))


def closed():
    builder = sd.ModelBuilder("base", sd.inertia_matrix(2.0, (0.1, 0.2, 0.3), np.eye(3)))
    builder.add_screw("a", "upper", "base", (0, 0, 1), mass=1.0, com=(1, 0, 0), inertia=np.eye(3))
    builder.add_screw("b", "lower", "upper", (0, 1, 0), (1, 0, 0), mass=1.0, com=(2, 0, 0), inertia=np.eye(3))
    builder.add_fixed("tool", "lower", random_pose(RNG))
    builder.add_loop_joint("loop", "spherical", "lower", frame=random_pose(RNG))
    builder.add_distance("rod", "tool", "upper", length=2.0)
    builder.add_gear("gear", {"a": 1.0, "b": -2.0}, 0.5)
    builder.warn("odd")
    return builder.build()


@pytest.fixture(scope="module")
def parts():
    """Three parts, and the robot of all: an arm, a leg that is mounted askew, and a box that starts askew."""
    box = FreeBody("box", inertia(), random_pose(RNG))
    joined = join(ARM, [Mounted(LEG, "leg/", MOUNT)], [box])
    R = MOUNT[:3, :3]
    builder = sd.ModelBuilder("root")
    builder.add_group_joint("free", "box", "box", "root", box.pose, box.inertia)
    return (sd.Robot(joined, GRAVITY), [sd.Robot(ARM, GRAVITY), sd.Robot(LEG, R.T @ GRAVITY),
                                        sd.Robot(builder.build(), GRAVITY)])


@pytest.fixture(scope="module")
def state(parts):
    robot, alone = parts
    each = []
    for part in alone:
        q = part.integrate(part.neutral(), RNG.normal(size=part.n))
        each.append((q, *RNG.normal(size=(2, part.n))))
    return [np.concatenate(x) for x in zip(*each, strict=True)], each


@pytest.mark.slow
def test_the_mass_matrix_is_that_of_the_parts(parts, state):
    robot, alone = parts
    expected = block_diag(*(part.mass_matrix(q) for part, (q, *_) in zip(alone, state[1], strict=True)))
    assert error(robot.mass_matrix(state[0][0]), expected) < 1e-13


@pytest.mark.slow
def test_motion_under_gravity_is_that_of_the_parts(parts, state):
    robot, alone = parts
    for method in "forward_dynamics", "inverse_dynamics":
        expected = np.concatenate([getattr(part, method)(*x) for part, x in zip(alone, state[1], strict=True)])
        assert error(getattr(robot, method)(*state[0]), expected) < 1e-11


@pytest.mark.slow
def test_energies_are_the_sums_of_those_of_the_parts(parts, state):
    robot, alone = parts
    (q, qd, _), each = state
    assert robot.kinetic_energy(q, qd) == pytest.approx(sum(part.kinetic_energy(*x[:2]) for part, x in zip(
        alone, each, strict=True)), rel=1e-13)
    moved = MOUNT[:3, 3] @ GRAVITY * alone[1].total_mass
    assert robot.potential_energy(q) == pytest.approx(sum(part.potential_energy(x[0]) for part, x in zip(
        alone, each, strict=True)) - moved, rel=1e-12)


def test_links_are_where_they_are_in_the_parts(parts, state):
    robot, alone = parts
    for part, (q, *_), prefix, C in zip(alone, state[1], ("", "leg/", ""), (np.eye(4), MOUNT, np.eye(4)), strict=True):
        for link in part.link_names:
            expected = C @ part.forward_kinematics(q, link)
            assert error(robot.forward_kinematics(state[0][0], prefix + link), expected) < 1e-13


def test_numbers_in_q_come_in_the_order_of_the_parts(parts):
    robot, (arm, leg, _) = parts
    assert robot.joint_names == (*arm.joint_names, *(f"leg/{joint}" for joint in leg.joint_names), "box")
    assert robot.q_slices["box"] == slice(arm.nq + leg.nq, arm.nq + leg.nq + 7)
    assert robot.v_slices["box"] == slice(arm.n + leg.n, robot.n)
    assert robot.neutral().tolist() == [*arm.neutral(), *leg.neutral(), 0, 0, 0, 0, 0, 0, 1]


def test_without_a_pose_q_has_that_of_the_free_body():
    robot, C = sd.Robot(join(ARM, bodies=[("box", inertia())])), random_pose(RNG)
    q = robot.neutral()
    q[robot.q_slices["box"]] = [*C[:3, 3], *Rotation.from_matrix(C[:3, :3]).as_quat()]
    assert error(robot.forward_kinematics(q, "box"), C) < 1e-14


def test_what_a_model_has_besides_its_bodies_comes_along():
    model = closed()
    joined = join(ARM, [Mounted(model, "left/", MOUNT), Mounted(model, "right/")])
    loop, rod, gear = joined.constraints[3:]
    assert (loop.name, loop.link, loop.on) == ("right/loop", "right/lower", "right/base")
    assert np.array_equal(loop.frame, model.constraints[0].frame)
    assert (rod.link, rod.on, rod.length) == ("right/tool", "right/upper", 2.0)
    assert gear.ratios == {"right/a": 1.0, "right/b": -2.0} and gear.offset == 0.5
    assert joined.warnings == (*ARM.warnings, "left: odd", "right: odd")
    for field in "lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature":
        expected = [*getattr(ARM, field), *getattr(model, field), *getattr(model, field)]
        assert getattr(joined, field).tolist() == expected
    to_root = matrices.Ad(np.linalg.inv(MOUNT))
    expected = ARM.root_inertia + model.root_inertia + to_root.T @ model.root_inertia @ to_root
    assert error(joined.root_inertia, expected) < 1e-14
    body, C = joined.frames["left/base"]
    assert body == -1 and error(C, MOUNT) < 1e-15


def test_mimic_joints_follow_their_leaders_in_their_part():
    joined = join(closed(), [Mounted(ARM, "arm/")])
    (joint, (leader, *numbers)), = ARM.mimics.items()
    assert dict(joined.mimics) == {f"arm/{joint}": (f"arm/{leader}", *numbers)}
    assert joined.coordinates[2:].tolist() == [k + 2 for k in ARM.coordinates]


@pytest.mark.parametrize("model", [ARM, LEG, closed()])
def test_one_model_alone_stays_as_it_is(model):
    joined = join(model)
    for field in fields(model):
        mine, theirs = getattr(joined, field.name), getattr(model, field.name)
        if field.name == "frames":
            assert {link: (body, C.tolist()) for link, (body, C) in mine.items()} == {
                link: (body, C.tolist()) for link, (body, C) in theirs.items()}
        elif field.name == "joint_frames":
            assert mine.keys() == theirs.keys() and all(np.array_equal(mine[joint], theirs[joint]) for joint in mine)
        else:
            assert np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs


@pytest.mark.parametrize("robots, bodies, says", [
    ([Mounted(ARM)], [], "link 'link 0' would exist twice"),
    ([Mounted(LEG, "a/"), Mounted(LEG, "a/")], [], "link 'a/link 0' would exist twice"),
    ([], [("root", np.eye(6))], "link 'root' already exists"),
    ([], [("box", np.eye(6)), ("box", np.eye(6))], "joint 'box' already exists|link 'box' already exists"),
    ([], [("link 1", np.eye(6))], "link 'link 1' would exist twice"),
    ([], [("box", None)], "body 'box' has no mass"),
    ([], [("box", -np.eye(6))], "body 'box': mass -1.0 must be"),
    ([], [("box", np.diag([5, 1, 1, 1, 1, 1]))], "one that no rigid body can have"),
    ([], [("", np.eye(6))], "must be a non-empty string"),
    ([], [("box", np.eye(6), np.full((4, 4), np.nan))], "'box': pose .* must be finite"),
    ([Mounted(LEG, "a/", 2.0 * np.eye(4))], [], "robot 'a/': last row of a pose"),
    ([Mounted(LEG, 3)], [], "prefix of a robot must be text, not 3"),
])
def test_what_cannot_be_joined_is_named(robots, bodies, says):
    with pytest.raises(ValueError, match=says):
        join(ARM, robots, bodies)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="robot 'a/' must be a Model, not"):
        join(ARM, [Mounted(sd.Robot(LEG), "a/")])
