"""Partial derivatives of inverse dynamics of deep robots, O(n d), by rows, for a single state.

With several states on SIMD lanes rows are not contiguous, and the copies of screws by columns cost a third more."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Screws, extends
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Twist, Wrench, ad_dual, dot

from ..coriolis_matrix import transposed_torque
from ..coriolis_matrix_by_rows import effort_of_carriers
from ..jacobian import put_column
from ..mass_matrix_by_rows import momentum_of_carriers
from ..matrix_rows import number, put_carried, put_carriers
from .inverse_dynamics import MotionDerivatives, accelerations, velocities


@extends(MotionDerivatives)
class DerivativeColumns(NamedTuple):
    """MotionDerivatives, the first body of a body's run and the last one of its subtree. By columns the joint screws
    and their derivatives Y, X1 and X2, and the wrenches due to a joint's acceleration (P), rate (F) and motion (G)."""

    start: int
    end: int
    J_columns: Screws
    Y_columns: Screws
    X1_columns: Screws
    X2_columns: Screws
    P: Screws
    F: Screws
    G: Screws


@kernel
def put_wrench(store: np.ndarray, i: int, W: Wrench) -> None:
    """Write the wrench of body i to its column."""
    put_column(store, i - 1, Twist(W.torque, W.force))


@kernel
def inverse_dynamics_derivatives(links: Link, body: DerivativeColumns, out: np.ndarray) -> None:
    """Set `out` (3, n, n) to dtau/dq, dtau/dq' and M, as in inverse_dynamics.py. Requires matrix_rows.is_deep."""
    by_q, by_qd, H = out[0], out[1], out[2]
    q, M, B, W, start, end, n = body.q, body.M, body.B, body.W, body.start, body.end, len(links.parent) - 1
    J, Y, X1, X2 = body.J_columns, body.Y_columns, body.X1_columns, body.X2_columns
    velocities(links, body)
    accelerations(links, body)
    number(links, start, end)
    for i in range(1, n + 1):
        put_column(J, i - 1, body.J[i])
        put_column(Y, i - 1, body.Y[i])
        put_column(X1, i - 1, body.X1[i])
        put_column(X2, i - 1, body.X2[i])
    for i in range(n, 0, -1):
        X = body.J[i]
        momentum, torque = M[i] @ X, 2.0 * transposed_torque(B[i], X)
        by_rate, by_position = M[i] @ body.Y[i] + 2.0 * (B[i] @ X), M[i] @ body.X2[i] + 2.0 * (B[i] @ body.X1[i])
        put_wrench(body.P, i, momentum)
        put_wrench(body.F, i, by_rate)
        put_wrench(body.G, i, by_position - ad_dual(X, W[i]))
        by_q[i - 1, i - 1], by_qd[i - 1, i - 1] = dot(by_position, X), dot(by_rate, X)
        H[i - 1, i - 1] = dot(momentum, X) + links.armature[i]
        put_carried(by_q, i, end[i], body.G, X)                     # effect on joint i of joints that it carries ...
        put_carried(by_qd, i, end[i], body.F, X)
        put_carried(H, i, end[i], body.P, X)
        put_carriers(links, start, by_q, i, effort_of_carriers, (X1, X2, momentum, torque))     # ... and that carry it
        put_carriers(links, start, by_qd, i, effort_of_carriers, (J, Y, momentum, torque))
        put_carriers(links, start, H, i, momentum_of_carriers, (J, momentum))
    for i in range(1, n + 1):
        j = i
        while inner(q[j]):                              # screws of one joint's bodies do not rotate with each other
            j = links.parent[j]
            by_q[j - 1, i - 1] += dot(ad_dual(body.J[i], W[i]), body.J[j])
