"""A pendulum of two links, whose best motions are found in a moment."""
import numpy as np

import screw_dynamics as sd
from screw_dynamics.planning.optimal import Configuration, Cost, Effort, LinkVelocity, Velocity


def rod(mass, length=0.25):
    """The inertia of a rod that hangs down, with its mass so far below its frame."""
    return sd.inertia_matrix(mass, (0.0, 0.0, -length), np.diag([0.01, 0.01, 0.002]))


def pendulum():
    """Two links, whose joints have motors of 6 and 3 N m: too weak to lift them."""
    builder = sd.ModelBuilder("base")
    for joint, link, parent, z, limit in (("shoulder", "upper", "base", 0.0, 6.0),
                                          ("elbow", "lower", "upper", -0.5, 3.0)):
        C = np.eye(4)
        C[2, 3] = z
        builder.add_joint(joint, link, parent, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), C, rod(1.0),
                          limits=sd.Limits(effort=limit))
    return sd.Robot(builder.build())


def reaching():
    """Terms for the pendulum."""
    return [Cost(Configuration([1.2, -0.7]), 40.0, "final"), Cost(Velocity(), 4.0, "final"), Cost(Effort(), 0.02),
            Cost(LinkVelocity("lower"), 0.01)]
