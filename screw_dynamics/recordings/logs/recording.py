"""The measurements of one episode: joint states over time, commands, base and sensors."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from screw_dynamics.utils import checks

from .alignment import held, interpolated, longest_step, unwrapped
from .notes import Notes

if TYPE_CHECKING:
    from screw_dynamics.robot import Robot

FIELDS = "position", "velocity", "effort"       # names of JointState and ros2_control


@dataclass(frozen=True, eq=False)
class Base:
    """Motion of a floating base at the times of a recording.

    Parameters
    ----------
    q : array_like (k, 7)
        Pose x y z, quaternion x y z w of ``link`` in ``frame``. NaN where it was not measured.
    twist : array_like (k, 6)
        Body-fixed twist, angular part first. NaN where it was not measured.
    frame : str, optional
        Frame of the pose.
    link : str, optional
        Link of the pose and the twist.
    """

    q: np.ndarray
    twist: np.ndarray
    frame: str = ""
    link: str = ""

    def __post_init__(self):
        q = checks.real_numbers("base.q", self.q, 7).astype(float)
        twist = checks.real_numbers("base.twist", self.twist, 6).astype(float)
        if q.ndim != 2 or len(q) != len(twist):
            raise ValueError(f"base.q and base.twist must be (k, 7) and (k, 6), not {q.shape} and {twist.shape}")
        _set(self, q=q, twist=twist)


@dataclass(frozen=True, eq=False)
class Recording:
    """Joints of a robot over time, in SI units and radians.

    Parameters
    ----------
    joints : sequence of str (n,)
        Names of the joints.
    t : array_like (k,)
        Times in s after ``start``, increasing.
    q : array_like (k, n)
        Positions, with a row per time and a column per joint. NaN where nothing was measured.
    qd : array_like (k, n), optional
        Velocities, as ``q``. NaN if not given.
    tau : array_like (k, n), optional
        Efforts, as ``q``. NaN if not given.
    start : int, optional
        Time in ns since the epoch.
    commands : dict of {"position", "velocity", "effort"} to array_like (k, n), optional
        Last commands at each time. Empty without commands.
    base : Base, optional
        Motion of the base of a floating robot.
    wrenches : dict of str to tuple of array_like, optional
        Times (m,) and wrenches (m, 6), torque first, by frame.
    imu : dict of str to tuple of array_like, optional
        Times (m,), angular velocity (m, 3) and acceleration (m, 3), by frame.
    description : str, optional
        URDF text.
    source : str, optional
        Address of the recording.
    topics : dict of str to str, optional
        Topic of each role.
    breaks : tuple of int, optional
        Rows before which time is interrupted by a gap or a clock jump.
    notes : Notes, optional
        Notes on found, dropped and changed data.

    Raises
    ------
    ValueError
        If an array has a wrong shape, or the times do not increase.
    """

    joints: tuple[str, ...]
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray = None                       # type: ignore[assignment]
    tau: np.ndarray = None                      # type: ignore[assignment]
    start: int = 0
    commands: Mapping[str, np.ndarray] = field(default_factory=dict)
    base: Base | None = None
    wrenches: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    imu: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=dict)
    description: str | None = None
    source: str = ""
    topics: Mapping[str, str] = field(default_factory=dict)
    breaks: tuple[int, ...] = ()
    notes: Notes = field(default_factory=Notes)

    def __post_init__(self):
        joints = tuple(map(str, (self.joints,) if isinstance(self.joints, str) else self.joints))
        twice = sorted({name for name in joints if joints.count(name) > 1})
        if twice:
            raise ValueError(f"joints contains {twice[0]!r} more than once")
        t = checks.finite_numbers("t", self.t).astype(float)
        if t.ndim != 1:
            raise ValueError(f"t must be (k,), not {t.shape}")
        if (still := np.flatnonzero(np.diff(t) <= 0.0)).size:
            raise ValueError(f"t must increase, but t[{still[0] + 1}] = {t[still[0] + 1]} follows {t[still[0]]}")
        shape = len(t), len(joints)
        arrays = {name: _signal(name, getattr(self, name), shape) for name in ("q", "qd", "tau")}
        if unknown := sorted(set(self.commands) - set(FIELDS)):
            raise ValueError(f"commands[{unknown[0]!r}]: must be one of {', '.join(FIELDS)}")
        commands = {name: _signal(f"commands[{name!r}]", x, shape) for name, x in self.commands.items()}
        if self.base is not None and len(self.base.q) != len(t):
            raise ValueError(f"base has {len(self.base.q)} rows, but t has {len(t)}")
        breaks = tuple(sorted({int(row) for row in self.breaks}))
        if breaks and not 0 < breaks[0] <= breaks[-1] < len(t):
            raise ValueError(f"breaks must be rows from 1 to {len(t) - 1}, not {list(self.breaks)}")
        wrenches = {frame: _series(f"wrenches[{frame!r}]", x, 6) for frame, x in self.wrenches.items()}
        imu = {frame: _series(f"imu[{frame!r}]", x, 3, 3) for frame, x in self.imu.items()}
        _set(self, joints=joints, t=t, commands=commands, breaks=breaks, wrenches=wrenches, imu=imu,
             topics=dict(self.topics), notes=Notes(self.notes), start=int(self.start), **arrays)

    # ------------------------------------------------------------------------------------------- properties
    @property
    def n(self) -> int:
        """The number of joints."""
        return len(self.joints)

    @property
    def duration(self) -> float:
        """The time from the first to the last sample in s; 0 for fewer than two samples."""
        return float(self.t[-1] - self.t[0]) if len(self.t) else 0.0

    @property
    def rate(self) -> float:
        """The sample rate in Hz, from the median step; NaN for fewer than two samples."""
        return 1.0 / float(np.median(np.diff(self.t))) if len(self.t) > 1 else float("nan")

    @property
    def pieces(self) -> list[slice]:
        """Slices of the rows between interruptions, in order."""
        ends = [0, *self.breaks, len(self.t)]
        return [slice(a, b) for a, b in zip(ends, ends[1:], strict=False) if b > a]

    def __repr__(self) -> str:
        return (f"<Recording of {self.n} joints, {len(self.t)} samples in {self.duration:.6g} s"
                f"{f', {len(self.pieces)} pieces' if self.breaks else ''}: {self.source or ', '.join(self.joints)}>")

    # ------------------------------------------------------------------------------------------- conversions
    def rows(self, rows: slice) -> Recording:
        """Return a part of the recording.

        Parameters
        ----------
        rows : slice
            Rows of the part, without a step.

        Returns
        -------
        Recording
            The part. Times are not shifted; wrenches and IMU are kept whole.

        Raises
        ------
        ValueError
            If the slice has a step other than 1.
        """
        first, last, step = rows.indices(len(self.t))
        if step != 1:
            raise ValueError(f"rows must be a slice without a step, not {rows}")
        base = self.base and replace(self.base, q=self.base.q[rows], twist=self.base.twist[rows])
        return replace(self, t=self.t[rows], q=self.q[rows], qd=self.qd[rows], tau=self.tau[rows], base=base,
                       commands={name: x[rows] for name, x in self.commands.items()},
                       breaks=tuple(row - first for row in self.breaks if first < row < last))

    def of(self, robot: Robot) -> Recording:
        """Select the columns of a robot's joints, in its order.

        Parameters
        ----------
        robot : Robot
            Robot with the joints.

        Returns
        -------
        Recording
            Recording with the columns of the robot's single-DoF joints.

        Raises
        ------
        ValueError
            If joints of the robot were not recorded; the message names them.

        Notes
        -----
        Other joints are omitted, with a note. Positions of continuous joints that were recorded within one turn are
        unwrapped, with a note.
        """
        names = [name for name in robot.joint_names if name not in robot.model.joint_frames]
        if missing := [name for name in names if name not in self.joints]:
            motors = {name for added in robot.model.motors.values() for name in added}
            hint = ("; motors of drives are on a topic of their own, which topics={'joint_states': [...]} names beside "
                    "that of the joints; efforts of joints alone are those of the robot without drives"
                    if motors.intersection(missing) else "")
            raise ValueError(f"{self.source or 'the recording'} has no joint {', '.join(missing)}; it has "
                             f"{', '.join(self.joints) or 'none'}{hint}")
        columns = [self.joints.index(name) for name in names]
        notes = Notes(self.notes)
        for name in self.joints:
            if name not in names:
                follows = name in robot.model.mimics
                notes.add("joint left out", f"{name} {'follows another joint' if follows else 'is not in the robot'}")
        q = self.q[:, columns]
        for i, name in enumerate(names):
            if robot.model.kind_of(name) == "continuous":
                q[:, i], jumps = unwrapped(q[:, i])
                notes.add("wrapped", f"{name} is continuous, and its positions were kept within a turn", jumps)
        return replace(self, joints=tuple(names), q=q, qd=self.qd[:, columns], tau=self.tau[:, columns], notes=notes,
                       commands={name: x[:, columns] for name, x in self.commands.items()})

    def resampled(self, rate: float) -> Recording:
        """Resample the recording at a constant rate.

        Parameters
        ----------
        rate : float
            Sample rate in Hz, from the first time of each piece on.

        Returns
        -------
        Recording
            Resampled recording. No interpolation crosses an interruption.

        Raises
        ------
        ValueError
            If the rate is not positive.

        Notes
        -----
        Signals are interpolated linearly, commands held, quaternions interpolated and normalized. There is no
        low-pass filter: at a lower rate, frequencies above half the rate are aliased. A note reports this.
        """
        rate = checks.number("rate", rate)
        if not rate > 0.0:
            raise ValueError(f"rate must be positive, not {rate}")
        parts, breaks, rows = [], [], 0
        for piece in self.pieces:
            t = self.t[piece]
            grid = t[0] + np.arange(int(np.floor((t[-1] - t[0]) * rate * (1.0 + 1e-12) + 1e-9)) + 1) / rate
            parts.append(self._at(piece, np.minimum(grid, t[-1])))
            breaks.append(rows)
            rows += len(grid)
        notes = Notes(self.notes)
        notes.add("resampled", f"from {self.rate:.6g} to {rate:.6g} samples a second, linearly, commands held", rows)
        if rate < 0.99 * self.rate:
            notes.add("folded", f"no low-pass: what was faster than {rate / 2.0:.6g} Hz appears slower")
        joined = {name: np.concatenate([part[name] for part in parts]) if parts else getattr(self, name)
                  for name in ("t", "q", "qd", "tau")}
        base = self.base and replace(self.base, **{
            name: np.concatenate([part["base"][name] for part in parts]) for name in ("q", "twist")})
        commands = {name: np.concatenate([part["commands"][name] for part in parts]) for name in self.commands}
        return replace(self, **joined, base=base, commands=commands, breaks=tuple(breaks[1:]), notes=notes)

    def _at(self, piece: slice, at: np.ndarray) -> dict[str, Any]:
        """Return the signals of a piece, resampled at the times `at`."""
        t = self.t[piece]
        longest = longest_step(t)
        part: dict[str, Any] = {"t": at}
        for name in ("q", "qd", "tau"):
            part[name] = interpolated(at, t, getattr(self, name)[piece], longest)
        part["commands"] = {name: held(at, t, x[piece]) for name, x in self.commands.items()}
        if self.base is not None:
            part["base"] = {"q": poses_at(at, t, self.base.q[piece], longest),
                            "twist": interpolated(at, t, self.base.twist[piece], longest)}
        return part


def poses_at(at: np.ndarray, t: np.ndarray, q: np.ndarray, longest: float) -> np.ndarray:
    """Interpolate poses x y z, quaternion x y z w (k, 7) at given times; normalize the quaternions.

    Quaternions follow the shorter arc. One of length 0 gives NaN."""
    q, known = q.copy(), np.flatnonzero(~np.isnan(q[:, 3:]).any(axis=1))          # signs continue across missing poses
    flips = np.sum(q[known[1:], 3:] * q[known[:-1], 3:], axis=1) < 0.0
    q[known[1:], 3:] *= np.where(np.cumsum(flips) % 2, -1.0, 1.0)[:, None]
    out = interpolated(at, t, q, longest)
    length = np.linalg.norm(out[:, 3:], axis=1, keepdims=True)
    out[:, 3:] /= np.where(length > 0.0, length, np.nan)
    return out


def _signal(name: str, x: Any, shape: tuple[int, int]) -> np.ndarray:
    """Return x as a float array with a row per time and a column per joint; NaN if x is None."""
    if x is None:
        return np.full(shape, np.nan)
    x = checks.real_numbers(name, x).astype(float, copy=False)
    if x.shape != shape:
        raise ValueError(f"{name} must be {shape}, one row per time and one column per joint, not {x.shape}")
    return x


def _series(name: str, series: Any, *widths: int) -> tuple[np.ndarray, ...]:
    """Return times (m,) and arrays (m, width) as float arrays."""
    arrays = [checks.real_numbers(name, x).astype(float) for x in series]
    shapes = [(len(arrays[0]),), *((len(arrays[0]), width) for width in widths)]
    if [x.shape for x in arrays] != shapes:
        raise ValueError(f"{name} must have the shapes {shapes}, not {[x.shape for x in arrays]}")
    return tuple(arrays)


def _set(record: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(record, name, value)
