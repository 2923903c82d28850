"""Recursive inverse dynamics in the four representations of twists: the same efforts, from the same laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.choice import choice
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_CLASSICAL, INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from support import matrices
from support.matrices import error
from support.pinocchio_oracle import oracle_of_parts
from support.random_trees import in_motion as tree
from support.random_trees import model_of, random_tree
from support.scalar_kinds import slope

ENTRIES = {**INVERSE_DYNAMICS_IN, "classical": INVERSE_DYNAMICS_CLASSICAL}
OTHERS = [name for name in ENTRIES if name != "body"]


def efforts(representation, robot, state):
    """The efforts by one of the recursions, in plain Python."""
    return ENTRIES[representation].plain(robot.model.links(robot.gravity), *state)


def compiled(representation, parts):
    """A robot whose inverse dynamics goes by one of the recursions."""
    robot = sd.Robot(model_of(parts))
    robot._use(choice(None, False)._replace(inverse_dynamics=ENTRIES[representation]))
    return robot


def test_every_representation_of_jacobians_has_a_recursion():
    assert tuple(INVERSE_DYNAMICS_IN) == REPRESENTATIONS


# [MD] (66), (67) body-fixed; (70), (71) spatial; (75), (76) hybrid; (56)-(58) mixed; (42), (43) classical.
@pytest.mark.parametrize("representation", OTHERS)
@pytest.mark.parametrize("joints, mimics", [(0, 0), (1, 0), (4, 0), (9, 0), (9, 2)])
def test_recursive_inverse_dynamics_equals_the_body_fixed(representation, joints, mimics):
    for seed in range(4):
        robot, _, state = tree(seed, joints, mimics)
        found, expected = (efforts(name, robot, state.tolist()) for name in (representation, "body"))
        assert found.shape == (robot.n,)
        assert error(found, expected) < 1e-13


@pytest.mark.parametrize("representation", ENTRIES)
@pytest.mark.parametrize("mimics", [0, 2])
def test_recursive_inverse_dynamics_against_pinocchio(representation, mimics):
    for seed in range(4):
        robot, parts, state = tree(seed, 9, mimics)
        oracle = oracle_of_parts(parts, robot)
        oracle.model.gravity.linear = robot.gravity
        assert error(efforts(representation, robot, state.tolist()), oracle.inverse_dynamics(*state)) < 1e-12


@pytest.mark.slow    # each representation compiles for seconds
@pytest.mark.parametrize("representation", OTHERS)
def test_compiled_recursions_on_one_state_and_on_lanes(representation):
    rng = np.random.default_rng(5)
    parts = random_tree(rng, 8, 1)
    robot, plain = compiled(representation, parts), sd.Robot(model_of(parts))
    states = rng.uniform(-2, 2, (3, 19, robot.n))           # some lanes, and a part of one
    expected = plain.inverse_dynamics(*states)
    assert error(robot.inverse_dynamics(*states), expected) < 1e-12
    for s, tau in zip(states.transpose(1, 0, 2), expected, strict=True):
        assert error(robot.inverse_dynamics(*s), tau) < 1e-12
        assert error(efforts(representation, plain, s.tolist()), tau) < 1e-12


# ------------------------------------------------------------------------------------------------- as printed
def translation(r):
    """Ad_r, (6, 6); [MD] (96)."""
    return matrices.Ad(np.block([[np.eye(3), r[:, None]], [np.zeros(3), 1.0]]))


def linear(v):
    """ad_v of a velocity, (6, 6); [MD] (119)."""
    return matrices.ad(np.r_[np.zeros(3), v])


def angular(w):
    """ad_w of an angular velocity, (6, 6); [MD] (119)."""
    return matrices.ad(np.r_[w, np.zeros(3)])


class InMatrices:
    """The recursions of the paper with (6, 6) matrices, as they stand there but for the misprints; index -1: world.

    applied (b, 6): wrenches that act on the bodies, body-fixed. `first`, the body at which the way back begins, and
    `sign` of the applied wrenches are for the misprints."""

    def __init__(self, robot, q, qd, qdd, applied=None, first=None, sign=-1.0):
        model = robot.model
        self.b, self.k, self.parents, self.M = len(model.parents), model.coordinates, model.parents, model.inertias
        self.X, self.n, self.sign = model.screws_body, robot.n, sign
        self.first = self.b - 1 if first is None else first
        self.qd, self.qdd, self.up = qd[self.k], qdd[self.k], np.r_[np.zeros(3), -robot.gravity]
        joints = zip(model.relative_poses, self.X, q[self.k], strict=True)
        self.C_rel = [B @ matrices.exp(X * x) for B, X, x in joints]
        self.C = [*np.empty((self.b, 4, 4)), np.eye(4)]
        for i, p in enumerate(self.parents):
            self.C[i] = self.C[p] @ self.C_rel[i]
        self.applied = np.zeros((self.b, 6)) if applied is None else applied

    def states(self):
        """Twists, their derivatives and wrenches of all bodies, and of the world in the last place."""
        V, Vd, W = np.zeros((3, self.b + 1, 6))
        Vd[-1] = self.up
        return V, Vd, W

    def efforts(self, W, screws, to_parent, applied):
        """The way back, from the last body to the first."""
        tau = np.zeros(self.n)
        for i in range(self.first, -1, -1):
            W[i] += self.sign * applied[i]
            tau[self.k[i]] += screws[i] @ W[i]
            W[self.parents[i]] += to_parent(i) @ W[i]
        return tau

    def body(self):
        """[MD] (66), (67); (65a-c) must agree."""
        V, Vd, W = self.states()
        for i, (p, X) in enumerate(zip(self.parents, self.X, strict=True)):
            Ad, u = matrices.Ad(np.linalg.inv(self.C_rel[i])), self.qd[i] * X
            V[i] = Ad @ V[p] + u
            Vd[i] = Ad @ Vd[p] - matrices.ad(u) @ V[i] + X * self.qdd[i]
            for form in (matrices.ad(Ad @ V[p]) @ u, matrices.ad(Ad @ V[p]) @ V[i], matrices.ad(V[i]) @ u):
                assert np.abs(Ad @ Vd[p] + form + X * self.qdd[i] - Vd[i]).max() < 1e-12
            W[i] = self.M[i] @ Vd[i] - matrices.ad(V[i]).T @ self.M[i] @ V[i]
        return self.efforts(W, self.X, lambda i: matrices.Ad(np.linalg.inv(self.C_rel[i])).T, self.applied)

    def spatial(self):
        """[MD] (70), (71); (69) must agree."""
        V, Vd, W = self.states()
        Ad = [matrices.Ad(C) for C in self.C[:-1]]
        J = [A @ X for A, X in zip(Ad, self.X, strict=True)]
        for i, p in enumerate(self.parents):
            V[i] = V[p] + J[i] * self.qd[i]
            Vd[i] = Vd[p] + J[i] * self.qdd[i] + matrices.ad(V[p]) @ V[i]
            other = Vd[p] + matrices.ad(V[i]) @ J[i] * self.qd[i] + J[i] * self.qdd[i]
            assert np.abs(other - Vd[i]).max() < 1e-12
            back = np.linalg.inv(Ad[i])
            M = back.T @ self.M[i] @ back
            W[i] = M @ Vd[i] - matrices.ad(V[i]).T @ M @ V[i]
        applied = [np.linalg.inv(A).T @ w for A, w in zip(Ad, self.applied, strict=True)]
        return self.efforts(W, J, lambda i: np.eye(6), applied)

    def hybrid(self):
        """[MD] (75), (76), with (w, 0) for the last twist of (76b); (72)-(74) must agree."""
        V, Vd, W = self.states()
        turns = [np.kron(np.eye(2), C[:3, :3]) for C in self.C]
        r = np.array([C[:3, 3] for C in self.C])
        J = [turn @ X for turn, X in zip(turns, self.X, strict=False)]
        for i, p in enumerate(self.parents):
            Ad, u = translation(r[p] - r[i]), J[i] * self.qd[i]
            V[i] = Ad @ V[p] + u
            v, turn = V[p, 3:] - V[i, 3:], angular(V[i, :3])
            Vd[i] = Ad @ Vd[p] + linear(v) @ V[p] + turn @ u + J[i] * self.qdd[i]                         # (72)
            for form in (linear(V[p, 3:]) @ V[p] - linear(V[i, 3:]) @ V[i] + matrices.ad(V[i]) @ u,       # (73)
                         linear(v) @ V[i] + (turn - linear(v)) @ u):                                      # (74)
                assert np.abs(Ad @ Vd[p] + form + J[i] * self.qdd[i] - Vd[i]).max() < 1e-12
            M = turns[i] @ self.M[i] @ turns[i].T
            W[i] = M @ Vd[i] + turn @ M @ np.r_[V[i, :3], np.zeros(3)]
        applied = [turn @ w for turn, w in zip(turns, self.applied, strict=False)]
        return self.efforts(W, J, lambda i: translation(r[self.parents[i]] - r[i]).T, applied)


PRINTED = pytest.mark.parametrize("representation", ["body", "spatial", "hybrid"])


@PRINTED
@pytest.mark.parametrize("mimics", [0, 2])
def test_recursions_as_printed_in_matrices(representation, mimics):
    """[MD] (65)-(76): the kernels are the matrix form of the paper, without its zeros."""
    for seed in range(3):
        robot, _, state = tree(seed, 8, mimics)
        printed = getattr(InMatrices(robot, *state), representation)()
        assert error(efforts(representation, robot, state.tolist()), printed) < 1e-12


@PRINTED
def test_misprints_in_the_ways_back(representation):
    """[MD] (67), (71), (76) begin at body n - 1 and add the applied wrenches; right is from n, and to subtract them.

    The power of all efforts and applied wrenches is the rate of the energy."""
    robot, _, (q, qd, qdd) = tree(3, 6)
    links = robot.model.links(robot.gravity)
    applied = np.random.default_rng(0).normal(size=(6, 6))

    def energy(t):
        x, xd = ([a + t[0] * b for a, b in zip(*pair, strict=True)] for pair in ((q, qd), (qd, qdd)))
        return KINETIC_ENERGY.plain(links, x, xd)[0] + POTENTIAL_ENERGY.plain(links, x)[0]
    rate = slope(energy, [0.0], [1.0])
    J = [robot.jacobian(q, link) for link in robot.model.body_names]
    given = sum(W @ Ji @ qd for W, Ji in zip(applied, J, strict=True))

    def power(**choice):
        return getattr(InMatrices(robot, q, qd, qdd, applied, **choice), representation)() @ qd + given
    assert abs(power() - rate) < 1e-12 * abs(rate)
    assert abs(power(first=4) - rate) > 1e-3 * abs(rate)
    assert abs(power(sign=1.0) - rate) > 1e-3 * abs(rate)
