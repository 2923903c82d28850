"""The system Jacobian: the twists of all bodies from the joint rates; [MK] (23), (31), (43), (53)."""
import numpy as np


def system_jacobian(robot, q, representation="body"):
    """J (..., 6 b, n), with J q' the twists of all bodies, one above the other in the order of model.body_names.

    q (..., n); representation as in robot.jacobian, whose (6, n) of body i are the rows 6 i to 6 i + 5."""
    q = np.asarray(q, dtype=float)
    rows = [robot.jacobian(q, body, representation) for body in robot.model.body_names]
    return np.concatenate([np.zeros((*q.shape[:-1], 0, robot.n)), *rows], axis=-2)
