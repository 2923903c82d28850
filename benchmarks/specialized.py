"""Specialized robots whose mimic joints share coordinates, against their own loops: python -m benchmarks.specialized.

The algorithm behind forward dynamics is the one whose straight line has the fewest operations; it is printed."""
import argparse
import warnings

import numpy as np

import screw_dynamics as sd

from . import machine, robots, timing, work
from .calls import Call, States
from .contestants import OURS, Who

ROBOTS = {"Panda with its fingers": "panda_description/urdf/panda.urdf",
          "Baxter": "baxter_description/urdf/baxter.urdf"}
COUNT = 2048
METHODS = {"inverse_dynamics": "q, qd, qdd", "mass_matrix": "q", "forward_dynamics": "q, qd, tau"}


def compared(name, effort):
    """Measurements of one robot: calls on one state, batches on one thread, and a simulation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.UrdfWarning)
        loops = sd.Robot.from_urdf(robots.file(ROBOTS[name]))
    both = {Who(OURS): loops, Who(OURS, "specialized"): loops.specialize()}
    states = States(loops.n, COUNT, reach=0.2)
    for method, inputs in METHODS.items():
        out = np.empty((COUNT, *result(loops, method)))
        yield timing.measure({"what": f"{name}, n={loops.n}: {method}, one state"}, {
            who: Call(f"robot.{method}({inputs}, out=out)", {**states.one, "robot": robot, "out": out[0]})
            for who, robot in both.items()}, effort)
        yield timing.measure({"what": f"{name}, n={loops.n}: {method}, {COUNT} states"}, {
            who: Call(f"robot.{method}({inputs}, out=out, threads=1)", {**states.rows, "robot": robot, "out": out})
            for who, robot in both.items()}, effort, COUNT, warm=work.WARM)
    yield timing.measure({"what": f"{name}, n={loops.n}: a step of a simulation"}, {
        who: Call("robot.rollout(q, qd, dt=1e-4, steps=200)", {**states.one, "robot": robot})
        for who, robot in both.items()}, effort, 200)
    print(f"{name}: {both[Who(OURS, 'specialized')]._forward_dynamics.entry.name}", flush=True)


def result(robot, method):
    """The shape of one result."""
    return (robot.n, robot.n) if method == "mass_matrix" else (robot.n,)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.specialized", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    effort = timing.QUICK if parser.parse_args().quick else timing.FULL._replace(seconds=1.5)
    print(", ".join(f"{fact} {value}" for fact, value in machine.describe().items()), flush=True)
    for name in ROBOTS:
        for found in compared(name, effort):
            loops, lines = found.seconds
            print(f"{found.subject['what']}: loops {1e6 * found.median(loops):.3f} us, straight line "
                  f"{1e6 * found.median(lines):.3f} us; {found.ratio(loops, lines):.2f} times", flush=True)


if __name__ == "__main__":
    main()
