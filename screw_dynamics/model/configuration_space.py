"""The configuration space of a model: one coordinate per single-DoF joint, and a Lie-group element per other joint.

The functions convert between velocities (..., n) and time derivatives of configurations (..., nq), joint by joint, in
batches. Exponentials and logarithms are in algorithms/space.py."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .group_joints import identity
from .model import Model

QUATERNION = slice(-4, None)    # in the configuration of a spherical or a free joint


def neutral(model: Model) -> np.ndarray:
    """Return the neutral configuration (nq,) of the model's poses: coordinates 0, and the identity of each group."""
    return np.concatenate([np.zeros(0), *(identity(kind) for kind in model.joint_kinds)])


def normalized(model: Model, q: np.ndarray) -> np.ndarray:
    """Return configurations with unit quaternions. Raises ValueError with the joint's name for a quaternion 0."""
    q = np.array(q, dtype=float)
    if joint := without_direction(model, q):
        raise ValueError(f"joint {joint!r}: the quaternion 0 0 0 0 has no direction")
    for _, quaternion in _quaternions(model, q):
        quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return q


def without_direction(model: Model, q: np.ndarray) -> str:
    """Return the first joint whose quaternion is 0 in one of the configurations (..., nq); "" for none."""
    return next((joint for joint, quaternion in _quaternions(model, q) if not quaternion.any(axis=-1).all()), "")


def _quaternions(model, q):
    """Return (joint, quaternion part (..., 4) of the configurations) for each joint with a quaternion."""
    return [(joint, q[..., numbers][..., QUATERNION]) for joint, kind, numbers, _ in _joints(model)
            if kind in ("spherical", "free")]


def velocities(model: Model, q: np.ndarray, rates: np.ndarray, accelerations: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations (..., n) from q(t) (..., nq) and its first and second time derivatives.

    Quaternions may have any, even varying, length: the length only affects the scalar part of r^-1 r', and the vector
    part is half the angular velocity."""
    v, vd = np.empty((2, *q.shape[:-1], model.n))
    for _, kind, numbers, of in _joints(model):
        v[..., of], vd[..., of] = _velocities(kind, *(x[..., numbers] for x in (q, rates, accelerations)))
    return v, vd


def rates(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the time derivative (..., nq) of q (..., nq) for velocities v (..., n): the inverse of `velocities`."""
    found = np.empty((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), model.nq))
    for _, kind, numbers, of in _joints(model):
        found[..., numbers] = _rates(kind, q[..., numbers], v[..., of])
    return found


def second_rates(model: Model, q: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the derivatives (..., nq) of rates(q, v) along velocities u (..., n), for constant v."""
    found = np.empty((*np.broadcast_shapes(q.shape[:-1], u.shape[:-1], v.shape[:-1]), model.nq))
    for _, kind, numbers, of in _joints(model):
        found[..., numbers] = _second_rates(kind, q[..., numbers], u[..., of], v[..., of])
    return found


def continuous(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the configurations (samples, nq) with quaternion signs chosen nearest to the previous sample."""
    q = np.array(q, dtype=float)
    for _, kind, numbers, _ in _joints(model):
        if kind in ("spherical", "free"):
            r = q[:, numbers][:, QUATERNION]
            turned = np.where((r[1:] * r[:-1]).sum(axis=-1) < 0.0, -1.0, 1.0)
            r *= np.cumprod(np.r_[np.ones(len(r[:1])), turned])[:, None]
    return q


def random(model: Model, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return random configurations (*shape, nq): uniform within limits, with rotations uniform on SO(3).

    Unlimited angles are in [-pi, pi], unlimited lengths in [-1, 1]."""
    q = np.empty((*shape, model.nq))
    for _, kind, numbers, rates in _joints(model):
        if kind in ("spherical", "free"):
            q[..., numbers] = rng.uniform(-1.0, 1.0, (*shape, numbers.stop - numbers.start))
            q[..., numbers][..., QUATERNION] = rng.standard_normal((*shape, 4))
        elif kind == "planar":
            q[..., numbers] = rng.uniform(-1.0, 1.0, (*shape, 3)) * (1.0, 1.0, np.pi)
        else:
            reach = 1.0 if kind == "prismatic" else np.pi
            lower, upper = model.lower[rates.start], model.upper[rates.start]
            low, high = (lower if lower > -np.inf else min(-reach, upper - reach),
                         upper if upper < np.inf else max(reach, lower + reach))
            q[..., numbers] = rng.uniform(low, high, (*shape, 1))
    return normalized(model, q)


def _joints(model: Model) -> Iterator[tuple[str, str, slice, slice]]:
    """Yield the name, the kind, the slice of q and the slice of the velocities of each joint."""
    for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        yield joint, kind, model.q_slices[joint], model.v_slices[joint]


def _velocities(kind, q, rates, accelerations):
    """Return the twist of g and its derivative, from derivatives of the joint's part of q."""
    if kind == "spherical":
        inverse = _conjugate(q)
        half = product(inverse, rates)
        return 2.0 * half[..., :3], 2.0 * (product(inverse, accelerations) - product(half, half))[..., :3]
    if kind == "free":
        back = _conjugate(q[..., QUATERNION])
        w, wd = _velocities("spherical", *(x[..., QUATERNION] for x in (q, rates, accelerations)))
        v, a = (rotated(back, x[..., :3]) for x in (rates, accelerations))
        return np.concatenate((w, v), axis=-1), np.concatenate((wd, a - np.cross(w, v)), axis=-1)
    if kind == "planar":
        w, wd = rates[..., 2:], accelerations[..., 2:]
        v, a = (_turned(-q[..., 2:], x[..., :2]) for x in (rates, accelerations))
        across = np.concatenate((-v[..., 1:], v[..., :1]), axis=-1)
        return np.concatenate((w, v), axis=-1), np.concatenate((wd, a - w * across), axis=-1)
    return rates, accelerations


def _rates(kind, q, v):
    """Return the derivative of the joint's part of q from the twist of g; r w / 2 for a quaternion r of any length."""
    if kind == "spherical":
        return 0.5 * product(q, np.concatenate((v, np.zeros((*v.shape[:-1], 1))), axis=-1))
    if kind == "free":
        turn = _rates("spherical", q[..., QUATERNION], v[..., :3])
        return np.concatenate((rotated(q[..., QUATERNION], v[..., 3:]), turn), axis=-1)
    if kind == "planar":
        slide = _turned(q[..., 2:], v[..., 1:])
        return np.concatenate((slide, np.broadcast_to(v[..., :1], (*slide.shape[:-1], 1))), axis=-1)
    return v


def _second_rates(kind, q, u, v):
    """Return the derivative, along u, of the rates for v: the components of g u^ v^, with positions rotated by g."""
    if kind == "spherical":
        return _rates(kind, _rates(kind, q, u), v)
    if kind == "free":
        turn = _second_rates("spherical", q[..., QUATERNION], u[..., :3], v[..., :3])
        return np.concatenate((rotated(q[..., QUATERNION], np.cross(u[..., :3], v[..., 3:])), turn), axis=-1)
    if kind == "planar":
        across = np.concatenate((-v[..., 2:], v[..., 1:2]), axis=-1)
        slide = _turned(q[..., 2:], u[..., :1] * across)
        return np.concatenate((slide, np.zeros_like(slide[..., :1])), axis=-1)
    return np.zeros_like(q)


# ------------------------------------------------------------------------------------------------- the plane
def _turned(angle, p):
    """Return vectors (..., 2) rotated by angles (..., 1)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate((c * p[..., :1] - s * p[..., 1:], s * p[..., :1] + c * p[..., 1:]), axis=-1)


# ------------------------------------------------------------------------------------------------- quaternions x y z w
def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product (..., 4) of quaternions; the product of unit quaternions has unit length to machine
    precision."""
    (u, s), (v, t) = ((x[..., :3], x[..., 3:]) for x in (a, b))
    vector = s * v + t * u + np.cross(u, v)
    return np.concatenate((vector, s * t - (u * v).sum(axis=-1, keepdims=True)), axis=-1)


def _conjugate(a):
    return a * (-1.0, -1.0, -1.0, 1.0) / (a * a).sum(axis=-1, keepdims=True)


def rotated(a: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return vectors p (..., 3) rotated by quaternions (..., 4)."""
    v, w = a[..., :3], a[..., 3:]
    return p + 2.0 / (a * a).sum(axis=-1, keepdims=True) * (
        w * np.cross(v, p) + np.cross(v, np.cross(v, p)))
