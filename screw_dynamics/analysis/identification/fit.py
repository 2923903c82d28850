"""Inertial parameters and friction from a recorded motion: a fit that never leaves what rigid bodies can have.

The efforts of a recording are linear in the parameters, tau = Y p. Weighted least squares in the base parameters, which
alone show, gives the noise of each joint and confidence intervals. The parameters of the links themselves are those of
a nonlinear least-squares problem in log-Cholesky coordinates, so that every link is a possible body; where the efforts
show nothing, it keeps to the model it began with. C. D. Sousa, R. Cortesao, Int. J. Robotics Research 33(6), 2014;
C. Rucker, P. M. Wensing, IEEE Robotics and Automation Letters 7(2), 2022."""
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first used
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.analysis.estimation.payload_identification import FRICTION, REST, ROUNDING
from screw_dynamics.analysis.estimation.smoothing import Piece, correlation_times, motion_pieces
from screw_dynamics.forces import Element
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.group_joints import motions
from screw_dynamics.model.inertial_parameters import COUNT, FRICTION_NAMES
from screw_dynamics.robot import Robot

from . import physical
from .base_parameters import BaseParameters, from_regressor, parameter_names, random_regressor

WINDOW = 0.1            # s: motions much faster than that are smoothed away
DEGREE = 5              # of the polynomials that smooth a recording: with 3 accelerations of an arm err by a percent
SPREAD = 1.0            # of the logarithms of a link's mass and sizes about those of the model; of its centre, sizes
FRICTION_SPREAD = 10.0  # N m s/rad, N m, kg m^2 and the like about those of the model
SHARE = 1e-6            # of the largest singular value of the weighted base regressor: less is not shown
NOISE = 0.1             # of the accelerations of a joint: more makes inertias look smaller by more than a percent
LEAST_FRICTION = 1e-6   # where the fit begins: it may not begin at its limit, 0


class Equations(NamedTuple):
    """b = Y p at N instants t, (N, n, P) and (N, n); where no equation holds, valid is False, and both are 0."""

    t: np.ndarray
    Y: np.ndarray
    b: np.ndarray
    valid: np.ndarray


@dataclass(frozen=True, eq=False)
class Identification:
    """The result of `identify`: P parameters, named, of which some were estimated; the others are the model's."""

    robot: Robot                        # with the parameters, damping and Coulomb friction that were found
    prior: Robot                        # that it began with
    names: tuple[str, ...]              # (P,) inertial parameters and, of each velocity, damping, friction, armature
    parameters: np.ndarray              # (P,)
    standard_deviations: np.ndarray     # (P,) with what the prior contributes; 0 of what was not estimated
    base: BaseParameters                # of those that were estimated
    estimated: np.ndarray               # (P,) bool
    base_deviations: np.ndarray         # (k,) of the base parameters, by the efforts alone; infinite if not shown
    equations: Equations                # what was fitted, efforts smoothed as the positions
    samples: int                        # recorded states
    level: float                        # of the confidence intervals
    notes: tuple[str, ...]              # what was odd

    @property
    def base_parameters(self) -> np.ndarray:
        """The base parameters (k,) of the result."""
        return self.base.of(self.parameters[self.estimated])

    @property
    def intervals(self) -> np.ndarray:
        """The confidence intervals (k, 2) of the base parameters at the level asked for."""
        half = scipy.special.ndtri(0.5 + 0.5 * self.level) * self.base_deviations
        return np.stack([self.base_parameters - half, self.base_parameters + half], axis=1)

    @property
    def prior_parameters(self) -> np.ndarray:
        """The parameters (P,) of the prior."""
        return np.append(self.prior.inertial_parameters, self.prior.friction_parameters)

    def residual(self, parameters: ArrayLike | None = None) -> np.ndarray:
        """The root mean square (n,) of the efforts that parameters (P,), by default those found, do not explain."""
        p = self.parameters if parameters is None else checks.real_numbers("parameters", parameters, len(self.names))
        _, Y, b, valid = self.equations
        return np.sqrt(np.sum((b - Y @ p) ** 2, axis=0) / np.maximum(valid.sum(axis=0), 1))

    def __str__(self) -> str:
        from .report import text
        return text(self)

    def plot(self, path: Any = None) -> Any:
        """The figure of the report: efforts measured and explained, residuals, base parameters with their intervals.

        path: where to save it. Requires matplotlib, the extra [plot]."""
        from .report import figure
        return figure(self, path)


def identify(robot: Robot, t: ArrayLike, q: ArrayLike, tau: ArrayLike, qd: ArrayLike | None = None,
             qdd: ArrayLike | None = None, friction: str = "estimate", armature: bool = False,
             links: Collection[str] | None = None, window: float = WINDOW, level: float = 0.95,
             forces: Sequence[Element] = ()) -> Identification:
    """Estimate the links' inertial parameters from a motion: times t (m,), positions q (m, nq), efforts tau (m, n); of
    a floating base they are 0 where nothing touches the robot.

    Velocities and accelerations come from q, smoothed over `window` (s) as the efforts are; or they are given, qd and
    qdd (m, n), and nothing is smoothed. friction: "estimate" estimates damping and Coulomb friction of each joint, both
    >= 0, "model" takes the model's off the efforts, "none" leaves them; where there is friction, times at which a joint
    turns back are left out. armature: estimate that too, of joints of one degree of freedom. links: which ones to
    estimate, by default all that have a mass. Efforts that are NaN are left out. level: of the confidence intervals.
    forces: elements of screw_dynamics.forces that are known to act, at the times t.

    The robot is the prior. Parameters of a link that no rigid body can have are replaced by the nearest that one can
    have, with a note."""
    checks.one_of("friction", friction, FRICTION)
    armature = checks.flag("armature", armature)
    if not checks.number("level", level) < 1.0 or level <= 0.0:
        raise ValueError(f"level {level!r} must be between 0 and 1: 0.95 for intervals of 95 %")
    model, n = robot.model, robot.n
    given = _recording(robot, {"t": t, "q": q, "tau": tau} | ({} if qd is qdd is None else {"qd": qd, "qdd": qdd}))
    bodies, estimated = _estimated(robot, friction, armature, links)
    rows, notes = _equations(robot, given, friction, checks.positive("window", window), forces)
    of_joints = robot.friction_parameters.reshape(n, -1).copy()
    of_joints[:, :2] *= friction != "none"                  # armature stays: it is inertia
    p = np.append(robot.inertial_parameters, of_joints)
    drawn = p[:COUNT * len(bodies)].reshape(-1, COUNT)
    theta = physical.log_cholesky(physical.nearest_physical(drawn[bodies]))
    for body in np.flatnonzero(bodies):
        if not physical.is_physical(drawn[body]):
            notes.append(f"link {model.body_names[body]}: no rigid body can have the model's parameters; began with "
                         "the nearest that one can have")
    known = np.where(rows.valid, rows.Y[..., ~estimated] @ p[~estimated], 0.0)
    reduced = rows._replace(Y=rows.Y[..., estimated], b=rows.b - known)
    names = parameter_names(robot, True)
    base = from_regressor(random_regressor(robot, True)[:, estimated], tuple(compress(names, estimated)))
    weight, base_deviations = _weights(reduced, base)
    found, deviations = _fit(reduced, weight, theta, p[estimated][COUNT * bodies.sum():])
    deviation = np.zeros(len(p))
    p[estimated], deviation[estimated] = found, deviations
    result, rub = model.with_inertial_parameters(p[:COUNT * len(bodies)]), p[COUNT * len(bodies):].reshape(n, -1)
    if friction == "estimate":
        result = replace(result, damping=rub[:, 0].copy(), friction=rub[:, 1].copy())
    result = replace(result, armature=rub[:, 2].copy())
    return Identification(Robot(result, robot.gravity, robot.representation, robot.source), robot, names, p,
                          deviation, base, estimated, base_deviations, rows, len(given["t"]), level, tuple(notes))


def _recording(robot, given):
    """The arrays of a recording, checked: a row of finite numbers for each time, but efforts may be NaN."""
    found, m = {}, len(np.atleast_1d(given["t"]))
    for name, x in given.items():
        if x is None:
            raise ValueError("qd and qdd: both must be given, or neither")
        shape = (m,) if name == "t" else (m, robot.nq if name == "q" else robot.n)
        found[name] = checks.real_numbers(name, x, *shape[1:] or shape).astype(float)
        if found[name].shape != shape:
            raise ValueError(f"{name} has shape {found[name].shape}, but must have {shape}: a row for each time of t")
        if name != "tau" and not np.isfinite(found[name]).all():
            raise ValueError(f"{name} is not finite at sample {np.argwhere(~np.isfinite(found[name]))[0][0]}")
    return found


def _estimated(robot, friction, armature, links):
    """Which bodies (b,) are estimated, and which parameters (P,)."""
    model, links = robot.model, (links,) if isinstance(links, str) else links
    for link in links or ():
        checks.one_of("links: link", link, [x for x, own in zip(model.body_names, model.is_link, strict=True) if own])
    chosen = np.array([links is None or x in links for x in model.body_names], dtype=bool)
    bodies = model.is_link & (model.inertias[:, 5, 5] > 0.0) & chosen
    if not bodies.any():
        raise ValueError("links: none that moves and has a mass is to be estimated")
    rubs = _rubs(model)
    columns = np.stack([rubs & (friction == "estimate")] * 2 + [(model.places_in_q >= 0) & armature], axis=1)
    return bodies, np.append(np.repeat(bodies, COUNT), columns)


def _rubs(model):
    """Which velocities (n,) have friction: all but those of joints that are free."""
    return np.concatenate([np.full(len(motions(kind)), kind != "free") for kind in model.joint_kinds])


def _equations(robot: Robot, given: dict, friction: str, window: float, forces: Sequence[Element]
               ) -> tuple[Equations, list[str]]:
    """The equations of a recording in all parameters, and notes on it."""
    t, q, tau = given["t"], given["q"], given["tau"]
    rubs = {"estimate": _rubs(robot.model), "model": robot.model.friction > 0.0}.get(friction, np.zeros(robot.n, bool))
    if "qd" in given:
        Y = robot.torque_regressor(q, given["qd"], given["qdd"], friction=True)
        effort = tau + robot.total_force(forces).efforts(q, given["qd"], t)
        found, notes = [(t, Y, effort, (np.abs(given["qd"]) < REST) & rubs)], []
    else:
        parts = motion_pieces(robot, t, q, tau, window, DEGREE, forces)
        found, notes = [_smoothed(robot, piece, rubs) for piece in parts], _noisy(robot, parts)
    t, Y, b, resting = map(np.concatenate, zip(*found, strict=True))
    valid = np.isfinite(b) & ~resting
    return Equations(t, np.where(valid[..., None], Y, 0.0), np.where(valid, b, 0.0), valid), notes


def _noisy(robot, parts):
    """Notes on joints that move, but whose accelerations are noise to so large a share that inertias look smaller."""
    noise = np.sqrt(np.mean([piece.acceleration_noise for piece in parts], axis=0))
    size = np.sqrt(np.mean(np.concatenate([piece.qdd for piece in parts]) ** 2, axis=0))
    return [f"joint {name}: noise of positions is {x / y:.0%} of its accelerations, which makes inertias look smaller; "
            "widen the window" for name, x, y in zip(velocity_names(robot.model), noise, size, strict=True)
            if NOISE * y < x < y]


def _smoothed(robot: Robot, piece: Piece, rubs: np.ndarray) -> tuple[np.ndarray, ...]:
    """Times, regressor, efforts and whether joints rest (k, n), of a piece at its samples kept.

    Where a joint that rubs turns back the accelerations of all jump, which no polynomial shows: all count as resting in
    the window about it. Dry friction falls off near rest."""
    kept, n = piece.kept, robot.n
    q, qd, qdd = piece.q[kept], piece.qd[kept], piece.qdd[kept]
    Y = robot.torque_regressor(q, qd, qdd, friction=True)
    Y[:, np.arange(n), 1 - len(FRICTION_NAMES) * np.arange(n, 0, -1)] = smooth_sign(qd)
    slowest, fastest = (of(np.abs(piece.qd), piece.points, axis=0)[kept] for of in (
        scipy.ndimage.minimum_filter1d, scipy.ndimage.maximum_filter1d))
    resting = (slowest < REST) & rubs
    return piece.t[kept], Y, piece.smooth(piece.effort), resting | (resting & (fastest > REST)).any(axis=1)[:, None]


def _weights(rows: Equations, base: BaseParameters) -> tuple[np.ndarray, np.ndarray]:
    """1 / variance (n,) of each joint's equations, and the standard deviations (k,) of the base parameters.

    Weighted least squares, three times: weights come from the solution before. Of residuals that are correlated in
    time as many count as say something of their own."""
    Y, counts = base.columns(rows.Y), rows.valid.sum(axis=0)
    free = counts.sum() - len(base)
    if free <= 0:
        raise ValueError(f"{counts.sum()} equations for {len(base)} base parameters: the recording is too short, or "
                         "joints with friction were at rest")
    least = ROUNDING * max(np.abs(rows.b).max(), 1.0)
    weight = np.ones(Y.shape[1])
    for _ in range(3):
        A = (Y * np.sqrt(weight)[:, None]).reshape(-1, len(base))
        scale = np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
        U, s, Vt = np.linalg.svd(A / scale, full_matrices=False)
        shown = s > SHARE * s[0]
        x = (Vt[shown].T / s[shown]) @ (U[:, shown].T @ (rows.b * np.sqrt(weight)).ravel()) / scale
        rest = rows.b - Y @ x
        mean = np.sum(rest**2, axis=0) / np.maximum(counts, 1) * counts.sum() / free
        weight = 1.0 / (correlation_times(rest, rows.valid) * np.maximum(mean, least**2))
    A = (Y * np.sqrt(weight)[:, None]).reshape(-1, len(base)) / scale
    _, s, Vt = np.linalg.svd(A, full_matrices=False)
    shown = s > SHARE * s[0]
    deviation = np.sqrt(np.sum((Vt[shown].T / s[shown]) ** 2, axis=1)) / scale
    return weight, np.where(np.sum(Vt[~shown] ** 2, axis=0) > SHARE, np.inf, deviation)


def _fit(rows: Equations, weight: np.ndarray, prior: np.ndarray, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parameters that were estimated, and their standard deviations: the maximum of the posterior.

    The prior of log-Cholesky parameters (links, 10) is normal, of SPREAD, lengths in sizes of the link."""
    m = prior.size
    augmented = np.concatenate([rows.Y, rows.b[..., None]], axis=2) * np.sqrt(weight)[:, None]
    R = np.linalg.qr(augmented.reshape(-1, augmented.shape[2]), mode="r")       # as many equations as unknowns
    A, d = R[:, :-1], R[:, -1]
    spread = np.full_like(prior, SPREAD)
    spread[:, 4:] *= np.exp(prior[:, 1:4].mean(axis=1, keepdims=True))
    x0 = np.append(prior, np.maximum(friction, LEAST_FRICTION))
    pull = 1.0 / np.append(spread, np.full(len(friction), FRICTION_SPREAD))
    lower = np.append(np.full(m, -np.inf), np.zeros(len(friction)))

    def parameters(x):
        return np.append(physical.of_log_cholesky(x[:m].reshape(-1, COUNT)), x[m:])

    def rates(x):
        return scipy.linalg.block_diag(*physical.of_log_cholesky_derivative(x[:m].reshape(-1, COUNT)),
                                       np.eye(len(friction)))

    def residuals(x):
        return np.append(A @ parameters(x) - d, pull * (x - x0))

    def jacobian(x):
        return np.vstack([A @ rates(x), np.diag(pull)])
    with np.errstate(over="ignore", invalid="ignore"):      # of trial steps that are too long, and are taken back
        x = scipy.optimize.least_squares(residuals, x0, jacobian, bounds=(lower, np.inf), x_scale="jac", ftol=1e-12,
                                         xtol=1e-12, gtol=1e-12, max_nfev=500).x
    s, Vt = np.linalg.svd(jacobian(x), full_matrices=False)[1:]
    return parameters(x), np.linalg.norm(rates(x) @ (Vt.T / s), axis=1)
