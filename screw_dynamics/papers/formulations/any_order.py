"""Derivatives of any order of inverse and forward dynamics, by time and by coordinates, including floating bases.

The recursions run once on Taylor series (numbers/taylor.py). Each further order takes one pass over their operations: N
orders take O(N^2), where nested differentiation takes O(3^N). The q of a Lie-group joint is computed from the velocity,
coefficient by coefficient, by the differential equations p' = R v and z' = z (w, 0) / 2 of a quaternion z. Its rates
are the derivatives of the velocity, as in robot.inverse_dynamics_time_derivatives.

A batch is in the leading axes of all arguments, which broadcast. S. Kumar, A. Mueller (2021), arXiv 2103.05941;
A. Mueller (2025), 2506.10686; and H. Ali, C. Gabellieri, A. Franchi (2026), 2605.06498, have recursions for these."""
from collections.abc import Callable, Sequence
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.derivatives import INVERSE_DYNAMICS_DERIVATIVES
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_BY_MASS_MATRIX, FORWARD_DYNAMICS_IN
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_IN
from screw_dynamics.compiled.algorithm import CompiledAlgorithm
from screw_dynamics.numbers.taylor import Series, Tape
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .. import configuration_rates

Coefficient = Callable[[int, list[np.ndarray]], ArrayLike]      # of order k (..., n), from results of orders below k


# ------------------------------------------------------------------------------------------------- in time
def inverse_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *rates: ArrayLike) -> np.ndarray:
    """Return the efforts and their time derivatives tau, tau', ..., tau^(r) (..., r + 1, n) along a motion.

    rates: r further derivatives of q, (..., n) each; [MD] 6.3, of any order. N m, N m/s, ..., or N, ..."""
    return _efforts_in_time(robot, INVERSE_DYNAMICS_IN["body"], q, (qd, qdd, *rates))


def inverse_dynamics_derivatives(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *rates: ArrayLike
                                 ) -> np.ndarray:
    """Return (dtau/dq, dtau/dqd, M), as robot.inverse_dynamics_derivatives does, with its time derivatives.

    The result is (..., r + 1, 3, n, n) along a motion with r further derivatives of q."""
    return _efforts_in_time(robot, INVERSE_DYNAMICS_DERIVATIVES, q, (qd, qdd, *rates))


def inverse_dynamics_partials(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *rates: ArrayLike
                              ) -> np.ndarray:
    """Return the derivatives of tau^(r) by q, q', ..., q^(r + 2), (..., r + 3, n, n): [..., j, a, i] is d tau_a^(r) / d
    q_i^(j), for r further derivatives of q.

    From d tau = A_0 dq + A_1 dq' + A_2 dq'' by Leibniz's rule: the sum of comb(r, j - i) A_i^(r - j + i) over i. Raises
    ValueError for Lie-group joints, for which the order of derivatives matters."""
    checks.coordinates_alone("inverse_dynamics_partials", robot.model)
    A, r = inverse_dynamics_derivatives(robot, q, qd, qdd, *rates), len(rates)
    return np.stack([sum(comb(r, j - i) * A[..., r - j + i, i, :, :] for i in range(3) if 0 <= j - i <= r)
                     for j in range(r + 3)], axis=-3)


def forward_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *rates: ArrayLike) -> np.ndarray:
    """Return the accelerations and their time derivatives q'', q''', ..., q^(r + 2) (..., r + 1, n) of a motion.

    It starts from (q, qd) under efforts tau with r time derivatives, (..., n) each: rad/s^2, ..., or m/s^2, ... Where
    the mass matrix is singular, the result is not finite, or ArithmeticError is raised."""
    q, qd, *efforts = _arrays(robot, {"q": q, "qd": qd, "tau": tau} | _named("tau", rates))
    velocity = _of_velocity(qd)
    found = _taylor(robot, _forward(robot), q, velocity, (velocity, _along_time(efforts)), len(efforts))
    return _derivatives(found, q.ndim - 1)


# ------------------------------------------------------------------------------------------------- in coordinates
def inverse_dynamics_along(robot: Robot, state: Sequence[ArrayLike], direction: Sequence[ArrayLike], order: int
                           ) -> np.ndarray:
    """Return the derivatives d^k/ds^k of tau at s = 0, k = 0, ..., order, (..., order + 1, n), along a line.

    state (q, qd, qdd), direction (dq, dqd, dqdd), (..., n) each: tau(integrate(q, s dq), qd + s dqd, qdd + s dqdd)."""
    return _along(robot, INVERSE_DYNAMICS_IN["body"], ("q", "qd", "qdd"), state, direction, order)


def forward_dynamics_along(robot: Robot, state: Sequence[ArrayLike], direction: Sequence[ArrayLike], order: int
                           ) -> np.ndarray:
    """Return the derivatives d^k/ds^k of the accelerations at s = 0, k = 0, ..., order, (..., order + 1, n), along a
    line from state (q, qd, tau) in the direction (dq, dqd, dtau)."""
    return _along(robot, _forward(robot), ("q", "qd", "tau"), state, direction, order)


# ------------------------------------------------------------------------------------------------- parts
def _forward(robot):
    return FORWARD_DYNAMICS_BY_MASS_MATRIX if robot.model.shares_coordinates else FORWARD_DYNAMICS_IN["body"]


def _efforts_in_time(robot, entry, q, rates):
    q, *rates = _arrays(robot, {"q": q} | dict(zip(("qd", "qdd"), rates, strict=False)) | _named("q", rates[2:], 3))
    velocity, acceleration = _along_time(rates), _along_time(rates[1:])
    found = _taylor(robot, entry, q, velocity, (velocity, acceleration), len(rates) - 1)
    return _derivatives(found, q.ndim - 1)


def _along(robot, entry, names, state, direction, order):
    if len(state) != 3 or len(direction) != 3:
        raise ValueError(f"state must be ({', '.join(names)}), and direction their changes: 3 arrays each, not "
                         f"{len(state)} and {len(direction)}")
    order, changes = checks.count("order", order, 0), [f"d{name}" for name in names]
    q, *given = _arrays(robot, dict(zip((*names, *changes), (*state, *direction), strict=True)))
    start, (dq, *change) = given[:2], given[2:]
    inputs = [_line(x, dx) for x, dx in zip(start, change, strict=True)]
    return _derivatives(_taylor(robot, entry, q, _line(dq, 0.0 * dq), inputs, order + 1), q.ndim - 1)


def _named(name, rates, first=1):
    return {f"{name}^({k})": x for k, x in enumerate(rates, first)}


def _arrays(robot, given):
    """Return arguments by name as float64 arrays, broadcast over their leading axes, with q normalized."""
    q, *others = checks.broadcast({name: checks.real_numbers(name, x, robot.nq if name == "q" else robot.n)
                                   for name, x in given.items()})
    return [robot.normalize(q), *(x.astype(float) for x in others)]


def _along_time(derivatives) -> Coefficient:
    """Return the Coefficient of a function of time with given derivatives."""
    return lambda k, found: derivatives[k] / factorial(k)


def _of_velocity(qd) -> Coefficient:
    """Return the Coefficient of a velocity whose derivative is the previous result."""
    return lambda k, found: found[k - 1] / k if k else qd


def _line(x, dx) -> Coefficient:
    """Return the Coefficient of x + s dx."""
    return lambda k, found: (x, dx)[k] if k < 2 else 0.0 * x


def _derivatives(coefficients, lead):
    """Return the derivatives (*lead, orders, ...) from Taylor coefficients (*lead, ...)."""
    return np.stack([factorial(k) * c for k, c in enumerate(coefficients)], axis=lead)


def _taylor(robot: Robot, entry: CompiledAlgorithm, q: np.ndarray, velocity: Coefficient, inputs: Sequence[Coefficient],
            orders: int) -> list[np.ndarray]:
    """Return the Taylor coefficients of an algorithm's results (orders of ..., *shape), for q moving with a
    velocity."""
    tape, model = Tape(), robot.model
    numbers = [tape.variable(x) for x in np.moveaxis(q, -1, 0)]
    columns = [[tape.variable(x) for x in np.moveaxis(np.asarray(of(0, [])), -1, 0)] for of in (velocity, *inputs)]
    qd = configuration_rates.rates(numbers, columns[0], list(zip(robot.joint_names, model.joint_kinds, strict=True)))
    out = (entry.on_groups if model.on_groups else entry).plain(
        model.links(robot.gravity), numbers, *columns[1:], pose_sources=model.pose_sources(robot.gravity))
    found = [_coefficient(out, 0, q.shape[:-1])]
    for k in range(1, orders):
        for x, rate in zip(numbers, qd, strict=True):
            x.c.append(rate.c[k - 1] / k)
        for column, of in zip(columns, (velocity, *inputs), strict=True):
            for x, value in zip(column, np.moveaxis(np.asarray(of(k, found)), -1, 0), strict=True):
                x.c.append(value)
        tape.extend()
        found.append(_coefficient(out, k, q.shape[:-1]))
    return found


def _coefficient(out, k, lead):
    """Return coefficient k of an array of Series and numbers (*shape), as (*lead, *shape)."""
    result = np.zeros((*lead, *out.shape))
    for index in np.ndindex(out.shape):
        x: Any = out[index]
        result[(..., *index)] = x.c[k] if isinstance(x, Series) else x if k == 0 else 0.0
    return result
