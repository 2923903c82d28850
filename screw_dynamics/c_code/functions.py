"""Descriptions of exported functions: their fixed-size arrays and the algorithms that compute them."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.model import Model

from .tracing import Way


class Array(NamedTuple):
    """An argument or result: its name, shape (() for a number), and its meaning with units.

    draw(rng): values of an argument for the recorded test, None for the usual ones."""

    name: str
    shape: tuple[int, ...]
    meaning: str
    draw: Callable[[np.random.Generator], np.ndarray] | None = None

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(np.prod(self.shape, dtype=int))


class Function(NamedTuple):
    """A function: name without prefix, summary, inputs and outputs.

    ways {name of an algorithm: function of a TracedRobot and the input arrays}; the one with the fewest operations is
    used. symbols {name: description of the columns of its table}, {} if no algorithm runs on the bodies."""

    name: str
    summary: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    ways: dict[str, Way]
    symbols: dict[str, str]


class Options(NamedTuple):
    """The options of an export: (link, representation, reference) of the links for kinematics; the links with external
    wrenches and with payloads; True if gravity is an argument."""

    links: tuple[tuple[str, str, str], ...] = ()
    external: tuple[str, ...] = ()
    payload: tuple[str, ...] = ()
    gravity: bool = False


def configuration(model: Model) -> Array:
    """Return the argument q."""
    return Array("q", (model.nq,), "configuration, rad or m")


def per_coordinate(model: Model, name: str, meaning: str) -> Array:
    """Return an argument or result with one number per velocity coordinate."""
    return Array(name, (model.n,), meaning)


def velocities(model: Model) -> Array:
    """Return the argument qd."""
    return per_coordinate(model, "qd", "velocities, rad/s or m/s")


def accelerations(model: Model) -> Array:
    """Return the argument or result qdd."""
    return per_coordinate(model, "qdd", "accelerations, rad/s^2 or m/s^2")


def efforts(model: Model, meaning: str = "efforts") -> Array:
    """Return the argument or result tau."""
    return per_coordinate(model, "tau", f"{meaning}, N m or N")


def at_run_time(options: Options, external: bool = True, gravity: bool = True) -> tuple[Array, ...]:
    """Return the additional arguments of a function that depends on masses, and optionally on external wrenches and
    gravity."""
    found = [Array(f"external_{link}", (6,), f"external wrench on {link}: torque (N m) about its origin and force (N), "
                   "in its frame") for link in options.external if external]
    if gravity and options.gravity:
        found.append(Array("gravity", (3,), "acceleration of gravity in the frame of the root link, m/s^2"))
    found += [Array(f"payload_{link}", (10,), f"load on {link}, in its frame: mass (kg); center of mass x y z (m); "
                    "inertia about that xx xy yy xz yz zz (kg m^2)") for link in options.payload]
    return tuple(found)
