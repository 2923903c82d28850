"""Inverse kinematics: the poses of what is found, limits, and how often a search succeeds, on real robots."""
import numpy as np
import pytest
from scipy.optimize import minimize

import screw_dynamics as sd
from screw_dynamics.algorithms.inverse_kinematics.errors import rate
from screw_dynamics.algorithms.inverse_kinematics.problems import Sizes
from screw_dynamics.algorithms.inverse_kinematics.step import Work, step_in_box
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.screws.inertia import Articulated, velocity
from screw_dynamics.screws.se3 import Twist, Wrench
from screw_dynamics.screws.so3 import Rotation, turn
from screw_dynamics.screws.vectors import Matrix3, Symmetric3, Vec3
from support.real_robots import real_robot

# Robots, and a link of each: arms of six and seven joints, one with continuous joints, and arms of humanoids.
ARMS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0"),
    "panda": ("panda_description/urdf/panda.urdf", "panda_link8"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "link_eef"),
    "kinova": ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "gripper_left_base_link"),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "left_rubber_hand"),
}
PANDA = ARMS["panda"]


@pytest.fixture(scope="module")
def panda():
    return real_robot(PANDA[0])


def reachable(robot, link, count, seed=1, **options):
    """Random configurations (count, nq), and the poses of a link there."""
    q = robot.random_configuration(count, seed)
    return q, robot.forward_kinematics(q, link, **options)


def errors(robot, link, found, pose, **options):
    """Distances and angles between the poses of what was found and those that were asked for."""
    C = robot.forward_kinematics(found.q, link, **options)
    turned = np.swapaxes(pose[..., :3, :3], -1, -2) @ C[..., :3, :3]
    return (np.linalg.norm(C[..., :3, 3] - pose[..., :3, 3], axis=-1),
            np.linalg.norm([sd.so3.log(R) for R in turned.reshape(-1, 3, 3)], axis=-1).reshape(turned.shape[:-2]))


def within_limits(robot, q):
    return ((q >= robot.model.lower) & (q <= robot.model.upper)).all()


# ------------------------------------------------------------------------------------------------- the error
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.39, 0.41, 1.0, 2.5, 3.1, np.pi - 1e-9])
def test_errors_turn_as_the_logarithm_does(angle, rng):
    """xi = log R, and its rate dexp_(-xi)^-1 w for a body-fixed angular velocity w."""
    axis, w, v = rng.standard_normal((3, 3))
    xi = angle * axis / np.linalg.norm(axis)
    R = sd.so3.exp(xi)
    found = turn(Rotation(*(Vec3(*row) for row in R.tolist())))
    assert np.abs(np.array(found.xi) - xi).max() < 1e-14 / max(1e-2, np.pi - angle) + 1e-14
    rates = rate(Rotation(*(Vec3(*row) for row in R.tolist())), Vec3(*xi), found.c, Twist(Vec3(*w), Vec3(*v)))
    assert np.abs(np.array(rates.angular) - sd.so3.dexp_inv(-xi, w)).max() < 1e-13
    assert np.abs(np.array(rates.linear) - R @ v).max() < 1e-15


@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_a_step_is_the_least_of_its_cost(tasks, rng):
    """|J d + e|^2 + lambda |d - z|^2, in plain Python, against least squares; coordinates move some of the frames."""
    rows, n, damping = 6 * tasks, 9, 0.3
    sizes = Sizes(rows, n, 0, 0)
    work = arranged(Work, 0.0, sizes, np.zeros(room(Work, sizes)), 0)
    moves = np.ones((tasks, n), dtype=bool) if tasks == 1 else rng.random((tasks, n)) < 0.7
    e, J, z = rng.normal(size=rows), rng.normal(size=(rows, n)) * np.repeat(moves, 6, axis=0), rng.normal(size=n)
    work.e[:], work.J[:], work.z[:], work.least[:], work.most[:] = e, J.T, z, -1e9, 1e9
    step_in_box(work, moves, damping, 3)
    expected = np.linalg.lstsq(np.vstack((J, np.sqrt(damping) * np.eye(n))), np.append(-e, np.sqrt(damping) * z))[0]
    assert np.abs(work.d - expected).max() < 1e-12


def test_a_twist_follows_from_a_momentum(rng):
    J = rng.standard_normal((6, 8))
    M, W = J @ J.T, rng.standard_normal(6)
    A, D = (Symmetric3(*block[np.triu_indices(3)]) for block in (M[:3, :3], M[3:, 3:]))
    V = velocity(Articulated(A, Matrix3(*(Vec3(*row) for row in M[:3, 3:])), D), Wrench(Vec3(*W[:3]), Vec3(*W[3:])))
    assert np.abs(M @ np.concatenate(V) - W).max() < 1e-12


# ------------------------------------------------------------------------------------------------- poses
@pytest.mark.parametrize("arm", ARMS)
def test_reachable_poses_are_found_within_the_limits(arm):
    name, link = ARMS[arm]
    robot = real_robot(name)
    _, pose = reachable(robot, link, 200)
    found = robot.inverse_kinematics(pose, link)
    assert found.success.sum() >= 199
    distance, angle = errors(robot, link, found, pose)
    assert (distance[found.success] < 1e-6).all() and (angle[found.success] < 1e-6).all()
    assert np.abs(distance - found.position_error).max() < 1e-12
    assert np.abs(angle - found.orientation_error).max() < 1e-9
    assert within_limits(robot, found.q)


def test_one_pose_and_a_batch_are_the_same(panda):
    q, pose = reachable(panda, PANDA[1], 40)
    batch = panda.inverse_kinematics(pose, PANDA[1])
    again = panda.inverse_kinematics(pose.reshape(8, 5, 4, 4), PANDA[1], threads=2)
    assert np.array_equal(again.q.reshape(40, -1), batch.q) and again.success.shape == (8, 5)
    single = [panda.inverse_kinematics(C, PANDA[1]) for C in pose]
    assert single[0].q.shape == (panda.n,) and single[0].success.shape == ()
    assert [int(x.attempts) for x in single] == batch.attempts.tolist()
    assert list(map(bool, single)) == batch.success.tolist()
    far = pose[0].copy()
    far[:3, 3] = 9.0
    assert single[0] and not panda.inverse_kinematics(far, PANDA[1], attempts=1)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(batch)
    apart = [np.abs(x.q - y).max() for x, y in zip(single, batch.q, strict=True)]
    assert np.median(apart) < 1e-12 and max(apart) < 1e-5                   # the largest at a singularity


def test_a_search_stays_near_its_start(panda, rng):
    q, pose = reachable(panda, PANDA[1], 100)
    lower, upper = panda.model.lower, panda.model.upper
    q = np.clip(q, lower + 0.1, upper - 0.1)
    pose = panda.forward_kinematics(q, PANDA[1])
    found = panda.inverse_kinematics(pose, PANDA[1], q + 0.02 * rng.uniform(-1.0, 1.0, q.shape))
    assert found.success.all() and (found.attempts == 1).sum() >= 99
    assert np.median(np.abs(found.q - q).max(axis=-1)) < 0.05
    there = panda.inverse_kinematics(pose, PANDA[1], q)
    assert np.array_equal(there.q, q) and (there.attempts == 1).all()
    outside = panda.inverse_kinematics(pose, PANDA[1], q + 10.0)
    assert outside.success.all() and np.array_equal(outside.q[:, 7], q[:, 7] + 10.0)     # a finger, which stays
    assert ((outside.q >= lower) & (outside.q <= upper))[:, :7].all()
    one = panda.inverse_kinematics(pose[0], PANDA[1], q[:3])                # many starts for one pose
    assert one.q.shape == (3, panda.n) and one.success.all()


@pytest.mark.parametrize("arm", ["ur5", "kinova"])                         # turns within limits, and without
@pytest.mark.parametrize("far", [1e3, 1e9, 1e12, 1e17, 1e19, 1e300])
def test_success_is_that_of_the_configuration_returned(arm, far):
    """However far away a search starts: its digits may tell no turn, or no angle at all."""
    name, link = ARMS[arm]
    robot = real_robot(name)
    q, pose = reachable(robot, link, 20)
    start = far * np.random.default_rng(0).uniform(-1.0, 1.0, q.shape)
    for found, goal in [(robot.inverse_kinematics(pose, link, start), pose)] + [
            (robot.inverse_kinematics(C, link, x), C) for C, x in zip(pose[:3], start[:3], strict=True)]:
        distance, angle = errors(robot, link, found, goal)
        assert (np.asarray(found.success) <= (distance <= 1e-6 + 1e-12) & (angle <= 1e-6 + 1e-9)).all()
        assert np.abs(distance - found.position_error).max() < 1e-12
        assert np.abs(angle - found.orientation_error).max() < 1e-9
        moving = robot.jacobian(q[0], link).any(axis=0)
        assert within_limits(robot, np.where(moving, found.q, 0.0)) and np.mean(found.success) > 0.9


def test_turns_lead_as_near_to_the_start_as_limits_allow():
    name, link = ARMS["ur5"]
    robot = real_robot(name)
    q, pose = reachable(robot, link, 20)
    start = q + 4.0 * np.pi * np.sign(q)                                    # its limits are two turns apart
    found = robot.inverse_kinematics(pose, link, start)
    assert found.success.all()
    for turns in (-1, 1):
        other = found.q + 2.0 * np.pi * turns
        allowed = (other >= robot.model.lower) & (other <= robot.model.upper)
        assert (~allowed | (np.abs(other - start) >= np.abs(found.q - start) - 1e-9)).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_start_that_is_not_finite_is_refused(panda, wrong):
    q, pose = reachable(panda, PANDA[1], 5)
    q[3, 1] = wrong
    with pytest.raises(ValueError, match=rf"q0 must be finite, but q0\[3, 1\] is {wrong}"):
        panda.inverse_kinematics(pose, PANDA[1], q)
    with pytest.raises(ValueError, match=rf"q0 must be finite, but q0\[1\] is {wrong}"):
        panda.inverse_kinematics(pose[3], PANDA[1], q[3])


def test_searches_depend_on_the_seed_alone(panda):
    _, pose = reachable(panda, PANDA[1], 20)
    first, second = (panda.inverse_kinematics(pose, PANDA[1], seed=3).q for _ in range(2))
    other = sd.Robot(panda.model).inverse_kinematics(pose[::-1], PANDA[1], seed=3).q[::-1]
    assert np.array_equal(first, second) and np.array_equal(first, other)
    assert (np.abs(panda.inverse_kinematics(pose, PANDA[1], seed=4).q - first).max(axis=-1) > 1e-3).any()


def test_what_cannot_be_reached_is_approached(panda):
    """The distance to a point far away that SciPy finds from many starts, along its gradient."""
    pose = np.eye(4)
    pose[:3, 3] = 1.0, 1.5, 0.8
    found = panda.inverse_kinematics(pose, PANDA[1], parts="position")
    for parts in "position", ["position"]:
        links = PANDA[1] if parts == "position" else [PANDA[1]]
        point = pose[:3, 3] if parts == "position" else pose[None, :3, 3]
        for mine, same in zip(panda.inverse_kinematics(point, links, parts=parts), found, strict=True):
            np.testing.assert_array_equal(mine, same)
    assert not found.success and found.attempts == 100 and within_limits(panda, found.q)
    assert np.abs(errors(panda, PANDA[1], found, pose)[0] - found.position_error) < 1e-12

    def distance(q):
        return np.linalg.norm(panda.forward_kinematics(q, PANDA[1])[:3, 3] - pose[:3, 3])
    limits = [*zip(panda.model.lower, panda.model.upper, strict=True)]
    least = min(minimize(distance, q, bounds=limits).fun for q in panda.random_configuration(10, 0))
    assert found.position_error < least + 1e-3


# ------------------------------------------------------------------------------------------------- parts of poses
@pytest.mark.parametrize("parts", ["position", "orientation", [1, 1, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]])
def test_parts_of_a_pose(panda, parts):
    _, pose = reachable(panda, PANDA[1], 100)
    found = panda.inverse_kinematics(pose, PANDA[1], parts=parts)
    assert found.success.all() and within_limits(panda, found.q)
    E = np.linalg.inv(pose) @ panda.forward_kinematics(found.q, PANDA[1])
    rows = {"position": [0, 0, 0, 1, 1, 1], "orientation": [1, 1, 1, 0, 0, 0]}.get(parts, parts) if isinstance(
        parts, str) else parts
    error = np.concatenate((sd.so3.log(E[:, :3, :3]), E[:, :3, 3]), axis=1)
    assert np.abs(error[:, np.array(rows) == 1]).max() < 1e-6 < 1e-2 < np.abs(error[:, np.array(rows) == 0]).max()


def test_a_pose_relative_to_another_link(panda):
    link, reference = "panda_link8", "panda_link3"
    _, pose = reachable(panda, link, 50, reference=reference)
    found = panda.inverse_kinematics(pose, link, reference=reference)
    assert found.success.all() and max(x.max() for x in errors(panda, link, found, pose, reference=reference)) < 1e-6
    assert (found.q[:, :3] == 0.0).all()                        # what does not move the link stays
    back = panda.inverse_kinematics(np.linalg.inv(pose), reference, reference=link)
    assert back.success.all()


def test_several_links_at_once():
    robot = real_robot(ARMS["talos"][0])
    links = "gripper_left_base_link", "gripper_right_base_link", "left_sole_link"
    q = robot.random_configuration(40, 2)
    pose = np.stack([robot.forward_kinematics(q, link) for link in links], axis=1)
    parts = "pose", "position", "pose"
    found = robot.inverse_kinematics(pose, links, parts=parts)
    assert found.success.sum() >= 38 and within_limits(robot, found.q)
    solved = found._replace(q=found.q[found.success])
    for k, (link, part) in enumerate(zip(links, parts, strict=True)):
        distance, angle = errors(robot, link, solved, pose[found.success, k])
        assert distance.max() < 1e-6 and (angle.max() < 1e-6) == (part == "pose")
    rows, named = (robot.inverse_kinematics(pose[0], links, parts=x) for x in ([0, 0, 0, 1, 1, 1], "position"))
    assert rows.success and np.array_equal(rows.q, named.q)                         # six numbers are for all links


def test_only_the_given_joints_move(panda):
    q, pose = reachable(panda, PANDA[1], 50)
    joints = panda.joint_names[1:]
    found = panda.inverse_kinematics(pose, PANDA[1], q * (1.0, *[0.9] * 7), joints=joints)
    assert found.success.mean() > 0.9 and np.array_equal(found.q[:, 0], q[:, 0])


def test_limits_can_be_ignored(panda):
    _, pose = reachable(panda, PANDA[1], 100)
    found = panda.inverse_kinematics(pose, PANDA[1], limits=False)
    assert found.success.all() and not within_limits(panda, found.q)


def test_turns_are_those_nearest_to_the_start():
    """The joints of a UR5 make two turns."""
    name, link = ARMS["ur5"]
    robot = real_robot(name)
    q, pose = reachable(robot, link, 200)
    for q0 in (None, np.full(robot.n, 2.0)):
        found = robot.inverse_kinematics(pose, link, q0)
        assert found.success.all() and within_limits(robot, found.q)
        assert np.abs(found.q - (0.0 if q0 is None else q0)).max() <= 2.0 * np.pi
        middle = np.abs(found.q - (0.0 if q0 is None else q0)) <= np.pi + 1e-12
        assert middle.mean() > (0.999 if q0 is None else 0.9)


# ------------------------------------------------------------------------------------------------- preferences
def test_the_nearest_posture_of_all(panda):
    """Nothing is gained along the null space: the gradient of the objective is normal to it where no limit holds."""
    q, pose = reachable(panda, PANDA[1], 60)
    rest = 0.5 * (panda.model.lower + panda.model.upper)
    found = panda.inverse_kinematics(pose, PANDA[1], q, q_rest=rest)
    assert found.success.all() and within_limits(panda, found.q)
    before, after = (((x - rest) ** 2).sum(axis=-1) for x in (q, found.q))
    assert (after <= before + 1e-5).all() and np.mean(after) < 0.85 * np.mean(before)
    slack = np.minimum(found.q - panda.model.lower, panda.model.upper - found.q)[:, :7].min(axis=-1) > 1e-3
    free = found.q[slack][:, :7] - rest[:7]
    J = panda.jacobian(found.q[slack], PANDA[1])[:, :, :7]
    along = free - np.einsum("bji,bj->bi", J, np.linalg.solve(J @ np.swapaxes(J, 1, 2), (J @ free[..., None]))[..., 0])
    assert slack.sum() > 20 and np.median(np.linalg.norm(along, axis=-1)) < 1e-4
    near = panda.inverse_kinematics(pose, PANDA[1], q_rest=rest, rest_weight=[1.0] + [0.0] * 7)
    assert near.success.all() and np.abs(near.q[:, 0] - rest[0]).mean() < np.abs(found.q[:, 0] - rest[0]).mean()


# ------------------------------------------------------------------------------------------------- other robots
def test_mimic_joints_follow():
    """A chain of seven turns, of which two share a coordinate."""
    builder, axes = sd.ModelBuilder("link -1"), np.eye(3)
    for k in range(7):
        options = {"mimic": sd.Mimic("joint 1", -0.7, 0.2)} if k == 5 else {"limits": sd.Limits(-2.0, 2.0)}
        builder.add_screw(f"joint {k}", f"link {k}", f"link {k - 1}", axes[k % 3], (0.0, 0.1 * k, 0.3 * k), **options)
    robot = sd.Robot(builder.build())
    assert robot.n == 6 and robot.model.shares_coordinates
    _, pose = reachable(robot, "link 6", 100)
    found = robot.inverse_kinematics(pose, "link 6")
    assert found.success.sum() >= 99 and within_limits(robot, found.q)
    assert max(x[found.success].max() for x in errors(robot, "link 6", found, pose)) < 1e-6


@pytest.mark.slow       # kernels for groups
def test_a_floating_base_stays_where_it_is():
    robot = real_robot(ARMS["g1"][0], floating_base=True)
    link, base = ARMS["g1"][1], slice(0, 7)
    q = robot.random_configuration(100, 1)
    pose = robot.forward_kinematics(q, link)
    start = np.tile(robot.neutral(), (100, 1))
    start[:, base] = q[:, base]
    found = robot.inverse_kinematics(pose, link, start)
    assert found.success.sum() >= 98 and np.array_equal(found.q[:, base], q[:, base])
    assert max(x[found.success].max() for x in errors(robot, link, found, pose)) < 1e-6
    fixed = real_robot(ARMS["g1"][0])
    neutral, same = (r.inverse_kinematics(pose[0], link, r.neutral(), parts="orientation") for r in (robot, fixed))
    assert neutral.success and np.abs(neutral.q[7:] - same.q).max() < 1e-9
    one = robot.inverse_kinematics(pose[0], link, start[0])
    assert np.abs(one.q - found.q[0]).max() < 1e-9


# ------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize("arguments, options, message", [
    ((np.eye(3), "panda_link8"), {}, r"pose has shape \(3, 3\), but must end in 4, 4"),
    ((np.diag([1, 1, -1, 1]), "panda_link8"), {}, "pose must be a rigid displacement .* off by 2"),
    ((2 * np.eye(4), "panda_link8"), {}, "pose must be a rigid displacement .* off by 3"),
    ((np.zeros(3), "panda_link8"), {}, r"pose of shape \(3,\) is a point, which requires parts='position'"),
    ((np.eye(4), "flange"), {}, "link 'flange' does not exist"),
    ((np.eye(4), "panda_link0"), {}, "link 'panda_link0': no joint of one degree of freedom"),
    ((np.eye(4), []), {}, "link: no names"),
    ((np.eye(4)[None], None), {}, "link None does not exist"),
    ((np.eye(4), "panda_link8"), {"rest_weight": 0.5}, "rest_weight requires q_rest"),
    ((np.eye(4), "panda_link8"), {"parts": "wrench"}, "parts 'wrench' must be one of pose, position, orientation"),
    ((np.eye(4), "panda_link8"), {"parts": [0] * 6}, "parts must be .* six of 0 and 1"),
    ((np.eye(4), "panda_link8"), {"parts": [1, 1, 2, 1, 1, 1]}, "parts must be .* six of 0 and 1"),
    ((np.eye(4), "panda_link8"), {"parts": [1, 1, np.nan, 1, 1, 1]}, "parts must be .* six of 0 and 1"),
    ((np.eye(4)[None], ["panda_link8"]), {"parts": ["pose", "pose"]}, "parts has 2 entries, but must have one for"),
    ((np.eye(4), "panda_link8"), {"q0": np.zeros(3)}, r"q0 has shape \(3,\), but must end in 8"),
    ((np.zeros((2, 4, 4)) + np.eye(4), "panda_link8"), {"q0": np.zeros((3, 8))},
     r"the leading axes do not broadcast: pose \(2, 4, 4\), q0 \(3, 8\)"),
    ((np.eye(4), "panda_link8"), {"rest_weight": 2.0, "q_rest": np.zeros(8)}, r"rest_weight must be in \[0, 1\]"),
    ((np.eye(4), "panda_link8"), {"rest_weight": np.ones(3), "q_rest": np.zeros(8)}, "rest_weight .* or one for each"),
    ((np.eye(4), "panda_link8"), {"attempts": 0}, "attempts 0 must be a whole number >= 1"),
    ((np.eye(4), "panda_link8"), {"position_tolerance": -1.0}, "position_tolerance -1.0 must be finite and > 0"),
    ((np.eye(4), "panda_link8"), {"limits": (-np.ones(8), np.ones(8))},
     r"limits a tuple of float64 of shape \(8,\), .* must be True or False; .*dataclasses.replace\(robot.model, lower"),
    ((np.eye(4), "panda_link8"), {"joints": ["elbow"]}, "joints: joint 'elbow' does not exist"),
])
def test_bad_arguments_are_refused(panda, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        panda.inverse_kinematics(*arguments, **options)


def test_what_is_not_finite_is_refused_by_name_and_no_poses_have_no_solutions(panda):
    _, pose = reachable(panda, PANDA[1], 20)
    pose[7, 0, 3] = np.nan
    with pytest.raises(ValueError, match=r"pose must be finite, but pose\[7, 0, 3\] is nan"):
        panda.inverse_kinematics(pose, PANDA[1])
    assert panda.inverse_kinematics(np.empty((0, 4, 4)), PANDA[1]).q.shape == (0, panda.n)
