"""Impacts: Newton's cradle, bouncing boxes, and energy, which never grows."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.problems import solve_impacts
from support.contact_scenes import heap, row_of_balls, stack


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_row_of_equal_balls_hands_the_momentum_to_the_last(n, backwards):
    velocities = np.eye(n)[0]
    scene, v = row_of_balls(np.ones(n), -velocities[::-1] if backwards else velocities)
    found = solve_impacts(scene.G, scene.c, scene.mu, 1.0)
    after = (v + scene.inverse * (scene.J.T @ found.x))[::3]
    assert found.converged
    np.testing.assert_allclose(after, -velocities if backwards else velocities[::-1], atol=1e-14)


def test_two_balls_go_apart_as_newton_says():
    for e in (0.0, 0.3, 1.0):
        scene, v = row_of_balls((1.0, 3.0), (2.0, -1.0))
        found = solve_impacts(scene.G, scene.c, scene.mu, e)
        after = (v + scene.inverse * (scene.J.T @ found.x))[::3]
        np.testing.assert_allclose(after, (-0.25 - 2.25 * e, -0.25 + 0.75 * e), atol=1e-15)


def test_a_box_that_lands_flat_bounces_flat():
    scene = stack([2.0], mu=0.0, v=(0.0, 0.0, -3.0), gravity=(0.0, 0.0, 0.0))
    found = solve_impacts(scene.G, scene.c, scene.mu, 0.5)
    np.testing.assert_allclose(found.v[2::3], 1.5, atol=4.5e-12)         # 1e-12 of the jump
    assert found.sweeps == 1


def test_slow_contacts_do_not_bounce():
    scene, _ = row_of_balls((1.0, 1.0), (0.01, 0.0))
    assert not solve_impacts(scene.G, scene.c, scene.mu, 1.0, threshold=0.02).x.any()
    assert solve_impacts(scene.G, scene.c, scene.mu, 1.0, threshold=0.005).x.any()


@pytest.mark.plain       # on lanes, which take 20 s to compile
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_energy_never_grows_and_friction_stays_in_its_cone(rng, e):
    given = [heap(rng, 4, 6) for _ in range(24)]
    G, c, mu = (np.array([getattr(scene, name) for scene in given]) for name in ("G", "c", "mu"))
    found = solve_impacts(G, c, mu, e)
    gain = np.einsum("bi,bi->b", found.x, c + 0.5 * np.einsum("bij,bj->bi", G, found.x))
    assert (gain <= 1e-12 * np.einsum("bi,bi->b", abs(found.x), abs(c))).all()
    assert (gain < 0.0).any()
    n, t = found.x[:, 2::3], np.hypot(found.x[:, 0::3], found.x[:, 1::3])
    assert (n >= 0.0).all()
    assert (t <= mu * n * (1.0 + 1e-9) + 1e-12).all()
    np.testing.assert_allclose(found.v, c + np.einsum("bij,bj->bi", G, found.x), atol=1e-12 * abs(c).max())
    done = found.converged
    assert done.mean() > 0.8                # the others pass an impulse to and fro between contacts, less each time
    assert (found.v[done, 2::3] >= -1e-9 * abs(c).max()).all()


@pytest.mark.plain
def test_each_lane_has_its_own_rounds(rng):
    given = [heap(rng, 3, 4) for _ in range(9)]
    G, c, mu = (np.array([getattr(scene, name) for scene in given]) for name in ("G", "c", "mu"))
    found, order = solve_impacts(G, c, mu, 0.7), rng.permutation(9)
    assert len(set(found.sweeps.tolist())) > 1
    np.testing.assert_array_equal(solve_impacts(G[order], c[order], mu[order], 0.7).x, found.x[order])


def test_a_restitution_that_gives_energy_is_refused():
    with pytest.raises(ValueError, match="restitution must be in"):
        solve_impacts(np.eye(3), np.zeros(3), [0.5], 1.5)
