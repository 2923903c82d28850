"""Degrees of freedom, redundant constraints and singularity of a mechanism at a configuration."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .constraints import Constraints
from .projection import closed, directions, rank

NEIGHBORS, FAR = 4, 0.02       # number of nearby closed configurations, and their distance, in rad and m alike
OPEN = 1e-6                     # larger residuals are those of an open loop


class Mobility(NamedTuple):
    """Mobility of a mechanism at a configuration.

    Parameters
    ----------
    degrees : int
        Degrees of freedom, n - rank; without the velocities of locked joints.
    rank : int
        Rank of the m constraints.
    redundant : int
        Number of redundant constraints, m - rank.
    redundancy : dict of str to int
        Number of dependent rows of each constraint, where it is not 0.
    singular : bool
        True if the rank is larger, and the degrees of freedom are fewer, at closed configurations nearby.
    """

    degrees: int
    rank: int
    redundant: int
    redundancy: Mapping[str, int]
    singular: bool


def mobility(constraints: Constraints, q: np.ndarray, free: np.ndarray) -> Mobility:
    """Return the Mobility at a closed configuration (nq,), with the velocities outside the mask free (n,) locked.
    Raises ValueError for an open configuration, naming the constraints."""
    is_open = {name: size for name, size in constraints.largest(constraints.residual(q)).items() if not size <= OPEN}
    if is_open:
        listed = ", ".join(f"{name!r} ({size:.3g})" for name, size in is_open.items())
        raise ValueError(f"the mobility requires a closed configuration, but {listed} is open: project q first")
    J = constraints.jacobian(q)[:, free]
    found = int(rank(J))
    redundancy = {}
    for name, rows in constraints.rows.items():
        independent = found - int(rank(np.delete(J, np.arange(rows.start, rows.stop), axis=0)))
        if rows.stop - rows.start > independent:
            redundancy[name] = rows.stop - rows.start - independent
    singular = any(rank(constraints.jacobian(near)[:, free]) > found for near in _neighbors(constraints, q))
    return Mobility(int(free.sum()) - found, found, constraints.m - found, redundancy, singular)


def _neighbors(constraints, q):
    """Return nearby closed configurations in admissible directions, omitting those for which the projection fails."""
    rng, everything = np.random.default_rng(0), np.ones(constraints.robot.n, dtype=bool)
    tangent = directions(constraints.jacobian(q)).admissible
    for _ in range(NEIGHBORS if tangent.any() else 0):
        step = tangent @ rng.normal(size=len(tangent))
        try:
            yield closed(constraints, constraints.robot.integrate(q, FAR * step / np.linalg.norm(step)), everything,
                         1e-12, 50)
        except ValueError:
            continue
