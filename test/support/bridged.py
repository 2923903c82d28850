"""What both bridges are held to: functions of a robot, with arguments, and differences by the numbers of these."""
from support.differences import slopes
from support.linearized import state

NAMES = "inverse_dynamics", "forward_dynamics", "forward_kinematics", "step", "step rk4", "mass_matrix"


def calls(robot, bridged, rng, *lead):
    """By name: the robot's function and the bridge's of the same arguments, both with one result, and these."""
    (q, qd, tau), tip = state(robot, rng, *lead), robot.link_names[-1]
    found = {name: (getattr(robot, name), getattr(bridged, name), (q, qd, tau))
             for name in ("inverse_dynamics", "forward_dynamics")}
    found["mass_matrix"] = robot.mass_matrix, bridged.mass_matrix, (q,)
    found["forward_kinematics"] = (lambda q: robot.forward_kinematics(q, tip),
                                   lambda q: bridged.forward_kinematics(q, tip), (q,))
    for name, options in (("step", (1e-3, "semi_implicit_euler")), ("step rk4", (1e-3, "rk4"))):
        found[name] = (lambda q, qd, tau, o=options: robot.step(q, qd, tau, *o, friction=True)[1],
                       lambda q, qd, tau, o=options: bridged.step(q, qd, tau, *o, friction=True)[1], (q, qd, tau))
    return found


def derivatives(f, inputs):
    """The derivatives (*shape, size) of f by the numbers of each input (size,), one at a time."""
    return [slopes(lambda x, k=k: f(*inputs[:k], inputs[k] + x, *inputs[k + 1:]), len(inputs[k]), 1e-3)
            for k in range(len(inputs))]
