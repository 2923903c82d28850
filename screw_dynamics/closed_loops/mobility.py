"""Degrees of freedom of a mechanism at a configuration, what of its constraints is redundant, and where it is
singular."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .constraints import Constraints
from .projection import closed, directions, rank

NEIGHBORS, FAR = 4, 0.02       # how many closed configurations are looked at, and how far away, in rad and m alike
OPEN = 1e-6                     # residuals above it are those of an open loop


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
        Number of rows of each constraint that follow from all other rows, where it is not 0.
    singular : bool
        True if constraints are independent at closed configurations nearby that are not so here; there the degrees of
        freedom are fewer.
    """

    degrees: int
    rank: int
    redundant: int
    redundancy: Mapping[str, int]
    singular: bool


def mobility(constraints: Constraints, q: np.ndarray, free: np.ndarray) -> Mobility:
    """Return the Mobility at a closed configuration (nq,), with the velocities that are not in the mask free (n,)
    locked. Raises ValueError for an open one, which names the constraints."""
    is_open = {name: size for name, size in constraints.largest(constraints.residual(q)).items() if not size <= OPEN}
    if is_open:
        listed = ", ".join(f"{name!r} ({size:.3g})" for name, size in is_open.items())
        raise ValueError(f"the mobility is that of a closed configuration, and {listed} is open; project q first")
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
    """Closed configurations nearby, in admissible directions; those that the projection does not reach are left out."""
    rng, everything = np.random.default_rng(0), np.ones(constraints.robot.n, dtype=bool)
    tangent = directions(constraints.jacobian(q)).admissible
    for _ in range(NEIGHBORS if tangent.any() else 0):
        step = tangent @ rng.normal(size=len(tangent))
        try:
            yield closed(constraints, constraints.robot.integrate(q, FAR * step / np.linalg.norm(step)), everything,
                         1e-12, 50)
        except ValueError:
            continue
