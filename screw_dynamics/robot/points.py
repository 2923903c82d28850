"""Kinematics of a point of a link: the results of kernels for the link's frame, transformed to the point.

The frame of a point p, given in the link's frame, has the link's orientation and the origin p. Body-fixed twists are
transformed by a constant matrix, for derivatives of every order; spatial twists are those of the link. The velocity of
the origin, which hybrid and mixed twists contain, is v + w x r with the arm r = R p, whose derivative is w x r;
derivatives of any order follow Leibniz's rule. Kernels take a single link frame for all states. Points are transformed
here, as they can be a batch."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import tilde
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import Axis, any_foreign

Point: TypeAlias = ArrayLike | None
STATES = "q", "qd", "qdd", "qddd", "qdddd"
CONSTANT = "body", "spatial"    # representations with a constant map from twists of the link to those of a point


class Moved(NamedTuple):
    """A robot evaluated at points (..., 3) of a link, given in its frame; other fields are arguments of the methods."""

    robot: Any
    link: str
    representation: str
    reference: str | None
    point: ArrayLike
    threads: int | None = None

    def pose(self, q: ArrayLike) -> np.ndarray:
        """Return the pose (..., 4, 4) of the frame at the point."""
        if any_foreign((q, self.point)):
            return self._on("forward_kinematics", (q,), ("row", "column"), (4, 4))
        p, = self._points(q)
        C = self.robot.forward_kinematics(q, self.link, self.reference, threads=self.threads)
        C = np.broadcast_to(C, (*p.shape[:-1], 4, 4)).copy()
        C[..., :3, 3] += _product(C[..., :3, :3], p)
        return C

    def jacobian(self, *states: ArrayLike) -> np.ndarray:
        """Return the Jacobian (..., 6, n) of the point at q, its first time derivative at q, qd, or its second at q,
        qd, qdd."""
        order, robot = len(states) - 1, self.robot
        if any_foreign((*states, self.point)):
            method = ("jacobian", "jacobian_derivative", "jacobian_second_derivative")[order]
            return self._on(method, states, ("twist", "joint"), (6, robot.n), representation=self.representation)
        p, *_ = self._points(*states)
        methods = robot.jacobian, robot.jacobian_derivative, robot.jacobian_second_derivative
        J = self._of_link(methods[order], states, self.representation)
        if self.representation in CONSTANT:
            return self._constant(J, p)
        series = [self._of_link(methods[k], states[:k + 1], "hybrid") for k in range(order + 1)]
        w = [sum(comb(k, i) * _product(series[i][..., :3, :], states[k - i + 1]) for i in range(k + 1))
             for k in range(order)]
        return with_velocities(J, [x[..., :3, :] for x in series], self._arms(states[0], p, w))

    def twist_derivative(self, *states: ArrayLike) -> np.ndarray:
        """Return the time derivative (..., 6) of order len(states) - 2 of the twist of the point, at q, qd, qdd, ..."""
        order, robot = len(states) - 2, self.robot
        if any_foreign((*states, self.point)):
            method = ("link_acceleration", "link_jerk", "link_snap")[order - 1]
            return self._on(method, states, ("twist",), (6,), representation=self.representation)
        p, *_ = self._points(*states)
        methods = robot.link_acceleration, robot.link_jerk, robot.link_snap
        V = self._of_link(methods[order - 1], states, self.representation)[..., None]
        if self.representation in CONSTANT:
            return self._constant(V, p)[..., 0]
        w = [_product(self._of_link(robot.jacobian, states[:1], "hybrid")[..., :3, :], states[1])]
        w += [self._of_link(methods[k], states[:k + 3], "hybrid")[..., :3] for k in range(order)]
        return with_velocities(V, [x[..., None] for x in w], self._arms(states[0], p, w[:-1]))[..., 0]

    def hessian(self, q: ArrayLike) -> np.ndarray:
        """Return the derivatives (..., 6, n, n) of the Jacobian of the point by q."""
        if any_foreign((q, self.point)):
            n = self.robot.n
            return self._on("kinematic_hessian", (q,), ("twist", "joint", "by_joint"), (6, n, n),
                            representation=self.representation)
        p, = self._points(q)
        H = self._of_link(self.robot.kinematic_hessian, (q,), self.representation)
        pairs = (*H.shape[:-2], H.shape[-1] ** 2)
        if self.representation in CONSTANT:
            moved = self._constant(H.reshape(pairs), p)
        else:
            w = self._of_link(self.robot.jacobian, (q,), "hybrid")[..., :3, :]
            by_q = self._of_link(self.robot.kinematic_hessian, (q,), "hybrid")[..., :3, :, :]
            arm, = self._arms(q, p, ())
            arm_by_q = -tilde(arm) @ w                                          # w_j x r
            moved = with_velocities(H.reshape(pairs), [by_q.reshape(*pairs[:-2], 3, pairs[-1])], [arm])
            turned = np.cross(w[..., :, None], arm_by_q[..., None, :], axis=-3)
            moved[..., 3:, :] += turned.reshape(*turned.shape[:-2], pairs[-1])
        return moved.reshape(*moved.shape[:-1], *H.shape[-2:])

    def _on(self, method, states, dimensions, shape, **options):
        """Return the result of a method for the point, on Dask or xarray arrays."""
        given = {**dict(zip(STATES, states, strict=False)), "point": (self.point, (Axis("axis", 3, ("x", "y", "z")),))}
        return self.robot._method_on(method, given, dimensions, shape, threads=self.threads, link=self.link,
                                     reference=self.reference, **options)

    def _points(self, *states):
        """Return the points and the states after q, broadcast over their leading axes, in a list."""
        robot, named = self.robot, dict(zip(STATES, states, strict=False))
        arrays = {name: checks.real_numbers(name, x, robot.nq if name == "q" else robot.n) for name, x in named.items()}
        return checks.broadcast({"point": checks.finite_numbers("point", self.point, 3)} | arrays)[:1]

    def _of_link(self, method: Callable, states: Sequence, representation: str) -> np.ndarray:
        """Return the result of a method for the link."""
        return method(*states, self.link, representation, self.reference, threads=self.threads)

    def _constant(self, V, p):
        """Return twists (..., 6, m) in a representation in which the point is constant or irrelevant."""
        if self.representation == "body":
            return with_velocities(V, [V[..., :3, :]], [p])
        return np.broadcast_to(V, (*p.shape[:-1], *V.shape[-2:])).copy()

    def _arms(self, q, p, w):
        """Return the arm R p and its time derivatives, (..., 3) each, from those of the angular velocity w."""
        C = self.robot.forward_kinematics(q, self.link, self.reference, threads=self.threads)
        arms = [_product(C[..., :3, :3], p)]
        for k in range(len(w)):
            arms.append(sum(comb(k, i) * np.cross(w[k - i], arms[i]) for i in range(k + 1)))
        return arms


def with_velocities(V: np.ndarray, w: Sequence[np.ndarray], arms: Sequence[np.ndarray]) -> np.ndarray:
    """Return time derivatives (..., 6, m) of twists at a point, from those of a frame: linear rows + (w x r)^(order).

    w: angular velocities (..., 3, m) and derivatives, the last of that order; arms (..., 3): r and its nonzero
    derivatives. For constant r the last w is sufficient."""
    last = len(w) - 1
    added = sum(comb(last, k) * -tilde(arm) @ w[last - k] for k, arm in enumerate(arms))
    moved = np.broadcast_to(V, (*np.broadcast_shapes(V.shape[:-2], added.shape[:-2]), *V.shape[-2:])).copy()
    moved[..., 3:, :] += added
    return moved


def stored(result: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """Return a result, or write it into `out`, of float64 or float32, and return that."""
    if out is None:
        return result
    out = checks.result_array(out, result.shape, np.float32)
    out[...] = result
    return out


def _product(A, x):
    """Return matrices (..., a, b) times vectors (..., b)."""
    return np.einsum("...ij,...j->...i", A, x)
