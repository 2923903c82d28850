"""Forward dynamics by articulated bodies in the four representations of twists, and by the mass matrix."""
import pickle

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_BY_MASS_MATRIX, FORWARD_DYNAMICS_IN
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.algorithms.solvers import solve_symmetric
from support import matrices
from support.matrices import error
from support.pinocchio_oracle import oracle_of_parts
from support.random_trees import in_motion as tree
from support.random_trees import model_of, random_tree

OTHERS = [name for name in REPRESENTATIONS if name != "body"]
TOLERANCE = 1e-13       # of accelerations, relative to the largest: some hundred roundings


def accelerations(representation, robot, state):
    """The accelerations by one of the recursions, in plain Python."""
    return FORWARD_DYNAMICS_IN[representation].plain(robot.model.links(robot.gravity), *state.tolist()).astype(float)


def test_every_representation_of_jacobians_has_a_recursion():
    assert tuple(FORWARD_DYNAMICS_IN) == REPRESENTATIONS


@pytest.mark.parametrize("representation", OTHERS)
@pytest.mark.parametrize("joints", [0, 1, 4, 9])
def test_articulated_bodies_in_every_representation(representation, joints):
    """[SY] (15): the accelerations do not depend on the frames of the recursion."""
    for seed in range(4):
        robot, _, state = tree(seed, joints)
        found, expected = (accelerations(name, robot, state) for name in (representation, "body"))
        assert found.shape == (robot.n,)
        assert error(found, expected) < TOLERANCE


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_articulated_bodies_against_pinocchio(representation):
    for seed in range(4):
        robot, parts, state = tree(seed, 9)
        oracle = oracle_of_parts(parts, robot)
        oracle.model.gravity.linear = robot.gravity
        assert error(accelerations(representation, robot, state), oracle.forward_dynamics(*state)) < TOLERANCE


def shao(robot, q, qd, tau):
    """[SY] (15) as it stands, in matrices: accelerations; articulated inertias, bias wrenches and accelerations of the
    bodies; maps phi from their parents, bias accelerations c and bias wrenches Z of the bodies alone. Gravity is in
    these, the world rests."""
    model, b = robot.model, len(robot.model.parents)
    h, M, parents = model.screws_body, model.inertias, model.parents
    poses = [B @ matrices.exp(X * x) for B, X, x in zip(model.relative_poses, h, q, strict=True)]
    phi = [matrices.Ad(np.linalg.inv(C)) for C in poses]
    v, a, g = np.zeros((b + 1, 6)), np.zeros((b + 1, 6)), np.zeros((b + 1, 6))      # the last row is the world's
    g[-1, 3:] = robot.gravity
    IA, ZA, c, qdd = M.copy(), np.zeros((b, 6)), np.zeros((b, 6)), np.zeros(b)
    for i, p in enumerate(parents):
        v[i], g[i] = phi[i] @ v[p] + h[i] * qd[i], phi[i] @ g[p]                                            # (1)
        c[i] = matrices.ad(v[i]) @ h[i] * qd[i]                                                             # (2)
        ZA[i] = -matrices.ad(v[i]).T @ M[i] @ v[i] - M[i] @ g[i]
    Z = ZA.copy()
    for i, p in reversed(list(enumerate(parents))):
        if p >= 0:
            gain = IA[i] @ h[i] / (h[i] @ IA[i] @ h[i])
            IA[p] += phi[i].T @ (IA[i] - np.outer(gain, h[i] @ IA[i])) @ phi[i]                             # (13)
            ZA[p] += phi[i].T @ (ZA[i] + IA[i] @ c[i] + gain * (tau[i] - h[i] @ (ZA[i] + IA[i] @ c[i])))    # (14)
    for i, p in enumerate(parents):
        qdd[i] = (tau[i] - h[i] @ IA[i] @ phi[i] @ a[p] - h[i] @ (ZA[i] + IA[i] @ c[i])) / (h[i] @ IA[i] @ h[i])  # (11)
        a[i] = phi[i] @ a[p] + c[i] + h[i] * qdd[i]                                                         # (2)
    return qdd, IA, ZA, a, (phi, c, Z)


@pytest.mark.parametrize("joints", [1, 4, 9])
def test_articulated_body_recursion_in_screws_15(joints):
    """[SY] (15), and (5), (10): I^A a + Z^A is the wrench through the joint, whose part on the joint is the effort."""
    robot, _, state = tree(joints, joints)
    qdd, IA, ZA, a, _ = shao(robot, *state)
    assert error(accelerations("body", robot, state), qdd) < TOLERANCE
    wrenches = np.einsum("bij,bj->bi", IA, a[:-1]) + ZA
    efforts = np.einsum("bi,bi->b", robot.model.screws_body, wrenches)
    assert np.abs(efforts - state[2]).max() < 1e-13 * np.abs(wrenches).max()


@pytest.mark.parametrize("joints", [4, 9])
def test_balances_6_to_9_and_12_behind_the_articulated_bodies(joints):
    """[SY] (6) and (7): what comes in through the joint moves the body and goes out to its children; (8), (9) the same
    with (5), (2) of these; (12) with their accelerations (11): their wrench by the parent's acceleration alone."""
    robot, _, (q, qd, tau) = tree(joints, joints)
    qdd, IA, ZA, a, (phi, c, Z) = shao(robot, q, qd, tau)
    h, M, parents = robot.model.screws_body, robot.model.inertias, robot.model.parents
    f = np.einsum("bij,bj->bi", IA, a[:-1]) + ZA                                                            # (5)
    size = np.abs(f).max()
    for i in range(len(parents)):
        children = [j for j, p in enumerate(parents) if p == i]
        own, out = M[i] @ a[i] + Z[i], sum(phi[j].T @ f[j] for j in children)
        assert np.abs(own + out - f[i]).max() < TOLERANCE * size                                            # (6), (7)
        out = sum(phi[j].T @ (IA[j] @ (phi[j] @ a[i] + c[j] + h[j] * qdd[j]) + ZA[j]) for j in children)
        assert np.abs(own + out - f[i]).max() < TOLERANCE * size                                            # (8), (9)
        gains = {j: IA[j] @ h[j] / (h[j] @ IA[j] @ h[j]) for j in children}
        out = sum(phi[j].T @ ((IA[j] - np.outer(gains[j], IA[j] @ h[j])) @ phi[j] @ a[i] + ZA[j] + IA[j] @ c[j]
                              + gains[j] * (tau[j] - h[j] @ (ZA[j] + IA[j] @ c[j]))) for j in children)
        assert np.abs(own + out - f[i]).max() < TOLERANCE * size                                            # (12)


def test_accelerations_far_from_the_world_origin():
    """Nothing depends on where in the world a robot stands; the spatial recursion knows by the square of the way."""
    parts = random_tree(np.random.default_rng(21), 7)
    state = np.random.default_rng(22).uniform(-2, 2, (3, 7))
    expected = accelerations("body", sd.Robot(model_of(parts)), state)
    for way in (1e1, 1e2, 1e3):
        away = np.eye(4)
        away[0, 3] = way
        far = [p._replace(placement=away @ p.placement) if p.parent == "root" else p for p in parts]
        robot = sd.Robot(model_of(far))
        errors = {name: error(accelerations(name, robot, state), expected) for name in REPRESENTATIONS}
        assert max(errors["hybrid"], errors["mixed"], errors["body"]) < 1e-15 * (100.0 + way), errors
        assert 1e-17 * way**2 < errors["spatial"] < 1e-13 * way**2


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_solve_symmetric_reads_the_upper_triangle_alone(n):
    rng = np.random.default_rng(n)
    half, b = rng.normal(size=(n, n)), rng.normal(size=n)
    A = half @ half.T + np.eye(n)
    H, x = np.triu(A) + np.tril(np.full((n, n), np.nan), -1), b.copy()
    solve_symmetric(H, x)
    assert np.abs(A @ x - b).max(initial=0.0) < 1e-13
    assert np.isnan(H[np.tril_indices(n, -1)]).all()


@pytest.fixture(params=OTHERS)
def both(request):
    """A robot of body-fixed recursions and one of another representation."""
    parts = random_tree(np.random.default_rng(11), 5)
    return tuple(sd.Robot(model_of(parts), representation=name) for name in ("body", request.param))


@pytest.mark.slow    # each representation compiles for seconds
def test_compiled_recursions_on_one_state_and_on_lanes(both):
    reference, robot = both
    states = np.random.default_rng(12).uniform(-2, 2, (3, 19, robot.n))     # some lanes, and a part of one
    expected = reference.forward_dynamics(*states)
    assert error(robot.forward_dynamics(*states), expected) < TOLERANCE
    for s, qdd in zip(states.transpose(1, 0, 2), expected, strict=True):
        assert error(robot.forward_dynamics(*s), qdd) < TOLERANCE
        assert error(accelerations(robot.representation, reference, s), qdd) < TOLERANCE


@pytest.mark.slow
def test_robots_made_of_a_robot_keep_its_representation(both):
    reference, robot = both
    state = np.random.default_rng(13).uniform(-2, 2, (3, robot.n))
    made = {"gravity": lambda r: r.with_gravity((1.0, 2.0, 3.0)), "pickle": lambda r: pickle.loads(pickle.dumps(r)),
            "payload": lambda r: r.with_payload(r.link_names[-1], 3.0, (0.1, 0.2, 0.3), np.eye(3)),
            "special": lambda r: r.specialize()}
    for name, make in made.items():
        other = make(robot)
        assert other.representation == robot.representation, name
        if name != "special":                                   # compiles for seconds: below, for one
            assert other._forward_dynamics.entry is FORWARD_DYNAMICS_IN[robot.representation]
            assert other._inverse_dynamics.entry is INVERSE_DYNAMICS_IN[robot.representation]
            assert error(other.forward_dynamics(*state), make(reference).forward_dynamics(*state)) < TOLERANCE
            assert error(other.inverse_dynamics(*state), make(reference).inverse_dynamics(*state)) < TOLERANCE


@pytest.mark.slow
def test_straight_line_kernels_of_another_representation():
    model = model_of(random_tree(np.random.default_rng(14), 2))
    robot, state = sd.Robot(model, representation="spatial"), np.random.default_rng(15).uniform(-2, 2, (3, 2))
    special = robot.specialize()
    assert special._forward_dynamics is not robot._forward_dynamics
    assert error(special.forward_dynamics(*state), sd.Robot(model).forward_dynamics(*state)) < TOLERANCE


def test_mimic_joints_go_by_the_mass_matrix_in_any_representation():
    parts = random_tree(np.random.default_rng(16), 6, mimics=2)
    robot, state = sd.Robot(model_of(parts), representation="hybrid"), np.random.default_rng(17).uniform(-2, 2, (3, 4))
    assert robot._forward_dynamics.entry is FORWARD_DYNAMICS_BY_MASS_MATRIX
    assert error(robot.forward_dynamics(*state), oracle_of_parts(parts, robot).forward_dynamics(*state)) < 1e-11
    assert robot._inverse_dynamics.entry is INVERSE_DYNAMICS_IN["hybrid"]


@pytest.mark.parametrize("unknown", ["bodily", "", 2, ["body"]])
def test_unknown_representations_are_refused(unknown):
    model = model_of(random_tree(np.random.default_rng(18), 1))
    with pytest.raises(ValueError, match="representation .*must be one of body, spatial, hybrid, mixed"):
        sd.Robot(model, representation=unknown)
