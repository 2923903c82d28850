"""The update of a step with contacts in fixed axes: velocities of joints that rotate and translate, in the axes at the
start of the step, and the displacement.

The contact solver uses velocities (w, v) of such a joint in the axes at the start of the step. Its translation there is
v + h w x v for a velocity v from forward dynamics in rotating axes. The step rotates the joint by h w, and translates
it along a straight line by h v; then its velocities are transformed to the axes at the end. The maps are those of
algorithms/space.py, to first order."""
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.model.model import Model
from screw_dynamics.rollout.linearization.tangent_maps import displacement

TURNS = {"spherical": 3, "planar": 1, "free": 3}        # number of rotational velocities of Lie-group joints


class Motion(NamedTuple):
    """Velocities (n) of a step in the axes at its start: those of its displacement, and those at its end."""

    shift: np.ndarray
    after: np.ndarray


def _joints(model: Model) -> Iterator[tuple[slice, slice]]:
    """Yield the slices of rotational and of translational velocities of the Lie-group joints."""
    for name, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind in TURNS:
            where = model.v_slices[name]
            middle = where.start + TURNS[kind]
            yield slice(where.start, middle), slice(middle, where.stop)


def _crossing(v):
    """Return the matrix C with C w = w x v, for v (3) and w (3), or in a plane v (2) and w (1)."""
    if len(v) == 2:
        return np.array([[-v[1]], [v[0]]])
    return np.array([[0.0, v[2], -v[1]], [-v[2], 0.0, v[0]], [v[1], -v[0], 0.0]])


def _turned(model, u):
    """Return the maps exp(-w) and dexp_(-w), as matrices (n, n), of the rotational parts w of displacements u (n)."""
    u = u.copy()
    for _, slide in _joints(model):
        u[slide] = 0.0
    return displacement(model, u)


def without_turning(model: Model, h: float, begin: np.ndarray, v: np.ndarray, dv: np.ndarray
                    ) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities v (n) after a time h in the axes of the start, where they were `begin`, and their derivatives
    (n, 3n). The second n columns are the derivatives by `begin`."""
    v, dv, n = v.copy(), dv.copy(), len(v)
    for turn, slide in _joints(model):
        if slide.stop > slide.start:
            w, C = begin[turn], _crossing(begin[slide])
            v[slide] += h * C @ w
            dv[slide, n + turn.start:n + turn.stop] += h * C
            dv[slide, n + slide.start:n + slide.stop] += h * (
                np.array([[0.0, -w[0]], [w[0], 0.0]]) if len(w) == 1 else -_crossing(w))
    return v, dv


def motion(robot: Any, h: float, q: np.ndarray, q_after: np.ndarray, qd_after: np.ndarray) -> Motion:
    """Return the Motion of a step from q (nq) to q_after with the final velocities qd_after."""
    u, after = robot.difference(q, q_after), qd_after.copy()
    T, E, _ = _turned(robot.model, u)
    shift = u / h
    for turn, slide in _joints(robot.model):
        shift[slide] = T[slide, slide].T @ E[slide, slide] @ u[slide] / h          # dexp_w = exp(w) dexp_(-w)
        after[slide], after[turn] = T[slide, slide].T @ after[slide], T[turn, turn].T @ after[turn]
    return Motion(shift, after)


def at_end(model: Model, h: float, shift: np.ndarray, qd_after: np.ndarray, by_shift: np.ndarray, by_after: np.ndarray
           ) -> np.ndarray:
    """Return the derivatives (2n, 3n) of the state at the end, from those (n, 3n) of a Motion; qd_after (n): velocities
    at the end."""
    n = len(shift)
    T, E, _ = _turned(model, h * shift)
    dq = T @ np.eye(n, 3 * n) + E @ (h * by_shift)
    dqd = by_after.copy()
    for turn, slide in _joints(model):
        ways = dq[turn] - T[turn, turn] @ np.eye(n, 3 * n)[turn]                   # of the rotation in the step
        if slide.stop > slide.start:
            R = T[slide, slide]
            dq[slide] = R @ (np.eye(n, 3 * n)[slide] + h * by_shift[slide])
            dq[slide, turn] += R @ _crossing(h * shift[slide])
            dqd[slide] = R @ by_after[slide] - _crossing(qd_after[slide]) @ ways
        if turn.stop - turn.start == 3:
            dqd[turn] = T[turn, turn] @ by_after[turn] - _crossing(qd_after[turn]) @ ways
    return np.concatenate([dq, dqd])
