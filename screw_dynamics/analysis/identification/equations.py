"""Equations of a recorded motion: efforts as the product of a regressor and all parameters of a robot."""
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy  # submodules load on first use

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.analysis.estimation.payload_identification import REST
from screw_dynamics.analysis.estimation.smoothing import Piece, check_efforts, fresh, motion_pieces
from screw_dynamics.forces import Element
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.inertial_parameters import FRICTION_NAMES
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .linear_equations import NONE, Equations, by_load, of_noise, of_springs, own_laws
from .momentum_equations import momentum_equations

WINDOW = 0.1            # s: much faster motions are filtered out
DEGREE = 5              # of the filter polynomials: with 3, the accelerations of an arm err by about one percent
LARGEST = 1e12          # rad, m, N m, N, s and rates: larger values are refused
NOISE = 0.1             # noise-to-signal ratio of a joint's accelerations above which a note is added
HELD = 0.1              # fraction of held positions of a joint above which a note is added


def checked(robot: Robot, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the checked arrays of a recording: one row of finite numbers per time; efforts may be NaN."""
    found, m = {}, len(np.atleast_1d(given["t"]))
    for name, x in given.items():
        shape = (m,) if name == "t" else (m, robot.nq if name == "q" else robot.n)
        found[name] = checks.real_numbers(name, x, *shape[1:] or shape).astype(float)
        if found[name].shape != shape:
            raise ValueError(f"{name} has shape {found[name].shape}, but must have {shape}: a row for each time of t")
        broken = (np.abs(found[name]) > LARGEST) & np.isfinite(found[name])
        for row, *_ in np.argwhere(broken | (name != "tau") & ~np.isfinite(found[name]))[:1]:
            raise ValueError(f"{name} is {found[name][row].tolist()} at sample {row}: must be finite, and at most "
                             f"{LARGEST:g} in magnitude")
    check_efforts(robot.model, found["tau"])
    if "qdd" in found and "qd" not in found:
        raise ValueError("qdd is given, but not qd: give both, qd alone, or neither")
    return found


def equations(robot: Robot, given: Mapping[str, np.ndarray], rubs: np.ndarray, window: float = WINDOW,
              forces: Sequence[Element] = (), breaks: Sequence[int] = (), stribeck: np.ndarray = NONE,
              springs: Sequence[Element] = ()) -> tuple[Equations, list[str]]:
    """Return the equations of a recording (t, q, tau, optionally qd, or qd and qdd) in all parameters, and notes on it.

    rubs (n,): mask of velocities with friction, whose equations are not used at rest. forces: known force elements.
    breaks: rows before which the motion was interrupted. stribeck (G,): Stribeck velocities. springs: springs of
    unknown stiffness and known damping."""
    t, q, tau, notes = given["t"], given["q"], given["tau"], []
    if dampers := [replace(spring, stiffness=0.0) for spring in springs if spring.damping]:
        forces = [*forces, *dampers]
    if "qdd" in given:
        qd = given["qd"]
        Y = robot.torque_regressor(q, qd, given["qdd"], friction=True)
        Y = np.concatenate([Y, of_springs(robot, springs, q)], axis=-1)
        effort = tau + robot.total_force(forces).efforts(q, qd, t)
        found = [Equations(t, Y, effort, ~((np.abs(qd) < REST) & rubs),
                           own_laws(np.sign(qd), qd, stribeck))]
    elif "qd" in given:
        found = momentum_equations(robot, given, rubs, window, forces, breaks, stribeck, springs)
    else:
        parts = motion_pieces(robot, t, q, tau, window, DEGREE, forces, breaks)
        found, notes = [_smoothed(robot, piece, rubs, stribeck, springs) for piece in parts], _noisy(robot, parts)
    if "qdd" not in given:
        notes = [*notes, *_held(robot, t, q, window)]
    t, Y, b, valid, S, _ = (np.concatenate(x) if x[0] is not None else None for x in zip(*found, strict=True))
    valid, S = np.isfinite(b) & valid, np.concatenate([S, by_load(S, Y, robot)], axis=-1)
    noise = None if found[0].noise is None else sum(x.noise for x in found)
    return Equations(t, np.where(valid[..., None], Y, 0.0), np.where(valid, b, 0.0), valid,
                     np.where(valid[..., None], S, 0.0), noise), notes


def _held(robot, t, q, window):
    """Return notes on joints with a large fraction of held positions."""
    share = 1.0 - np.mean([fresh(t, x, 0.5 * window) for x in q.T], axis=1)
    return [f"joint {joint}: {share[of].max():.0%} of its positions repeat the one before, held between those of a "
            "slower source, and are left out" for joint, of in robot.q_slices.items() if share[of].max() > HELD]


def _noisy(robot, parts):
    """Return notes on moving joints with a large fraction of noise in their accelerations."""
    noise = np.sqrt(np.mean([piece.acceleration_noise for piece in parts], axis=0))
    size = np.sqrt(np.mean(np.concatenate([piece.qdd for piece in parts]) ** 2, axis=0))
    return [f"joint {name}: noise of positions is {x / y:.0%} of its accelerations: widen the window, or give "
            "velocities qd" for name, x, y in zip(velocity_names(robot.model), noise, size, strict=True)
            if NOISE * y < x < y]


def _smoothed(robot: Robot, piece: Piece, rubs: np.ndarray, stribeck: np.ndarray,
              springs: Sequence[Element]) -> Equations:
    """Return the equations of a segment at its kept samples.

    When a joint with friction reverses, the accelerations of all joints jump, which polynomials cannot represent: all
    joints count as resting in the window around it. Coulomb friction decreases to 0 near rest."""
    kept, n = piece.kept, robot.n
    q, qd, qdd = piece.q[kept], piece.qd[kept], piece.qdd[kept]
    Y = robot.torque_regressor(q, qd, qdd, friction=True)
    Y[:, np.arange(n), 1 - len(FRICTION_NAMES) * np.arange(n, 0, -1)] = smooth_sign(qd)
    Y = np.concatenate([Y, of_springs(robot, springs, robot.normalize(q))], axis=-1)
    S = piece.smooth(own_laws(smooth_sign(piece.qd), piece.qd, stribeck))
    fastest = scipy.ndimage.maximum_filter1d(np.abs(piece.qd), piece.points, axis=0)[kept]
    resting = (piece.slowest[kept] < REST) & rubs
    valid = ~(resting | (resting & (fastest > REST)).any(axis=1)[:, None])
    b = piece.smooth(piece.effort)
    noise = of_noise(robot, q, piece.acceleration_noise, valid & np.isfinite(b), Y.shape[2])
    return Equations(piece.t[kept], Y, b, valid, S, noise)
