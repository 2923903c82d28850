"""Exact derivatives of the constraints' Jacobian and drift, by evaluation of the constraint kernels on dual numbers and
jets.

In plain Python, kernels accept any scalar type. Here each scalar is a Dual or a Jet, whose derivatives are arrays along
all n joint twists and all n velocities. Products with vectors are compiled."""
from math import prod
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.columns import clear
from screw_dynamics.algorithms.group_rates import add_products
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.constraints import rows
from screw_dynamics.constraints.chains import chain_numbers
from screw_dynamics.constraints.derivatives import derivatives
from screw_dynamics.constraints.ends import compute_poses
from screw_dynamics.constraints.kinematics import ConstraintKinematics, add_drift, fill_transpose
from screw_dynamics.constraints.tables import constraints_in
from screw_dynamics.model.configuration_space import rates, second_rates
from screw_dynamics.model.group_joints import PoseSource, configure
from screw_dynamics.numbers.dual import Dual, slope
from screw_dynamics.numbers.jet import Jet
from screw_dynamics.numbers.tables import columns, table
from screw_dynamics.numbers.values import null

from .constraints import Constraints

PIECE = 64              # states of a thread's chunk


class Differentials(NamedTuple):
    """First derivatives of the constraints at one state.

    J_by_q (m, n, n): [k, i, j] is the derivative of J[k, i] along joint twist j. The derivatives of the drift J' qd by
    q and by qd are (m, n) each."""

    J_by_q: np.ndarray
    drift_by_q: np.ndarray
    drift_by_qd: np.ndarray


class SecondDifferentials(NamedTuple):
    """Second derivatives of the constraints at one state.

    J_by_q_q (m, n, n, n): [k, a, i, j] is the derivative along joint twist j of that of J[k, a] along i. The
    derivatives of the drift J' qd by q and q, q and qd, and qd and qd are (m, n, n) each."""

    J_by_q_q: np.ndarray
    drift_by_q_q: np.ndarray
    drift_by_q_qd: np.ndarray
    drift_by_qd_qd: np.ndarray


def differentials(constraints: Constraints, q: np.ndarray, qd: np.ndarray) -> Differentials:
    """Return the Differentials at q (nq,), qd (n,), which need not satisfy the constraints."""
    robot, n = constraints.robot, constraints.robot.n
    of_q = rates(robot.model, np.broadcast_to(q, (n, robot.nq)), np.eye(n)).T  # derivatives of q by joint twists
    unmoved = np.zeros((robot.nq, n))
    Q = [Dual(x, dx) for x, dx in zip(q.tolist(), np.hstack((of_q, unmoved)), strict=True)]
    Qd = [Dual(x, dx) for x, dx in zip(qd.tolist(), np.eye(n, 2 * n, n), strict=True)]
    of_J, of_drift = (np.array([np.broadcast_to(slope(x), 2 * n) for x in found.flat]).reshape(*found.shape, 2 * n)
                      for found in _jacobian_and_drift(constraints, Q, Qd))
    return Differentials(np.swapaxes(of_J, 0, 1)[..., :n], of_drift[:, :n], of_drift[:, n:])


def changes(constraints: Constraints, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, multipliers: np.ndarray,
            by_qd: bool = True, threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives (..., n, k) of J^T lambda and (..., m, k) of J qdd + J' qd.

    They are along the n joint twists and, with by_qd, also by the n velocities. The states q (..., nq), qd and qdd
    (..., n) need not satisfy the constraints; multipliers: lambda (..., m)."""
    n = constraints.robot.n
    found = _evaluated(constraints, (q, qd, qdd, multipliers), False, (n + constraints.m, (1 + by_qd) * n), threads)
    return found[..., :n, :], found[..., n:, :]


def changes_of_gradient(constraints: Constraints, q: np.ndarray, multipliers: np.ndarray, threads: int | None = None
                        ) -> np.ndarray:
    """Return the derivatives (..., n, n) of G^T lambda along the joint twists, G the gradient of residuals."""
    n, still = constraints.robot.n, np.zeros((*q.shape[:-1], constraints.robot.n))
    return _evaluated(constraints, (q, still, still, multipliers), True, (n, n), threads)


def _evaluated(constraints, inputs, of_gradient, shape, threads):
    """Return the results (..., *shape) of the kernel for states."""
    robot, lead = constraints.robot, inputs[0].shape[:-1]
    count = prod(lead)
    given = [np.ascontiguousarray(x, dtype=float).reshape(count, x.shape[-1]) for x in inputs]
    found, change = np.zeros((count, *shape)), derivatives()

    def work(starts):
        chain = np.zeros(chain_numbers(len(robot.tables.links)))
        with constraints.on_lanes.borrowed() as memory:
            for start in starts:
                some = slice(start, start + PIECE)
                change(memory, *(x[some] for x in given), of_gradient, chain, found[some])
    pieces = range(0, count, PIECE)
    on_threads(work, pieces, max(1, min(thread_count(threads), len(pieces))))
    return found.reshape(*lead, *shape)


def second_differentials(constraints: Constraints, q: np.ndarray, qd: np.ndarray) -> SecondDifferentials:
    """Return the SecondDifferentials at q (nq,), qd (n,), which need not satisfy the constraints."""
    robot, n = constraints.robot, constraints.robot.n
    twists, of_qd = np.eye(n), np.eye(n, 2 * n, n)
    of_q, of_q_q = np.zeros((robot.nq, 2 * n)), np.zeros((robot.nq, 2 * n, 2 * n))
    of_q[:, :n] = rates(robot.model, np.broadcast_to(q, (n, robot.nq)), twists).T
    here = np.broadcast_to(q, (n, n, robot.nq))
    of_q_q[:, :n, :n] = np.moveaxis(second_rates(robot.model, here, twists, twists[:, None]), -1, 0)
    flat = np.zeros((2 * n, 2 * n))
    Q = [Jet(*numbers) for numbers in zip(q.tolist(), of_q, of_q_q, strict=True)]
    Qd = [Jet(x, d, flat) for x, d in zip(qd.tolist(), of_qd, strict=True)]
    of_J, of_drift = (np.array([x.dd if isinstance(x, Jet) else flat for x in found.flat]).reshape(
        *found.shape, 2 * n, 2 * n) for found in _jacobian_and_drift(constraints, Q, Qd))
    return SecondDifferentials(np.swapaxes(of_J, 0, 1)[..., :n, :n], of_drift[:, :n, :n], of_drift[:, :n, n:],
                               of_drift[:, n:, n:])


def _jacobian_and_drift(constraints, Q, Qd):
    """Return J^T (n, m) and J' qd (m,) for configurations and velocities of any scalar type, from
    constraints.kinematics."""
    robot, m = constraints.robot, constraints.m
    bodies, on_groups = robot.tables.links, robot.model.on_groups
    links, body = columns(type(bodies[0]), bodies), table(ConstraintKinematics, None, len(bodies))
    given, Y, drift = (constraints_in(constraints.memory, 0.0), np.zeros((robot.n, m), dtype=object),
                       np.zeros(m, dtype=object))
    given = given._replace(F=np.zeros((6, m), dtype=object))
    if on_groups:
        configure(links, columns(PoseSource, robot.tables.pose_sources), Q, body.q)
    else:
        gather(links.coordinate, Q, body.q)
        body.q[0] = null(Q[0])
    gather(links.coordinate, Qd, body.qd)
    body.qd[0] = null(Qd[0])
    clear(body.product)
    if on_groups:
        add_products(links, body.q, body.qd, -1.0, body.product)
    compute_poses(links, body)
    add_drift(links, body, given, drift)
    fill_transpose(links, body, given, rows.row, Y)
    return Y, drift
