"""The algorithms of a robot in plain Python, on any kind of numbers; and what a complex step makes of them."""
import importlib
import pkgutil

import numpy as np

from screw_dynamics import algorithms
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.compiled.entry import Entry, Target
from support.scalar_kinds import slope

_MODULES = [importlib.import_module(f"{algorithms.__name__}.{module.name}")
            for module in pkgutil.iter_modules(algorithms.__path__)]
# Those of the facade; the ones of four inputs serve the integrators alone (test_motion.py, test_rollout.py).
ENTRIES = {name.lower(): x for module in _MODULES for name, x in vars(module).items()
           if isinstance(x, Entry) and x.inputs < 4}


def target_of(robot, link, reference=None, representation="body"):
    """A frame against another as an algorithm takes them."""
    links = list(robot.model.frame_names)
    return Target(links.index(link), links.index(reference or robot.model.root), REPRESENTATIONS.index(representation))


def plain(robot, name, *inputs, target=None):
    """The algorithm of this name on the robot, for inputs of any numbers."""
    model, gravity = robot.model, robot.gravity
    return ENTRIES[name].plain(model.links(gravity), *inputs, frames=model.frame_rows(gravity), target=target)


def rate(robot, name, q, qd, target=None):
    """The derivative along qd of an algorithm that takes q alone, by a complex step."""
    return slope(lambda q: plain(robot, name, q, target=target), q, qd)


def gradient(robot, name, q):
    """The derivatives of an algorithm that takes q alone by each coordinate, in the last axis."""
    return np.stack([rate(robot, name, q, e) for e in np.eye(robot.n)], axis=-1)
