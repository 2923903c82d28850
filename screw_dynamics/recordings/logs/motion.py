"""A recording as robot motion: configurations, velocities and efforts in the robot's order."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.floating_base import NUMBERS, RATES, floating_base
from screw_dynamics.robot import Robot

from .notes import Notes
from .recording import Recording


class Motion(NamedTuple):
    """The rows of a recording in which the whole configuration was measured.

    t (k,) in s; q (k, nq); qd and tau (k, n), NaN where no finite value was measured; breaks: rows before which time is
    interrupted; notes. tau is 0, the applied effort, for a floating base and for joints behind springs: a torque sensor
    there measures the spring, a force element of the model."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    breaks: tuple[int, ...]
    notes: Notes


def motion(recording: Recording, robot: Robot) -> Motion:
    """Return the motion of a robot in a recording.

    Raises ValueError if joints were not recorded, a floating base has no odometry, or no row has all positions."""
    of = recording.of(robot)
    parts = [of.q, of.qd, of.tau]
    base = floating_base(robot.model)
    if base is not None:
        if of.base is None:
            raise ValueError(f"{recording.source or 'the recording'} has no odometry, but the robot's joint "
                             f"'{base.joint}' is free")
        parts = [np.hstack([own, x]) for own, x in zip(_of_base(base, of.base), parts, strict=True)]
    q, qd, tau = parts
    kept, notes = np.isfinite(q).all(axis=1), Notes(of.notes)
    behind = [robot.model.v_slices[joint].start for joint, drive in robot.model.drives.items() if drive.is_elastic]
    notes.add("infinite", "rows with infinite velocities or efforts, which count as not measured",
              int((np.isinf(qd) | np.isinf(tau)).any(axis=1).sum()))
    qd, tau = qd.copy(order="K"), tau.copy()
    for x in (qd, tau):
        x[np.isinf(x)] = np.nan
    notes.add("spring's torque", "efforts of joints behind springs, which act by their deflections, left out",
              int((np.isfinite(tau[:, behind]) & (tau[:, behind] != 0.0)).any(axis=1).sum()))
    tau[:, behind] = 0.0
    notes.add("incomplete", "rows without the position of each joint, left out", int((~kept).sum()))
    if not kept.any():
        raise ValueError(f"{recording.source or 'the recording'} has no row with the positions of all joints")
    rows = np.flatnonzero(kept)
    breaks = {int(k) for k in np.searchsorted(rows, of.breaks)} - {0, len(rows)}
    return Motion(of.t[rows], q[rows], qd[rows], tau[rows], tuple(sorted(breaks)), notes)


def _of_base(base, measured):
    """Return q (k, 7), velocities (k, 6) and zero efforts (k, 6) of a floating base."""
    link = measured.link if measured.link in base.fixed else ""
    q = np.full((len(measured.q), NUMBERS), np.nan)
    for k in np.flatnonzero(np.isfinite(measured.q).all(axis=1) & measured.q[:, 3:].any(axis=1)):
        q[k] = base.numbers(measured.q[k], link)
    twists = np.stack([base.twist(x, link) for x in measured.twist]) if len(q) else np.zeros((0, RATES))
    return q, twists, np.zeros((len(q), RATES))
