"""Signals at the times of others: interpolated, or the last one held."""
import numpy as np

TURN = 2.0 * np.pi


def longest_step(t: np.ndarray) -> float:
    """Return the longest step between two samples at times t (k,) that is no gap, in s: five usual ones."""
    return 5.0 * float(np.median(np.diff(t))) if len(t) > 1 else 0.0


def interpolated(at: np.ndarray, t: np.ndarray, x: np.ndarray, longest: float) -> np.ndarray:
    """Return a signal x (k, n) of times t (k,) at other times (m,), linearly between neighbors; an array (m, n).

    NaN where there is no neighbor on both sides, or where they are more than `longest` s apart; entries of x that are
    NaN are no neighbors. Where a time is among t, the entry itself."""
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
    """Interpolates what has no NaN."""
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
    """Return an angle (k,) that is kept within a turn, with whole turns added so that it goes on by less than half of
    one; and how often it had jumped. Angles that take more than a turn are as they are. NaN are no neighbors."""
    known = np.flatnonzero(np.isfinite(x))
    jumps = np.round(np.diff(x[known]) / TURN)
    if not jumps.any() or np.ptp(x[known]) > TURN * (1.0 + 1e-6):
        return x, 0
    found = x.copy()
    found[known[1:]] -= TURN * np.cumsum(jumps)
    return found, int(np.count_nonzero(jumps))


def held(at: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the last row of x (k, n), of times t (k,), that is not after each of other times (m,); NaN before the
    first."""
    last = np.searchsorted(t, at, side="right") - 1
    out = np.full((len(at), x.shape[1]), np.nan)
    out[last >= 0] = x[last[last >= 0]]
    return out
