"""Signals at given times: by linear interpolation, or by holding the last sample."""
import numpy as np

TURN = 2.0 * np.pi


def longest_step(t: np.ndarray) -> float:
    """Return the longest sample step in s that is not a gap: five times the median step of the times t (k,)."""
    return 5.0 * float(np.median(np.diff(t))) if len(t) > 1 else 0.0


def interpolated(at: np.ndarray, t: np.ndarray, x: np.ndarray, longest: float) -> np.ndarray:
    """Interpolate a signal x (k, n), sampled at times t (k,), linearly at the times `at` (m,); return an array (m, n).

    The result is NaN outside the samples, and between samples more than `longest` s apart. NaN entries of x are
    skipped. At a time in t, the result is the sample itself."""
    out = np.full((len(at), x.shape[1]), np.nan)
    known = ~np.isnan(x)
    if known.all():
        _between(at, t, x, longest, out)
        return out
    for i in range(x.shape[1]):
        rows = known[:, i]
        _between(at, t[rows], x[rows, i:i + 1], longest, out[:, i:i + 1])
    return out


def _between(at, t, x, longest, out):
    """Interpolate x without NaN into `out`."""
    if not len(t):
        return
    after = np.searchsorted(t, at)                          # t[after - 1] < at <= t[after]
    inside = (after < len(t)) & ((after > 0) | (at == t[np.minimum(after, len(t) - 1)]))
    after = after[inside]
    before = np.maximum(after - 1, 0)
    exact = at[inside] == t[after]
    step = t[after] - t[before]
    share = np.where(exact, 1.0, (at[inside] - t[before]) / np.where(step > 0.0, step, 1.0))[:, None]
    values = np.where(exact[:, None], x[after], x[before] + share * (x[after] - x[before]))
    values[(step > longest * (1.0 + 1e-9)) & ~exact] = np.nan
    out[inside] = values


def unwrapped(x: np.ndarray) -> tuple[np.ndarray, int]:
    """Unwrap an angle (k,) that was recorded within one turn; return the angle and the number of jumps.

    Angles with a range of more than a turn are returned unchanged. NaN entries are skipped."""
    known = np.flatnonzero(np.isfinite(x))
    jumps = np.round(np.diff(x[known]) / TURN)
    if not jumps.any() or np.ptp(x[known]) > TURN * (1.0 + 1e-6):
        return x, 0
    found = x.copy()
    found[known[1:]] -= TURN * np.cumsum(jumps)
    return found, int(np.count_nonzero(jumps))


def held(at: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Sample x (k, n), given at times t (k,), at the times `at` (m,) by zero-order hold; NaN before the first."""
    last = np.searchsorted(t, at, side="right") - 1
    out = np.full((len(at), x.shape[1]), np.nan)
    out[last >= 0] = x[last[last >= 0]]
    return out
