"""Contact problems with torsional and rolling friction of some contacts, and rows within bounds, all coupled: what
holds of solutions, written once more."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.admm import alternate
from screw_dynamics.constraints.cones.problems import solve_contacts
from screw_dynamics.constraints.cones.residuals import measure
from screw_dynamics.constraints.cones.tables import (
    COMPLEMENTARITY,
    CONE,
    DISSIPATION,
    cones,
    find_nonzero_ranges,
    numbers,
)

U, MU, SPIN_OF, ROLL_OF = 2, np.array([0.4, 0.7, 0.2]), [2, 0], [1, 2]
N = U + 3 * len(MU) + len(SPIN_OF) + 2 * len(ROLL_OF)
NORMAL = U + 3 * np.arange(len(MU)) + 2
SPINS = U + 3 * len(MU) + np.arange(len(SPIN_OF))
ROLLS = SPINS[-1] + 1 + 2 * np.arange(len(ROLL_OF))
OPTIONS = dict(lower=[-0.05, 0.0], upper=[0.05, np.inf], spin_of=SPIN_OF, roll_of=ROLL_OF)


def problem(rng):
    """G, c with contacts that approach, and coefficients of spins and rolls."""
    Y, c = rng.normal(size=(2 * N, N)), 0.3 * rng.normal(size=N)
    scale = np.ones(N)
    scale[SPINS[0]:] = 5.0                              # turns are in other units than the contacts they belong to
    Y *= scale / np.sqrt(2 * N)
    c[NORMAL] = -abs(c[NORMAL]) - 0.3
    return Y.T @ Y, c * scale, rng.uniform(0.02, 0.2, len(SPIN_OF)), rng.uniform(0.02, 0.2, len(ROLL_OF))


def opposes(x, v, most, small):
    """Friction x is at most so much, and where it is less nothing slides; else it is against v."""
    assert np.linalg.norm(x) <= most + small
    if np.linalg.norm(v) > small:
        np.testing.assert_allclose(x * np.linalg.norm(v), -most * v, atol=small)


def holds(found, G, c, spin_mu, roll_mu, small=1e-9):
    x, v = found.x, c + G @ found.x
    np.testing.assert_allclose(found.v, v, atol=1e-12)
    for i, (low, high) in enumerate(zip(OPTIONS["lower"], OPTIONS["upper"], strict=True)):
        assert low <= x[i] <= high
        assert abs(v[i]) < small or (x[i] == low and v[i] > 0.0) or (x[i] == high and v[i] < 0.0)
    for n, mu in zip(NORMAL, MU, strict=True):
        assert x[n] >= 0.0 and v[n] >= -small and min(x[n], v[n]) <= small
        opposes(x[n - 2:n], v[n - 2:n], mu * x[n], small)
    for i, of, mu in zip(SPINS, SPIN_OF, spin_mu, strict=True):
        opposes(x[i:i + 1], v[i:i + 1], mu * x[NORMAL[of]], small)
    for i, of, mu in zip(ROLLS, ROLL_OF, roll_mu, strict=True):
        opposes(x[i:i + 2], v[i:i + 2], mu * x[NORMAL[of]], small)


@pytest.mark.slow
def test_what_turns_is_braked_by_the_friction_of_its_contact(rng):
    slides, steps = np.zeros(2), []
    for _ in range(12):
        G, c, spin_mu, roll_mu = problem(rng)
        found = solve_contacts(G, c, MU, spin_mu=spin_mu, roll_mu=roll_mu, **OPTIONS)
        assert found.converged
        holds(found, G, c, spin_mu, roll_mu)
        steps.append(found.sweeps)
        slides += (abs(found.v[SPINS]) > 1e-6).any(), (abs(found.v[ROLLS]) > 1e-6).any()
    assert (slides > 2).all() and np.median(steps) <= 5.0       # of Newton's method, which squares errors


@pytest.mark.slow
def test_on_lanes_each_is_solved_by_itself(rng):
    """Bit for bit, whatever the other lanes are; also where contacts of some have no part."""
    many = [problem(rng) for _ in range(9)]
    G, c, spin_mu, roll_mu = map(np.array, zip(*many, strict=True))
    active = np.ones((9, len(MU)))
    active[::2, 1] = 0.0
    given, order = dict(G=G, c=c, spin_mu=spin_mu, roll_mu=roll_mu, active=active), rng.permutation(9)
    found = solve_contacts(mu=MU, **given, **OPTIONS)
    other = solve_contacts(mu=MU, **{name: x[order] for name, x in given.items()}, **OPTIONS)
    assert len(set(found.sweeps.tolist())) > 2
    for name in "x", "v", "sweeps":
        np.testing.assert_array_equal(getattr(other, name), getattr(found, name)[order], name)
    idle = [U + 3, U + 4, U + 5, ROLLS[0], ROLLS[0] + 1]
    assert not found.x[::2][:, idle].any() and found.x[1::2][:, NORMAL[1]].any()
    for k in range(1, 9, 2):
        holds(solve_contacts(G[k], c[k], MU, spin_mu=spin_mu[k], roll_mu=roll_mu[k], **OPTIONS), *many[k])


def alone(rng):
    """The memory of a problem, in plain Python; the inverse inertias of both rows of a roll differ, as a rod's do."""
    G, c, spin_mu, roll_mu = problem(rng)
    unit = np.ones(N)
    unit[ROLLS + 1] = 2.0
    G, c = G * unit * unit[:, None], c * unit
    sizes = U, len(MU), len(SPIN_OF), len(ROLL_OF)
    given = cones(0.0, *sizes[:2], np.zeros(numbers(*sizes)), 0, *sizes[2:])
    given.G[:], given.c[:], given.size[:], given.mu[:], given.active[:] = G, c, G.diagonal(), MU, 1.0
    given.lower[:], given.upper[:] = OPTIONS["lower"], OPTIONS["upper"]
    given.spin_mu[:], given.roll_mu[:], given.spin_of[:], given.roll_of[:] = spin_mu, roll_mu, SPIN_OF, ROLL_OF
    return given, (G, c, spin_mu, roll_mu)


def test_alternating_directions_come_near(rng):
    given, which = alone(rng)
    given.ends[:] = len(given.x)
    find_nonzero_ranges(given)
    alternate(given, 1.0, 400)
    x = given.y * given.free
    found = type("", (), dict(x=x, v=which[1] + which[0] @ x))
    holds(found, *which, 1e-4)


def test_residuals_are_what_they_are_said_to_be(rng):
    """Of one contact that sticks with too much friction, and sinks in; and of one row beyond its bound."""
    given, _ = alone(rng)
    given.G[:] = np.diag(np.arange(1.0, N + 1.0))
    given.x[:] = given.v[:] = 0.0
    x, v = given.x, given.v
    measure(given)
    assert given.found[COMPLEMENTARITY] == given.found[CONE] == given.found[DISSIPATION] == 0.0
    x[U:U + 3], g = (0.3, 0.4, 0.5), given.G[U, U] / 2.0 + given.G[U + 1, U + 1] / 2.0
    measure(given)
    assert given.found[CONE] == pytest.approx(g * (0.5 - MU[0] * 0.5), rel=1e-12)
    v[NORMAL[0]] = -0.2
    measure(given)
    assert given.found[COMPLEMENTARITY] == pytest.approx(0.2, rel=1e-12)
    x[:], v[:] = 0.0, 0.0
    x[U + 2], x[U + 1], v[U] = 1.0, -MU[0], 0.7                    # friction, as much as it may, but across
    measure(given)
    assert given.found[CONE] < 1e-12
    far = np.array([-v[U], -MU[0] * g])
    expected = np.array([0.0, -MU[0] * g]) - MU[0] * g * far / np.hypot(*far)
    assert given.found[DISSIPATION] == pytest.approx(np.hypot(*expected), rel=1e-12)


@pytest.mark.slow
def test_what_leaves_fast_does_not_make_the_rest_rough():
    """A block comes to rest, as another contact opens by 1e9 m/s: what is left is of the velocity that is stopped."""
    found = solve_contacts(np.eye(6), (0.0, 0.0, -1e-4, 0.0, 0.0, 1e9), [0.5, 0.5])
    assert found.converged and found.x[2] == pytest.approx(1e-4, rel=1e-9) and not found.x[3:].any()
