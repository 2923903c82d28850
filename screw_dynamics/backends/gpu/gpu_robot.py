"""A robot on a GPU: methods of Robot for batches in GPU memory."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.c_code.export import prepared
from screw_dynamics.c_code.functions import Function
from screw_dynamics.robot import Robot
from screw_dynamics.robot.derivatives import AccelerationDerivatives, EffortDerivatives
from screw_dynamics.rollout.rollout_arguments import by_intervals, sampling
from screw_dynamics.utils import checks

from . import kernels
from .batches import PRECISIONS, Given, kind, lead_of, strided
from .device import Cuda

Wrenches = Mapping[str, Any]


def on_gpu(robot: Robot) -> GpuRobot:
    """Return a robot whose methods compute on the GPUs of this machine, using CuPy.

    Parameters
    ----------
    robot : Robot
        Robot. Mechanisms and scenes are not supported.

    Returns
    -------
    GpuRobot
        The robot on the GPUs.

    Raises
    ------
    ImportError
        If CuPy, of the extra [cuda13] or [cuda12], is not installed.
    RuntimeError
        If there is no GPU.
    TypeError
        If `robot` is not a Robot.
    """
    return GpuRobot(robot, Cuda())


class GpuRobot:
    """A robot whose methods take and return arrays on a GPU.

    Results are arrays of the first argument's library (CuPy, PyTorch or JAX), or CuPy arrays for other libraries with
    DLPack. Nothing is copied to the CPU, and no call waits for the GPU.

    Each method computes the same as that of Robot. Leading axes are a batch, in any strides, and broadcast. All
    arguments must be float64, or all float32; computations have the same precision. The first call of a method
    generates CUDA code and compiles it, which takes a second or several; CuPy caches the machine code on disk. Raises
    ValueError naming the argument that does not fit, or a function with too many operations."""

    def __init__(self, robot: Robot, device: Any):
        if not isinstance(robot, Robot):
            raise TypeError(f"on_gpu takes a Robot, not the {type(robot).__name__} {checks.described(robot)}")
        self.robot, self._device = robot, device
        self._compiled: dict[tuple, tuple[Function, Callable]] = {}

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any, external: Wrenches | None = None) -> Any:
        """Return the efforts tau (..., n) of Robot.inverse_dynamics; external wrenches are {link: (..., 6)}."""
        return self._one("inverse_dynamics", q=q, qd=qd, qdd=qdd, external=external)

    def gravity_torque(self, q: Any) -> Any:
        """Return the efforts g(q) (..., n) of Robot.gravity_torque."""
        return self._one("gravity_torque", q=q)

    def coriolis_torque(self, q: Any, qd: Any) -> Any:
        """Return the efforts C(q, qd) qd (..., n) of Robot.coriolis_torque."""
        return self._one("coriolis_torque", q=q, qd=qd)

    def bias_torque(self, q: Any, qd: Any) -> Any:
        """Return the efforts C(q, qd) qd + g(q) (..., n)."""
        return self._one("bias_torque", q=q, qd=qd)

    def forward_dynamics(self, q: Any, qd: Any, tau: Any, external: Wrenches | None = None) -> Any:
        """Return the accelerations qdd (..., n) of Robot.forward_dynamics."""
        return self._one("forward_dynamics", q=q, qd=qd, tau=tau, external=external)

    def mass_matrix(self, q: Any) -> Any:
        """Return the mass matrix (..., n, n) of Robot.mass_matrix."""
        return self._one("mass_matrix", q=q)

    def mass_matrix_inverse(self, q: Any) -> Any:
        """Return the inverse (..., n, n) of the mass matrix, computed with the sparsity of the tree."""
        return self._one("mass_matrix_inverse", q=q)

    def coriolis_matrix(self, q: Any, qd: Any) -> Any:
        """Return the matrix C(q, qd) (..., n, n) of Robot.coriolis_matrix."""
        return self._one("coriolis_matrix", q=q, qd=qd)

    def forward_kinematics(self, q: Any, link: str, reference: str | None = None) -> Any:
        """Return the pose (..., 4, 4) of Robot.forward_kinematics."""
        return self._one("forward_kinematics", (link, "body", reference), q=q)

    def jacobian(self, q: Any, link: str, representation: str = "body", reference: str | None = None) -> Any:
        """Return the Jacobian (..., 6, n) of Robot.jacobian."""
        return self._one("jacobian", (link, representation, reference), q=q)

    def jacobian_derivative(self, q: Any, qd: Any, link: str, representation: str = "body",
                            reference: str | None = None) -> Any:
        """Return the time derivative (..., 6, n) of Robot.jacobian_derivative."""
        return self._one("jacobian_derivative", (link, representation, reference), q=q, qd=qd)

    def inverse_dynamics_derivatives(self, q: Any, qd: Any, qdd: Any) -> EffortDerivatives:
        """Return (dtau/dq, dtau/dqd, M), (..., n, n) each, of Robot.inverse_dynamics_derivatives."""
        return EffortDerivatives(*self._several("inverse_dynamics_derivatives", q=q, qd=qd, qdd=qdd))

    def forward_dynamics_derivatives(self, q: Any, qd: Any, tau: Any) -> AccelerationDerivatives:
        """Return (dqdd/dq, dqdd/dqd, dqdd/dtau), (..., n, n) each, of Robot.forward_dynamics_derivatives."""
        return AccelerationDerivatives(*self._several("forward_dynamics_derivatives", q=q, qd=qd, tau=tau))

    def torque_regressor(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Return the regressor (..., n, 10 b) of Robot.torque_regressor."""
        return self._one("torque_regressor", q=q, qd=qd, qdd=qdd)

    def drive_torque(self, q: Any, qd: Any) -> Any:
        """Return the efforts (..., n) of Robot.drive_torque.

        They are those of the drives' springs and windings, and of the robot's own force elements except friction."""
        return self._one("drive_torque", q=q, qd=qd)

    def step(self, q: Any, qd: Any, effort: Any, dt: float, external: Wrenches | None = None) -> tuple[Any, Any]:
        """Return (q, qd) after the time dt, by semi-implicit Euler as in Robot.step, without friction and limits."""
        q_next, qd_next = self._several("step", q=q, qd=qd, tau=effort, dt=dt, external=external)
        return q_next, qd_next

    def rollout(self, q0: Any, qd0: Any, effort: Any = None, dt: float = 1e-3, steps: int = 1000, *, every: int = 1
                ) -> tuple[np.ndarray, Any, Any]:
        """Simulate as Robot.rollout, by semi-implicit Euler without friction and limits, in one kernel.

        Returns times t (samples + 1,) in host memory, q (..., samples + 1, nq) and qd (..., samples + 1, n). effort:
        None; (..., n) constant; or (..., steps, n), one per step, with leading axes of q0 and qd0, as in Robot.rollout.
        every: steps per sample."""
        steps, every = sampling(steps, every)
        n, samples = self.robot.n, steps // every
        arrays = {"q0": self._device.array("q0", q0), "qd0": self._device.array("qd0", qd0)}
        if effort is not None:
            arrays["effort"] = self._device.array("effort", effort)
        dtype = kind(self._device, arrays)
        length = _step_length(dt, dtype)
        given = {"q0": Given(arrays["q0"], (self.robot.nq,)), "qd0": Given(arrays["qd0"], (n,))}
        tau = self._zeros(dtype, arrays["qd0"]) if effort is None else arrays["effort"]
        lead = lead_of(given)
        checks.lead("effort", tau.shape, (n,))
        over_time = by_intervals(tau.shape, lead, steps)
        if over_time and tau.shape[-2] != steps:            # one for all steps
            over_time, tau = False, tau[..., 0, :]
        given["effort"] = Given(tau, (steps, n) if over_time else (n,))
        q, qd, (tau, states, *per_step, entries) = (strided(self._device, x, lead) for x in given.values())
        results = [self._device.empty((*lead, samples + 1, size), dtype, q[0]) for size in (self.robot.nq, n)]
        if math.prod(lead):
            _, launch = self._kernel("step", dtype, None, (), kernels.ROLLOUT)
            launch(q[0], math.prod(lead), [
                np.int64(samples), np.int64(every), *q, *qd, tau, states, entries, *(per_step or [np.int64(0)]),
                length, *results])
        return np.arange(samples + 1) * (every * float(dt)), *(self._device.returned(x, q0) for x in results)

    # ------------------------------------------------------------------------------------------------- calls
    def _one(self, quantity, link=None, external=None, **given):
        """Return the single output of a function."""
        [result] = self._several(quantity, link, external, **given)
        return result

    def _several(self, quantity, link=None, external=None, **given):
        """Return the outputs of a function.

        given: arrays and numbers by argument name. link: (name, representation, reference). external: wrenches by
        link."""
        wrenches = checks.wrenches({} if external is None else external, self.robot.link_names)
        loads = {f"external_{on}": wrench for on, wrench in wrenches.items()}
        given |= loads
        arrays = {name: self._device.array(name, x) for name, x in given.items() if name != "dt"}
        dtype = kind(self._device, arrays)
        model = self.robot.model
        moving = tuple(on for on in wrenches if model.frames[model.known_link(on)][0] >= 0)
        function, launch = self._kernel(quantity, dtype, link, moving, kernels.KERNEL)
        batch = {x.name: Given(arrays[x.name], x.shape) for x in function.inputs if x.name in arrays}
        lead, arguments = lead_of(batch | {name: Given(arrays[name], (6,)) for name in loads}), []
        for x in function.inputs:
            if x.name in batch:
                arguments += strided(self._device, batch[x.name], lead)
            else:
                arguments.append(_step_length(given[x.name], dtype))
        first = arrays["q"]
        results = [self._device.empty((*lead, *x.shape), dtype, first) for x in function.outputs]
        if math.prod(lead):
            launch(first, math.prod(lead), [*arguments, *results])
        return [self._device.returned(x, given["q"]) for x in results]

    def _kernel(self, quantity, dtype, link, external, name):
        """Return a function and the launcher of its kernel, created at the first call."""
        key = quantity, dtype, repr(link), external, name       # invalid links raise errors when created
        if key not in self._compiled:
            if link is not None:                                # an export accepts None for "body", Robot does not
                checks.one_of("representation", link[1], REPRESENTATIONS)
            export = prepared(self.robot, "robot", [quantity], [] if link is None else [link], PRECISIONS[dtype],
                              external, loops=False)
            [(function, _)] = export.functions
            shared = 0 if name == kernels.ROLLOUT else dtype.itemsize * kernels.numbers_shared(function)
            if not (threads := self._device.threads(shared)):
                shared, threads = 0, self._device.threads(0)
            text = kernels.rollout(export) if name == kernels.ROLLOUT else kernels.of_states(export, shared > 0)
            self._compiled[key] = function, self._device.launcher(text, name, shared, threads)
        return self._compiled[key]

    def _zeros(self, dtype, like):
        """Return zero efforts (n,)."""
        tau = self._device.empty((self.robot.n,), dtype, like)
        tau.fill(0.0)
        return tau


def _step_length(dt, dtype):
    """Return dt as a number of the dtype. Raises ValueError unless it is > 0 and finite, also after rounding."""
    with np.errstate(over="ignore", under="ignore"):
        return dtype.type(checks.positive("dt", dtype.type(checks.positive("dt", dt))))
