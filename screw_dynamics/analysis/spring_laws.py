"""Spring torques at given deflections, and deflections at given torques, in NumPy."""
from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from screw_dynamics.model.drive import Antagonistic, Drive, Hardening, LeverArm, Table

Law = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
HALVINGS = 1100         # maximum number of halvings of an interval of doubles


def law(drive: Drive, setting: np.ndarray) -> Law:
    """Return the law x (...) -> torque, its first and its second derivative, of the spring between joint and motor.

    setting: of the stiffness actuator, the lever's position or half the angle between two motors."""
    k = drive.stiffness
    if isinstance(k, LeverArm):
        K = k.coefficients[0] + (k.coefficients[1] + k.coefficients[2] * setting) * setting
        return lambda x: (K * x, K + 0.0 * x, 0.0 * x)
    of_one = _hardening(drive.spring) if isinstance(drive.spring, Hardening) else _table(drive.spring)
    if isinstance(k, Antagonistic):
        return lambda x: tuple(a + b for a, b in zip(of_one(x + setting), of_one(x - setting), strict=True))
    return of_one


def give(drive: Drive, effort: float) -> float:
    """Return the largest deflection of the spring between a joint and a motor under an effort >= 0; inf if the effort
    is infinite. A lever is taken at its softest position."""
    if np.isinf(effort):
        return np.inf
    k, own = drive.stiffness, drive
    if isinstance(k, LeverArm):
        _, linear, quadratic = k.coefficients
        softest = -0.5 * linear / quadratic if quadratic > 0.0 else k.lower
        positions = np.clip([k.lower, softest, k.upper], k.lower, k.upper)
        return float(max(deflection(law(drive, y), np.asarray(effort)) for y in positions))
    if isinstance(k, Antagonistic):
        own = Drive(1.0, stiffness=drive.spring)
    return float(deflection(law(own, np.zeros(())), np.asarray(effort))) + 0.5 * drive.backlash


def _hardening(spring: Hardening) -> Law:
    terms = [*enumerate(spring.coefficients)][::-1]     # k_i of the power i = 2 j + 1

    def torque(x):
        y, secant, slope, bend = x * x, 0.0 * x, 0.0 * x, 0.0 * x
        for j, k in terms:
            i = 2 * j + 1
            secant, slope = secant * y + k, slope * y + i * k
            bend = bend * y + i * (i - 1) * k if j else bend * x
        return secant * x, slope, bend
    return torque


def _table(spring: Table) -> Law:
    points = [(0.0, 0.0), *zip(spring.deflections, spring.torques, strict=True)]
    knots = np.array([x for x, _ in points[:-1]])
    slopes = np.array([(g - f) / (b - a) for (a, f), (b, g) in pairwise(points)])
    rises = np.diff(slopes, prepend=0.0)

    def torque(x):
        past = np.abs(x)[..., None] - knots
        return (np.sign(x) * (rises * np.maximum(past, 0.0)).sum(axis=-1), (rises * (past >= 0.0)).sum(axis=-1),
                0.0 * x)
    return torque


def deflection(torque_of: Law, torque: np.ndarray) -> np.ndarray:
    """Return x (...) where an increasing law has torques (...), by Newton's method with bisection as safeguard."""
    low, high = np.full(torque.shape, -1.0), np.full(torque.shape, 1.0)
    for _ in range(HALVINGS):                   # double the interval, up to the largest doubles
        short, long = torque_of(high)[0] < torque, torque_of(low)[0] > torque
        if not (short.any() or long.any()):
            break
        high, low = np.where(short, 2.0 * high, high), np.where(long, 2.0 * low, low)
    x = np.zeros(torque.shape)
    for _ in range(HALVINGS):
        f, slope, _ = torque_of(x)
        low, high = np.where(f <= torque, x, low), np.where(f >= torque, x, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            after = x - (f - torque) / slope
        after = np.where((after > low) & (after < high), after, 0.5 * (low + high))
        if np.all((after == x) | (f == torque)):
            return x
        x = np.where(f == torque, x, after)
    return x
