"""Masses on slides, whose fastest and best motions have closed forms."""
import math

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Plane, Sphere
from support.polyhedra import at

MASS = 2.0


def slider(axis=(1.0, 0.0, 0.0), effort=math.inf, velocity=math.inf, lower=-math.inf,
           upper=math.inf, **joint):
    """One mass on one slide."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("slide", "cart", "base", axis, pitch=math.inf, mass=MASS,
                      limits=sd.Limits(lower, upper, velocity, effort), **joint)
    return sd.Robot(builder.build())


def plotter(mass=1.0, **joint):
    """Two slides at a right angle, without limits of their own."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("x", "bridge", "base", (1.0, 0.0, 0.0), pitch=math.inf, mass=mass, **joint)
    builder.add_screw("y", "pen", "bridge", (0.0, 1.0, 0.0), pitch=math.inf, mass=mass, **joint)
    return sd.Robot(builder.build())


def beside_a_plane(name, z, belt=(0.0, 0.0, 0.0), **options):
    """A scene of a ball of radius 0.1 m that slides along x, and of a plane at a height that nothing rubs on."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("rail", "slider", "base", (1.0, 0.0, 0.0), pitch=math.inf, mass=1.0)
    scene = sd.Scene(sd.Robot(builder.build()), friction=0.0, shapes={"slider": Sphere(0.1)}, **options)
    scene.add(name, Plane(), pose=at(z=z), belt=belt)
    return scene
