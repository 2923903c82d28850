"""Derivatives of the constraints' Jacobian and drift: exact, by the kernel of constraints on dual numbers.

In plain Python that kernel runs on any numbers; here each is a Dual whose derivatives are an array, along all n joint
twists and by all n velocities at once."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.tiles import gather
from screw_dynamics.constraints.entries import couple
from screw_dynamics.constraints.kinematics import (
    DRIFT,
    MATRICES,
    ConstraintKinematics,
    kinematics,
    kinematics_on_groups,
)
from screw_dynamics.constraints.tables import constraints_in
from screw_dynamics.model.configuration_space import rates
from screw_dynamics.model.group_joints import PoseSource, configure
from screw_dynamics.numbers.dual import Dual, slope
from screw_dynamics.numbers.tables import columns, table
from screw_dynamics.numbers.values import null

from .constraints import Constraints


class Differentials(NamedTuple):
    """Of one state: J_by_q (m, n, n), [k, i, j] that of J[k, i] along joint twist j; the drift J' qd by q and by qd
    (m, n) each."""

    J_by_q: np.ndarray
    drift_by_q: np.ndarray
    drift_by_qd: np.ndarray


def differentials(constraints: Constraints, q: np.ndarray, qd: np.ndarray) -> Differentials:
    """The Differentials at q (nq,), qd (n,), which need not fulfil the constraints."""
    robot, m = constraints.robot, constraints.m
    n = robot.n
    of_q = rates(robot.model, np.broadcast_to(q, (n, robot.nq)), np.eye(n)).T          # of the numbers, by joint twists
    unmoved = np.zeros((robot.nq, n))
    Q = [Dual(x, dx) for x, dx in zip(q.tolist(), np.hstack((of_q, unmoved)), strict=True)]
    Qd = [Dual(x, dx) for x, dx in zip(qd.tolist(), np.eye(n, 2 * n, n), strict=True)]
    out = np.zeros((m, 2 + 2 * n), dtype=object)
    _run(constraints, Q, Qd, out)
    by = np.array([[np.broadcast_to(slope(x), 2 * n) for x in row[DRIFT:MATRICES + n]] for row in out])
    by = by.reshape(m, n + 1, 2 * n)
    return Differentials(by[:, 1:, :n], by[:, 0, :n], by[:, 0, n:])


def _run(constraints, Q, Qd, out):
    """Run the kernel of constraints on configurations and velocities of any numbers."""
    robot, m = constraints.robot, constraints.m
    bodies, sources = robot.tables.links, robot.tables.pose_sources
    links, body = columns(type(bodies[0]), bodies), table(ConstraintKinematics, None, len(bodies))
    given = constraints_in(constraints.memory, 0.0)
    given = given._replace(F=np.zeros((6, m), dtype=object), h=np.zeros(m, dtype=object),
                           of_joints=given.of_joints._replace(Y=np.zeros((robot.n, m), dtype=object)))
    if sources:
        configure(links, columns(PoseSource, sources), Q, body.q)
    else:
        gather(links.coordinate, Q, body.q)
        body.q[0] = null(Q[0])
    gather(links.coordinate, Qd, body.qd)
    body.qd[0] = null(Qd[0])
    couple(given, Q)
    (kinematics_on_groups if sources else kinematics)(links, body, given, out)
