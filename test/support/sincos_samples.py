"""Arguments to try sine and cosine on, and the error of what is found."""
import mpmath
import numpy as np

from screw_dynamics.numbers.scalars import LIMIT, TABLE_LIMIT

_rng = np.random.default_rng(2)
QUARTER_TURNS = np.round(_rng.uniform(-LIMIT, LIMIT, 300) * 2 / np.pi) * (np.pi / 2)
ARGUMENTS = {
    "small": np.r_[_rng.uniform(-4, 4, 500), 10.0 ** _rng.uniform(-300, 0, 100), 0.0],
    "in the table's range": _rng.uniform(-TABLE_LIMIT, TABLE_LIMIT, 500),
    "between the table's entries": (np.arange(-200, 200) + 0.5) * (np.pi / 64),
    "below the limit": _rng.uniform(-LIMIT, LIMIT, 500),
    "near quarter turns": np.r_[QUARTER_TURNS, np.nextafter(QUARTER_TURNS, 0), QUARTER_TURNS * (1 + 1e-9)],
    "at the limit": [f * LIMIT * (1 + e) for f in (-1, 1) for e in (-1e-15, 0.0, 1e-15)],
    "the worst of 36 million": [421.03593364022964, 743.1119531386286, 86366.9692021145, 3.2666894280399768],
    "above the limit": 10.0 ** _rng.uniform(6, 300, 300),
}


def ulps(found, f, x):
    """The error in units of the last place, of a function f of mpmath, which reduces large x by itself."""
    with mpmath.workprec(120):
        exact = f(mpmath.mpf(float(x)))
        return float(abs(exact - float(found)) / np.spacing(abs(float(exact))))
