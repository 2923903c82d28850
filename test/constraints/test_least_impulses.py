"""Which impulses are taken of those that have the same velocities: those of contacts that yield to them, in the limit;
and, of a problem that is its own mirror image, those that are theirs."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.problems import solve_contacts
from screw_dynamics.constraints.cones.solver import STEPS
from support.contact_scenes import axes, holds, row_of_boxes, stack

pytestmark = pytest.mark.slow

optimize = pytest.importorskip("scipy.optimize")


@pytest.mark.parametrize("push", [10.0, 20.0, 29.0])
def test_what_sticks_has_the_impulses_of_contacts_that_yield(push):
    """Of boxes that are pushed, in contacts of which many are at their friction. Of a small part p by which they yield,
    v = c + (G + p D) x, impulses are x + p y, and velocities p (D x + G y): for some y these are Coulomb's, too."""
    scene = row_of_boxes(6, push)
    found = solve_contacts(scene.G, scene.c, scene.mu)
    assert found.converged and found.sweeps > 0 and abs(found.v).max() < 1e-11 * abs(scene.c).max()
    m, x = len(scene.mu), found.x.reshape(-1, 3)
    slides = np.hypot(x[:, 0], x[:, 1]) > scene.mu * x[:, 2] * (1.0 - 1e-6)
    assert (x[:, 2] > 0.0).all() and 4 <= slides.sum() < m
    Dx = scene.G.diagonal().reshape(-1, 3).mean(axis=1).repeat(3) * found.x
    against = np.zeros((m, 3, slides.sum()))
    against[slides, :2, np.arange(slides.sum())] = x[slides, :2]        # times a rate >= 0: what opposes sliding
    unit = np.abs(x).max()
    known = optimize.lsq_linear(np.hstack([scene.G, against.reshape(3 * m, -1) / unit]), -Dx, (
        np.r_[np.full(3 * m, -np.inf), np.zeros(slides.sum())], np.inf), tol=1e-14, max_iter=1000)
    assert abs(known.fun).max() < 1e-5 * abs(Dx).max(), (known.message, known.fun)


class Body:
    """A body that meets four to eight smooth contacts anywhere, with up to two rows within bounds before these."""

    def __init__(self, rng):
        u, m = int(rng.integers(0, 3)), int(rng.integers(4, 9))
        normals = np.hstack([0.5 * rng.normal(size=(m, 2)), np.ones((m, 1))])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        points, inverse = np.hstack([rng.uniform(-1.0, 1.0, (m, 2)), np.full((m, 1), -0.3)]), np.r_[3.0, 3, 3, 1, 1, 1]
        rows = [np.r_[np.cross(p, axis), axis] for p, n in zip(points, normals, strict=True) for axis in axes(n)]
        J = np.vstack([rng.normal(size=(u, 6)), *rows])
        self.u, self.mu, self.normal = u, np.zeros(m), np.r_[np.arange(u), u + 3 * np.arange(m) + 2]
        self.G = J * inverse @ J.T
        self.c = J @ np.r_[rng.normal(size=3), 0.5 * rng.normal(size=2), -rng.uniform(0.5, 1.5)]
        self.lower, self.upper = -rng.uniform(0.02, 0.3, u), rng.uniform(0.02, 0.3, u)

    def yielding(self, p):
        """The impulses of rows within bounds, and of normals, that yield by a part p: least squares within bounds."""
        D, m = self.G.diagonal().copy(), len(self.mu)
        D[self.u:] = D[self.u:].reshape(m, 3).mean(axis=1).repeat(3)
        L = np.linalg.cholesky((self.G + p * np.diag(D))[np.ix_(self.normal, self.normal)])
        within = np.r_[self.lower, np.zeros(m)], np.r_[self.upper, np.full(m, np.inf)]
        return optimize.lsq_linear(L.T, -np.linalg.solve(L, self.c[self.normal]), within, "bvls", 1e-15).x


def test_impulses_without_friction_are_those_of_least_squares_within_bounds(rng):
    """In the limit of p -> 0, where the error is of order p: that of two p is taken away. In no step of the solver and
    in some, with rows at their bounds and without."""
    seen = []
    for _ in range(120):
        body = Body(rng)
        expected = 2.0 * body.yielding(1e-6) - body.yielding(2e-6)
        found = solve_contacts(body.G, body.c, body.mu, body.lower, body.upper)
        x = found.x[body.normal]
        assert found.converged
        v = (body.c + body.G[:, body.normal] @ expected)[body.normal]
        np.testing.assert_allclose(found.v[body.normal], v, atol=1e-8 * abs(body.c).max())
        if found.sweeps > STEPS:            # other methods may have come between, which share loads in another way
            continue
        np.testing.assert_allclose(x, expected, atol=1e-6 * abs(expected).max(initial=0.1))
        at_bounds = (bool((x[:body.u] == bound).any()) for bound in (body.lower, body.upper))
        seen.append((bool(found.sweeps), *at_bounds))
    assert len(seen) > 80 and {(False, False, False), (False, True, False), (False, False, True)} < set(seen), seen


@pytest.mark.parametrize("scene", [
    row_of_boxes(4, 30.0), stack([1.0], gravity=(6.0, 0.0, -9.81)),
    stack([1.0, 2.0], mu=0.3, gravity=(5.0, 0.0, -9.81))], ids=["row", "cube", "stack"])
def test_impulses_of_what_slides_are_their_own_mirror_image(scene):
    """In the plane y = 0, about which every contact has its like."""
    found = solve_contacts(scene.G, scene.c, scene.mu)
    holds(scene, found)
    assert abs(found.v).max() > 1e-4
    J = scene.J.reshape(len(scene.mu), 3, -1)
    F = np.einsum("kij,ki->kj", J, found.x.reshape(-1, 3))      # what each contact does to the bodies
    mirror = np.tile([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0], J.shape[2] // 6)
    like = [int(np.argmin(np.linalg.norm(F - f * mirror, axis=1))) for f in F]
    np.testing.assert_allclose(F[like], F * mirror, atol=1e-6 * abs(F).max())
    assert sorted(like) == list(range(len(F)))
