"""Checks of a recording before any dynamics: limits, saturation, lost messages, rates, jumps."""
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from screw_dynamics.model.floating_base import coordinate_joints
from screw_dynamics.robot import Robot

from .recording import Recording

SATURATED = 0.99        # of the limit
HELD = 5                # samples at the largest effort of an episode, one after the other: it is cut off there
LOST = 1.5              # times the usual period: a message, or more, is missing
FASTER = 2.0            # times the limit of velocity from one sample to the next: no motion, but a jump
OUTLIER = 20.0          # where there is no limit, times the speed that 99 of 100 steps stay below


@dataclass(frozen=True, eq=False)
class Check:
    """Problems of a recording.

    Parameters
    ----------
    row : dict of str to object
        Numbers of the episode. Those of joints are in columns with their names.
    problems : tuple of str
        Each problem in words. Empty if all is well.
    """

    row: dict[str, Any]
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.problems) or "no problem found"


def check(recording: Recording, robot: Robot) -> Check:
    """Check a recording against the limits of a robot, and its own clock.

    Parameters
    ----------
    recording : Recording
        Recording of the robot.
    robot : Robot
        Robot with limits of positions, velocities and efforts.

    Returns
    -------
    Check
        Numbers of the episode, and its problems.

    Raises
    ------
    ValueError
        If joints of the robot were not recorded, which are named.

    Notes
    -----
    Problems are: position, velocity and effort beyond the robot's limits; efforts at their limit, or cut off; messages
    that are missing by the usual period, which is the median; positions that change faster than anything moves. The row
    also has the longest gap and the spread of periods. Rows that were dropped by the reader count as its notes count
    them.
    """
    of = recording.of(robot)
    row: dict[str, Any] = {"start": of.start, "duration": of.duration, "samples": len(of.t), "pieces": len(of.pieces)}
    problems = [*_clock(of, row)]
    names = coordinate_joints(robot.model)
    for j, name in enumerate(names):
        k = robot.model.v_slices[name].start
        limits = {what: getattr(robot.model, what)[k] for what in ("lower", "upper", "velocity_limit", "effort_limit")}
        turns = robot.model.kind_of(name) == "continuous"
        problems += _limits(of, row, j, name, limits)
        problems += _jumps(of, row, j, name, limits["velocity_limit"], turns)
    row["notes"] = [f"{note.kind} ({note.count}): {note.text}" for note in of.notes]
    row["problems"] = problems
    return Check(row, tuple(problems))


def _clock(of, row) -> Iterator[str]:
    """Rate, spread of periods, gaps and lost messages."""
    steps = np.diff(of.t)
    row |= {"rate": of.rate, "longest_gap": float(steps.max(initial=0.0)), "lost": 0, "gaps": 0, "spread": float("nan")}
    if not len(steps):
        yield f"{len(of.t)} samples: too few to tell a rate"
        return
    period = float(np.median(steps))
    long = steps > LOST * period
    row["lost"] = int(np.sum(np.round(steps[long] / period) - 1.0))
    row["gaps"] = int(long.sum())
    row["spread"] = float(np.quantile(np.abs(steps[~long] - period), 0.99) / period)
    if row["lost"]:
        expected = len(of.t) + row["lost"]
        yield (f"{row['lost']} of {expected} messages are missing, by the period of {period:.4g} s, in {row['gaps']} "
               f"gaps, the longest of {row['longest_gap']:.4g} s at {of.t[int(np.argmax(steps))]:.4g} s")


def _limits(of, row, j, name, limits) -> Iterator[str]:
    """Samples beyond the limits of a joint, and efforts at them."""
    q, qd, tau = of.q[:, j], of.qd[:, j], of.tau[:, j]
    for what, x, beyond in (
            ("position", q, np.maximum(q - limits["upper"], limits["lower"] - q)),
            ("velocity", qd, np.abs(qd) - limits["velocity_limit"]),
            ("effort", tau, np.abs(tau) - limits["effort_limit"])):
        missing = float(np.mean(~np.isfinite(x))) if len(x) else 1.0
        row[f"{what}_missing.{name}"] = missing
        count = int(np.sum(beyond > 0.0))           # NaN is beyond nothing
        row[f"{what}_beyond.{name}"] = count
        if count:
            k = int(np.nanargmax(beyond))
            yield (f"joint {name}: {what} beyond its limit in {count} samples, most at {of.t[k]:.4g} s, {x[k]:.4g}, by "
                   f"{beyond[k]:.4g}")
    size = np.abs(tau)
    share = float(np.mean(size >= SATURATED * limits["effort_limit"])) if len(size) else 0.0
    held = _longest_run((size == np.nanmax(size, initial=0.0)) & (size > 0.0))
    row[f"saturated.{name}"], row[f"held.{name}"] = share, held
    if share:
        yield (f"joint {name}: effort at {SATURATED:.0%} of its limit of {limits['effort_limit']:.4g} or more in "
               f"{share:.2%} of the samples")
    elif held >= HELD:
        yield (f"joint {name}: effort stays at its largest value, {np.nanmax(size):.4g}, for {held} samples: it is cut "
               "off there")


def _longest_run(flags):
    """Return the length of the longest run of flags that are set."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return int(np.max(ends[1::2] - ends[::2], initial=0))


def _jumps(of, row, j, name, limit, turns) -> Iterator[str]:
    """Steps in which a joint moves faster than it can; a whole turn of one without end is none."""
    kept = np.flatnonzero(np.isfinite(of.q[:, j]))
    change, steps = np.diff(of.q[kept, j]), np.diff(of.t[kept])
    if turns:
        change = (change + np.pi) % (2.0 * np.pi) - np.pi
    speed = np.abs(change) / steps
    most = FASTER * limit
    if not np.isfinite(most):
        most = OUTLIER * np.quantile(speed, 0.99) if len(speed) else np.inf
    found = np.flatnonzero((speed > most) & (most > 0.0))
    row[f"jumps.{name}"] = len(found)
    if len(found):
        k = found[np.argmax(speed[found])]
        yield (f"joint {name}: position jumps {len(found)} times, most by {change[k]:.4g} in {steps[k]:.4g} s at "
               f"{of.t[kept][k]:.4g} s")
