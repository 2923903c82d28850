"""A user's force: its kernels take most of a minute to compile, so tests of motion, sums and errors share it,
with a Spring beside it."""
import numpy as np


def swirl(t, q, qd, p, tau):
    """A force of nobody's, of three numbers; the last is the index of a joint."""
    x = q.copy()
    tau[1] = p[0] * np.sin(3.0 * x[0]) * np.exp(-qd[0] * qd[0]) + t * qd[1]
    tau[int(p[2])] = -p[1] * qd[0] * abs(qd[0])
