"""How deviations on groups pass through exp and dexp: matrices (..., n, n) of a model, joint by joint.

All are functions of A = ad_u, of which (A^2 + x)^2 A = 0 with x = |xi|^2 for a u that turns by xi: so dexp_u = sum_k
A^k / (k + 1)! is a polynomial of degree 4 in A, of which the coefficients follow from the values and slopes of the
series at the eigenvalues 0 and +-i |xi|."""
from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.model.macro_joints import degree
from screw_dynamics.model.model import Model
from screw_dynamics.screws import so3
from screw_dynamics.screws.groups import se3


class Displacement(NamedTuple):
    """Of a displacement u: a deviation dq of q, and du of u, are T dq + E du of q exp(u)."""

    T: np.ndarray
    E: np.ndarray


class Trivialization(NamedTuple):
    """Of the rate u' = dexp_(-u)^-1 v at q exp(u): deviations dv of v and du of u change it by F dv + G du."""

    F: np.ndarray
    G: np.ndarray


def displacement(model: Model, u: np.ndarray) -> Displacement:
    """T = Ad_exp(-u) and E = dexp_(-u), of u (..., n)."""
    T, E = (_identity(model, u) for _ in range(2))
    for kind, rates in _groups(model):
        A = _ad(kind, u[..., rates])
        E[..., rates, rates] = dexp = _polynomial(A, _coefficients(kind, u[..., rates])[0])
        T[..., rates, rates] -= A @ dexp
    return Displacement(T, E)


def trivialization(model: Model, u: np.ndarray, v: np.ndarray) -> Trivialization:
    """F = dexp_(-u)^-1 and G = d(F v)/du = -F d(dexp_(-u) w)/du at w = F v, of u and v (..., n)."""
    F, G = _identity(model, u), np.zeros((*u.shape, model.n))
    for kind, rates in _groups(model):
        A, (p, slopes) = _ad(kind, u[..., rates]), _coefficients(kind, u[..., rates])
        F[..., rates, rates] = inverse = np.linalg.inv(_polynomial(A, p))
        w = [inverse @ v[..., rates, None]]                                         # A^k w
        for _ in p:
            w.append(A @ w[-1])
        xi = u[..., rates] * (np.arange(A.shape[-1]) < _turns(kind))
        by_u = np.zeros(A.shape)                # sum_i A^i ad(sum_(k > i) p_k A^(k-1-i) w), as dA a = -ad_a du
        for i in reversed(range(len(p))):
            by_u = A @ by_u - _ad(kind, sum(p[k][..., None] * w[k - i][..., 0] for k in range(i, len(p))))
        by_x = sum(slopes[k][..., None, None] * w[k + 1] for k in range(len(p)))    # x = |xi|^2
        G[..., rates, rates] = -inverse @ (by_u + 2.0 * by_x * xi[..., None, :])
    return Trivialization(F, G)


def transport(model: Model, v: np.ndarray) -> np.ndarray:
    """-ad_v, of velocities v (..., n): the rate at which a deviation dq turns against the moving joint frame."""
    rate = np.zeros((*v.shape, model.n))
    for kind, rates in _groups(model):
        rate[..., rates, rates] = -_ad(kind, v[..., rates])
    return rate


def products(model: Model, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The products sum_(m < j) v_m v_j [X_m, X_j] of accelerations, (..., n), see algorithms/group_rates.py, and their
    derivatives (..., n, n) by the velocities v (..., n)."""
    total, by_v = np.zeros(v.shape), np.zeros((*v.shape, model.n))
    for kind, rates in _groups(model):
        ordered, x = np.triu(_brackets(kind)), v[..., rates]
        right = np.einsum("imj,...m->...ij", ordered, x)
        total[..., rates] = np.einsum("...ij,...j->...i", right, x)
        by_v[..., rates, rates] = right + np.einsum("imj,...j->...im", ordered, x)
    return total, by_v


# ------------------------------------------------------------------------------------------------- a group
def _groups(model):
    """Kind and velocities of the joints on groups."""
    for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind in GROUPS:
            yield kind, model.v_slices[joint]


def _identity(model, u):
    return np.broadcast_to(np.eye(model.n), (*u.shape, model.n)).copy()


@cache
def _brackets(kind):
    """The structure constants (k, k, k) of a group: [e_j, e_k] = sum_i c_ijk e_i, its screws e being orthonormal."""
    X = np.array([degree(motion).screw for motion in GROUPS[kind].motions])
    return np.einsum("jka,ia->ijk", se3.ad(X[:, None], X), X)


def _turns(kind):
    """How many velocities of a group are angular; they come first."""
    return sum(motion.startswith("r") for motion in GROUPS[kind].motions)


def _ad(kind, u):
    return np.einsum("ijk,...j->...ik", _brackets(kind), u)


def _polynomial(A, p):
    """dexp_(-u) = 1 + p_1 A + p_2 A^2 + p_3 A^3 + p_4 A^4."""
    one, total = np.eye(A.shape[-1]), 0.0
    for factor in reversed(p):
        total = A @ (total + factor[..., None, None] * one)
    return one + total


def _coefficients(kind, u):
    """p_1 ... p_4 (...) of dexp_(-u), and their derivatives by x = |xi|^2; c_k' = (k c_(k+2) - c_(k+1)) / 2 of Stumpff
    numbers."""
    xi = u[..., :_turns(kind)]
    x = (xi * xi).sum(axis=-1)
    c = [0.0, *so3.stumpff(x)]                                                      # c_1 ... c_6
    near, far = np.minimum(x, so3.SERIES), np.maximum(x, so3.SERIES)
    c.append(np.where(x < so3.SERIES, sum((-near) ** j / factorial(2 * j + 7) for j in range(13, -1, -1)),
                      (1.0 / 120.0 - c[5]) / far))
    d = [0.0, *(0.5 * (k * c[k + 2] - c[k + 1]) for k in range(1, 6))]

    def p(c):
        return 0.5 * c[1] - 2.0 * c[2], 2.5 * c[3] - 0.5 * c[2], c[4] - 0.5 * c[3], 0.5 * c[4] - 1.5 * c[5]
    return p(c), p(d)
