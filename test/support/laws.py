"""A control law with a state."""
from dataclasses import dataclass

import numba

from screw_dynamics.control import law, parameter


@dataclass(frozen=True)
class Integral:
    """Parameters of a law with an integrator."""

    gain: float = parameter(30.0, "stiffness", "N m/rad", lower=0.0, per_joint=True)
    rate: float = parameter(5.0, "rate of the integrator", "1/s", lower=0.0, upper=100.0)


@numba.njit
def grown(x, rate, dt):
    """A function that the law calls."""
    return x + dt * rate


@law(parameters=Integral, reference=("position",), state={"integral": "joint"})
def with_integral(robot, t, q, qd, reference, state, parameters):
    """A law with a state."""
    e = reference.position - q
    return (parameters.gain * (e + parameters.rate * state.integral) - 6.0 * qd,
            (grown(state.integral, e, state.dt),))
