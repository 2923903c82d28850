"""Tangent maps of exp and dexp on Lie groups: matrices (..., n, n) of a model, joint by joint."""
from functools import cache
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.configurations import JOINT_INDICES, ROWS, entry_of, joints_at
from screw_dynamics.algorithms.space import (
    Groups,
    degrees,
    dexp_inv_transpose,
    dexp_transpose,
    displacement_rate,
    efforts_on_groups,
)
from screw_dynamics.compiled.workspace import numbers_type
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.model.macro_joints import degree
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.dual import along, direction, dual, no_derivatives
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import PLAIN, kernel, over
from screw_dynamics.screws import se3, so3
from screw_dynamics.screws.groups.se3 import ad
from screw_dynamics.screws.se3 import Twist
from screw_dynamics.screws.vectors import Vec3

MOST = 6        # velocities of a joint


class Displacement(NamedTuple):
    """Tangent maps of a displacement u.

    Deviations dq of q and du of u cause the deviation T dq + E du of q exp(u), with T = Ad_exp(-u), E = dexp_(-u), F =
    E^-1."""

    T: np.ndarray
    E: np.ndarray
    F: np.ndarray


class Trivialization(NamedTuple):
    """Tangent maps of the rate u' = dexp_(-u)^-1 v at q exp(u): deviations dv of v and du of u change it by F dv + G
    du."""

    F: np.ndarray
    G: np.ndarray


@kernel
def put_unit(joints: Groups, k: int, out: np.ndarray) -> None:
    """Set out (n) to 1 at the k-th velocity of each joint that has one, else to 0."""
    for i in range(1, len(joints.kind)):
        for j in range(degrees(joints.kind[i])):
            out[joints.velocity[i] + j] = 1.0 if j == k else 0.0


@kernel
def put_row(joints: Groups, k: int, row: np.ndarray, out: np.ndarray) -> None:
    """Write to the row of the k-th velocity of each joint that has one, in out (n, n), the entries of `row` (n) for
    that joint."""
    for i in range(1, len(joints.kind)):
        first, size = joints.velocity[i], degrees(joints.kind[i])
        for j in range(size if k < size else 0):
            out[first + k, first + j] = row[first + j]


@kernel
def turned(xi: Vec3, a: Vec3) -> Vec3:
    """Return exp(xi) a."""
    return so3.exp(xi) @ a


@kernel
def moved(X: Twist, Y: Twist) -> Twist:
    """Return Ad_exp(X) Y."""
    return se3.Ad(se3.exp(X), Y)


carry = efforts_on_groups(turned, moved)        # sets out (n) to Ad_exp(u)^T w


def spec_of_displacement() -> KernelSpec:
    """Return the KernelSpec that fills a Displacement of u (N, n) row by row: Ad_exp(-u)^T e_k, ... memory (3, n)."""
    @compiled("displacement.groups", nogil=True)
    def many(indices, u, memory, T, E, F):
        joints, back, unit, row = joints_at(indices), memory[0], memory[1], memory[2]
        for p in range(len(u)):
            for k in range(len(back)):
                back[k] = -u[p, k]
            for k in range(MOST):
                put_unit(joints, k, unit)
                carry(joints, back, unit, row)
                put_row(joints, k, row, T[p])
                dexp_transpose(joints, back, unit, row)
                put_row(joints, k, row, E[p])
                dexp_inv_transpose(joints, back, unit, row)
                put_row(joints, k, row, F[p])
    return KernelSpec(many, (JOINT_INDICES, ROWS, numbers_type(2), *(numbers_type(3),) * 3))


def spec_of_trivialization() -> KernelSpec:
    """Return the KernelSpec that fills G of a Trivialization of u and v (N, n) by dual numbers in `memory`: for all
    joints at once, each along its own velocities."""
    @compiled("trivialization.groups", nogil=True)
    def many(indices, u, v, memory, G):
        joints, like, n = joints_at(indices), no_derivatives(), u.shape[1]
        numbers = block(like, (3, n), memory, 0)
        U, V, rate = numbers[0], numbers[1], numbers[2]
        for p in range(len(u)):
            for first in range(0, MOST, WIDTH):
                for i in range(1, len(joints.kind)):
                    for j in range(degrees(joints.kind[i])):
                        k = joints.velocity[i] + j
                        U[k], V[k] = dual(u[p, k], direction(j - first)), over(v[p, k], like)
                displacement_rate(joints, U, V, rate)
                for i in range(1, len(joints.kind)):
                    at, size = joints.velocity[i], degrees(joints.kind[i])
                    for k in range(size):
                        for j in range(first, min(size, first + WIDTH)):
                            G[p, at + k, at + j] = along(rate[at + k], j - first)
    return KernelSpec(many, (JOINT_INDICES, ROWS, ROWS, numbers_type(1), numbers_type(3)))


def displacement(model: Model, u: np.ndarray) -> Displacement:
    """Return the Displacement of u (..., n)."""
    n = model.n
    found = np.zeros((3, *u.shape, n))
    entry_of(spec_of_displacement)(model.joint_indices, u.reshape(-1, n), np.empty((3, n)), *found.reshape(3, -1, n, n))
    return Displacement(*found)


def trivialization(model: Model, u: np.ndarray, v: np.ndarray) -> Trivialization:
    """Return F = dexp_(-u)^-1 and G = d(F v)/du for u and v (..., n)."""
    n, G = model.n, np.zeros((*u.shape, model.n))
    memory = np.empty(3 * n, dtype=object) if PLAIN else np.zeros(3 * n * (1 + WIDTH))
    entry_of(spec_of_trivialization)(model.joint_indices, u.reshape(-1, n), v.reshape(-1, n), memory,
                                     G.reshape(-1, n, n))
    return Trivialization(displacement(model, u).F, G)


def transport(model: Model, v: np.ndarray) -> np.ndarray:
    """Return -ad_v for velocities v (..., n): the rate of a deviation dq in the moving joint frame."""
    rate = np.zeros((*v.shape, model.n))
    for kind, rates in _groups(model):
        rate[..., rates, rates] = -_ad(kind, v[..., rates])
    return rate


def products(model: Model, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the products sum_(m < j) v_m v_j [X_m, X_j] of accelerations, (..., n), see algorithms/group_rates.py, and
    their derivatives (..., n, n) by the velocities v (..., n)."""
    total, by_v = np.zeros(v.shape), np.zeros((*v.shape, model.n))
    for kind, rates in _groups(model):
        ordered, x = np.triu(_brackets(kind)), v[..., rates]
        right = np.einsum("imj,...m->...ij", ordered, x)
        total[..., rates] = np.einsum("...ij,...j->...i", right, x)
        by_v[..., rates, rates] = right + np.einsum("imj,...j->...im", ordered, x)
    return total, by_v


# ------------------------------------------------------------------------------------------------- a group
def _groups(model):
    """Return kind and velocities of the Lie-group joints."""
    for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind in GROUPS:
            yield kind, model.v_slices[joint]


@cache
def _brackets(kind):
    """Return the structure constants (k, k, k) of a group: [e_j, e_k] = sum_i c_ijk e_i, with orthonormal screws e."""
    X = np.array([degree(motion).screw for motion in GROUPS[kind].motions])
    return np.einsum("jka,ia->ijk", ad(X[:, None], X), X)


def _ad(kind, u):
    return np.einsum("ijk,...j->...ik", _brackets(kind), u)
