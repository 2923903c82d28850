"""Derivatives by central differences of order 8: an oracle that knows nothing of what it differentiates."""
import numpy as np

WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
SECOND = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}


def slopes(f, n, h=4e-3):
    """The derivatives (..., n) at 0 of f (...), which takes n numbers: exact for polynomials of degree 8."""
    return np.stack([sum(w / h * (f(k * h * e) - f(-k * h * e)) for k, w in WEIGHTS.items()) for e in np.eye(n)], -1)


def bend(f, h):
    """The second derivative (...) at 0 of f (...), which takes a number: exact for polynomials of degree 9."""
    return sum(w / (h * h) * f(side * k * h) for k, w in SECOND.items() for side in (1, -1)[:1 + (k > 0)])


def of_a_state(robot, f, h=4e-3):
    """The derivatives (2n, 2n + n) of a state (q, qd) = f(dq, dqd, dtau) by its arguments, along the joint twists."""
    n = robot.n
    q, qd = f(*np.zeros((3, n)))

    def deviation(x):
        here, rate = f(*x.reshape(3, n))
        return np.r_[robot.difference(q, here), rate - qd]
    return slopes(deviation, 3 * n, h)
