"""The system Jacobian: the twists of all bodies from the joint rates; [MK] (23), (31), (43), (53)."""


def system_jacobian(robot, q, representation="body"):
    """J (..., 6 b, n), with J q' the twists of all bodies, one above the other in the order of model.body_names.

    q (..., n); representation as in robot.jacobian, whose (6, n) of body i are the rows 6 i to 6 i + 5."""
    J = robot.body_jacobians(q, representation)
    return J.reshape(*J.shape[:-3], 6 * J.shape[-3], J.shape[-1])
