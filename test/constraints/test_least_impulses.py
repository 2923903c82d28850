"""Which impulses are taken of those that have the same velocities: those of contacts that yield to them, in the limit;
and, of a problem that is its own mirror image, those that are theirs."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.problems import solve_contacts
from support.contact_scenes import holds, row_of_boxes, stack

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
