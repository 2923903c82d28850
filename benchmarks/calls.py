"""What is timed: a statement as it stands in a program, and the states that it is given."""
import timeit
from typing import NamedTuple

import numpy as np

# Of which Pinocchio has no call for many states, with the shapes of their results.
ONE_BY_ONE = {"derivatives of inverse dynamics": lambda n: (3, n, n),
              "derivatives of forward dynamics": lambda n: (3, n, n), "torque regressor": lambda n: (n, 10 * n)}


WRENCH = np.array((1.0, -2.0, 3.0, -10.0, 5.0, 20.0))      # on the end effector, in its frame: torque, force


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
    """Random states with n velocities: `count` rows of each of q, qd, qdd and tau, and one at a time as vectors.

    On a floating base q begins with x y z and a unit quaternion x y z w. linear_first: the same numbers for those to
    whom a free joint's velocity comes linear part first."""

    NAMES = ("q", "qd", "qdd", "tau")

    def __init__(self, n, count, reach=1.5, seed=1, floating=False):
        rng = np.random.default_rng(seed)
        self.rows = {name: rng.uniform(-reach, reach, (count, n)) for name in self.NAMES}
        if floating:
            quaternions = rng.standard_normal((count, 4))
            quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
            q = self.rows["q"]
            self.rows["q"] = np.hstack((q[:, :3], quaternions, q[:, 6:]))
        self.one = {name: np.zeros(rows.shape[1]) for name, rows in self.rows.items()}
        self.linear_first = {name: np.zeros(rows.shape[1]) for name, rows in self.rows.items()}
        self.order = np.r_[3, 4, 5, 0, 1, 2, 6:n] if floating else np.arange(n)        # its own inverse
        self.count = count
        self.choose(0)

    def choose(self, k):
        """Make state k, counted round and round, the one in `one`: in place, for all who hold its vectors."""
        for name in self.NAMES:
            row = self.rows[name][k % self.count]
            self.one[name][:] = row
            self.linear_first[name][:] = row if name == "q" else row[self.order]


def whole(upper):
    """Symmetric matrices (..., n, n) from their upper triangles."""
    return np.triu(upper) + np.triu(upper, 1).swapaxes(-1, -2)
