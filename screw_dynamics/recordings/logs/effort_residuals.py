"""Measured efforts of an episode minus those of a model: external forces, friction, or model errors."""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # submodules are imported at first use

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.analysis.estimation.friction import smooth_friction
from screw_dynamics.analysis.estimation.payload_identification import REST
from screw_dynamics.analysis.estimation.smoothing import motion_pieces
from screw_dynamics.analysis.identification.equations import DEGREE, WINDOW
from screw_dynamics.forces import Element
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .motion import motion
from .notes import Notes
from .recording import Recording


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of an episode of a robot with n velocities at N instants, two per smoothing window.

    Parameters
    ----------
    names : tuple of str (n,)
        Names of the velocities.
    t : ndarray (N,)
        Times in s.
    q : ndarray (N, nq)
        Configuration, smoothed.
    qd, qdd : ndarray (N, n)
        Velocities and accelerations, smoothed.
    measured : ndarray (N, n)
        Measured efforts plus those of known forces, in N m or N, smoothed as the model's efforts are.
    model : ndarray (N, n)
        Efforts of the model, with the friction of the robot, in N m or N.
    damping, friction : ndarray (n,)
        Damping and Coulomb friction >= 0 that best fit the measured efforts minus those of the rigid bodies. NaN for
        joints that rested or were not measured.
    unexplained : ndarray (n,)
        Root mean square of the residual of this fit.
    energy : ndarray (N,)
        Kinetic and potential energy in J.
    work : ndarray (N,)
        Work of measured and known efforts since the beginning of the piece, in J.
    lost : ndarray (N,)
        Energy lost to the friction of the robot since the beginning of the piece, in J.
    piece : ndarray (N,)
        Index of the piece.
    start : int
        Time in ns since the epoch.
    source : str
        Address of the recording.
    notes : Notes
        Notes on the recording and its motion.

    Notes
    -----
    The property ``external`` (N, n) is ``measured`` minus ``model``, the unexplained efforts. For a contact they are
    J^T times its wrench.
    """

    names: tuple[str, ...]
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    measured: np.ndarray
    model: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    unexplained: np.ndarray
    energy: np.ndarray
    work: np.ndarray
    lost: np.ndarray
    piece: np.ndarray
    start: int
    source: str
    notes: Notes

    @property
    def external(self) -> np.ndarray:
        """The unexplained efforts (N, n): `measured` minus `model`."""
        return self.measured - self.model

    @property
    def missing(self) -> np.ndarray:
        """The unexplained energy (N,) in J since the beginning of the piece: of contacts, payloads or model errors."""
        first = np.searchsorted(self.piece, self.piece)
        return self.energy - self.energy[first] - self.work + self.lost

    @property
    def rms(self) -> np.ndarray:
        """The root mean square (n,) of the external efforts; NaN for joints without a measured effort."""
        return _rms(self.external)

    @property
    def row(self) -> dict[str, Any]:
        """One row of numbers for the episode; per-joint values are in columns <quantity>.<joint>."""
        ends = np.append(np.flatnonzero(np.diff(self.piece)), len(self.piece) - 1)
        row: dict[str, Any] = {"start": self.start, "duration": float(self.t[-1] - self.t[0]), "instants": len(self.t),
                               "pieces": len(ends), "energy_missing": float(np.abs(self.missing[ends]).sum()),
                               "work": float(self.work[ends].sum()), "lost": float(self.lost[ends].sum())}
        size = {"external_rms": self.rms, "external_largest": _largest(self.external), "unexplained": self.unexplained,
                "damping": self.damping, "friction": self.friction, "measured_rms": _rms(self.measured)}
        row |= {f"{what}.{name}": float(x) for what, values in size.items()
                for name, x in zip(self.names, values, strict=True)}
        return row | {"notes": [f"{note.kind} ({note.count}): {note.text}" for note in self.notes]}

    @property
    def table(self) -> dict[str, np.ndarray]:
        """Columns (N,) of the values at each instant: t, piece, q.0, qd.<velocity>, ..., energy, work, lost."""
        arrays = {"qd": self.qd, "qdd": self.qdd, "measured": self.measured, "model": self.model,
                  "external": self.external}
        return ({"t": self.t, "piece": self.piece} | {f"q.{k}": x for k, x in enumerate(self.q.T)}
                | {f"{what}.{name}": x for what, array in arrays.items()
                   for name, x in zip(self.names, array.T, strict=True)}
                | {"energy": self.energy, "work": self.work, "lost": self.lost, "missing": self.missing})


def residuals(recording: Recording, robot: Robot, forces: Sequence[Element] = (), window: float = WINDOW) -> Residuals:
    """Compare measured efforts in a recording with those of the model.

    Parameters
    ----------
    recording : Recording
        Recording of the robot.
    robot : Robot
        Robot with the model.
    forces : sequence of Element, optional
        Known external forces: elements of screw_dynamics.forces, at the recording's times.
    window : float, optional
        Smoothing window of positions and efforts in s.

    Returns
    -------
    Residuals
        Motion, efforts and energies of the episode.

    Raises
    ------
    ValueError
        If a required signal was not recorded; the message names it.

    Notes
    -----
    Positions are smoothed over the window and differentiated as in ``identify``. Efforts are smoothed in the same way,
    in each piece without gaps.
    """
    at = motion(recording, robot)
    parts = motion_pieces(robot, at.t, at.q, at.tau, checks.positive("window", window), DEGREE, forces, at.breaks)
    columns: dict[str, list] = {name: [] for name in (
        "t", "q", "qd", "qdd", "measured", "model", "energy", "work", "lost", "piece", "moves")}
    for k, piece in enumerate(parts):
        kept = piece.kept
        q, qd, qdd = robot.normalize(piece.q[kept]), piece.qd[kept], piece.qdd[kept]
        rubbed = smooth_friction(robot, piece.qd)
        found = {"t": piece.t[kept], "q": q, "qd": qd, "qdd": qdd, "measured": piece.smooth(piece.effort),
                 "model": robot.inverse_dynamics(q, qd, qdd) + rubbed[kept],
                 "energy": robot.kinetic_energy(q, qd) + robot.potential_energy(q),
                 "work": _integral(piece, piece.effort), "lost": _integral(piece, rubbed),
                 "piece": np.full(len(kept), k), "moves": piece.slowest[kept] > REST}
        for name, x in found.items():
            columns[name].append(x)
    arrays = {name: np.concatenate(x) for name, x in columns.items()}
    if not np.isfinite(arrays["measured"]).any():
        raise ValueError(f"{recording.source or 'the recording'} has no efforts of the robot's joints")
    rigid = arrays["model"] - smooth_friction(robot, arrays["qd"])
    fits = _friction(arrays["measured"] - rigid, arrays["qd"], arrays.pop("moves"))
    return Residuals(names=velocity_names(robot.model), **arrays, **fits, start=recording.start,
                     source=recording.source, notes=at.notes)


def _integral(piece, effort):
    """Return the integral of the power of `effort` up to each kept instant: trapezoidal rule over all samples.

    It starts at the first kept instant. Joints without any measured effort contribute nothing."""
    measured = np.isfinite(effort).any(axis=0)
    power = np.sum((effort * piece.qd)[:, measured], axis=1)
    steps = 0.5 * (power[1:] + power[:-1]) * np.diff(piece.t)
    found = np.concatenate([[0.0], np.cumsum(steps)])[piece.kept]
    return found - found[0]


def _friction(rest: np.ndarray, qd: np.ndarray, moving: np.ndarray) -> dict[str, np.ndarray]:
    """Fit damping and Coulomb friction (n,), both >= 0, to efforts (N, n); also return the root mean square residual.

    Only instants at which a joint moves throughout the window are used."""
    n = qd.shape[1]
    found = {name: np.full(n, np.nan) for name in ("damping", "friction", "unexplained")}
    for j in range(n):
        moves = np.isfinite(rest[:, j]) & moving[:, j]
        if moves.sum() > 2:
            A = np.stack([qd[moves, j], smooth_sign(qd[moves, j])], axis=1)
            (found["damping"][j], found["friction"][j]), size = scipy.optimize.nnls(A, rest[moves, j])
            found["unexplained"][j] = size / np.sqrt(moves.sum())
    return found


def _rms(x):
    """Return the root mean square of the finite entries of each column; NaN without any."""
    count = np.isfinite(x).sum(axis=0)
    return np.sqrt(np.where(count, np.nansum(x**2, axis=0), np.nan) / np.maximum(count, 1))


def _largest(x):
    """Return the largest magnitude in each column; NaN if it has no finite entry."""
    return np.where(np.isfinite(x).any(axis=0), np.nanmax(np.abs(x), axis=0, initial=0.0), np.nan)
