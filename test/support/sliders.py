"""Masses on slides, whose fastest and best motions have closed forms."""
import math

import screw_dynamics as sd

MASS = 2.0


def slider(axis=(1.0, 0.0, 0.0), effort=math.inf, velocity=math.inf, lower=-math.inf,
           upper=math.inf, **joint):
    """One mass on one slide."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("slide", "cart", "base", axis, pitch=math.inf, mass=MASS,
                      limits=sd.Limits(lower, upper, velocity, effort), **joint)
    return sd.Robot(builder.build())


def plotter():
    """Two slides at a right angle, without limits."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("x", "bridge", "base", (1.0, 0.0, 0.0), pitch=math.inf, mass=1.0)
    builder.add_screw("y", "pen", "bridge", (0.0, 1.0, 0.0), pitch=math.inf, mass=1.0)
    return sd.Robot(builder.build())
