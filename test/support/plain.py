"""The algorithms of a robot in plain Python, on any kind of numbers; and what a complex step makes of them."""
import importlib
import pkgutil

import numpy as np
from scipy.spatial.transform import Rotation

from screw_dynamics import algorithms
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_IN
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target
from support.scalar_kinds import slope

_MODULES = [importlib.import_module(f"{algorithms.__name__}.{module.name}")
            for module in pkgutil.iter_modules(algorithms.__path__)]
# Those of the facade, and those of the recursions in every representation; twists have tests of their own.
ENTRIES = {name.lower(): x for module in _MODULES for name, x in vars(module).items()
           if isinstance(x, CompiledAlgorithm)}
ENTRIES |= {f"{what}_{form}": entry for what, entries in (
    ("inverse_dynamics", INVERSE_DYNAMICS_IN), ("forward_dynamics", FORWARD_DYNAMICS_IN))
    for form, entry in entries.items() if form != "body"}


def target_of(robot, link, reference=None, representation="body"):
    """A frame against another as an algorithm takes them."""
    links = list(robot.model.frame_names)
    return Target(links.index(link), links.index(reference or robot.model.root), REPRESENTATIONS.index(representation))


def plain(robot, name, *inputs, target=None):
    """The algorithm of this name on the robot, for inputs of any numbers."""
    model, gravity = robot.model, robot.gravity
    entry = ENTRIES[name].on_groups if model.on_groups else ENTRIES[name]
    return entry.plain(model.links(gravity), *inputs, frames=model.frame_rows(gravity), target=target,
                       pose_sources=model.pose_sources(gravity))


def rate(robot, name, q, qd, target=None):
    """The derivative along qd of an algorithm that takes q alone, by a complex step."""
    return slope(lambda q: plain(robot, name, q, target=target), q, rates_of_numbers(robot, q, qd))


def rates_of_numbers(robot, q, v):
    """The rates (nq,) of the numbers in q that velocities v (n,) cause."""
    found = np.empty(robot.nq)
    for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        x, u, rates = q[robot.q_slices[name]], v[robot.v_slices[name]], []
        if kind == "planar":
            s, c = np.sin(x[2]), np.cos(x[2])
            rates = [c * u[1] - s * u[2], s * u[1] + c * u[2], u[0]]
        elif kind in ("free", "spherical"):
            quaternion, w = x[-4:], u[:3]
            turn = np.r_[quaternion[3] * w + np.cross(quaternion[:3], w), -quaternion[:3] @ w] / 2
            rates = [*(Rotation.from_quat(quaternion).apply(u[3:]) if kind == "free" else ()), *turn]
        found[robot.q_slices[name]] = rates or u
    return found


def gradient(robot, name, q):
    """The derivatives of an algorithm that takes q alone along each velocity, in the last axis."""
    return np.stack([rate(robot, name, q, e) for e in np.eye(robot.n)], axis=-1)
