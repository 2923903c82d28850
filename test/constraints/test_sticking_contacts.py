"""Contacts that all stick: the least impulses, by NumPy's pseudoinverse, in no step of the solver."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.problems import solve_contacts
from support.contact_scenes import stack


class Redundant:
    """Seventeen rows of every kind on six velocities, which three contacts that press may stop."""

    spin_of, roll_of, normal = np.array([0, 2]), np.array([1, 2]), 2 + 3 * np.arange(3) + 2

    def __init__(self, rng):
        J, x = rng.normal(size=(17, 6)), 0.2 * rng.normal(size=17)
        x[self.normal] += rng.uniform(0.0, 1.0, 3)
        self.G, self.upper, self.lower = J @ J.T, rng.uniform(0.1, 0.6, 2), -rng.uniform(0.1, 0.6, 2)
        self.active = 1.0 * (rng.uniform(size=3) < 0.9)
        self.mu = rng.uniform(0.8, 2.0, 3) * (rng.uniform(size=3) < 0.8)
        self.spin_mu, self.roll_mu = rng.uniform(0.1, 0.6, 2), rng.uniform(0.5, 2.0, 2)
        self.c = -self.G @ x

    def of_contact(self, b):
        """The rows of a contact, its spins and its rolls."""
        return np.concatenate([2 + 3 * b + np.arange(3), 11 + np.flatnonzero(self.spin_of == b),
                               *(13 + 2 * k + np.arange(2) for k in np.flatnonzero(self.roll_of == b))])

    def beyond(self, x):
        """Whether impulses are beyond bounds or cones."""
        n, t, rolls = x[self.normal], np.linalg.norm(x[2:11].reshape(3, 3)[:, :2], axis=1), x[13:].reshape(2, 2)
        return ((x[:2] < self.lower) | (x[:2] > self.upper)).any() or (n < 0.0).any() or (t > self.mu * n).any() or (
            abs(x[11:13]) > self.spin_mu * n[self.spin_of]).any() or (
            np.linalg.norm(rolls, axis=1) > self.roll_mu * n[self.roll_of]).any()

    def rests(self, x):
        """Whether the velocities of impulses within are those of bounds and of contacts that all stick or open."""
        v, n = self.c + self.G @ x, x[self.normal]
        if (np.where(x[:2] == self.lower, np.maximum(-v[:2], 0.0), np.where(
                x[:2] == self.upper, np.maximum(v[:2], 0.0), abs(v[:2]))) > 1e-9).any():
            return False
        return all(abs(v[self.of_contact(b)]).max() < 1e-9 if n[b] > 0.0 else v[self.normal[b]] > 1e-9
                   for b in np.flatnonzero(self.active))

    def least(self, x, sticks):
        """x, and of rows that stick the least impulses, by the sum of their squares times the inverse inertias of their
        row, contact or roll, with which these do not move."""
        g = self.G.diagonal().copy()
        g[2:11], g[13:] = g[2:11].reshape(3, 3).mean(axis=1).repeat(3), g[13:].reshape(2, 2).mean(axis=1).repeat(2)
        U = np.where(sticks, g ** -0.5, 0.0)
        return x - U * (np.linalg.pinv(U[:, None] * self.G * U, 1e-9, True) @ (U * (self.c + self.G @ x)))

    def stuck(self):
        """What the module `sticking` says that it takes, and what it leaves out for it."""
        sticks, x, left_out = np.ones(17, dtype=bool), np.zeros(17), set()
        counts = abs(self.c)
        counts[self.normal] = -self.c[self.normal]
        for b in np.flatnonzero(self.active == 0.0):
            counts[2 + 3 * b:5 + 3 * b] = 0.0
        for b in range(3):
            sticks[self.of_contact(b)] = self.active[b] > 0.0 and self.c[self.normal[b]] <= counts.max()
            sticks[2 + 3 * b:4 + 3 * b] &= self.mu[b] > 0.0
        for _ in range(4):
            x = self.least(np.where(sticks, 0.0, x), sticks)
            if not self.beyond(x):
                break
            for i in np.flatnonzero((x[:2] < self.lower) | (x[:2] > self.upper)):
                x[i], sticks[i] = np.clip(x[i], self.lower[i], self.upper[i]), False
                left_out.add("bound")
            for b in np.flatnonzero(x[self.normal] < 0.0):
                x[self.of_contact(b)], sticks[self.of_contact(b)] = 0.0, False
                left_out.add("pulls")
        return x, left_out


def test_all_that_presses_sticks_where_that_is_allowed(rng):
    """With the least impulses, or the least without what is beyond a bound or would pull; in no step."""
    left = 4 * [set(), {"bound"}, {"pulls"}, {"bound", "pulls"}]
    while left:
        given = Redundant(rng)
        x, left_out = given.stuck()
        if left_out not in left or given.beyond(x) or not given.rests(x):
            continue
        found = solve_contacts(given.G, given.c, given.mu, given.lower, given.upper, active=given.active,
                               spin_mu=given.spin_mu, spin_of=given.spin_of, roll_mu=given.roll_mu,
                               roll_of=given.roll_of)
        assert found.converged and found.sweeps == 0, left_out
        np.testing.assert_allclose(found.x, x, atol=1e-6, err_msg=f"{left_out}")        # of what the solver adds
        left.remove(left_out)


@pytest.mark.parametrize("masses", [[1.0], [1.0, 2.0, 0.5]])
def test_what_stands_takes_no_iterations(masses):
    """Twelve rows of a block's corners have rank six: what the solver adds to their diagonal is taken away again."""
    scene = stack(masses)
    found = solve_contacts(scene.G, scene.c, scene.mu)
    assert found.converged and found.sweeps == 0 and abs(found.v).max() < 1e-14 * len(masses) * abs(scene.c).max() * 10
