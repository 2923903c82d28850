"""How configurations with Lie-group joints change, in plain Python: SciPy's exponentials, and what is dual to what."""
import numpy as np
import pytest
from scipy.linalg import expm, expm_frechet
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.algorithms import space
from support.random_trees import GROUPS, KINDS, model_of, random_tree


@pytest.fixture(params=range(2))
def robot(request):
    return sd.Robot(model_of(random_tree(np.random.default_rng(request.param), 9, of=(*GROUPS, *KINDS))))


@pytest.fixture
def groups(robot):
    """The robot's space, without machine code."""
    places, links = robot.model.pose_sources(robot.gravity), robot.model.links(robot.gravity)
    return space.Groups([x.kind for x in places], [x.start for x in places], [x.coordinate for x in links])


def filled(function, n, *arguments):
    """The n numbers that a function writes into its last argument."""
    out = np.full(n, np.nan)
    function(*arguments, out)
    return out


def joints(robot):
    """Kind of each joint, and the slices of its numbers and velocities."""
    return [(kind, robot.q_slices[name], robot.v_slices[name])
            for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True)]


def algebra(kind, u):
    """The element (4, 4) of the algebra of a joint's group; of a coordinate, a translation along x."""
    w, v = {"free": lambda: (u[:3], u[3:]), "spherical": lambda: (u, (0, 0, 0)),
            "planar": lambda: ((0, 0, u[0]), (*u[1:], 0))}.get(kind, lambda: ((0, 0, 0), (*u, 0, 0)))()
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = np.cross(np.eye(3), w), v
    return matrix


def pose(kind, q):
    """The pose (4, 4) that a joint's numbers stand for."""
    C = np.eye(4)
    if kind in ("free", "spherical"):
        C[:3, :3] = Rotation.from_quat(q[-4:]).as_matrix()
    if kind == "planar":
        C[:3, :3] = Rotation.from_rotvec((0.0, 0.0, q[2])).as_matrix()
    if kind != "spherical":
        p = q[:2] if kind == "planar" else q[:3]
        C[:len(p), 3] = p
    return C


def test_a_displacement_is_a_product_with_an_exponential(robot, groups, rng):
    q, u, h = robot.random_configuration(seed=rng), rng.normal(size=robot.n), 0.7
    moved = filled(space.integrate_on_groups, robot.nq, groups, q, h, u)
    for kind, numbers, velocities in joints(robot):
        expected = pose(kind, q[numbers]) @ expm(h * algebra(kind, u[velocities]))
        assert np.abs(pose(kind, moved[numbers]) - expected).max() < 1e-13, kind


def test_a_displacement_changes_at_the_rate_that_gives_the_velocities(robot, groups, rng):
    """d/ds exp(u + s u') = exp(u) v at s = 0: SciPy has the derivative."""
    u, v = rng.normal(size=(2, robot.n))
    rate = filled(space.displacement_rate_on_groups, robot.n, groups, u, v)
    for kind, _, velocities in joints(robot):
        U, V, R = (algebra(kind, x[velocities]) for x in (u, v, rate))
        assert np.abs(expm_frechet(U, R, compute_expm=False) - expm(U) @ V).max() < 1e-12, kind


def test_efforts_are_carried_so_that_their_power_stays(robot, groups, rng):
    """w . v = (dexp_(-u)^T w) . u' where v = dexp_(-u) u', and the inverse."""
    u, v, w = rng.normal(size=(3, robot.n))
    dexp_transpose = space.efforts_on_groups(space.so3.dexp, space.se3.dexp)
    dexp_inv_transpose = space.efforts_on_groups(space.so3.dexp_inv, space.se3.dexp_inv)
    rate = filled(space.displacement_rate_on_groups, robot.n, groups, u, v)
    there, back = (filled(f, robot.n, groups, -u, w) for f in (dexp_transpose, dexp_inv_transpose))
    for _, _, velocities in joints(robot):
        a, b, c, d, e = (x[velocities] for x in (w, v, rate, there, back))
        assert a @ b == pytest.approx(d @ c, abs=1e-12) and a @ c == pytest.approx(e @ b, abs=1e-12)


def test_what_is_held_is_put_back_joint_by_joint(robot, groups, rng):
    """All numbers of a joint whose velocities are all held, and no number of another."""
    before, after = robot.random_configuration(2, rng)
    everything = np.ones(robot.n)
    for _, numbers, velocities in joints(robot):
        for held, mine in ((velocities, before), (slice(velocities.start + 1, velocities.stop), after)):
            out, mask = after.copy(), np.zeros(robot.n)
            mask[held] = 1.0
            space.put_back_on_groups(groups, mask, before, out)
            assert (out[numbers] == mine[numbers]).all()
            out[numbers] = after[numbers]
            assert (out == after).all()
    space.put_back_on_groups(groups, everything, before, after)
    assert (after == before).all()


def test_sizes_are_those_of_what_a_velocity_changes(robot, groups, rng):
    """The distance of a translation from where it is 0, and 1 for a rotation."""
    q = robot.random_configuration(seed=rng)
    found = filled(space.sizes_on_groups, robot.n, groups, q)
    for kind, numbers, velocities in joints(robot):
        x = np.abs(q[numbers])
        expected = {"free": (1, 1, 1, *x[:3]), "spherical": (1, 1, 1), "planar": (1, *x[:2])}.get(kind, x)
        assert found[velocities].tolist() == list(expected)
