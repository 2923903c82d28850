"""The fastest motion along a path, beside toppra: python -m benchmarks.paths, from the root of the repository.

A spline through six configurations of a Panda, limits of velocities, accelerations and efforts, the same points, the
interpolation scheme in both; toppra has its solver seidel and our inverse dynamics, state by state in one batch.
Durations agree, or there is no time. Ours makes the whole result, configurations, efforts and what binds; toppra's time
is that of its constraints and of the velocities along the path."""
import argparse
import time

import numpy as np
import toppra
from toppra import algorithm, constraint

import screw_dynamics as sd

from . import machine, robots
from .contacts import in_turns

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
VELOCITY = np.array([2.175] * 4 + [2.61] * 3)
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
EFFORT = 0.6 * np.array([87.0] * 4 + [12.0] * 3)
POINTS, TURNS = (100, 300, 1000, 3000), 21
ALIKE, FASTER = 1e-5, 1.0       # relative, of durations; wanted: at least as fast


class Curve(toppra.interpolator.AbstractGeometricPath):
    """One of our paths, as toppra calls it."""

    waypoints = None

    def __init__(self, path, dof):
        self._path, self._dof = path, dof

    dof = property(lambda self: self._dof)
    path_interval = property(lambda self: np.array([self._path.start, self._path.end]))

    def __call__(self, s, order=0):
        """Configurations, or a derivative."""
        return self._path.derivatives(s)[order]


def theirs(robot, path, s):
    """toppra's velocities along the path."""
    between = constraint.DiscretizationType.Interpolation

    def both(limit):
        return np.stack([-limit, limit], axis=-1)
    limits = [constraint.JointVelocityConstraint(both(VELOCITY)),
              constraint.JointAccelerationConstraint(both(ACCELERATION), between),
              constraint.JointTorqueConstraint(robot.inverse_dynamics, both(EFFORT), np.zeros(robot.n), between)]
    solver = algorithm.TOPPRA(limits, Curve(path, robot.n), gridpoints=s, solver_wrapper="seidel")
    return solver.compute_parameterization(0, 0)[1]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paths", description="The fastest motions along paths.")
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works")
    quick = parser.parse_args().quick
    print(", ".join(f"{fact} {value}" for fact, value in machine.describe().items()), flush=True)
    robot = sd.Robot.from_urdf(robots.real("Panda").urdf)
    path = sd.paths.through(robot, HOME + 0.3 * np.random.default_rng(1).standard_normal((6, 7)))
    for points in POINTS:
        found = {}

        def ours(points=points, found=found):
            found["ours"] = sd.time_optimal(robot, path, velocity=VELOCITY, acceleration=ACCELERATION, effort=EFFORT,
                                            friction=False, points=points)

        def toppras(found=found):
            found["toppra"] = theirs(robot, path, found["ours"].s)
        ours()
        taken = in_turns({"ours": ours, "toppra": toppras}, 3 if quick else TURNS, time.process_time)
        s, v = found["ours"].s, found["toppra"]
        apart = abs(np.sum(2.0 * np.diff(s) / (v[1:] + v[:-1])) / found["ours"].duration - 1.0)
        assert apart < ALIKE, f"durations differ by {apart:g}"
        ratio = taken["toppra"] / taken["ours"]
        print(f"{len(s):5} points: {1e3 * taken['ours']:7.1f} ms, toppra {1e3 * taken['toppra']:7.1f}: {ratio:.2f} "
              f"times{'' if ratio >= FASTER else ': MISSED'}; durations {apart:.1e} apart", flush=True)


if __name__ == "__main__":
    main()
