"""Signals at the times of others: interpolated, or the last one held."""
import numpy as np


def longest_step(t: np.ndarray) -> float:
    """What still is a step between two samples at times t (k,), in s: five usual ones. Longer ones are gaps."""
    return 5.0 * float(np.median(np.diff(t))) if len(t) > 1 else 0.0


def interpolated(at: np.ndarray, t: np.ndarray, x: np.ndarray, longest: float) -> np.ndarray:
    """A signal x (k, n) of times t (k,) at other times (m,), linearly between neighbours; an array (m, n).

    NaN where there is no neighbour on both sides, or where they are more than `longest` s apart; entries of x that are
    NaN are no neighbours. Where a time is among t, the entry itself."""
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


def held(at: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The last row of x (k, n), of times t (k,), that is not after each of other times (m,); NaN before the first."""
    last = np.searchsorted(t, at, side="right") - 1
    out = np.full((len(at), x.shape[1]), np.nan)
    out[last >= 0] = x[last[last >= 0]]
    return out
