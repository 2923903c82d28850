"""Errors of the compiled algorithms against the same source at 50 digits, near the world's origin and far from it."""
from dataclasses import replace
from functools import cache

import mpmath
import numpy as np

import screw_dynamics as sd
from benchmarks import robots
from screw_dynamics.compiled.workspace import workspace
from screw_dynamics.robot import GRAVITY

from . import algorithms
from .chains import rows
from .exact import exact
from .times import of_model

STATES, FEW_STATES = 12, 2
DISTANCES, FEW_DISTANCES = (0.0, 1.0, 10.0, 100.0, 1000.0), (0.0, 100.0)      # m
DIRECTION = np.array([0.6, 0.64, 0.48])                                       # of the way that the robot is moved
INPUTS = 3


@cache
def panda(distance=0.0):
    """The model of a Panda that stands so many metres from the world's origin.

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
    """Random states: q, qd, and qdd or tau, (3, count, 7)."""
    return np.random.default_rng(1).uniform(-1.5, 1.5, (INPUTS, count, panda().n))


def computed(quantity, form, model, state):
    """The result (n) of the compiled algorithm."""
    entry = algorithms.ALL[quantity][form]
    out = np.empty(entry.shape(model.n, len(model.parents)))
    memory = workspace(of_model(model, rows(model)))
    entry.one(memory, *map(np.copy, state[:entry.inputs]), out)
    return out


def errors(quick=False):
    """{(quantity, form): [error, one a distance]}: the median over states of the greatest error of a component,
    relative to the greatest component."""
    all_states = states(FEW_STATES if quick else STATES)
    found = {}
    for quantity in algorithms.DYNAMICS:
        entry, links = algorithms.ALL[quantity][algorithms.BODY], panda().links(GRAVITY)
        references = [exact(entry, links, *state[:entry.inputs]) for state in all_states.swapaxes(0, 1)]
        for form in algorithms.ALL[quantity]:
            found[quantity, form] = [float(np.median([
                relative(computed(quantity, form, panda(distance), state), reference)
                for state, reference in zip(all_states.swapaxes(0, 1), references, strict=True)]))
                for distance in (FEW_DISTANCES if quick else DISTANCES)]
    return found


def relative(found, reference):
    """The greatest error of a component, relative to the greatest component of the reference."""
    error = max(abs(mpmath.mpf(float(x)) - y) for x, y in zip(found, reference, strict=True))
    return float(error / max(map(abs, reference)))
