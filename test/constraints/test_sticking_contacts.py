"""Contacts that all stick, in no step of the solver: the least impulses, by NumPy's least squares. Those of which some
pull, or are beyond a bound, are in test_least_impulses.py."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.problems import solve_contacts
from support.contact_scenes import stack

pytestmark = pytest.mark.slow


class Redundant:
    """Seventeen rows of every kind on six velocities, which three contacts that press may stop."""

    spin_of, roll_of, normal = np.array([0, 2]), np.array([1, 2]), 2 + 3 * np.arange(3) + 2

    def __init__(self, rng):
        J, x = rng.normal(size=(17, 6)), 0.2 * rng.normal(size=17)
        x[self.normal] += rng.uniform(0.0, 1.0, 3)
        self.G, self.upper, self.lower = J @ J.T, rng.uniform(0.1, 0.6, 2), -rng.uniform(0.1, 0.6, 2)
        self.mu, self.spin_mu = rng.uniform(0.8, 2.0, 3), rng.uniform(0.1, 0.6, 2)
        self.roll_mu = rng.uniform(0.5, 2.0, 2)
        self.c = -self.G @ x

    def allows(self, x):
        """Impulses within bounds and cones."""
        n, t, rolls = x[self.normal], np.linalg.norm(x[2:11].reshape(3, 3)[:, :2], axis=1), x[13:].reshape(2, 2)
        return ((x[:2] >= self.lower) & (x[:2] <= self.upper)).all() and (n >= 0.0).all() and (
            t <= self.mu * n).all() and (abs(x[11:13]) <= self.spin_mu * n[self.spin_of]).all() and (
            np.linalg.norm(rolls, axis=1) <= self.roll_mu * n[self.roll_of]).all()

    def of_contact(self, b):
        """The rows of a contact, its spins and its rolls."""
        return np.concatenate([2 + 3 * b + np.arange(3), 11 + np.flatnonzero(self.spin_of == b),
                               *(13 + 2 * k + np.arange(2) for k in np.flatnonzero(self.roll_of == b))])

    def least(self, without=()):
        """The least impulses with which all rows but those `without` stand still, by the sum of their squares times the
        inverse inertias of their row, contact or roll."""
        g = self.G.diagonal().copy()
        g[2:11], g[13:] = g[2:11].reshape(3, 3).mean(axis=1).repeat(3), g[13:].reshape(2, 2).mean(axis=1).repeat(2)
        sticks, x = np.delete(np.arange(17), without), np.zeros(17)
        unit = g[sticks] ** -0.5
        x[sticks] = unit * np.linalg.lstsq(self.G[np.ix_(sticks, sticks)] * unit, -self.c[sticks], 1e-9)[0]
        return x


def test_all_that_presses_sticks_where_that_is_allowed(rng):
    """With the least impulses, or those of the others where one contact pulls in these; in no step."""
    tried = {0: 0, 1: 0}
    while min(tried.values()) < 8:
        given = Redundant(rng)
        x = given.least()
        pulls = np.flatnonzero(x[given.normal] < 0.0)
        if len(pulls) == 1:
            x = given.least(given.of_contact(pulls[0]))
        if not given.allows(x) or (given.c[given.normal] > 0.0).any():
            continue
        found = solve_contacts(given.G, given.c, given.mu, given.lower, given.upper, spin_mu=given.spin_mu,
                               spin_of=given.spin_of, roll_mu=given.roll_mu, roll_of=given.roll_of)
        assert found.converged and found.sweeps == 0
        np.testing.assert_allclose(found.x, x, atol=1e-6)           # of what the solver adds
        tried[len(pulls)] += 1


@pytest.mark.parametrize("masses", [[1.0], [1.0, 2.0, 0.5]])
def test_what_stands_takes_no_iterations(masses):
    """Twelve rows of a block's corners have rank six: what the solver adds to their diagonal is taken away again."""
    scene = stack(masses)
    found = solve_contacts(scene.G, scene.c, scene.mu)
    assert found.converged and found.sweeps == 0 and abs(found.v).max() < 1e-14 * len(masses) * abs(scene.c).max() * 10
