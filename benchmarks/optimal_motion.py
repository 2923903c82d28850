"""Optimal motions beside Crocoddyl: python -m benchmarks.optimal_motion [--crocoddyl PYTHON]

PYTHON is an interpreter with `pip install pin==4.0.0 crocoddyl==3.2.1`, in an environment of its own, as Crocoddyl
takes an older Pinocchio than the other benchmarks. A Panda reaches a point in a second, 100 steps of 10 ms, and an
ANYmal on four feet that are points and a Talos on two that are soles, which stay where they are, move their bases in
half a second, like Crocoddyl by steps that bring nothing back, and by ours, that bring the feet back; on one thread;
both have the same robots, costs, steps and tolerance, and
take turns. Of each the least processor time of a solve is told, as machines are shared
with others. Without --crocoddyl ours alone; --quick to see that it works."""
import argparse
import json
import os
import subprocess
import time
from functools import partial

import numpy as np

from .machine import describe
from .robots import real

REACHING = dict(problem="reaching", tip="panda_hand_tcp", start=[0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7],
                goal=[0.3, 0.4, 0.5], steps=100, dt=0.01, tolerance=1e-9,
                weights=dict(end=1e3, rest=1.0, near=1.0, posture=1e-2, calm=1e-2, effort=1e-4))
LEGS = {"LF": (0.7, -1.4), "RF": (0.7, -1.4), "LH": (-0.7, 1.4), "RH": (-0.7, 1.4)}     # hip and knee, rad
HALF_SITTING = {"3": -0.45, "4": 0.9, "5": -0.45}                                       # hip, knee and ankle, rad
STANDING = {
    "ANYmal": dict(link="base", base=[0.0, 0.0, 0.45], feet=[f"{leg}_FOOT" for leg in LEGS], contact="spherical",
                   joints={f"{leg}_{name}": x for leg, angles in LEGS.items()
                           for name, x in zip(("HFE", "KFE"), angles, strict=True)}, goal=[0.05, 0.03, 0.40]),
    "Talos": dict(link="base_link", base=[0.0, 0.0, 1.0], feet=["left_sole_link", "right_sole_link"], contact="fixed",
                  joints={f"leg_{side}_{k}_joint": x for side in ("left", "right") for k, x in HALF_SITTING.items()},
                  goal=[0.02, 0.03, 0.97])}
for of_robot in STANDING.values():
    of_robot |= dict(problem="standing", steps=50, dt=0.01, tolerance=1e-9,
                     weights=dict(end=1e3, rest=1.0, posture=1e-2, calm=1e-2, effort=1e-4))
MANY = 256
# Ways of ours. Steps of Crocoddyl bring nothing back: its contacts, without gains, hold accelerations alone.
ALIKE = {"": {}}
HELD = {", nothing brought back": dict(projection=None), ", feet brought back": {}}


class Timed(dict):
    """Processor and wall time (ms) of a solve from nothing but robot and terms, or from Crocoddyl's problem; processor
    time of `solve()` alone, with what follows iterations, in Crocoddyl with the first motion too, which our constructor
    makes; the number of iterations, of all problems, and the mean cost of these."""


def timed(begin, rounds):
    """The Timed of a function that returns a Solver."""
    cpu, iterating, wall = [], [], []
    for _ in range(rounds):
        begun, started = time.process_time(), time.perf_counter()
        solver = begin()
        ready = time.process_time()
        found = solver.solve()
        ended = time.process_time()
        cpu.append(1e3 * (ended - begun))
        iterating.append(1e3 * (ended - ready))
        wall.append(1e3 * (time.perf_counter() - started))
    return Timed(cpu=min(cpu), iterating=min(iterating), wall=min(wall), iterations=int(np.sum(found.iterations)),
                 cost=float(np.mean(found.cost)))


def reaching(given, urdf, many):
    """Robot, terms, and first states of one problem or of many."""
    import screw_dynamics as sd
    from screw_dynamics.planning.optimal import Configuration, Cost, Effort, LinkPosition, Velocity

    robot, w, tip, goal = sd.Robot.from_urdf(urdf), given["weights"], given["tip"], given["goal"]
    start = np.array(given["start"])
    terms = [Cost(LinkPosition(tip, goal), w["end"], "final"), Cost(Velocity(), w["rest"], "final"),
             Cost(LinkPosition(tip, goal), w["near"]), Cost(Configuration(start), w["posture"]),
             Cost(Velocity(), w["calm"]), Cost(Effort(), w["effort"])]
    return robot, terms, start if many == 1 else start + 0.1 * np.random.default_rng(0).normal(size=(many, robot.n))


def standing(given, urdf, many):
    """The same, of a robot that floats, with feet that stay where they are."""
    import screw_dynamics as sd
    from screw_dynamics.planning.optimal import Configuration, Cost, Effort, LinkPosition, Velocity
    from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint

    robot, w = sd.Robot.from_urdf(urdf, floating_base=True), given["weights"]
    q = robot.neutral()
    q[:3] = given["base"]
    for joint, angle in given["joints"].items():
        q[robot.q_slices[joint]] = angle
    stands = ClosedLoopRobot(robot, [LoopJoint(foot, given["contact"], foot) for foot in given["feet"]], q=q)
    terms = [Cost(LinkPosition(given["link"], given["goal"]), w["end"], "final"),
             Cost(Velocity(), w["rest"], "final"), Cost(Configuration(q), w["posture"]), Cost(Velocity(), w["calm"]),
             Cost(Effort(), w["effort"])]
    return stands, terms, q


def ours(problem, urdf, many, rounds, **options):
    """The Timed of ours; options: of Solver."""
    from screw_dynamics.planning.optimal import Solver

    mover, terms, q0 = {"reaching": reaching, "standing": standing}[problem["problem"]](problem, urdf, many)

    def begin():
        return Solver(mover, terms, q0, dt=problem["dt"], steps=problem["steps"], limits=False, effort_limits=False,
                      tolerance=problem["tolerance"], threads=1, **options)
    begin().solve()
    return timed(begin, rounds)


def theirs(problem, python, urdf, rounds):
    """The Timed of Crocoddyl."""
    given = json.dumps(problem | dict(urdf=urdf, rounds=rounds))
    path = os.path.join(os.path.dirname(__file__), "peers", "crocoddyl_problems.py")
    found = subprocess.run([python, "-P", path], input=given, capture_output=True, text=True, check=True)
    found = json.loads(found.stdout.splitlines()[-1])
    return Timed(found, iterating=found["cpu"])


def line(name, x, problems=1):
    """What was measured."""
    each = x["iterations"]
    return (f"{name:42} {x['iterating'] / each:8.3f} ms an iteration, {x['cpu'] / problems:8.2f} ms a solve (wall "
            f"{x['wall'] / problems:.2f}), {each / problems:.1f} iterations, cost {x['cost']:.6f}")


def in_turn(measured, turns):
    """Of each of {name: function that returns a Timed} the best of so many turns, in which one follows the other."""
    found = {}
    for _ in range(turns):
        for name, measure in measured.items():
            found[name] = min([x for x in (found.get(name), measure()) if x], key=lambda x: x["cpu"])
    return found


def compared(name, problem, urdf, given, ways=ALIKE, many=1):
    """Measure a problem in several ways of ours, Crocoddyl if it is there, and many at once, in turn, and print."""
    rounds, turns = (1, 1) if given.quick else (4, 4)
    measured = {f"ours{way}": partial(ours, problem, urdf, 1, rounds, **options) for way, options in ways.items()}
    if given.crocoddyl:
        measured["Crocoddyl"] = partial(theirs, problem, given.crocoddyl, urdf, rounds)
    if many > 1:
        measured[f"ours, {many} at once"] = partial(ours, problem, urdf, many, 1)
    found = in_turn(measured, turns)
    for way, x in found.items():
        print(line(f"{name}, {way}", x, many if "at once" in way else 1))
    peer = found.pop("Crocoddyl", None)
    for way, x in found.items() if peer else ():
        of_iterations = peer["iterating"] / peer["iterations"] / (x["iterating"] / x["iterations"])
        of_solves = peer["cpu"] / x["cpu"] * (many if "at once" in way else 1)
        print(f"{name}, Crocoddyl / {way}: {of_iterations:.2f} an iteration, {of_solves:.2f} a solve", flush=True)


def main():
    """Measure in turn, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crocoddyl", metavar="PYTHON")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    print("  ".join(f"{name}: {x}" for name, x in describe().items()), flush=True)
    for name, problem in STANDING.items():
        compared(f"{name} standing", problem, real(name, floating=True).urdf, given, HELD)
    compared("Panda reaching", REACHING, real("Panda").urdf, given, many=8 if given.quick else MANY)


if __name__ == "__main__":
    main()
