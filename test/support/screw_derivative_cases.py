"""Robots, states with time derivatives, and what infinitesimals in the kernels give for their Jacobians and twists."""
from functools import cache

import numpy as np

import screw_dynamics as sd
from support.infinitesimals import mixed_derivative, time_derivative
from support.plain import plain, target_of
from support.random_trees import model_of, random_tree

BOUND = 1e-12


def assert_close(found, expected):
    """Equal to machine precision, beside lengths of meters and rates of rad/s: what is to vanish is held against 1."""
    assert np.shape(found) == np.shape(expected)
    assert np.abs(found - expected).max(initial=0.0) < BOUND * max(1.0, np.abs(expected).max(initial=0.0))


class Case:
    """A robot, a state with five time derivatives, and what the kernels give for its Jacobians."""

    def __init__(self, seed, mimics):
        self.parts = random_tree(np.random.default_rng(seed), 6, mimics)
        self.robot = sd.Robot(model_of(self.parts))
        self.n = self.robot.n
        self.state = np.random.default_rng(seed).uniform(-1, 1, (6, self.n))
        self.q = self.state[0]
        self.time_derivative = cache(self._time_derivative)

    def jacobians(self, representation):
        """The Jacobians (b, 6, n) of all bodies as a function of any numbers."""
        bodies = [target_of(self.robot, body, None, representation) for body in self.robot.model.body_names]
        return lambda q: np.array([plain(self.robot, "jacobian", q, target=body) for body in bodies])

    def _time_derivative(self, representation, order):
        return time_derivative(self.jacobians(representation), *self.state[:order + 1])

    def partial(self, representation, coordinates):
        """The derivative by these coordinates."""
        return mixed_derivative(self.jacobians(representation), self.q, np.eye(self.n)[list(coordinates)])

    def twist(self, representation, order):
        """V^(order): the derivative of J q'."""
        def twists(x):
            return self.jacobians(representation)(x[:self.n]) @ np.array(x[self.n:], dtype=object)
        both = np.concatenate([self.state[:-1], self.state[1:]], axis=1)
        return time_derivative(twists, *both[:order + 1])


# Bodies 0, 2, 3, 4 and 1, 5 are chains of the tree; 1, 3, 4, 5 is one with mimic joints, where joint 4 mimics joint 3.
CASES = {"tree": (2, 0), "tree with mimic joints": (8, 1)}
