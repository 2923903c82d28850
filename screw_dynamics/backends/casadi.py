"""A robot's functions for CasADi: MX expressions with Jacobians, for nonlinear programs. Requires the extra [casadi].

CasADi calls the package's compiled code, and computes gradients from its Jacobians. Second derivatives of inverse
dynamics are exact too, except with Lie-group joints. Those of other functions are finite differences of Jacobians,
unless the solver approximates the Hessian itself."""
from typing import Any

import numpy as np

from screw_dynamics.robot import Robot

from .bridged_robot import BridgedRobot
from .functions import Function

try:
    import casadi
except ImportError as error:
    raise ImportError('screw_dynamics.backends.casadi requires CasADi: pip install "screw_dynamics[casadi]"') from error


class CasadiRobot(BridgedRobot):
    """The functions of a robot for CasADi, of columns q (nq), qd, qdd, tau (n), MX or DM.

    Keep the object as long as expressions use its functions. Derivatives with respect to q are with respect to its nq
    numbers, four for a quaternion."""

    def __init__(self, robot: Robot):
        super().__init__(robot, _Callback)

    def _split(self, x: Any) -> tuple[Any, Any]:
        return x[:self.robot.nq], x[self.robot.nq:]


class _Callback(casadi.Callback):
    """A Function as a CasADi callback; CasADi's matrices are column-major."""

    def __init__(self, function: Function):
        super().__init__()
        self._function, self._jacobians = function, []
        self.construct(function.name, {})

    def get_n_in(self):
        return len(self._function.sizes)

    def get_n_out(self):
        return 1

    def get_sparsity_in(self, i):
        return casadi.Sparsity.dense(self._function.sizes[i])

    def get_sparsity_out(self, i):
        return casadi.Sparsity.dense(*self._function.shape)

    def eval(self, arguments):
        return [self._function.value(*map(_numbers, arguments))]

    def has_jacobian(self):
        return True

    def get_jacobian(self, name, input_names, output_names, options):
        self._jacobians.append(_Jacobian(name, self._function, input_names, output_names, options))
        return self._jacobians[-1]                                      # CasADi keeps no reference to it


class _Jacobian(casadi.Callback):
    """The derivatives of a Function as a CasADi callback; CasADi passes the function's value as the last input."""

    def __init__(self, name, function, input_names, output_names, options):
        super().__init__()
        self._function, self._names, self._jacobians = function, (input_names, output_names), []
        self.construct(name, {"enable_fd": function.second is None, **options})

    def get_n_in(self):
        return len(self._function.sizes) + 1

    def get_n_out(self):
        return len(self._function.sizes)

    def get_name_in(self, i):
        return self._names[0][i]

    def get_name_out(self, i):
        return self._names[1][i]

    def get_sparsity_in(self, i):
        shape = (*self._function.sizes, self._function.shape)[i]
        return casadi.Sparsity.dense(*np.atleast_1d(shape).tolist())

    def get_sparsity_out(self, i):
        return casadi.Sparsity.dense(int(np.prod(self._function.shape)), self._function.sizes[i])

    def eval(self, arguments):
        found = self._function.derivatives(*map(_numbers, arguments[:-1]))
        return [x.reshape(-1, x.shape[-1]) if x.ndim == 2 else x.swapaxes(0, 1).reshape(-1, x.shape[-1]) for x in found]

    def has_jacobian(self):
        return self._function.second is not None

    def get_jacobian(self, name, input_names, output_names, options):
        self._jacobians.append(_Second(name, self._function, input_names, output_names, options))
        return self._jacobians[-1]


class _Second(casadi.Callback):
    """The second derivatives of a Function of shape (n,): of each output of a _Jacobian with respect to its inputs."""

    def __init__(self, name, function, input_names, output_names, options):
        super().__init__()
        self._function, self._names, self._n = function, (input_names, output_names), function.shape[0]
        self.construct(name, options)

    def get_n_in(self):
        return len(self._names[0])

    def get_n_out(self):
        return len(self._names[1])

    def get_name_in(self, i):
        return self._names[0][i]

    def get_name_out(self, i):
        return self._names[1][i]

    def get_sparsity_in(self, i):
        sizes, n = self._function.sizes, self._n
        return casadi.Sparsity.dense(*((*((size, 1) for size in sizes), (n, 1), *((n, size) for size in sizes))[i]))

    def get_sparsity_out(self, i):
        sizes, n = self._function.sizes, self._n
        one, other = divmod(i, len(sizes) + 1)
        if other == len(sizes):                                         # with respect to the value, which is not used
            return casadi.Sparsity(n * sizes[one], n)
        return casadi.Sparsity.dense(n * sizes[one], sizes[other])

    def eval(self, arguments):
        found = self._function.second(*map(_numbers, arguments[:len(self._function.sizes)]))
        return [casadi.DM(self.get_sparsity_out(len(row))) if x is None else x.swapaxes(0, 1).reshape(-1, x.shape[-1])
                for row in found for x in (*row, None)]


def _numbers(x: casadi.DM) -> np.ndarray:
    return np.array(x.nonzeros())               # all entries, because sparsities are dense; faster than x.full()
