"""A robot's functions for JAX: in jit, grad, jvp, jacfwd, jacrev and vmap. Takes JAX, the extra [jax].

They are calls back from JAX into our machine code, on the CPU, with derivative rules that call our derivatives. vmap
becomes a batch, on lanes."""
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from screw_dynamics.robot import Robot

from . import functions
from .functions import Function

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("screw_dynamics.bridges.jax takes JAX: pip install screw_dynamics[jax]") from error


class JaxRobot:
    """The functions of a robot, as JAX takes them: arguments as those of Robot, in float64.

    Where JAX computes in float32, which is its default, calls raise a ValueError, that says how to change that. Second
    derivatives are there of inverse dynamics alone, without joints on groups; of others, they raise
    NotImplementedError. By a configuration derivatives are by its numbers, of a quaternion by its four."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self._inverse_dynamics = _lifted(functions.inverse_dynamics(robot))
        self._forward_dynamics = _lifted(functions.forward_dynamics(robot))
        self._mass_matrix = _lifted(functions.mass_matrix(robot))
        self._pose = cache(lambda *names: _lifted(functions.forward_kinematics(robot, *names)))
        self._step = cache(lambda *options: _lifted(functions.step(robot, *options)))

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any:
        """The efforts tau (..., n) that a motion requires."""
        return self._inverse_dynamics(q, qd, qdd)

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> Any:
        """The accelerations qdd (..., n) that efforts cause."""
        return self._forward_dynamics(q, qd, tau)

    def mass_matrix(self, q: Any) -> Any:
        """The mass matrix (..., n, n)."""
        return self._mass_matrix(q)

    def forward_kinematics(self, q: Any, link: str, reference: str | None = None) -> Any:
        """The pose (..., 4, 4) of a link."""
        return self._pose(link, reference)(q)

    def step(self, q: Any, qd: Any, tau: Any, dt: float, integrator: str = "semi_implicit_euler",
             friction: bool = False) -> tuple[Any, Any]:
        """The state (q, qd) a time dt later, for jax.lax.scan say; dt, integrator and friction are constants."""
        x = self._step(dt, integrator, bool(friction))(q, qd, tau)
        return x[..., :self.robot.nq], x[..., self.robot.nq:]


def _lifted(function: Function) -> Callable:
    """A Function as one of JAX."""
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
            raise NotImplementedError(f"{name}: the bridge to JAX has no second derivatives of it")
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
        arrays = [jnp.asarray(x, jnp.float64) for x in inputs]
        for x, size in zip(arrays, sizes, strict=True):
            if x.shape[-1:] != (size,):
                raise ValueError(f"{name}: an argument has shape {x.shape}, but must end in {size}")
        return value(*arrays)
    return checked
