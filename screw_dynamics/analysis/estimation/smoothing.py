"""Savitzky-Golay filters for recorded positions, their derivatives and measured efforts.

A. Savitzky, M. J. E. Golay, "Smoothing and differentiation of data by simplified least squares procedures", Analytical
Chemistry 36, 1964."""
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy  # submodules load on first use: signal takes 0.8 s, which nodes avoid

from screw_dynamics.forces import Element
from screw_dynamics.model import configuration_space
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot

DEGREE = 3      # of the polynomial that fits each window
STEPS = 2.0     # encoder steps: a larger change indicates held samples


class Piece(NamedTuple):
    """A gap-free segment of a recording with a uniform time step: arrays (k, nq), or (k, n)."""

    t: np.ndarray                       # (k,)
    q: np.ndarray                       # filtered; qd, qdd: its derivatives
    qd: np.ndarray
    qdd: np.ndarray
    effort: np.ndarray                  # measured, plus that of known forces
    acceleration_noise: np.ndarray      # (nq), or (n), variance of qdd, estimated from the residual of q
    points: int                         # per window
    degree: int = DEGREE

    @property
    def kept(self) -> np.ndarray:
        """Indices of two samples per window, full windows only: the information that remains after filtering."""
        half = self.points // 2
        return np.arange(half, len(self.q) - half, half)

    @property
    def slowest(self) -> np.ndarray:
        """The least magnitude (k, n) of the velocities in the window about each sample; 0 if a joint reverses."""
        low, high = (of(self.qd, self.points, axis=0) for of in (
            scipy.ndimage.minimum_filter1d, scipy.ndimage.maximum_filter1d))
        return np.where(low * high > 0.0, np.minimum(np.abs(low), np.abs(high)), 0.0)

    def smooth(self, x: np.ndarray) -> np.ndarray:
        """Return a signal (k, ...), filtered like q, at `kept`."""
        return scipy.signal.savgol_filter(x, self.points, self.degree, axis=0, mode="nearest")[self.kept]


def check_efforts(model: Model, tau: np.ndarray) -> None:
    """Raise ValueError if an effort (m, n) of a recording is infinite; NaN means missing."""
    for row, joint in np.argwhere(np.isinf(tau))[:1]:
        raise ValueError(f"tau is {tau[row, joint]} at sample {row} of {velocity_names(model)[joint]}: must be finite, "
                         "or NaN where it was not measured")


def motion_pieces(robot: Robot, t: np.ndarray, q: np.ndarray, tau: np.ndarray, window: float, degree: int = DEGREE,
                  forces: Sequence[Element] = (), breaks: Sequence[int] = ()) -> list[Piece]:
    """Return the segments of a robot's recording with velocities (n,); efforts of force elements are added.

    breaks: rows at which a new segment starts. Raises ValueError if there is no segment, or an element does not fit the
    robot."""
    total, q = robot.total_force(forces), configuration_space.continuous(robot.model, robot.normalize(q))
    found = [in_velocities(robot.model, piece) for piece in pieces(t, q, tau, window, degree, breaks)]
    if not found:
        raise no_piece(t, window)
    if total:
        found = [x._replace(effort=x.effort + total.efforts(robot.normalize(x.q), x.qd, x.t)) for x in found]
    return found


def no_piece(t: np.ndarray, window: float) -> ValueError:
    """Return the error of a recording without a segment that is long enough."""
    back = np.flatnonzero(np.diff(t) <= 0.0)
    order = [f"; t must ascend, but is {t[k]:g} at sample {k} and then {t[k + 1]:g}" for k in back[:1]]
    return ValueError(f"{len(t)} samples have no piece without gaps that is longer than {2.0 * window:g} s"
                      + "".join(order))


def pieces(t: np.ndarray, q: np.ndarray, tau: np.ndarray, window: float, degree: int = DEGREE,
           breaks: Sequence[int] = ()) -> Iterator[Piece]:
    """Yield the gap-free segments of a recording t (m,), q (m, nq) and tau (m, n).

    Segments end where time does not increase, at gaps above window / 2, and before rows in `breaks`. Samples are
    interpolated to a uniform step, the median of those of t, from the `fresh` samples of each signal. Segments shorter
    than two windows are omitted. degree: of the polynomial in each window. Raises ValueError if a window has fewer than
    degree + 2 points."""
    steps = np.diff(t)
    if not (steps > 0.0).any() or np.ptp(t) <= 2.0 * window:
        return
    step = np.median(steps[steps > 0.0])
    points = 2 * round(window / (2.0 * step)) + 1
    if points < degree + 2:
        raise ValueError(f"a smoothing window of {window:g} s must have at least {degree + 2} samples, but samples are "
                         f"{step:.3g} s apart")
    ends = np.union1d(np.flatnonzero((steps <= 0.0) | (steps > 0.5 * window)) + 1, np.asarray(breaks, dtype=int))
    for part in np.split(np.arange(len(t)), ends):
        if t[part[-1]] - t[part[0]] > 2.0 * window:
            yield _piece(t[part], q[part], tau[part], step, points, degree, 0.5 * window)


def fresh(t: np.ndarray, x: np.ndarray, longest: float) -> np.ndarray:
    """Return a mask (k,) of the samples of a signal x (k,) that are new, not held from a slower source.

    Held samples repeat a value for less than `longest` (s) between two changes. For an encoder, whose changes are
    multiples of its resolution, both changes must exceed STEPS times the resolution. A signal at rest and a signal that
    changes by single encoder steps have no held samples."""
    change = np.abs(np.diff(x))
    starts = np.flatnonzero(np.append(True, change != 0.0))
    ends = np.append(starts[1:], len(x)) - 1
    moves = change > STEPS * _resolution(change[change > 0.0])
    held = (np.append(True, moves[starts[1:] - 1]) & np.append(moves[starts[1:] - 1], True)
            & (t[ends] - t[starts] < longest))
    found = np.repeat(~held, ends - starts + 1)
    found[starts] = True
    return found


def _resolution(steps):
    """Return the step of which most changes are multiples; 0 if there is none."""
    if not len(steps):
        return 0.0
    multiples = steps / steps.min()
    return steps.min() if np.mean(np.abs(multiples - np.round(multiples)) < 0.1) > 0.9 else 0.0


def _piece(t, q, tau, step, points, degree, longest):
    times = np.arange(t[0], t[-1], step)

    def uniform(x):
        new = fresh(t, x, longest)
        if new.all() or not np.isfinite(x).all():
            return np.interp(times, t[new], x[new])
        return scipy.interpolate.CubicSpline(t[new], x[new])(np.minimum(times, t[new][-1]))    # no corners
    position, effort = (np.stack([uniform(x) for x in signal.T], axis=1) for signal in (q, tau))
    smooth = [scipy.signal.savgol_filter(position, points, degree, d, step, axis=0) for d in range(3)]
    # The residual of a projection h of white noise has 1 - 2 h_0 + sum h^2 = 1 - h_0 of its variance.
    noise = np.var(position - smooth[0], axis=0) / (1.0 - scipy.signal.savgol_coeffs(points, degree)[points // 2])
    gain = np.sum(scipy.signal.savgol_coeffs(points, degree, 2, step) ** 2)
    return Piece(times, *smooth, effort, gain * noise, points, degree)


def in_velocities(model: Model, piece: Piece) -> Piece:
    """Return the segment with velocities and accelerations (k, n) instead of derivatives of q.

    The noise of quaternions and of positions, which rotate with the joint, is taken as isotropic."""
    qd, qdd = configuration_space.velocities(model, piece.q, piece.qd, piece.qdd)
    noise, numbers = np.empty(model.n), piece.acceleration_noise
    for kind, of, rates in zip(model.joint_kinds, model.q_slices.values(), model.v_slices.values(), strict=True):
        own = numbers[of]
        turn = 4.0 / 3.0 * own[-4:].sum()                   # w' = 2 r^-1 r''; a unit quaternion has 3 free directions
        noise[rates] = {"spherical": [turn] * 3, "free": [turn] * 3 + [own[:3].mean()] * 3,
                        "planar": [own[-1], *[own[:2].mean()] * 2]}.get(kind, own)
    return piece._replace(qd=qd, qdd=qdd, acceleration_noise=noise)


def autocovariances(rest: np.ndarray, valid: np.ndarray, lags: int) -> np.ndarray:
    """Return the sums (n, lags) of products of valid residuals (k, n) that are 0, 1, ... samples apart.

    Lags from a quarter of the number of residuals on are 0, as are joints with few residuals. The sums of several
    recordings add up."""
    found = np.zeros((rest.shape[1], lags))
    for j in range(len(found)):
        r = rest[valid[:, j], j]
        count = min(len(r) // 4, lags)
        if len(r) > 8:
            found[j, :count] = np.fft.irfft(np.abs(np.fft.rfft(r, 2 * len(r))) ** 2, 2 * len(r))[:count]
    return found


def correlation_times(covariances: np.ndarray) -> np.ndarray:
    """Return the correlation times (n,), >= 1: the number of residuals per independent one, from autocovariances
    (n, lags)."""
    times = np.ones(len(covariances))
    for j, row in enumerate(covariances):
        if row[0] > 0.0:
            end = np.argmax(row <= 0.0) or len(row)
            times[j] = 1.0 + 2.0 * row[1:end].sum() / row[0]
    return times
