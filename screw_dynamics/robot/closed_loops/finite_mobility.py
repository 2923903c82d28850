"""Finite mobility of a mechanism: the motions that exist near a configuration, from derivatives of the constraints."""
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from . import tangent_cone
from .constraint_series import ConstraintSeries
from .constraints import Constraints
from .mobility import Mobility, mobility
from .projection import closed, rank

CLOSED = 1e-9                   # relative to the length of the mechanism: larger residuals hide terms of higher order
DISTANCES = 0.1, 0.03           # from q, rad and m alike, of configurations that confirm a branch
MORSE = 1e-6                    # relative: smaller eigenvalues of a quadratic form count as 0
ASIDE = 0.1                     # largest part of their displacement outside the tangents of the branch


class MotionBranch(NamedTuple):
    """A branch of the closed configurations through a configuration.

    Parameters
    ----------
    tangents : ndarray (n, k)
        Orthonormal columns that span the velocities x'(0) of its motions.
    dimension : int
        Its degrees of freedom: k if all velocities in the span are tangents, else fewer.
    proven : bool
        True if the branch exists by the implicit function theorem. False if its tangents satisfy the constraints up to
        the order of the analysis, which is necessary for a motion.
    reached : float
        Distance from q at which closed configurations were found in random directions of the branch, 0.0 for none.
    rank : int or None
        Rank of the constraints there: the branch has at most n - rank degrees of freedom, without locked joints.
    """

    tangents: np.ndarray
    dimension: int
    proven: bool
    reached: float
    rank: int | None


class FiniteMobility(NamedTuple):
    """Finite mobility of a mechanism at a configuration.

    Parameters
    ----------
    degrees : int
        Largest number of degrees of freedom of a branch, 0 without branches.
    branches : tuple of MotionBranch
        Branches of the closed configurations whose tangents satisfy the constraints up to the order.
    proven : bool
        True if the branches are proven to exist and to be all, if singular values of J below 1e-9 of the largest one
        and coefficients of the equations below 1e-8, for a mechanism scaled to a length of 1 m, are 0.
    explanation : str
        What was proven, and what was not.
    dimensions : tuple of int
        Dimensions of the sets K^1, K^2, ... of velocities that satisfy the constraints to each order.
    order : int
        Highest order of derivatives of the constraints that was analyzed.
    first_order : Mobility
        Instantaneous degrees of freedom.
    """

    degrees: int
    branches: tuple[MotionBranch, ...]
    proven: bool
    explanation: str
    dimensions: tuple[int, ...]
    order: int
    first_order: Mobility

    @property
    def regular(self) -> bool:
        """True if motions with all admissible velocities are proven, or were found at a distance."""
        return self.degrees == self.first_order.degrees and all(b.proven or b.reached > 0.0 for b in self.branches)

    @property
    def shaky(self) -> bool:
        """True if there is at most one branch, with fewer degrees of freedom than there are admissible velocities, and
        all velocities in the span of its tangents."""
        smooth = all(branch.dimension == branch.tangents.shape[1] for branch in self.branches)
        return len(self.branches) < 2 and smooth and self.degrees < self.first_order.degrees


def finite_mobility(constraints: Constraints, q: np.ndarray, free: np.ndarray, order: int) -> FiniteMobility:
    """Return the FiniteMobility at a closed configuration (nq,), with the velocities outside the mask free (n,) locked.
    Raises ValueError if the configuration is open, by more than CLOSED times the length of the mechanism."""
    first, series = mobility(constraints, q, free), ConstraintSeries(constraints, q)
    largest = float(np.abs(constraints.residual(q) * series.units).max(initial=0.0))
    if not largest <= CLOSED:
        raise ValueError(f"derivatives of order {order} need a configuration that is closed to {CLOSED:g} of the "
                         f"mechanism's length of {series.length:.3g} m, and the residual is {largest:.3g} of it; "
                         "project q first")
    J = constraints.jacobian(q)[:, free] * series.units[:, None]
    count = min(series.rank_bound(free), constraints.m) - first.rank        # of equations that remain, at most

    def coefficients(x):
        full = np.zeros((*x.shape[:-1], constraints.robot.n))
        full[..., free] = x
        return series.coefficients(full) * series.units

    N, equations = tangent_cone.reduced(coefficients, J, first.rank, order if count and first.degrees else 1)
    cones, undecided = tangent_cone.cones(equations, first.degrees, order)
    forms = equations.up_to(equations.lowest or 0)

    def along(basis):
        tangents = np.zeros((len(free), basis.shape[1]))
        tangents[free] = N @ basis
        return tangents, _reached(constraints, q, free, tangents)

    excluded = (part.basis for level, later in pairwise(cones) for part in level
                if part.linear and not tangent_cone.contained(part, later))
    contradicted = any(along(basis)[1][0] > 0.0 for basis in excluded)
    complete, explanation = _proof(forms, count, first.degrees, cones, undecided or contradicted)
    branches, shared = [], False
    for basis, dimension, linear in cones[-1]:
        tangents, reached = along(basis)
        gradients = tangent_cone.independent(forms, basis) if linear and forms.lowest else 0
        shared |= linear and gradients < first.degrees - dimension
        proven = complete or not contradicted and 0 < count == first.degrees - dimension == gradients
        branches.append(MotionBranch(tangents, dimension, proven, *(reached if linear else (0.0, None))))
    if not complete:
        explanation += _evidence(cones, branches, forms.lowest, shared, undecided, contradicted)
    dimensions = tuple(max((part.dimension for part in parts), default=0) for parts in cones)
    return FiniteMobility(dimensions[-1], tuple(branches), complete, explanation, dimensions, order, first)


def _proof(forms, count, d, cones, doubtful):
    """Return True if theorems prove the branches, and the search found those, with the reason. forms: the terms of
    lowest order of the equations that remain; count: the number of these equations at most; d: of their unknowns;
    doubtful: True if the search did not converge, or closed configurations contradict it."""
    if count == 0:
        return True, ("The rank of J is the largest that the screws of the loops allow: by the implicit function "
                      "theorem the closed configurations are a manifold.")
    if d == 0:
        return True, "No velocity is admissible: the configuration is isolated."
    if forms.lowest is None:
        return False, f"No derivative up to order {len(cones)} restricts the admissible velocities."
    found = [part.dimension for part in cones[-1]]
    if doubtful:
        return False, f"The terms of order {forms.lowest} exclude some admissible velocities."
    if not found and tangent_cone.isolated(forms):
        return True, (f"The terms of order {forms.lowest} vanish for no admissible velocity: the configuration is "
                      "isolated.")
    if (count == 1 and forms.lowest == 2 and np.linalg.matrix_rank(tangent_cone.quadratic(forms)[0], MORSE) == d
            and found == ([1, 1] if d == 2 else [d - 1])):
        return True, ("One equation remains, with an indefinite quadratic form that is not degenerate: by the lemma of "
                      "Morse the branches are those of the cone on which it vanishes.")
    return False, f"The terms of order {forms.lowest} exclude some admissible velocities."


def _evidence(cones, branches, lowest, shared, undecided, contradicted):
    """Return sentences on what is not proven."""
    found = []
    if branches:
        reached = sum(branch.reached > 0.0 for branch in branches)
        found.append("Each branch is proven, but not that there are no others." if all(b.proven for b in branches) else
                     f"Derivatives above order {len(cones)} can exclude the branches that are not proven.")
        found.append(f"Closed configurations were found along {reached} of {len(branches)}.")
    elif not contradicted and cones[lowest - 1]:
        found.append("No velocity remains: only a motion that starts from rest, as at a cusp, is not excluded.")
    elif not contradicted:
        found.append("A search found no velocity for which they vanish, which does not prove that there is none.")
    if not all(part.linear for part in cones[-1]):
        found.append("Some tangents form no union of spaces; higher orders were not applied to them.")
    if shared:
        found.append("Several branches may share the same tangents.")
    if undecided:
        found.append("A search converged slowly, and branches may be missing.")
    if contradicted:
        found.append("Closed configurations were found along velocities that were excluded, which is a contradiction: "
                     "branches are missing, because errors of q count as terms of high order, or because a search "
                     "failed. Project q to a smaller residual, or lower the order.")
    return "".join(f" {sentence}" for sentence in found)


def _reached(constraints, q, free, tangents):
    """Return the distance at which closed configurations exist in random directions of the tangents, and their rank."""
    robot, rng = constraints.robot, np.random.default_rng(0)
    k = tangents.shape[1]
    for distance in DISTANCES:
        ranks = []
        for _ in range(2 * k + 2):
            step = tangents @ rng.normal(size=k)
            start = robot.integrate(q, distance * step / np.linalg.norm(step))
            try:
                near = closed(constraints, start, free, 1e-12, 200)
            except ValueError:
                break
            moved = robot.difference(q, near)
            size = np.linalg.norm(moved)
            if size < distance / 2 or np.linalg.norm(moved - tangents @ (tangents.T @ moved)) > ASIDE * size:
                break
            ranks.append(int(rank(constraints.jacobian(near)[:, free])))
        else:
            return distance, max(ranks)
    return 0.0, None
