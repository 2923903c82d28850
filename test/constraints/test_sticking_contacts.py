"""Contacts that all stick: impulses that change the least, by NumPy's pseudoinverse, in no sweep."""
import copy

import numpy as np
import pytest

from screw_dynamics.constraints.cones.problems import solve_contacts
from support.contact_scenes import stack


class Redundant:
    """Twelve or more rows of every kind on six velocities, near impulses with which three contacts press."""

    spin_of, roll_of, normal = np.array([0, 2]), np.array([1, 2]), 2 + 3 * np.arange(3) + 2

    def __init__(self, rng):
        J, x = rng.normal(size=(17, 6)), 0.2 * rng.normal(size=17)
        x[self.normal] += rng.uniform(0.0, 1.0, 3)
        self.G, self.upper, self.lower = J @ J.T, rng.uniform(0.1, 0.6, 2), -rng.uniform(0.1, 0.6, 2)
        self.active = 1.0 * (rng.uniform(size=3) < 0.9)
        self.mu = rng.uniform(0.8, 2.0, 3) * (rng.uniform(size=3) < 0.8)
        self.spin_mu, self.roll_mu = rng.uniform(0.1, 0.6, 2), rng.uniform(0.5, 2.0, 2)
        self.c = -self.G @ x
        self.x0 = x + 0.3 * rng.normal(size=17)
        self.x0[self.normal] = np.abs(self.x0[self.normal])
        for b in np.flatnonzero((rng.uniform(size=3) < 0.2) | (self.active == 0.0)):
            self.x0[self.of_contact(b)] = 0.0
        self.x0[2:11].reshape(3, 3)[:, :2] *= (self.mu > 0.0)[:, None]
        self.x0[:2] = np.clip(self.x0[:2], self.lower, self.upper)
        if rng.uniform() < 0.5:
            self.x0[0] = rng.choice((self.lower[0], self.upper[0]))
        self.x0 = self.x0 if rng.uniform() < 0.7 else np.zeros(17)

    def of_contact(self, b):
        """The rows of a contact, its spins and its rolls."""
        return np.concatenate([2 + 3 * b + np.arange(3), 11 + np.flatnonzero(self.spin_of == b),
                               *(13 + 2 * k + np.arange(2) for k in np.flatnonzero(self.roll_of == b))])

    def strained(self, x, rng):
        """The same from other impulses on, those of some direction whose least change just is beyond something."""
        other, way, all_of_it = copy.copy(self), rng.normal(size=17) * (x != 0.0), np.ones(17, dtype=bool)
        for k in range(30):
            other.x0 = x + 0.05 * 1.2**k * way
            other.x0[:2] = np.clip(other.x0[:2], 0.99 * self.lower, 0.99 * self.upper)
            other.x0[self.normal] = np.abs(other.x0[self.normal])
            if self.beyond(self.least(other.x0, all_of_it & (x != 0.0))):
                break
        return other

    def beyond(self, x):
        """What of bounds and cones impulses are beyond."""
        n, t, rolls = x[self.normal], np.linalg.norm(x[2:11].reshape(3, 3)[:, :2], axis=1), x[13:].reshape(2, 2)
        spins, most = x[11:13], self.spin_mu * n[self.spin_of]
        return [what for what, beyond in {
            "lower": x[:2] < self.lower, "upper": x[:2] > self.upper, "pulls": n < 0.0, "friction": t > self.mu * n,
            "spin": spins > most, "spin back": spins < -most,
            "roll": np.linalg.norm(rolls, axis=1) > self.roll_mu * n[self.roll_of]}.items() if beyond.any()]

    def rests(self, x):
        """Whether the velocities of impulses within are those of bounds and of contacts that all stick or open."""
        v, n = self.c + self.G @ x, x[self.normal]
        if (np.where(x[:2] == self.lower, np.maximum(-v[:2], 0.0), np.where(
                x[:2] == self.upper, np.maximum(v[:2], 0.0), abs(v[:2]))) > 1e-9).any():
            return False
        return all(abs(v[self.of_contact(b)]).max() < 1e-9 if n[b] > 0.0 else v[self.normal[b]] > 1e-9
                   for b in np.flatnonzero(self.active))

    def least(self, x0, sticks):
        """The least change of impulses, in units of 1 / sqrt(G_ii), with which rows that stick do not move."""
        U = np.where(sticks, self.G.diagonal() ** -0.5, 0.0)
        return x0 - U * (np.linalg.pinv(U[:, None] * self.G * U, 1e-9, True) @ (U * (self.c + self.G @ x0)))

    def stuck(self):
        """What the module `sticking` says that it takes, by NumPy's pseudoinverse, and why it does not take more."""
        n, sticks = self.x0[self.normal], np.ones(17, dtype=bool)
        sticks[:2] = (self.lower < self.x0[:2]) & (self.x0[:2] < self.upper)
        for b in range(3):
            sticks[self.of_contact(b)] = self.active[b] > 0.0 and (n[b] > 0.0 or not n.any())
            sticks[2 + 3 * b:4 + 3 * b] &= self.mu[b] > 0.0
        changed, others = self.least(self.x0, sticks), np.where(sticks, 0.0, self.x0)
        if not (why := self.beyond(changed)):
            return changed, why
        if not self.beyond(x := self.least(others, sticks)):
            return x, why
        for b in np.flatnonzero(x[self.normal] < 0.0):
            sticks[self.of_contact(b)] = False
        return self.least(others, sticks), [*why, "left out"]


def test_all_that_presses_sticks_where_that_is_allowed(rng):
    """With the impulses that change the least, or the least where these are beyond something, or the least without
    contacts that pull; in no sweep."""
    left = 4 * [[], ["left out"], *([what] for what in (
        "lower", "upper", "friction", "spin", "spin back", "roll"))]
    while left:
        given = Redundant(rng)
        x, why = given.stuck()
        if given.beyond(x) or not given.rests(x):
            continue
        for strained in (given, *(given.strained(x, rng) for _ in range(8))):
            x, why = strained.stuck()
            if why[-1:] == ["left out"]:
                why = why[-1:]
            if why not in left or given.beyond(x) or not strained.rests(x):
                continue
            found = solve_contacts(given.G, given.c, given.mu, given.lower, given.upper, strained.x0,
                                   active=given.active, spin_mu=given.spin_mu, spin_of=given.spin_of,
                                   roll_mu=given.roll_mu, roll_of=given.roll_of)
            assert found.converged and found.sweeps == 0, why
            np.testing.assert_allclose(found.x, x, atol=1e-4, err_msg=f"{why}")     # of what the solver adds
            left.remove(why)


@pytest.mark.parametrize("masses", [[1.0], [1.0, 2.0, 0.5]])
def test_what_stands_takes_no_iterations(masses):
    """Twelve rows of a block's corners have rank six: what the solver adds to their diagonal is taken away again."""
    scene = stack(masses)
    found = solve_contacts(scene.G, scene.c, scene.mu)
    assert found.converged and found.sweeps == 0 and abs(found.v).max() < 1e-14 * len(masses) * abs(scene.c).max() * 10
