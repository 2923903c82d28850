"""Joint-space mass matrix of deep robots by composite rigid bodies in the common frame, O(n d), written by rows."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Screws
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.se3 import Ad, Pose, Twist, dot

from .common_frame import place
from .jacobian import column, put_column
from .matrix_rows import number, put_carried, put_carriers, twists


class MomentumColumns(NamedTuple):
    """Data of each body in the algorithm: joint coordinate; pose and composite inertia in the common frame; the first
    body of its run and the last one of its subtree. By columns the joint screws, and the momenta of composite bodies at
    the unit rate."""

    q: Scalar
    C: Pose
    M: Inertia
    start: int
    end: int
    J: Screws
    P: Screws


@kernel
def momentum_of_carriers(given: tuple, first: int, end: int) -> Scalar:
    """Return the momentum of a body along the screws in columns beginning at `first`."""
    J, W = given
    return dot(W, twists(J[:, :end], first))


@kernel
def mass_matrix(links: Link, body: MomentumColumns, H: np.ndarray) -> None:
    """Set H to M(q): H_kl = J_l^T M^c J_k, with the composite inertia M^c; [MD] (81). Requires matrix_rows.is_deep."""
    parent, n, like = links.parent, len(links.parent) - 1, body.q[0]
    q, C, M, start, end, J, P = body
    place(links, q, C)
    number(links, start, end)
    M[0] = zero(Inertia, like)
    for i in range(1, n + 1):
        M[i] = over(moved(C[i], links.M[i]), like)
        put_column(J, i - 1, over(Ad(C[i], links.X[i]), like))
    for i in range(n, 0, -1):
        X = column(J, i - 1)
        W = M[i] @ X
        put_column(P, i - 1, Twist(W.torque, W.force))
        H[i - 1, i - 1] = dot(W, X) + links.armature[i]
        put_carried(H, i, end[i], P, X)
        put_carriers(links, start, H, i, momentum_of_carriers, (J, W))
        M[parent[i]] += M[i]


BY_ROWS = {"mass_matrix": CompiledAlgorithm(mass_matrix, MomentumColumns, "q", per_pair, name="mass_matrix.rows",
                                            rare=True)}
