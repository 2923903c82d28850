"""Optimal motions beside Crocoddyl: python -m benchmarks.optimal_motion [--crocoddyl PYTHON]

PYTHON is an interpreter with `pip install pin==4.0.0 crocoddyl==3.2.1`, in an environment of its own, as Crocoddyl
takes an older Pinocchio than the other benchmarks. A Panda reaches a point in a second, 100 steps of 10 ms, on one
thread; both have the same robot, costs, steps and tolerance, and take turns. Of each the least processor time of a
solve is told, as machines are shared with others. Without --crocoddyl ours alone; --quick to see that it works."""
import argparse
import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np

from .machine import describe
from .robots import real

PROBLEM = dict(tip="panda_hand_tcp", start=[0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7], goal=[0.3, 0.4, 0.5], steps=100,
               dt=0.01, weights=dict(end=1e3, rest=1.0, near=1.0, posture=1e-2, calm=1e-2, effort=1e-4), tolerance=1e-9)
MANY = 256


class Timed(dict):
    """Processor and wall time of a solve (ms), iterations of all problems, and their mean cost."""


def timed(solve, rounds):
    """The Timed of a function that returns iterations and cost."""
    cpu, wall = [], []
    for _ in range(rounds):
        begin, started = time.process_time(), time.perf_counter()
        iterations, cost = solve()
        cpu.append(1e3 * (time.process_time() - begin))
        wall.append(1e3 * (time.perf_counter() - started))
    return Timed(cpu=min(cpu), wall=min(wall), iterations=iterations, cost=cost)


def ours(urdf, many, rounds):
    """The Timed of ours."""
    import screw_dynamics as sd
    from screw_dynamics.optimal import Configuration, Cost, Effort, LinkPosition, Solver, Velocity

    robot, w, tip, goal = sd.Robot.from_urdf(urdf), PROBLEM["weights"], PROBLEM["tip"], PROBLEM["goal"]
    start = np.array(PROBLEM["start"])
    terms = [Cost(LinkPosition(tip, goal), w["end"], "final"), Cost(Velocity(), w["rest"], "final"),
             Cost(LinkPosition(tip, goal), w["near"]), Cost(Configuration(start), w["posture"]),
             Cost(Velocity(), w["calm"]), Cost(Effort(), w["effort"])]
    q0 = start if many == 1 else start + 0.1 * np.random.default_rng(0).normal(size=(many, robot.n))

    def solve():
        found = Solver(robot, terms, q0, dt=PROBLEM["dt"], steps=PROBLEM["steps"], limits=False, effort_limits=False,
                       tolerance=PROBLEM["tolerance"], threads=1).solve()
        return int(np.sum(found.iterations)), float(np.mean(found.cost))
    solve()
    return timed(solve, rounds)


def theirs(python, urdf, rounds):
    """The Timed of Crocoddyl."""
    given = json.dumps(PROBLEM | dict(urdf=urdf, rounds=rounds))
    program = (Path(__file__).parent / "peers" / "crocoddyl_reaching.py").read_text()   # beside it is a pinocchio.py
    found = subprocess.run([python, "-c", program], input=given, capture_output=True, text=True, check=True)
    return Timed(json.loads(found.stdout.splitlines()[-1]))


def line(name, x, problems=1):
    """What was measured."""
    each = x["iterations"]
    return (f"{name:32} {x['cpu'] / each:8.3f} ms an iteration, {x['cpu'] / problems:8.2f} ms a solve (wall "
            f"{x['wall'] / problems:.2f}), {each / problems:.1f} iterations, cost {x['cost']:.6f}")


def main():
    """Measure in turn, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crocoddyl", metavar="PYTHON")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    urdf, many, rounds = real("Panda").urdf, 8 if given.quick else MANY, 2 if given.quick else 10
    print("  ".join(f"{name}: {x}" for name, x in describe().items()))
    found = {"ours": ours(urdf, 1, rounds)}
    if given.crocoddyl:
        found["Crocoddyl"] = theirs(given.crocoddyl, urdf, rounds)
        again = ours(urdf, 1, rounds)
        found["ours"] = min(found["ours"], again, key=lambda x: x["cpu"])
    batch = ours(urdf, many, 2)
    for name, x in found.items():
        print(line(name, x))
    print(line(f"ours, {many} problems at once", batch, many))
    if given.crocoddyl:
        peer = found["Crocoddyl"]
        each = [x["cpu"] / x["iterations"] for x in (found["ours"], peer, batch)]
        print(f"Crocoddyl / ours: {each[1] / each[0]:.2f} an iteration, {peer['cpu'] / found['ours']['cpu']:.2f} a "
              f"solve; a loop over Crocoddyl / ours, many at once: {each[1] / each[2]:.2f} an iteration")


if __name__ == "__main__":
    main()
