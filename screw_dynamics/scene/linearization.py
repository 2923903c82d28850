"""Linear model x+ = A x + B u of a step with contacts with fixed modes: open, sticking, or sliding along their
velocity.

A step solves M w = J^T x for the change w of velocities by impulses x, with J (v0 + w) + a = 0 along the constrained
directions of the contacts; a is due to moving surfaces and gaps. The derivative of these equations, M dw + dM w = J^T
dx + dJ^T x, is evaluated at the x of the step; twice, since penetrations are corrected by a second problem of the same
form. dM is that of inverse dynamics, dJ that of touch_derivatives.py."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.constraints.contacts.tables import EXCESS, OF_CONTACT, RESIDUALS
from screw_dynamics.rollout.linearization.linear_model import Actuation, implicit

from .fixed_axes_update import at_end, motion, without_turning
from .touch_derivatives import Rows, TouchRows

OPEN, STICKING, SLIDING = "open", "sticking", "sliding"
STILL = 1e-9            # relative to the largest contact velocity without impulses: smaller ones count as 0
NEAR = 1e-7             # relative to this velocity, and to the largest impulse: smaller margins are ambiguous
AT_REST = 1e-13         # relative to the largest velocity: of a joint at rest
DEPENDENT = 1e-11       # of singular values: dependent rows
SHARED = 1e-7           # relative to the largest row: bound of the net effect of internal impulses
CORRECTED = 1e-11       # m: a smaller correction of penetrations counts as none


class ContactModes(NamedTuple):
    """The contacts (k) of a step and their modes.

    pair: index into scene.pairs. gap (k,): m, at the start of the step. point, normal, and the force on the first (k,
    3) in N: in the root link's frame. velocity (k, 3): at the end of the step, of the first's point less that of the
    second's, m/s. mode: "open", "sticking" or "sliding".

    Margins to another mode. opening (k,): of open contacts gap / dt plus the normal velocity in m/s, of closed ones the
    normal impulse in N s. slipping (k,): of sticking contacts the unused friction impulse in N s, of sliding ones the
    speed in m/s, else inf. ambiguous (k,): True if a margin is 0 to machine precision."""

    pair: np.ndarray
    gap: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    velocity: np.ndarray
    mode: np.ndarray
    opening: np.ndarray
    slipping: np.ndarray
    ambiguous: np.ndarray


class StepModel(NamedTuple):
    """Linear model of a step: A (..., 2n, 2n) and B (..., 2n, n) for deviations (dq, dqd) along the joint twists and
    dtau; the state q, qd after the step; determined (...): True if the modes determine these derivatives; and the
    ContactModes, a list for a batch.

    Derivatives are not determined if contacts share a load in a statically indeterminate way, and slide in different
    directions, as the four feet of a rotating table. Then A and B are those of the least change of the impulses."""

    A: np.ndarray
    B: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    determined: Any
    contacts: Any


class Step(NamedTuple):
    """A step of a scene: initial state, actuation, length, final state and report."""

    q: np.ndarray
    qd: np.ndarray
    actuation: Actuation
    h: float
    q_after: np.ndarray
    qd_after: np.ndarray
    report: np.ndarray


class _Held(NamedTuple):
    """Data of a problem: its unknown z, a velocity; impulses x (k, 3), velocities c (k, 3) and modes (k,) of contacts;
    and joints at rest."""

    z: np.ndarray
    x: np.ndarray
    c: np.ndarray
    mode: np.ndarray
    joints: np.ndarray


def differentiate(contact_model: Any, step: Step, rows: TouchRows, landed: float) -> StepModel:
    """Return the StepModel of a step. landed: gaps up to this (m) count as 0: such contacts cannot approach."""
    robot, n, h = contact_model.robot, contact_model.robot.n, step.h
    pair, point, gap, force = _read(contact_model, step.report)
    given = rows.at(step.q, pair, point)
    mu = np.array([contact_model.pairs[k].mu for k in pair])
    actuation = step.actuation.resisted(robot, step.qd)
    (qdd, *by), added = implicit(robot, step.q, step.qd, actuation, h)
    inertia = _Inertia(robot, step.q, added)
    free, dv0 = step.qd + h * qdd, h * np.concatenate(by, axis=-1)
    dv0[:, n:2 * n] += np.eye(n)
    free, dv0 = without_turning(robot.model, h, step.qd, free, dv0)
    shift, after = motion(robot, h, step.q, step.q_after, step.qd_after)
    lands = gap > landed
    a, da = given.belt.copy(), np.zeros((len(pair), 3, 3 * n))
    da[..., :n] = given.belt_by_q
    a[:, 2] += np.where(gap > 0.0, gap, 0.0) / h
    da[:, 2, :n] += np.where(lands, 1.0 / h, 0.0)[:, None] * given.gap_by_q
    x = h * np.einsum("kri,ki->kr", given.axes, force)
    held, modes = _modes(contact_model, step, given, _Held(after, x, given.J @ after + a, mu, _still(robot, step)), mu,
                         given.J @ free + a, (pair, gap, force))
    by_after, determined = _respond(inertia, given, mu, held, after - free, dv0, da)

    # Correction of penetrations: velocities of the displacement only.
    moved = shift - after
    moved[np.abs(moved) < 1e-15 / h] = 0.0
    da[..., :n] = 0.0
    da[:, 2, :n] = given.gap_by_q / h + given.belt_by_q[:, 2] + np.einsum("kij,i->kj", given.J_by_q[:, 2], after)
    da[:, 2] += given.J[:, 2] @ by_after
    ends = gap / h + given.J[:, 2] @ after + given.belt[:, 2]
    corrections = _corrections(inertia, given, mu, held, moved, ends, h)
    by_moved, also = _respond(inertia, given, mu, corrections, moved, np.zeros((n, 3 * n)), da)
    found = at_end(robot.model, h, after + moved, step.qd_after, by_after + by_moved, by_after)
    return StepModel(found[:, :2 * n], found[:, 2 * n:], step.q_after, step.qd_after, determined and also, modes)


def _read(contact_model, report):
    """Return the contacts of a report: pairs, point indices, gaps, and forces on the first in axes of the root link."""
    found = report[RESIDUALS + EXCESS:].reshape(-1, OF_CONTACT)
    there = found[:, 0] >= 0.0
    contacts, key = contact_model.contacts(report), found[there, 0].astype(int)
    pair = contacts.pair[there]
    point = key - np.array([contact_model.pairs[k].key for k in pair], dtype=int)
    return pair, point, contacts.gap[there], contacts.force[there]


def _still(robot, step):
    """Return the indices of velocities held at rest by stops and dry friction."""
    model, acts = robot.model, step.actuation.dry(robot) > 0.0
    if step.actuation.limits:
        single = model.q_indices >= 0
        x = step.q[model.q_indices]
        acts = acts | single & ((x <= model.lower) | (x >= model.upper))
    return np.flatnonzero(acts & (np.abs(step.qd_after) <= AT_REST * np.abs(step.qd_after).max()))


# ------------------------------------------------------------------------------------------------- modes
def _modes(contact_model, step, given: Rows, found, mu, free, told):
    """Return the _Held data with the contact modes, and the ContactModes. free (k, 3): velocities without impulses."""
    (pair, gap, force), x, c = told, found.x, found.c
    still = STILL * np.abs(free).max(initial=0.0) + 10.0 * step.report[:RESIDUALS].max()
    speed, friction = np.hypot(c[:, 0], c[:, 1]), np.hypot(x[:, 0], x[:, 1])
    closed = (x[:, 2] > 0.0) | (c[:, 2] <= still)
    slides = closed & ((speed > still) | (mu == 0.0))
    mode = np.where(closed, np.where(slides, SLIDING, STICKING), OPEN)
    opening = np.where(closed, x[:, 2], c[:, 2])
    slipping = np.where(closed, np.where(slides, np.where(mu == 0.0, np.inf, speed), mu * x[:, 2] - friction), np.inf)
    near = NEAR * np.abs(free).max(initial=0.0), NEAR * x[:, 2].max(initial=0.0)
    ambiguous = (opening <= np.where(closed, near[1], near[0])) | (slipping <= np.where(slides, near[0], near[1]))
    contacts = contact_model.contacts(step.report)
    there = contacts.pair >= 0
    begin = given.J[:, 2] @ step.qd + given.belt[:, 2]
    falls = np.minimum(begin, free[:, 2] - gap / step.h)
    approach = np.where(gap > 0.0, falls, begin)                # gravity does not push in a closed contact
    rebounds = (approach < -contact_model.slow) & (gap + step.h * approach < 0.0) | closed & (c[:, 2] > 1e3 * still)
    _refuse(contact_model, pair, closed, rebounds)
    velocity = c.copy()
    velocity[:, 2] -= np.where(gap > 0.0, gap, 0.0) / step.h
    return found._replace(mode=mode), ContactModes(
        pair, gap, contacts.point[there], contacts.normal[there], force, np.einsum("kr,kri->ki", velocity, given.axes),
        mode, opening, slipping, ambiguous)


def _refuse(contact_model, pair, closed, rebounds):
    """Raise ValueError for contact laws without derivatives here: restitution, torsional and rolling friction."""
    for k, row in enumerate(contact_model.pairs[i] for i in pair):
        acts = {"restitution": rebounds[k], "torsion": closed[k], "rolling": closed[k]}
        for what in acts:
            if acts[what] and getattr(row, what) > 0.0:
                names = contact_model.colliders[row.first].name, contact_model.colliders[row.second].name
                raise ValueError(f"contact of {names[0]!r} and {names[1]!r}: {what} {getattr(row, what):g} must be 0: "
                                 "derivatives of steps support only sliding friction")


def _corrections(inertia, given, mu, held, moved, ends, h):
    """Return the _Held of contacts in the second problem, with the unknown `moved` (n). ends (k,): gaps at the end of
    the step without correction, divided by h.

    If there is no correction, closed contacts do not move, with friction in all directions."""
    c = given.J @ moved
    c[:, 2] += ends
    closed = held.mode != OPEN
    mode = np.where(closed, np.where(mu > 0.0, STICKING, SLIDING), OPEN)
    x = np.zeros_like(c)
    if np.abs(h * moved).max(initial=0.0) <= CORRECTED:
        c[:, :2] = 0.0
        return held._replace(z=moved, x=x, c=c, mode=mode)
    still = STILL * np.abs(ends).max() + CORRECTED / h
    slides = (np.hypot(c[:, 0], c[:, 1]) > still) | (mu == 0.0)
    mode = np.where(c[:, 2] > still, OPEN, np.where(slides, SLIDING, STICKING))
    D, of = _directions(given, mu, c, mode)
    parts = np.linalg.lstsq(np.array(D).T.reshape(len(moved), -1), inertia.matrix @ moved, rcond=DEPENDENT)[0]
    for (k, direction), size in zip(of, parts, strict=True):
        x[k] += size * direction
    return held._replace(z=moved, x=x, c=c, mode=mode)


def _directions(given, mu, c, mode):
    """Return the rows of admissible contact forces, and for each row its contact and its direction along t, s and n."""
    rows, of = [], []
    for k, each in enumerate(mode):
        if each == STICKING:
            directions = np.eye(3)
        elif each == SLIDING:
            directions = _drag(mu[k], c[k])[None]
        else:
            continue
        for direction in directions:
            rows.append(direction @ given.J[k])
            of.append((k, direction))
    return rows, of


def _drag(mu, c):
    """Return the direction of the force on a contact that slides with velocity c (3,)."""
    speed = np.hypot(c[0], c[1])
    return np.array([0.0, 0.0, 1.0]) if mu == 0.0 or speed == 0.0 else np.array([*(-mu / speed * c[:2]), 1.0])


# ------------------------------------------------------------------------------------------------- derivatives
class _Inertia:
    """M plus the added inertia of force elements at the end of a step, its inverse, and the derivatives of M w."""

    def __init__(self, robot, q, added):
        self._robot, self._q, self._added = robot, q, added
        self.matrix = robot.mass_matrix(q)
        if added is not None:
            self.matrix = self.matrix + np.diag(added[0])
        self.inverse = np.linalg.inv(self.matrix)

    def by(self, w):
        """Return the derivatives (n, 3n) of M w, by q, qd and tau."""
        n, still, found = len(w), np.zeros_like(w), np.zeros((len(w), 3 * len(w)))
        if w.any():
            found[:, :n] = (self._robot.inverse_dynamics_derivatives(self._q, still, w).by_q
                            - self._robot.inverse_dynamics_derivatives(self._q, still, still).by_q)
            if self._added is not None:
                found += w[:, None] * self._added[1]
        return found


def _respond(inertia, given: Rows, mu, held: _Held, w, dz, da):
    """Return the derivatives (n, 3n) of z, and True if the modes determine them. w: change of z by impulses. dz:
    derivatives of z without impulses. da (k, 3, 3n): derivatives of a.

    A sliding contact has x = x_n (n - mu d), with d the direction of its velocity; across d, dx = -mu x_n dc / |c|."""
    n = len(w)
    by_x = -inertia.by(w)
    by_x[:, :n] += np.einsum("kr,krij->ij", held.x, given.J_by_q)
    dz = dz + inertia.inverse @ by_x
    dc = da.copy()
    dc[..., :n] += np.einsum("krij,i->krj", given.J_by_q, held.z)
    forces, velocities, rates, yields = [], [], [], []
    for k, mode in enumerate(held.mode):
        if mode == STICKING:
            forces += list(given.J[k])
            velocities += list(given.J[k])
            rates += list(dc[k])
            yields += [0.0, 0.0, 0.0]
        elif mode == SLIDING:
            forces.append(_drag(mu[k], held.c[k]) @ given.J[k])
            velocities.append(given.J[k, 2])
            rates.append(dc[k, 2])
            yields.append(0.0)
            speed, most = np.hypot(held.c[k, 0], held.c[k, 1]), mu[k] * held.x[k, 2]
            if most > 0.0 and speed > 0.0:
                across = np.array([-held.c[k, 1], held.c[k, 0]]) / speed
                forces.append(across @ given.J[k, :2])
                velocities.append(across @ given.J[k, :2])
                rates.append(across @ dc[k, :2])
                yields.append(speed / most)
    for joint in held.joints:
        forces.append(np.eye(n)[joint])
        velocities.append(np.eye(n)[joint])
        rates.append(np.zeros(3 * n))
        yields.append(0.0)
    if not forces:
        return dz, True
    D, E = np.array(forces), np.array(velocities)
    S = E @ inertia.inverse @ D.T + np.diag(yields)
    size = 1.0 / np.sqrt(np.einsum("ri,ij,rj->r", E, inertia.inverse, E) + np.array(yields))
    U, values, Vt = np.linalg.svd(size[:, None] * S * size)
    rank = int((values > DEPENDENT * values[0]).sum())
    y = Vt[:rank].T @ (U[:, :rank].T @ (size[:, None] * (E @ dz + np.array(rates))) / values[:rank, None])
    scaled = size[:, None] * D                      # internal impulses must not change z
    idle = np.abs(Vt[rank:] @ scaled).max(initial=0.0) <= SHARED * np.abs(scaled).max()
    return dz - inertia.inverse @ scaled.T @ y, bool(idle)
