"""Checks of a recording without dynamics: limits, saturation, lost messages, rates, jumps."""
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from screw_dynamics.model.floating_base import coordinate_joints
from screw_dynamics.robot import Robot

from .recording import Recording

SATURATED = 0.99        # fraction of the limit at which an effort counts as saturated
HELD = 5                # consecutive samples at an episode's largest effort that count as clipping
LOST = 1.5              # step, in median periods, above which messages are missing
FASTER = 2.0            # speed between samples, in velocity limits, above which a step is a jump
OUTLIER = 20.0          # without a limit: speed of a jump, in 99 % quantiles of the speed


@dataclass(frozen=True, eq=False)
class Check:
    """Problems of a recording.

    Parameters
    ----------
    row : dict of str to object
        Numbers of the episode; per-joint values are in columns <quantity>.<joint>.
    problems : tuple of str
        Text of each problem. Empty if there is none.
    """

    row: dict[str, Any]
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.problems) or "no problem found"


def check(recording: Recording, robot: Robot) -> Check:
    """Check a recording against the limits of a robot, and check its clock.

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
        If joints of the robot were not recorded; the message names them.

    Notes
    -----
    Problems are: positions, velocities and efforts beyond the robot's limits; saturated or clipped efforts; messages
    missing relative to the median period; position jumps. The row also has the longest gap and the spread of periods.
    Rows dropped by the reader are counted in its notes.
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
    """Compute the rate, spread of periods, gaps and lost messages; yield the problems."""
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
    """Count samples beyond the limits of a joint, and saturated efforts; yield the problems."""
    q, qd, tau = of.q[:, j], of.qd[:, j], of.tau[:, j]
    for what, x, beyond in (
            ("position", q, np.maximum(q - limits["upper"], limits["lower"] - q)),
            ("velocity", qd, np.abs(qd) - limits["velocity_limit"]),
            ("effort", tau, np.abs(tau) - limits["effort_limit"])):
        missing = float(np.mean(~np.isfinite(x))) if len(x) else 1.0
        row[f"{what}_missing.{name}"] = missing
        count = int(np.sum(beyond > 0.0))           # False for NaN
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
    """Return the length of the longest run of true flags."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return int(np.max(ends[1::2] - ends[::2], initial=0))


def _jumps(of, row, j, name, limit, turns) -> Iterator[str]:
    """Count position jumps of a joint and yield the problem. Whole turns of a continuous joint are not jumps."""
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
