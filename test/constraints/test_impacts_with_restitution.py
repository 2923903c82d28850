"""Impacts: Newton's cradle, bouncing boxes, and energy, which never grows."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.impacts import solve_impacts as solve_in_memory
from screw_dynamics.constraints.cones.problems import solve_impacts
from screw_dynamics.constraints.cones.tables import cones, numbers
from support.contact_scenes import heap, row_of_balls, stack


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_row_of_equal_balls_hands_the_momentum_to_the_last(n, backwards):
    velocities = np.eye(n)[0]
    scene, v = row_of_balls(np.ones(n), -velocities[::-1] if backwards else velocities)
    found = solve_impacts(scene.G, scene.c, scene.mu, 1.0)
    after = (v + scene.inverse * (scene.J.T @ found.x))[::3]
    assert found.converged
    np.testing.assert_allclose(after, -velocities if backwards else velocities[::-1], atol=1e-14)


@pytest.mark.slow
def test_two_balls_go_apart_as_newton_says():
    for e in (0.0, 0.3, 1.0):
        scene, v = row_of_balls((1.0, 3.0), (2.0, -1.0))
        found = solve_impacts(scene.G, scene.c, scene.mu, e)
        after = (v + scene.inverse * (scene.J.T @ found.x))[::3]
        np.testing.assert_allclose(after, (-0.25 - 2.25 * e, -0.25 + 0.75 * e), atol=1e-15)


@pytest.mark.slow
def test_a_box_that_lands_flat_bounces_flat():
    scene = stack([2.0], mu=0.0, v=(0.0, 0.0, -3.0), gravity=(0.0, 0.0, 0.0))
    found = solve_impacts(scene.G, scene.c, scene.mu, 0.5)
    np.testing.assert_allclose(found.v[2::3], 1.5, atol=4.5e-12)         # 1e-12 of the jump
    assert found.sweeps == 1


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_dry_friction_gives_in_all_rounds_together_what_it_can(sign):
    """Three balls of 1, 1 and 0.5 kg, the second of which is braked by 0.1 N s: it goes on after it has hit the third,
    without more friction."""
    J, inverse = np.array([[0.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]), (1.0, 1.0, 2.0)
    v = np.array([sign, 0.0, 0.0])
    rows, G, c = np.array([0, 3, 6]), np.eye(7), np.zeros(7)
    J[1:] *= sign
    G[np.ix_(rows, rows)], c[rows] = J * inverse @ J.T, J @ v
    found = solve_impacts(G, c, [0.0, 0.0], 1.0, lower=[-0.1], upper=[0.1])
    after = v + inverse * (J.T @ found.x[rows])
    assert found.converged and found.sweeps == 2 and found.x[0] == pytest.approx(-sign * 0.1, abs=1e-14)
    np.testing.assert_allclose(after, sign * np.array([-0.05, 0.95 / 3.0, 4.0 * 0.95 / 3.0]), atol=1e-12)


def test_what_is_given_stays(rng):
    """Rounds change bounds, velocities and which contacts act, and put them back."""
    Y, c = rng.normal(size=(12, 8)), rng.normal(size=8)
    c[[4, 7]] = -1.0, -2.0
    given = cones(0.0, 2, 2, np.zeros(numbers(2, 2)), 0)
    given.G[:], given.c[:], given.mu[:], given.active[:], given.restitution[:] = Y.T @ Y, c, 0.3, 1.0, 0.8
    given.ends[:] = len(c)
    given.size[:], given.lower[:], given.upper[:] = given.G.diagonal(), (-0.01, 0.0), (0.02, np.inf)
    solve_in_memory(given, 0.0)
    assert given.found[1:].any() and given.x.any()
    np.testing.assert_array_equal(given.c, c)
    np.testing.assert_array_equal(given.G, Y.T @ Y)
    np.testing.assert_array_equal([given.lower, given.upper], [(-0.01, 0.0), (0.02, np.inf)])
    assert (given.active == 1.0).all() and (given.x[:2] >= given.lower).all() and (given.x[:2] <= given.upper).all()


@pytest.mark.slow
def test_slow_contacts_do_not_bounce():
    scene, _ = row_of_balls((1.0, 1.0), (0.01, 0.0))
    assert not solve_impacts(scene.G, scene.c, scene.mu, 1.0, threshold=0.02).x.any()
    assert solve_impacts(scene.G, scene.c, scene.mu, 1.0, threshold=0.005).x.any()


@pytest.mark.slow       # on lanes, which take 20 s to compile
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


@pytest.mark.slow
def test_each_lane_has_its_own_rounds(rng):
    given = [heap(rng, 3, 4) for _ in range(9)]
    G, c, mu = (np.array([getattr(scene, name) for scene in given]) for name in ("G", "c", "mu"))
    found, order = solve_impacts(G, c, mu, 0.7), rng.permutation(9)
    assert len(set(found.sweeps.tolist())) > 1
    np.testing.assert_array_equal(solve_impacts(G[order], c[order], mu[order], 0.7).x, found.x[order])


@pytest.mark.slow
def test_lanes_with_fewer_contacts_have_fewer_rounds():
    """A ball goes to and fro between a wall and a ball of 10000 kg that comes, more often than there are rounds: 8 and
    one for each contact of a lane that acts. A third contact strikes once, if it acts."""
    J, inverse = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([1e-4, 1.0, 1.0])
    v, rows, G, c = np.array([1.0, 0.0, -0.5]), np.array([2, 5, 8]), np.eye(9), np.zeros(9)
    G[np.ix_(rows, rows)], c[rows] = J * inverse @ J.T, J @ v
    active = np.ones((4, 3))
    active[1:3, 2] = 0.0
    found = solve_impacts(G, np.tile(c, (4, 1)), np.zeros(3), 1.0, active=active)
    assert not found.converged.any() and found.sweeps.tolist() == [11, 10, 10, 11]
    for x, rounds in zip(found.x, found.sweeps, strict=True):
        expected = v.copy()
        for k in range(rounds):                                     # elastic: each turns its relative velocity round
            n = J[k % 2]
            expected = expected - 2.0 * inverse * n * (n @ expected) / (n * inverse @ n)
        expected[2] *= -1.0 if rounds == 11 else 1.0
        np.testing.assert_allclose(v + inverse * (J.T @ x[rows]), expected, atol=1e-10)


def test_a_restitution_that_gives_energy_is_refused():
    with pytest.raises(ValueError, match="restitution must be in"):
        solve_impacts(np.eye(3), np.zeros(3), [0.5], 1.5)
