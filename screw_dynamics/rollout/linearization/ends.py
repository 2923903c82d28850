"""Derivatives of the end of a step with stops and dry friction: of end_step in rollout/step_data.py.

Exact unless a joint comes to rest, or starts to move, exactly at the end of the step: there a step has no
derivative."""
from typing import Any

import numpy as np

from screw_dynamics.constraints.box_lcp import FREE, BoxLcp, solve_box_lcp
from screw_dynamics.constraints.impulses import LOWER, STICKS, UPPER


def end_step(robot: Any, limits: bool, friction: np.ndarray, begin: np.ndarray, q: np.ndarray, qd: np.ndarray,
             dq: np.ndarray, dqd: np.ndarray, threads: int | None) -> np.ndarray:
    """Turn dq and dqd (..., n, m), the derivatives of a state (q, qd), into those of the state after the end of the
    step, in place. The first columns are the derivatives by the state at the start of the step. friction (n,): largest
    impulses of dry friction. begin (..., n): velocities at the start. Returns the velocities after the end."""
    n, turned, back = robot.n, (begin * qd < 0.0) & (friction > 0.0), qd - begin
    share = np.divide(qd, back, where=turned, out=np.ones_like(qd))  # fraction of a step after a joint turned round
    acts, by = resisting(friction, np.sign(begin), share), np.zeros_like(dqd)
    if turned.any():
        by -= begin[..., None] * dqd
        by[..., n:2 * n] += qd[..., None] * np.eye(n)
        scale = np.divide(2.0 * friction * np.sign(begin), back**2, where=turned, out=np.zeros_like(qd))
        by *= scale[..., None]
    if limits:
        q = q.copy()
        model = robot.model
        single = model.q_indices >= 0
        q_indices, lower, upper = model.q_indices[single], model.lower[single], model.upper[single]
        x, beyond = q[..., q_indices], np.zeros(dq.shape[:-1], dtype=bool)
        beyond[..., single] = (x < lower) | (x > upper)
        dq[beyond] = 0.0
        q[..., q_indices] = np.clip(x, lower, upper)
    return push(robot, limits, acts, q, qd, dq, dqd, threads, by=by)


def push(robot: Any, limits: bool, acts: np.ndarray, q: np.ndarray, qd: np.ndarray, dq: np.ndarray, dqd: np.ndarray,
         threads: int | None, added: tuple[np.ndarray, np.ndarray] | None = None, by: np.ndarray | None = None
         ) -> np.ndarray:
    """Turn dq and dqd (..., n, m), the derivatives of a state (q, qd) within the stops, into those after impulses, in
    place. acts: see `resisting`. added: inertia (..., n) that a step adds and its derivatives (..., n, m). by (..., n,
    m): derivatives of the bounds, if they vary. Returns the velocities after the impulses."""
    if limits:
        _put_stops(robot.model, q, acts)
    v, found = qd[..., None, :], qd.copy()
    needed = ((v < 0.0) & (acts[..., UPPER:UPPER + 1, :] > 0.0)
              | (v > 0.0) & (acts[..., LOWER:LOWER + 1, :] < 0.0)).any(axis=(-2, -1))
    if needed.any():
        some = [x[needed] for x in (q, qd, acts, dq, dqd)]
        found[needed] = _impelled(robot, *some, threads, [x[needed] for x in added or ()],
                                  np.zeros_like(some[4]) if by is None else by[needed])
        dq[needed], dqd[needed] = some[3:]
    return found


def resisting(friction: np.ndarray, slip: np.ndarray, share: np.ndarray | float = 1.0) -> np.ndarray:
    """Return the bounds (..., ACTS, n) of the impulses of dry friction (n,), and the mask of joints that stick. share:
    see step_data.put_bounds."""
    lower, upper = (slip - 1.0) * friction * share, (slip + 1.0) * friction * share
    return np.stack((lower, upper, (friction > 0.0) & (slip == 0.0)), axis=-2)


def _put_stops(model, q, acts):
    """Add the bounds of position stops to acts, in place."""
    single = model.q_indices >= 0
    x, lower, upper = q[..., model.q_indices[single]], model.lower[single], model.upper[single]
    acts[..., LOWER, single] = np.where(x >= upper, -np.inf, acts[..., LOWER, single])
    acts[..., UPPER, single] = np.where(x <= lower, np.inf, acts[..., UPPER, single])
    acts[..., STICKS, single] *= (x > lower) & (x < upper)


def _impelled(robot, q, qd, acts, dq, dqd, threads, added, by):
    """Return the velocities (N, n) after impulses on states (N, ...) in each of which some joint needs an impulse.

    They change the velocities by w with M w = p. Joints that they bring to rest stay at rest; the other impulses are at
    their bounds: M dw + dM w = dp."""
    mass, still = robot.mass_matrix(q, threads=threads), np.zeros_like(qd)
    if added:
        mass += added[0][..., None] * np.eye(mass.shape[-1])
    inverse = np.linalg.inv(mass)
    found = [_impulses(M, *rows) for M, rows in zip(inverse, zip(qd, acts, strict=True), strict=True)]
    held, p = (np.array(x) for x in zip(*found, strict=True))
    w = (inverse @ p[..., None])[..., 0]
    by_q = (robot.inverse_dynamics_derivatives(q, still, w, threads=threads).by_q       # by q of M(q) w
            - robot.inverse_dynamics_derivatives(q, still, still, threads=threads).by_q)
    given = np.where(held | (p == 0.0), 0.0, 1.0)[..., None] * by
    dqd -= inverse @ (by_q @ dq + (w[..., None] * added[1] if added else 0.0) - given)
    for M, rest, change in zip(inverse, held, dqd, strict=True):
        change -= M[:, rest] @ np.linalg.lstsq(M[np.ix_(rest, rest)], change[rest], rcond=None)[0]
        change[rest] = 0.0
    stuck = held & (acts[:, STICKS, :] > 0.0)
    for one, rows in zip(dq, _whole(robot.model, stuck), strict=True):
        one[rows] = np.eye(*one.shape)[rows]
    return np.where(held, 0.0, qd + w)


def _impulses(inverse, v, acts):
    """Return the mask (n,) of the joints that impulses bring to rest, and the impulses (n,)."""
    n = len(v)
    lcp = BoxLcp(inverse, np.empty((n, n)), v, acts[LOWER], acts[UPPER], inverse.diagonal(), np.empty(n), np.empty(n))
    solve_box_lcp(lcp)
    return (lcp.side == FREE) & (lcp.x != 0.0), lcp.x


def _whole(model, stuck):
    """Return the mask of the velocities (N, n) whose whole joint sticks, given the mask of sticking velocities."""
    whole = stuck.copy()
    for where in model.v_slices.values():
        whole[:, where] = stuck[:, where].all(axis=-1, keepdims=True)
    return whole
