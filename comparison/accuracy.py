"""Errors of the compiled algorithms against the same source at 50 digits, near the world's origin and far from it."""
from dataclasses import replace
from functools import cache

import mpmath
import numpy as np

import screw_dynamics as sd
from benchmarks import robots
from screw_dynamics.compiled.workspace import workspace

from . import algorithms
from .exact import exact
from .structures import rows
from .times import of_model

STATES, FEW_STATES = 9, 2
DISTANCES, FEW_DISTANCES = (0.0, 1.0, 10.0, 100.0, 1000.0), (0.0, 1000.0)     # m
DIRECTION = np.array([0.6, 0.64, 0.48])                                       # of the way that the robot is moved
INPUTS = 4
QUANTITIES = (*algorithms.SAME, "twists", "Jacobians", *algorithms.MOTIONS, "Jacobian of the last body")


@cache
def panda(distance=0.0):
    """The model of a Panda that stands so many meters from the world's origin.

    Its right angles, which the URDF gives in radians, are made exact, so that rotations are orthogonal to any digit."""
    model = sd.Robot.from_urdf(robots.real("Panda").urdf).model
    poses = model.relative_poses.copy()
    nearest = np.round(poses[:, :3, :3])
    if np.abs(poses[:, :3, :3] - nearest).max() > 1e-11:
        raise ArithmeticError("the Panda's links are not at right angles, and the reference would not be exact")
    poses[:, :3, :3] = nearest
    poses[0, :3, 3] += distance * DIRECTION
    return replace(model, relative_poses=poses)


def states(count):
    """Random states: q, qd, qdd or tau, and qddd, (4, count, 7)."""
    return np.random.default_rng(1).uniform(-1.5, 1.5, (INPUTS, count, panda().n))


def computed(quantity, form, model, state):
    """The result of the compiled algorithm."""
    entry, read = algorithms.ALL[quantity][form], rows(model)
    out = np.empty(entry.shape(model.n, len(model.parents)))
    target = (read.target.packed,) if entry.targeted else ()
    entry.one(workspace(of_model(model, read)), *target, *map(np.copy, state[:entry.inputs]), out)
    return out


def reference(quantity, form, distance, state):
    """The result at 50 digits: of the body-fixed form near the origin, where all forms have the same result wherever
    the robot is; else of the form itself at that distance."""
    if quantity in algorithms.SAME:
        form, distance = algorithms.BODY, 0.0
    entry = algorithms.ALL[quantity][form]
    return exact(entry, rows(panda(distance)), *state[:entry.inputs])


def errors(quick=False):
    """{(quantity, form): [error, one a distance]}: the median over states of the greatest error of a component,
    relative to the greatest component."""
    few, found = states(FEW_STATES if quick else STATES).swapaxes(0, 1), {}
    for quantity in QUANTITIES if not quick else algorithms.DYNAMICS:
        for form in algorithms.ALL[quantity]:
            found[quantity, form] = [float(np.median([
                relative(computed(quantity, form, panda(distance), state), reference(quantity, form, distance, state))
                for state in few])) for distance in (FEW_DISTANCES if quick else DISTANCES)]
    return found


def relative(found, expected):
    """The greatest error of a component, relative to the greatest component of what is expected."""
    pairs = list(zip(found.ravel().tolist(), expected.ravel().tolist(), strict=True))
    return float(max(abs(mpmath.mpf(x) - y) for x, y in pairs) / max(abs(mpmath.mpf(y)) for _, y in pairs))
