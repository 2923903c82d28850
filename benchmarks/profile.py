"""Where the time goes in calls that miss their aims: python -m benchmarks.profile, from the root of the repository."""
import timeit
from threading import Barrier

import numpy as np

from screw_dynamics import Robot
from screw_dynamics.compiled.threads import on_threads

from . import robots
from .calls import States

ROBOT, BATCH, STEPS = "Panda", 4096, 500


def microseconds(statement, names):
    """The least time of a statement."""
    timer = timeit.Timer(statement, globals=names)
    number, _ = timer.autorange()
    return min(timer.repeat(15, max(1, number // 10))) / max(1, number // 10) * 1e6


def parts(robot, tip):
    """Titles, {statement: units of work it does}, most of them part of the one before, and the names in them."""
    states, many = States(robot.n, 1, reach=0.2).one, States(robot.n, BATCH).rows
    robot.jacobian(states["q"], tip)
    jacobian, target = robot._jacobians[tip]["body"][None]
    names = {"robot": robot, "tip": tip, "J": np.empty((6, robot.n)), "target": target, "memory": robot._memory,
             "jacobian": jacobian.one, "forward": robot._forward_dynamics.one, "wrong": np.empty(robot.n + 1),
             "on_threads": on_threads, "meet": lambda _: both.wait(),
             "out": np.empty(robot.n), "result": np.empty((BATCH, robot.n)),
             "Q": many["q"], "QD": many["qd"], "QDD": many["qdd"], **states}
    both = Barrier(2)
    batched = "robot.inverse_dynamics(Q, QD, QDD, out=result, threads={})"
    yield "Jacobian", {
        "robot.jacobian(q, tip)": 1, "robot.jacobian(q, tip, out=J)": 1,
        "jacobian(memory, target, q, J)": 1, "jacobian(memory, target, wrong, J)": 1}, names
    yield "A step of the simulation of one robot", {
        f"robot.rollout(q, qd, dt=1e-3, steps={STEPS})": STEPS, "forward(memory, q, qd, tau, out)": 1,
        "forward(memory, wrong, qd, tau, out)": 1}, names
    yield f"A batch of {BATCH} on two threads", {
        batched.format(1): 1, batched.format(2): 1, "on_threads(meet, (), 2)": 1}, names


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
