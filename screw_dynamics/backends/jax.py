"""A robot's functions for JAX, for use in jit, grad, jvp, jacfwd, jacrev and vmap. Requires the extra [jax].

JAX calls the package's compiled code on the CPU, with derivative rules that call its derivatives. vmap becomes a
batch, computed on SIMD lanes."""
from collections.abc import Callable
from typing import Any

import numpy as np

from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .bridged_robot import BridgedRobot
from .functions import Function

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError('screw_dynamics.backends.jax requires JAX: pip install "screw_dynamics[jax]"') from error


class JaxRobot(BridgedRobot):
    """The functions of a robot for JAX: arguments as in Robot, in float64.

    Calls raise ValueError if JAX computes in float32, its default; the message has the setting. Only inverse dynamics
    without Lie-group joints has second derivatives; other functions raise NotImplementedError for them. Derivatives
    with respect to q are with respect to its nq numbers, four for a quaternion."""

    def __init__(self, robot: Robot):
        super().__init__(robot, _lifted)

    def _split(self, x: Any) -> tuple[Any, Any]:
        return x[..., :self.robot.nq], x[..., self.robot.nq:]


def _lifted(function: Function) -> Callable:
    """Return a Function as a JAX function."""
    name, sizes, shape, *_ = function
    axes = "ij"[:len(shape)]

    def called(f, shapes, inputs):
        lead = jnp.broadcast_shapes(*(x.shape[:-1] for x in inputs))
        results = [jax.ShapeDtypeStruct((*lead, *shape), jnp.float64) for shape in shapes]
        return jax.pure_callback(lambda *x: [*f(*map(np.asarray, x))], results, *inputs, vmap_method="expand_dims")

    @jax.custom_jvp
    def value(*inputs):
        return called(lambda *x: [function.value(*x)], [shape], inputs)[0]

    @jax.custom_jvp
    def derivatives(*inputs):
        return called(function.derivatives, [(*shape, size) for size in sizes], inputs)

    @value.defjvp
    def _(inputs, tangents):
        terms = zip(derivatives(*inputs), tangents, strict=True)
        return value(*inputs), sum(jnp.einsum(f"...{axes}k,...k->...{axes}", by, x) for by, x in terms)

    @jax.custom_jvp
    def second(*inputs):
        flat = called(lambda *x: [by for row in function.second(*x) for by in row],
                      [(*shape, one, other) for one in sizes for other in sizes], inputs)
        return [flat[k:k + len(sizes)] for k in range(0, len(flat), len(sizes))]

    @derivatives.defjvp
    def _(inputs, tangents):
        if function.second is None:
            raise NotImplementedError(f"{name}: the JAX bridge has no second derivatives of this function")
        changes = [sum(jnp.einsum(f"...{axes}km,...m->...{axes}k", by, x) for by, x in zip(row, tangents, strict=True))
                   for row in second(*inputs)]
        return derivatives(*inputs), changes

    @second.defjvp
    def _(inputs, tangents):
        raise NotImplementedError(f"{name}: the bridge to JAX has no third derivatives")

    def checked(*inputs):
        if not jax.config.jax_enable_x64:
            raise ValueError("JAX computes in float32, which is too coarse for dynamics: set "
                             "jax.config.update('jax_enable_x64', True) at the start of the program")
        for x in inputs:
            checks.plain(f"an argument of {name}", x)
        arrays = [jnp.asarray(x, jnp.float64) for x in inputs]
        for x, size in zip(arrays, sizes, strict=True):
            if x.shape[-1:] != (size,):
                raise ValueError(f"{name}: an argument has shape {x.shape}, but must end in {size}")
        return value(*arrays)
    return checked
