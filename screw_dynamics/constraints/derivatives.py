"""Exact derivatives of the efforts and accelerations of constraints, for many states: rows evaluated at the relative
motion of a loop's ends on dual numbers, with the joints of the loop's chain as directions."""
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.across import taken
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.inputs import gather_placements
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.dual import dual, slope, value_of
from screw_dynamics.numbers.lanes import WIDTH, extract
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import kernel, noinline, over, zero
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, ad_dual, dot
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from . import rows
from .chains import MOVED, RATE_BY_Q, RATE_BY_QD, SCREW, TWIST_BY_Q, Chain, chain_of, twists
from .ends import compute_poses, ends
from .kinematics import ConstraintKinematics
from .tables import COUPLING, ConstraintTables, constraints_in


# ------------------------------------------------------------------------------------------------- dual numbers
@kernel
def vector(x: Vec3, dx: Vec3) -> Vec3:
    """Return the dual vector of value x and derivatives dx."""
    return Vec3(dual(x.x, dx.x), dual(x.y, dx.y), dual(x.z, dx.z))


@kernel
def twist(V: Twist, dV: Twist) -> Twist:
    """Return the dual twist of value V and derivatives dV."""
    return Twist(vector(V.angular, dV.angular), vector(V.linear, dV.linear))


@kernel
def pose(D: Pose, X: Twist) -> Pose:
    """Return the dual pose of value D and derivatives D X^."""
    R, w = D.R, X.angular
    return Pose(Rotation(vector(R.x, cross(R.x, w)), vector(R.y, cross(R.y, w)), vector(R.z, cross(R.z, w))),
                vector(D.p, R @ X.linear))


@kernel
def slopes(W: Wrench) -> Wrench:
    """Return the derivatives of a wrench."""
    t, f = W.torque, W.force
    return Wrench(Vec3(slope(t.x), slope(t.y), slope(t.z)), Vec3(slope(f.x), slope(f.y), slope(f.z)))


@kernel
def without_slopes(W: Wrench) -> Wrench:
    """Return a wrench without its derivatives."""
    t, f = W.torque, W.force
    return Wrench(Vec3(value_of(t.x), value_of(t.y), value_of(t.z)), Vec3(value_of(f.x), value_of(f.y), value_of(f.z)))


# ------------------------------------------------------------------------------------------------- a loop
@kernel
def wrench_of(given: ConstraintTables, c: int, D: Pose, of_gradient: bool, multipliers: np.ndarray) -> Wrench:
    """Return the sum of the rows of loop c, or of the rows of its gradient, times their multipliers."""
    W = zero(Wrench, D.p.x)
    for k in range(given.loop.count[c]):
        W += multipliers[given.loop.first[c] + k] * rows.row(given, c, k, D)
    return rows.gradient_of(given, c, D, W) if of_gradient else W


@kernel
def add_columns(chain: Chain, first: int, x: Any, out: np.ndarray) -> None:
    """Add the derivatives x along the joints of one vector to `out`."""
    for place in range(min(WIDTH, chain.by.shape[1] - first)):
        out[chain.joint.coordinate[first + place]] += extract(x, place)


@kernel
def add_to_efforts(chain: Chain, first: int, W: Wrench, out: np.ndarray) -> None:
    """Add the derivatives of the efforts W A_j of a wrench on the screws of a chain: (dW - ad_i^T W) A_j along a joint
    i that changes A_j, and dW A_j along other joints."""
    of_wrench, moved = slopes(W), taken(chain.by, MOVED, first)
    of_both = of_wrench - ad_dual(twists(chain.by, SCREW, first), without_slopes(W))
    for j in range(chain.by.shape[1]):
        A = chain.joint.A[j]
        add_columns(chain, first, where(moved > j, dot(of_both, A), dot(of_wrench, A)), out[chain.joint.coordinate[j]])


@kernel
def add_to_accelerations(given: ConstraintTables, c: int, D: Pose, V: Twist, rate: Twist, chain: Chain, first: int,
                         out: np.ndarray) -> None:
    """Add the derivatives of the products of the rows of loop c with the relative twist V and its derivative."""
    for k in range(given.loop.count[c]):
        h = dot(rows.row(given, c, k, D), rate) + dot(rows.row_rate(given, c, k, D, V), V)
        add_columns(chain, first, slope(h), out[given.loop.first[c] + k])


@noinline
def add_loop(links: Link, body: ConstraintKinematics, given: ConstraintTables, c: int, qd: np.ndarray, qdd: np.ndarray,
             multipliers: np.ndarray, of_gradient: bool, work: np.ndarray, out: np.ndarray) -> None:
    """Add the contribution of loop c to the derivatives of a state; see spec_of_derivatives."""
    n, at = len(qd), ends(links, body, given.loop, c)
    chain = chain_of(links, body, given.loop, c, at, qd, qdd, work)
    count = chain.by.shape[1]
    V, rate = chain.joint.V[count], chain.joint.rate[count]
    for first in range(0, count, WIDTH):
        A = twists(chain.by, SCREW, first)
        D = pose(at.D, A)
        add_to_efforts(chain, first, wrench_of(given, c, D, of_gradient, multipliers), out[:n, :n])
        if not of_gradient:
            along_q = twist(V, twists(chain.by, TWIST_BY_Q, first)), twist(rate, twists(chain.by, RATE_BY_Q, first))
            add_to_accelerations(given, c, D, *along_q, chain, first, out[n:, :n])
            if out.shape[1] > n:
                D, by_qd = over(at.D, D.p.x), twist(rate, twists(chain.by, RATE_BY_QD, first))
                add_to_accelerations(given, c, D, twist(V, A), by_qd, chain, first, out[n:, n:])


# ------------------------------------------------------------------------------------------------- entry points
def spec_of_derivatives() -> KernelSpec:
    """Return the KernelSpec of the kernel that differentiates constraint equations.

    For states q (N, nq), qd (N, n), accelerations qdd (N, n) and multipliers lambda (N, m) it adds the derivatives (N,
    n + m, n or 2 n) of J^T lambda and of J qdd + J' qd, along the joint twists and, with 2 n columns, by qd.
    of_gradient: (N, n, n) of G^T lambda alone, G the gradient of residuals. Those of couplings are 0. work: memory of
    chain_numbers."""
    Table = ws.placed(ConstraintKinematics)

    @compiled("loops.derivatives", nogil=True)
    def many(memory, q, qd, qdd, multipliers, of_gradient, work, out):
        links, body, given = ws.links_in(memory), ws.body_on_lanes(Table, memory, 0.0), constraints_in(memory, 0.0)
        for i in range(len(q)):
            gather_placements(links, memory, q[i], body.q)
            compute_poses(links, body)
            for c in range(given.loops):
                if given.loop.kind[c] != COUPLING:
                    add_loop(links, body, given, c, qd[i], qdd[i], multipliers[i], of_gradient, work, out[i])
    states = (ws.read_type(2),) * 4
    return KernelSpec(many, (ws.numbers_type(1), *states, "boolean", ws.numbers_type(1), ws.numbers_type(3)))


@cache
def derivatives() -> Callable:
    """Return the entry point derivatives(workspace, q, qd, qdd, multipliers, of_gradient, work, out)."""
    return function(spec_of_derivatives())
