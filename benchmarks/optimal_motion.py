"""Optimal motions beside Crocoddyl: python -m benchmarks.optimal_motion [--crocoddyl PYTHON]

PYTHON is an interpreter with `pip install pin==4.0.0 crocoddyl==3.2.1`, in an environment of its own, as Crocoddyl
takes an older Pinocchio than the other benchmarks. A Panda reaches a point in a second, 100 steps of 10 ms, and an
ANYmal whose four feet stay where they are moves its base in half a second, like Crocoddyl by steps that bring nothing
back, and by ours, that bring the feet back; on one thread; both have the same robots, costs, steps and tolerance, and
take turns. Of each the least processor time of a solve is told, as machines are shared
with others. Without --crocoddyl ours alone; --quick to see that it works."""
import argparse
import json
import os
import subprocess
import time

import numpy as np

from .machine import describe
from .robots import real

REACHING = dict(problem="reaching", tip="panda_hand_tcp", start=[0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7],
                goal=[0.3, 0.4, 0.5], steps=100, dt=0.01, tolerance=1e-9,
                weights=dict(end=1e3, rest=1.0, near=1.0, posture=1e-2, calm=1e-2, effort=1e-4))
LEGS = {"LF": (0.7, -1.4), "RF": (0.7, -1.4), "LH": (-0.7, 1.4), "RH": (-0.7, 1.4)}     # hip and knee, rad
STANDING = dict(problem="standing", link="base", base=[0.0, 0.0, 0.45], feet=[f"{leg}_FOOT" for leg in LEGS],
                joints={f"{leg}_{name}": x for leg, angles in LEGS.items()
                        for name, x in zip(("HFE", "KFE"), angles, strict=True)},
                goal=[0.05, 0.03, 0.40], steps=50, dt=0.01, tolerance=1e-9,
                weights=dict(end=1e3, rest=1.0, posture=1e-2, calm=1e-2, effort=1e-4))
MANY = 256
# Ways of ours. Steps of Crocoddyl bring nothing back: its contacts, without gains, hold accelerations alone.
ALIKE = {"ours": {}}
HELD = {"ours, nothing brought back": dict(projection=None), "ours, feet brought back": {}}


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


def reaching(urdf, many):
    """Robot, terms, and first states of one problem or of many."""
    import screw_dynamics as sd
    from screw_dynamics.optimal import Configuration, Cost, Effort, LinkPosition, Velocity

    robot, w, tip, goal = sd.Robot.from_urdf(urdf), REACHING["weights"], REACHING["tip"], REACHING["goal"]
    start = np.array(REACHING["start"])
    terms = [Cost(LinkPosition(tip, goal), w["end"], "final"), Cost(Velocity(), w["rest"], "final"),
             Cost(LinkPosition(tip, goal), w["near"]), Cost(Configuration(start), w["posture"]),
             Cost(Velocity(), w["calm"]), Cost(Effort(), w["effort"])]
    return robot, terms, start if many == 1 else start + 0.1 * np.random.default_rng(0).normal(size=(many, robot.n))


def standing(urdf, many):
    """The same, of a robot that floats, with feet that stay where they are."""
    import screw_dynamics as sd
    from screw_dynamics.closed_loops import ClosedLoopRobot, LoopJoint
    from screw_dynamics.optimal import Configuration, Cost, Effort, LinkPosition, Velocity

    robot, w = sd.Robot.from_urdf(urdf, floating_base=True), STANDING["weights"]
    q = robot.neutral()
    q[:3] = STANDING["base"]
    for joint, angle in STANDING["joints"].items():
        q[robot.q_slices[joint]] = angle
    stands = ClosedLoopRobot(robot, [LoopJoint(foot, "spherical", foot) for foot in STANDING["feet"]], q=q)
    terms = [Cost(LinkPosition(STANDING["link"], STANDING["goal"]), w["end"], "final"),
             Cost(Velocity(), w["rest"], "final"), Cost(Configuration(q), w["posture"]), Cost(Velocity(), w["calm"]),
             Cost(Effort(), w["effort"])]
    return stands, terms, q


def ours(problem, urdf, many, rounds, **options):
    """The Timed of ours; options: of Solver."""
    from screw_dynamics.optimal import Solver

    mover, terms, q0 = {"reaching": reaching, "standing": standing}[problem["problem"]](urdf, many)

    def solve():
        found = Solver(mover, terms, q0, dt=problem["dt"], steps=problem["steps"], limits=False, effort_limits=False,
                       tolerance=problem["tolerance"], threads=1, **options).solve()
        return int(np.sum(found.iterations)), float(np.mean(found.cost))
    solve()
    return timed(solve, rounds)


def theirs(problem, python, urdf, rounds):
    """The Timed of Crocoddyl."""
    given = json.dumps(problem | dict(urdf=urdf, rounds=rounds))
    path = os.path.join(os.path.dirname(__file__), "peers", "crocoddyl_problems.py")
    found = subprocess.run([python, "-P", path], input=given, capture_output=True, text=True, check=True)
    return Timed(json.loads(found.stdout.splitlines()[-1]))


def line(name, x, problems=1):
    """What was measured."""
    each = x["iterations"]
    return (f"{name:42} {x['cpu'] / each:8.3f} ms an iteration, {x['cpu'] / problems:8.2f} ms a solve (wall "
            f"{x['wall'] / problems:.2f}), {each / problems:.1f} iterations, cost {x['cost']:.6f}")


def compared(problem, urdf, python, rounds, ways=ALIKE):
    """Measure a problem in turn, in several ways of ours, print, and return the Timed of Crocoddyl, if it is there."""
    found = {name: ours(problem, urdf, 1, rounds, **options) for name, options in ways.items()}
    peer = None
    if python:
        peer = theirs(problem, python, urdf, rounds)
        found = {name: min(x, ours(problem, urdf, 1, rounds, **ways[name]), key=lambda x: x["cpu"])
                 for name, x in found.items()}
    for name, x in (found | ({"Crocoddyl": peer} if peer else {})).items():
        print(line(f"{problem['problem']}, {name}", x))
    for name, x in found.items() if peer else ():
        of_solve, of_iterations = peer["cpu"] / x["cpu"], x["iterations"] / peer["iterations"]
        print(f"{problem['problem']}, Crocoddyl / {name}: {of_solve * of_iterations:.2f} an iteration, "
              f"{of_solve:.2f} a solve")
    return peer


def main():
    """Measure in turn, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crocoddyl", metavar="PYTHON")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    many, rounds = 8 if given.quick else MANY, 2 if given.quick else 10
    print("  ".join(f"{name}: {x}" for name, x in describe().items()))
    compared(STANDING, real("ANYmal", floating=True).urdf, given.crocoddyl, rounds, HELD)
    peer = compared(REACHING, real("Panda").urdf, given.crocoddyl, rounds)
    batch = ours(REACHING, real("Panda").urdf, many, 2)
    print(line(f"reaching, ours, {many} problems at once", batch, many))
    if peer:
        each = [x["cpu"] / x["iterations"] for x in (peer, batch)]
        print(f"a loop over Crocoddyl / ours, many at once: {each[0] / each[1]:.2f} an iteration")


if __name__ == "__main__":
    main()
