"""Integrate and difference functions for batches of configurations."""
from collections.abc import Callable
from functools import cache

import numpy as np

from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.workspace import numbers_type, read_type
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.values import kernel

from .space import Groups, difference_on_groups, integrate_on_groups

JOINT_INDICES = read_type(2, dtype="int64")    # of joint_indices
ROWS = read_type(2, "A")                # of configurations and velocities


@kernel
def joints_at(indices: np.ndarray) -> Groups:
    """Return the joints of a model, from its joint_indices."""
    return Groups(indices[0], indices[1], indices[2])


def spec_of_integrated() -> KernelSpec:
    """Return the KernelSpec that computes g exp(v) from q (N, nq) and v (N, n)."""
    @compiled("integrate.groups", nogil=True)
    def many(indices, q, v, out):
        joints = joints_at(indices)
        for i in range(len(out)):
            integrate_on_groups(joints, q[i], 1.0, v[i], out[i])
    return KernelSpec(many, (JOINT_INDICES, ROWS, ROWS, numbers_type(2)))


def spec_of_difference() -> KernelSpec:
    """Return the KernelSpec that computes log(g0^-1 g1) from q0 and q1 (N, nq)."""
    @compiled("difference.groups", nogil=True)
    def many(indices, q0, q1, out):
        joints = joints_at(indices)
        for i in range(len(out)):
            difference_on_groups(joints, q0[i], q1[i], out[i])
    return KernelSpec(many, (JOINT_INDICES, ROWS, ROWS, numbers_type(2)))


@cache
def entry_of(spec: Callable[[], KernelSpec]) -> Callable:
    """Return the compiled function of a KernelSpec."""
    return function(spec())


def integrated(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Integrate constant velocities v from q over unit time. Each joint moves from its configuration g to g exp(v)."""
    return _of_each(spec_of_integrated, model, q, v, model.nq) if model.on_groups else q + v


def difference(model: Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """Return v (..., n) with integrated(q0, v) = q1: log(g0^-1 g1) for each joint, with angles of at most pi."""
    return _of_each(spec_of_difference, model, q0, q1, model.n) if model.on_groups else q1 - q0


def _of_each(spec, model, x, y, width):
    """Return the results (..., width), broadcast over the leading axes."""
    lead = x.shape[:-1]
    if y.shape[:-1] != lead:
        lead = np.broadcast_shapes(lead, y.shape[:-1])
        x, y = (np.broadcast_to(a, (*lead, a.shape[-1])) for a in (x, y))
    out = np.empty((*lead, width))
    entry_of(spec)(model.joint_indices, *(a.reshape(-1, a.shape[-1]) for a in (x, y)), out.reshape(-1, width))
    return out
