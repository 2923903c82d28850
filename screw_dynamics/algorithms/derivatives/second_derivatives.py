"""Second partial derivatives of inverse dynamics, O(n d^2) for a tree of depth d, without finite differences.

Singh, Russo and Wensing (2022) have such recursions for spatial vectors. Here all terms follow from one rule, in the
common frame. A change of q_i, q_i' or q_i'' at the unit rate changes the twist of a body k in the subtree of
joint i, relative to the body, by x_i, and the derivative of the twist by y_i - [V_k, x_i]. Hence it changes
the wrench of the body by M y_i + 2 B x_i, where
    q_i: x = X1, y = X2;    q_i': x = J, y = Y;    q_i'': x = 0, y = J.
A second change, of joint j, which is joint i or an ancestor, changes B by the gyration G of the twist x_j, and
    q_i: x by [x_j, J], y by [y_j, J] + 2 [x_j, X1];    q_i': y by 2 [x_j, J].
Changes of positions also rotate the wrenches of a subtree, which changes the efforts of joints before i or j."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Twist, Wrench, ad, ad_dual, dot
from screw_dynamics.screws.vectors import Vec3, cross

from ..coriolis_matrix import Gyration, gyration, transposed_torque
from ..group_rates import first_body, inverse_on_groups, last_body
from .inverse_dynamics import MotionDerivatives, accelerations, velocities


class Blocks(NamedTuple):
    """Views (n, n, n) of the result: derivatives of effort a by q_i and q_j, q_i and q_j', q_i' and q_j', q_i and q_j''
    at [a, i, j]."""

    qq: np.ndarray
    qv: np.ndarray
    vv: np.ndarray
    qa: np.ndarray


@kernel
def gyration_form(M: Inertia, J: Twist, P: Wrench, x: Twist) -> Wrench:
    """Return the linear form z -> J . 2 G x, G the gyration of M for the twist z; P = M J."""
    return ad_dual(J, M @ x) - M @ ad(x, J) + ad_dual(x, P)


@kernel
def changed(M: Inertia, B: Gyration, x: Twist, y: Twist) -> Wrench:
    """Return M y + 2 B x."""
    return M @ y + 2.0 * (B @ x)


@kernel
def add_to_carried(links: Link, body: MotionDerivatives, a: int, out: Blocks) -> None:
    """Add the derivatives of effort a by joints i, its own and their ancestors, and by joints j before them."""
    parent, k, q, J, X1 = links.parent, links.coordinate, body.q, body.J, body.X1
    M, P, torque, ka = body.M[a], body.M[a] @ J[a], 2.0 * transposed_torque(body.B[a], J[a]), k[a]
    i = last_body(q, a)
    while i > 0:
        by_x, by_J = gyration_form(M, J[a], P, X1[i]), gyration_form(M, J[a], P, J[i])
        of_y = -ad_dual(J[i], P)                                        # P . [y, J_i]
        of_x = by_x - 2.0 * ad_dual(X1[i], P) + Wrench(cross(J[i].angular, torque), zero(Vec3, q[0]))
        of_rate = by_J + 2.0 * of_y
        ki, j, same = k[i], last_body(q, i), True                        # same: is j a body of joint i?
        while j > 0:
            kj = k[j]
            qq = dot(of_y, body.X2[j]) + dot(of_x, X1[j])
            out.qq[ka, ki, kj] += qq
            if same:
                out.qv[ka, ki, kj] += dot(by_x, J[j])
                out.vv[ka, ki, kj] += dot(by_J + of_y, J[j])
                same = inner(q[j])
            else:
                vv = dot(of_rate, J[j])
                out.qq[ka, kj, ki] += qq
                out.qv[ka, ki, kj] += dot(of_y, body.Y[j]) + dot(of_x, J[j])
                out.qv[ka, kj, ki] += dot(of_rate, X1[j])
                out.vv[ka, ki, kj] += vv
                out.vv[ka, kj, ki] += vv
                out.qa[ka, ki, kj] += dot(of_y, J[j])
            j = parent[j]
        i = parent[i]


@kernel
def add_to_carriers(links: Link, body: MotionDerivatives, i: int, out: Blocks) -> None:
    """Add the derivatives of the efforts of joints a before joint i, by joint i and its ancestors j."""
    parent, k, q, J, X1, X2, Y = links.parent, links.coordinate, body.q, body.J, body.X1, body.X2, body.Y
    M, B, P = body.M[i], body.B[i], body.M[i] @ J[i]
    first = changed(M, B, X1[i], X2[i]) - ad_dual(J[i], body.W[i])      # change of wrenches before i by q_i
    by_rate = changed(M, B, J[i], Y[i])                                 # ... and by q_i'
    start, ki, j, same = parent[first_body(q, i)], k[i], last_body(q, i), True
    while j > 0:
        kj = k[j]
        G, Gv, turn, slip = gyration(M, X1[j]), gyration(M, J[j]), ad(X1[j], J[i]), ad(J[j], J[i])
        qq = (changed(M, B, turn, ad(X2[j], J[i]) + 2.0 * ad(X1[j], X1[i])) + 2.0 * (G @ X1[i])
              - ad_dual(J[i], changed(M, B, X1[j], X2[j])))
        qv = 2.0 * (Gv @ X1[i]) - ad_dual(J[i], changed(M, B, J[j], Y[j]))
        vv, vq, qa = M @ slip + 2.0 * (Gv @ J[i]), 2.0 * (M @ turn + G @ J[i]), -ad_dual(J[i], M @ J[j])
        if not same:
            qv += changed(M, B, slip, ad(Y[j], J[i]) + 2.0 * ad(J[j], X1[i]))
            vv += M @ slip
            qa += M @ slip
        turned, turned_rate, turned_P = -ad_dual(J[j], first), -ad_dual(J[j], by_rate), -ad_dual(J[j], P)
        begin, a = first_body(q, j), start
        while a > 0:
            before, ka = a < begin, k[a]                                 # does j rotate the wrenches on a?
            qq_a = dot(qq + turned, J[a]) if before else dot(qq, J[a])
            vv_a = dot(vv, J[a])
            out.qq[ka, ki, kj] += qq_a
            out.qv[ka, ki, kj] += dot(qv, J[a])
            out.vv[ka, ki, kj] += vv_a
            out.qa[ka, ki, kj] += dot(qa, J[a])
            if not same:
                out.qq[ka, kj, ki] += qq_a
                out.vv[ka, kj, ki] += vv_a
                out.qv[ka, kj, ki] += dot(vq + turned_rate, J[a]) if before else dot(vq, J[a])
                if before:
                    out.qa[ka, kj, ki] += dot(turned_P, J[a])
            a = parent[a]
        same = same and inner(q[j])
        j = parent[j]


@kernel
def inverse_dynamics_second_derivatives(links: Link, body: MotionDerivatives, out: np.ndarray) -> None:
    """Add the Blocks to `out` (4, n, n, n)."""
    velocities(links, body)
    accelerations(links, body)
    blocks = Blocks(out[0], out[1], out[2], out[3])
    for i in range(1, len(links.parent)):
        add_to_carried(links, body, i, blocks)
        add_to_carriers(links, body, i, blocks)


# Inputs: q, q', q''. Result (4, n, n, n): see Blocks.
INVERSE_DYNAMICS_SECOND_DERIVATIVES = CompiledAlgorithm(
    inverse_dynamics_second_derivatives, MotionDerivatives, "q qd qdd", kernel(lambda n, b: (4, n, n, n)),
    on_groups=inverse_on_groups(inverse_dynamics_second_derivatives), rare=True)
