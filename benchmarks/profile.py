"""Where the time goes in calls that miss their targets: python -m benchmarks.profile, in the repository."""
import timeit

import numpy as np

from screw_dynamics import Robot

from . import robots
from .calls import States

ROBOT, STEPS = "Panda", 500


def microseconds(statement, names):
    """The least time of a statement."""
    timer = timeit.Timer(statement, globals=names)
    number, _ = timer.autorange()
    return min(timer.repeat(15, max(1, number // 10))) / max(1, number // 10) * 1e6


def parts(robot, tip):
    """Titles, {statement: units of work it does}, most of them part of the one before, and the names in them."""
    states = States(robot.n, 1, reach=0.2).one
    robot.jacobian(states["q"], tip)
    jacobian, target = robot._jacobians[tip]["body"][None]
    names = {"robot": robot, "tip": tip, "J": np.empty((6, robot.n)), "target": target,
             "jacobian": jacobian, "forward": robot._forward_dynamics, "wrong": np.empty(robot.n + 1),
             "out": np.empty(robot.n), **states}
    yield "Jacobian", {
        "robot.jacobian(q, tip)": 1, "robot.jacobian(q, tip, out=J)": 1,
        "jacobian(target, q, J, None)": 1, "jacobian(target, wrong, J, None)": 1}, names
    yield "A step of the simulation of one robot", {
        f"robot.rollout(q, qd, dt=1e-3, steps={STEPS})": STEPS, "forward(q, qd, tau, out, None)": 1,
        "forward(wrong, qd, tau, out, None)": 1}, names


def main():
    """Print the profile."""
    case = robots.real(ROBOT)
    print(f"{ROBOT}, microseconds. Given a `wrong` argument, a function checks its arguments and ends.")
    for title, statements, names in parts(Robot.from_urdf(case.urdf), case.tip):
        print(f"\n{title}")
        for statement, units in statements.items():
            print(f"{microseconds(statement, names) / units:9.3f}  {statement}")


if __name__ == "__main__":
    main()
