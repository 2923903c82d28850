"""What is timed: a statement as it stands in a program, and the states that it is given."""
import timeit
from typing import NamedTuple

import numpy as np


class Call(NamedTuple):
    """A statement of Python and the objects that it names.

    result: an expression for what the statement computed, in our conventions (angular part first, whole matrices);
    None: the value of the statement itself. It serves the comparison of results and is not timed."""

    statement: str
    names: dict
    result: str | None = None

    def value(self):
        """Run the statement once; an array with the result."""
        names = dict(self.names)
        if self.result is None:
            return np.array(eval(self.statement, names))
        exec(self.statement, names)
        return np.array(eval(self.result, names))

    def timer(self):
        """A timer of the statement alone."""
        return timeit.Timer(self.statement, globals=dict(self.names))


class States:
    """Random states of n joints: `count` rows of each of q, qd, qdd and tau, and one of them at a time as vectors."""

    NAMES = ("q", "qd", "qdd", "tau")

    def __init__(self, n, count, reach=1.5, seed=1):
        rng = np.random.default_rng(seed)
        self.rows = {name: rng.uniform(-reach, reach, (count, n)) for name in self.NAMES}
        self.one = {name: np.zeros(n) for name in self.NAMES}
        self.count = count
        self.choose(0)

    def choose(self, k):
        """Make state k, counted round and round, the one in `one`: in place, for all who hold its vectors."""
        for name in self.NAMES:
            self.one[name][:] = self.rows[name][k % self.count]


def whole(upper):
    """A symmetric matrix from its upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T
