"""Mechanisms with closed loops: accelerations against Pinocchio's constraintDynamics, in one process, and simulation.

python -m benchmarks.closed_loops, from the root of the repository. Pinocchio's times are of the same call from Python;
it has none for many states, and goes through them one by one. It holds the loops by points, three rows each, where a
revolute joint of ours has five, of which three are redundant. States are closed, and the same for both."""
import argparse
import sys
from pathlib import Path

import numpy as np

from . import machine, timing
from .calls import Call
from .contestants import OURS, Who

sys.path.append(str(Path(__file__).parents[1] / "test"))
from support.linkages import four_bar, stewart  # noqa: E402

PINOCCHIO, COUNT = "Pinocchio", 256
MECHANISMS = {"four-bar": (four_bar(), ("D",)),
              "Stewart platform": (stewart(), [f"ball_{k}" for k in range(1, 6)])}


def closed_states(loops, count):
    """Closed configurations, admissible velocities and efforts of `count` states."""
    rng, robot = np.random.default_rng(0), loops.robot
    moves, qd, tau = rng.normal(size=(3, count, robot.n))
    q = loops.project(robot.integrate(robot.neutral(), 0.1 * moves))
    return q, loops.project_velocity(q, qd), tau


def compared(name, effort):
    """Measurements of one mechanism: accelerations of one state and of a batch."""
    linkage, cut = MECHANISMS[name]
    loops, pinocchio = linkage.closed(cut), linkage.pinocchio(cut)
    q, qd, tau = closed_states(loops, COUNT)
    qdd = loops.forward_dynamics(q, qd, tau).qdd
    theirs = np.array([pinocchio(*state) for state in zip(q, qd, tau, strict=True)])
    assert np.abs(qdd - theirs).max() < 1e-9 * np.abs(qdd).max(), "results differ"
    sizes = f"{name}, n={loops.robot.n}, m={loops.m}"
    one = {"loops": loops, "pinocchio": pinocchio, "q": q[0], "qd": qd[0], "tau": tau[0]}
    many = one | {"q": q, "qd": qd, "tau": tau}
    yield timing.measure({"what": f"{sizes}: one state"}, {
        Who(OURS): Call("loops.forward_dynamics(q, qd, tau)", one),
        Who(PINOCCHIO): Call("pinocchio(q, qd, tau)", one)}, effort)
    yield timing.measure({"what": f"{sizes}: {COUNT} states"}, {
        Who(OURS): Call("loops.forward_dynamics(q, qd, tau)", many),
        Who(PINOCCHIO): Call("for state in zip(q, qd, tau): pinocchio(*state)", many)}, effort, COUNT)
    steps = 200
    simulated = one | {"steps": steps, "start": (q[0], qd[0])}
    yield timing.measure({"what": f"{sizes}: a step, loops closed after it"}, {
        Who(OURS, method): Call(f"loops.rollout(*start, dt=1e-4, steps=steps, integrator={method!r})", simulated)
        for method in ("rk4", "semi_implicit_euler")}, effort, steps)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.closed_loops", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    effort = timing.QUICK if parser.parse_args().quick else timing.FULL
    print(", ".join(f"{fact} {value}" for fact, value in machine.describe().items()), flush=True)
    for name in MECHANISMS:
        for found in compared(name, effort):
            times = ", ".join(f"{who} {1e6 * found.median(who):.2f} us" for who in found.seconds)
            ours, *theirs = found.seconds
            ratio = f"; {found.ratio(theirs[0], ours):.2f} times" if theirs and theirs[0].library != OURS else ""
            print(f"{found.subject['what']}: {times}{ratio}", flush=True)


if __name__ == "__main__":
    main()
