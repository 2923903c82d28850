"""Identification of inertial parameters and friction from a recorded motion, with physically consistent results.

Efforts are linear in the parameters, tau = Y p. Weighted least squares in the base parameters, the only observable
combinations, determines the noise of each joint and confidence intervals. The parameters of the links solve a nonlinear
least-squares problem in log-Cholesky coordinates, so that every link is physically consistent; unobservable directions
keep the values of the prior model. C. D. Sousa, R. Cortesao, Int. J. Robotics Research 33(6), 2014; C. Rucker, P. M.
Wensing, IEEE Robotics and Automation Letters 7(2), 2022."""
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # submodules load on first use
from numpy.typing import ArrayLike

from screw_dynamics.forces import Element
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.inertial_parameters import COUNT, FRICTION_NAMES
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from . import physical, posterior
from .base_fit import base_fit, corrected, of_equations
from .base_parameters import BaseParameters
from .equations import WINDOW, Equations, checked, equations
from .evidence import Evidence, triangle
from .falling_friction import shares
from .misfit import lasting, misfit
from .misfit import notes as misfits
from .own_forces import with_found
from .unknowns import FALLING, Unknowns, unknowns

FRICTION_SPREAD = 10.0  # prior deviation of friction and armature, N m s/rad, N m, kg m^2 or the like
STIFFNESS_SPREAD = 1e9  # prior deviation of stiffness, N m/rad or N/m: practically no prior


@dataclass(frozen=True, eq=False)
class Identification:
    """Parameters of a robot from a recorded motion, the result of `identify`.

    Parameters
    ----------
    robot : Robot
        Robot with the estimated parameters, friction and springs.
    prior : Robot
        Prior robot.
    names : tuple of str
        Names (P,) of inertial parameters, damping, friction and armature of velocities, and stiffness.
    parameters : ndarray (P,)
        Parameters. Those that were not estimated are the model's.
    standard_deviations : ndarray (P,)
        Standard deviations, including the prior; 0 for parameters that were not estimated.
    base : BaseParameters
        Base parameters of the estimated parameters.
    estimated : ndarray (P,) of bool
        True for parameters that were estimated.
    base_deviations : ndarray (k,)
        Standard deviations of the base parameters from the efforts alone; infinite if not observable.
    evidence : Evidence
        All fitted equations, accumulated.
    equations : Equations or None
        The single equations, with efforts filtered like the positions; None for many recordings.
    level : float
        Level of the confidence intervals.
    notes : tuple of str
        Remarks on irregularities.
    falling : ndarray (n, 2)
        Friction at rest beyond Coulomb's, and Stribeck velocity; (0, 2) if not estimated.
    falling_deviations : ndarray (n, 2)
        Standard deviations of both, from the efforts alone.
    prior_springs : tuple of Element
        Springs whose stiffness was estimated, as given.
    """

    robot: Robot                        # with the estimated parameters, friction and springs
    prior: Robot                        # the prior robot
    names: tuple[str, ...]              # (P,) inertial parameters, damping, friction, armature of velocities, stiffness
    parameters: np.ndarray              # (P,)
    standard_deviations: np.ndarray     # (P,) including the prior; 0 if not estimated
    base: BaseParameters                # of the estimated parameters
    estimated: np.ndarray               # (P,) bool
    base_deviations: np.ndarray         # (k,) of the base parameters, from the efforts alone; infinite if unobservable
    evidence: Evidence                  # all fitted equations, accumulated
    equations: Equations | None         # the single equations, with filtered efforts; None for many recordings
    level: float                        # of the confidence intervals
    notes: tuple[str, ...]              # remarks on irregularities
    falling: np.ndarray                 # (n, 2) friction at rest beyond Coulomb's, Stribeck velocity; (0, 2) if unused
    falling_deviations: np.ndarray      # standard deviations of both, from the efforts alone
    prior_springs: tuple[Element, ...]   # springs with estimated stiffness, as given

    def efforts(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
        """Compute the efforts of the identified robot for a motion.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        qdd : array_like (..., n)
            Accelerations.

        Returns
        -------
        ndarray (..., n)
            Efforts including the robot's friction and springs.
        """
        robot = self.robot
        return robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd) - robot.drive_torque(q, qd)

    @property
    def samples(self) -> int:
        """The number of recorded states."""
        return self.evidence.samples

    @property
    def base_parameters(self) -> np.ndarray:
        """The base parameters (k,) of the result."""
        return self.base.of(self.parameters[self.estimated])

    @property
    def intervals(self) -> np.ndarray:
        """The confidence intervals (k, 2) of the base parameters at `level`."""
        half = scipy.special.ndtri(0.5 + 0.5 * self.level) * self.base_deviations
        return np.stack([self.base_parameters - half, self.base_parameters + half], axis=1)

    @property
    def prior_parameters(self) -> np.ndarray:
        """The parameters (P,) of the prior."""
        return np.concatenate([self.prior.inertial_parameters, self.prior.friction_parameters,
                               [spring.stiffness for spring in self.prior_springs]])

    @property
    def springs(self) -> tuple[Element, ...]:
        """The springs with their estimated stiffness."""
        return tuple(replace(spring, stiffness=float(K)) for spring, K in zip(
            self.prior_springs, self.parameters[len(self.names) - len(self.prior_springs):], strict=True))

    def residual(self, parameters: ArrayLike | None = None) -> np.ndarray:
        """Compute the root mean square of the efforts that the parameters do not explain.

        Parameters
        ----------
        parameters : array_like (P,), optional
            Parameters. By default the estimated ones.

        Returns
        -------
        ndarray (n,)
            Residual of each velocity, N m or N.
        """
        own = shares(self.falling) if parameters is None and len(self.falling) else None
        p = self.parameters if parameters is None else checks.real_numbers("parameters", parameters, len(self.names))
        return np.sqrt(self.evidence.squares(p, own) / np.maximum(self.evidence.counts, 1))

    def explained(self, k: int) -> np.ndarray:
        """Compute the efforts of velocity k that the result explains, at the times of `equations`.

        Parameters
        ----------
        k : int
            Index of the velocity.

        Returns
        -------
        ndarray (N,)
            Efforts, N m or N.

        Raises
        ------
        ValueError
            If the result is of many recordings, since their equations are not stored.
        """
        if self.equations is None:
            raise ValueError("explained: not available for several recordings, whose equations are not stored one by "
                             "one")
        found = self.equations.Y[:, k] @ self.parameters
        if not len(self.falling):
            return found
        own = shares(self.falling)[k]
        return found + self.equations.S[:, k, :len(own)] @ own

    def __str__(self) -> str:
        from .report import text
        return text(self)

    def plot(self, path: Any = None) -> Any:
        """Draw the figure of the report.

        Parameters
        ----------
        path : str or path, optional
            File for the figure.

        Returns
        -------
        Figure
            Measured and explained efforts, residuals, and base parameters with their intervals. Requires matplotlib,
            the extra [plot].
        """
        from .report import figure
        return figure(self, path)


def identify(robot: Robot, t: ArrayLike, q: ArrayLike, tau: ArrayLike, qd: ArrayLike | None = None,
             qdd: ArrayLike | None = None, friction: str = "estimate", armature: bool = False,
             links: Collection[str] | None = None, window: float = WINDOW, level: float = 0.95,
             forces: Sequence[Element] = (), springs: Sequence[Element | str] = ()) -> Identification:
    """Estimate the links' inertial parameters from a recorded motion.

    Parameters
    ----------
    robot : Robot
        Prior model of the robot.
    t : array_like (m,)
        Times in s.
    q : array_like (m, nq)
        Positions.
    tau : array_like (m, n)
        Efforts. Those of a floating base are 0 without contacts. Efforts that are NaN are omitted.
    qd : array_like (m, n), optional
        Velocities. With them accelerations are not needed: equations are integrated by parts over windows.
    qdd : array_like (m, n), optional
        Accelerations. With qd and qdd nothing is filtered.
    friction : {"estimate", "stribeck", "model", "none"}, optional
        "estimate" estimates damping and Coulomb friction of each joint, both >= 0; "stribeck" also friction at rest
        beyond Coulomb's that decreases with speed (`falling`); "model" subtracts the model's friction from the efforts;
        "none" neglects friction.
    armature : bool, optional
        True to also estimate the armature of joints of one degree of freedom.
    links : collection of str, optional
        Links to estimate. By default all that have a mass.
    window : float, optional
        Time in s of the filter window for positions and efforts.
    level : float, optional
        Level of the confidence intervals, between 0 and 1.
    forces : sequence of Element, optional
        Force elements of screw_dynamics.forces that act during the recording, at the times t, in addition to those of
        the robot.
    springs : sequence of Element or str, optional
        Springs with unknown stiffness, but given damping and rest position: names of joints whose drives have a spring,
        or forces.Spring elements.

    Returns
    -------
    Identification
        Identified robot, with parameters, standard deviations and notes.

    Notes
    -----
    Without qd, velocities and accelerations are derivatives of q, which is filtered like the efforts. Times at which a
    joint with friction reverses are omitted.

    The confidence intervals assume that the model is correct. If the residual efforts of a joint depend on its
    velocity, because friction has another law, a note names the joint, and intervals are widened by the change
    of the parameters with such friction.

    The identified robot keeps all other properties of the prior: Stribeck friction and springs that belong to no drive
    are in its `forces`; stiffness, inertia and friction of motors are in its drives. Physically inconsistent parameters
    of a link are replaced by the nearest consistent ones, with a note.
    """
    checked_level(level)
    what = unknowns(robot, friction, armature, links, springs)
    given = checked(robot, {name: x for name, x in {"t": t, "q": q, "tau": tau, "qd": qd, "qdd": qdd}.items()
                            if x is not None})
    rows, notes = equations(what.robot, given, what.rubs, checks.positive("window", window),
                            [*forces, *what.known], stribeck=what.velocities, springs=what.springs)
    return concluded(what, of_equations(rows, what, len(given["t"])), level, notes, rows,
                     0.0 if "qdd" in given else window)


def checked_level(level: float) -> float:
    """Return the level of confidence intervals. Raises ValueError unless it is between 0 and 1."""
    if not checks.number("level", level) < 1.0 or level <= 0.0:
        raise ValueError(f"level {level!r} must be between 0 and 1: 0.95 for intervals of 95 %")
    return level


def concluded(unknowns: Unknowns, evidence: Evidence, level: float = 0.95, notes: Sequence[str] = (),
              rows: Equations | None = None, window: float = 0.0) -> Identification:
    """Return the Identification from the evidence of one or many recordings: the final fit.

    rows: the equations of a single recording; window: its filter window (s)."""
    robot, prior, estimated = unknowns.robot, unknowns.prior, unknowns.estimated
    model, n, inertial = robot.model, robot.n, COUNT * len(unknowns.bodies)
    fit = base_fit(evidence, unknowns)
    beyond = misfit(evidence, unknowns, fit)
    p, deviation = unknowns.parameters.copy(), np.zeros(len(unknowns.names))
    R = corrected(triangle(*evidence.factors(unknowns, fit.velocities), fit.weight), unknowns, fit)
    own = unknowns.rubs[:len(fit.falling)]
    friction = np.append(p[estimated][COUNT * unknowns.bodies.sum():], fit.falling[own, 0])
    spread = np.full(len(friction), FRICTION_SPREAD)
    e, springs = int(estimated.sum()), len(unknowns.springs)
    last = len(friction) - int(own.sum())
    spread[last - springs:last] = STIFFNESS_SPREAD
    x, deviations, converged = posterior.maximum(R, physical.log_cholesky(unknowns.links), friction, spread)
    shown = np.isfinite(beyond.deviations) & (fit.deviations > 0.0)
    p[estimated] = x[:e]
    deviation[estimated] = deviations[:e] * (beyond.deviations[shown] / fit.deviations[shown]).max(initial=1.0)
    names = velocity_names(model)
    notes = [*notes, *misfits(beyond, names), *(lasting(evidence, rows, names, window) if rows is not None else ())]
    if not converged:
        notes.append(f"the fit of the links did not converge in {posterior.STEPS} steps: the best of them is given")
    falling = fit.falling.copy()
    falling[own, 0] = x[e:]
    result, rub = model.with_inertial_parameters(p[:inertial]), p[inertial:][:len(FRICTION_NAMES) * n].reshape(
        n, -1)
    if rubs := unknowns.friction in ("estimate", FALLING):
        result = replace(result, damping=rub[:, 0].copy(), friction=rub[:, 1].copy())
    result = replace(result, armature=rub[:, 2].copy())
    found = with_found(prior, result, unknowns.of_drives, [replace(spring, stiffness=K) for spring, K in zip(
        unknowns.springs, p[len(p) - springs:].tolist(), strict=True)], falling if rubs else None)
    return Identification(found, prior, unknowns.names, p, deviation, unknowns.base, estimated, beyond.deviations,
                          evidence, rows, level, (*notes, *unknowns.notes), falling, fit.falling_deviations,
                          unknowns.springs)
