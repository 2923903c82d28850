"""Mechanisms, their closed states, and those nearby."""
import numpy as np

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Gear, LoopJoint
from support.linkages import bennett, delta, four_bar, stewart

BALLS = [f"ball_{k}" for k in range(6)]
MECHANISMS = {
    "four-bar": lambda: four_bar(0.4).closed(("C",)),                           # three of its rows are redundant
    "Bennett's linkage": bennett,
    "geared arm": lambda: ClosedLoopRobot(four_bar().closed(("D",)).robot, [Gear("G", {"A": 1, "B": -0.5})]),
    "Stewart platform": lambda: stewart().closed(BALLS[1:]), "delta robot": delta}


def stands_in_a_fluid():
    """A body that floats, and a leg with a ball joint where it stands; all motions are damped, the body's, too."""
    builder, inertia = sd.ModelBuilder("ground"), sd.inertia_matrix(2.0, (0.05, 0.02, 0.1), np.diag((0.1, 0.2, 0.15)))
    builder.add_group_joint("free", "float", "body", "ground", inertia=inertia, damping=6.0)
    builder.add_screw("hip", "leg", "body", (0.0, 0.6, 0.8), (0.1, 0.0, 0.0), mass=1.0, com=(0.1, 0.1, -0.3),
                      inertia=0.05 * np.eye(3), damping=3.0)
    robot = sd.Robot(builder.build())
    return ClosedLoopRobot(robot, [LoopJoint("foot", "spherical", "leg")], q=robot.neutral())


def moving(loops, rng, open_by=0.2):
    """A closed configuration and admissible velocities of it."""
    robot = loops.robot
    q = loops.project(robot.integrate(robot.neutral(), open_by * rng.normal(size=robot.n)), tolerance=1e-14)
    return q, loops.project_velocity(q, rng.normal(size=robot.n))


def deviated(loops, q, qd, dq, dqd):
    """The closed state near a deviated one; at admissible deviations it differs from that by their squares."""
    here = loops.project(loops.robot.integrate(q, dq), tolerance=1e-14)
    return here, loops.project_velocity(here, qd + dqd)


def close(found, expected, tolerance=1e-9):
    return np.abs(found - expected).max() < tolerance * max(1.0, np.abs(expected).max())


def enough(loops, q):
    """Joints whose locking leaves no degree of freedom, as few as the first ones allow."""
    names = [*loops.robot.v_slices]
    return next(names[:k] for k in range(1, len(names) + 1) if loops.mobility(q, locked=names[:k]).degrees == 0)
