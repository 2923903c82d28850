"""Linear models x' = A x + B u, and x+ = A x + B u over a step of an integrator, of deviations x = (dq, dqd) and u =
dtau; [MD] 6.1.

On groups a deviation dq of g' = g V obeys dq' = dqd - ad_V dq. Steps are those of rollout/integrators.py. Their
linear models are exact derivatives: each stage is differentiated."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.forces import ForceSum
from screw_dynamics.forces.laws import DAMPING, EFFORT, STIFFNESS
from screw_dynamics.rollout.integrators import INTEGRATORS
from screw_dynamics.rollout.recursions.entries import derivatives_of_euler_steps
from screw_dynamics.rollout.recursions.matrix_products import padded
from screw_dynamics.rollout.springs import joint_of
from screw_dynamics.utils import checks

from .ends import end_step, push, resisting
from .tangent_maps import displacement, products, transport, trivialization


class LinearModel(NamedTuple):
    """A (..., 2n, 2n) and B (..., 2n, n) for deviations (dq, dqd) and dtau; qdd (..., n): the acceleration at the
    state."""

    A: np.ndarray
    B: np.ndarray
    qdd: np.ndarray


class Stage(NamedTuple):
    """A state (q, qd) at which a step evaluates forward dynamics, and the acceleration there."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray | None


def of_tree(robot: Any, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, external: Mapping[str, ArrayLike] | None = None,
            threads: int | None = None, added: np.ndarray | None = None, wanted: bool = True) -> tuple:
    """Return the accelerations of a Robot's forward dynamics, or None if not requested, and their derivatives (..., n,
    n) by q, qd and tau. added (..., n): joint inertia; for Lie-group joints it multiplies qdd less the products of
    velocities."""
    if added is None:
        return (robot.forward_dynamics(q, qd, tau, external, threads=threads) if wanted else None,
                *robot.forward_dynamics_derivatives(q, qd, tau, external, threads=threads))
    p, p_by_qd = products(robot.model, qd)
    at_zero = robot.inverse_dynamics(q, qd, np.zeros_like(qd), external, threads=threads)
    inverse = np.linalg.inv(robot.mass_matrix(q, threads=threads) + added[..., None] * np.eye(robot.n))
    qdd = (inverse @ (tau - at_zero + added * p)[..., None])[..., 0]
    by_q, by_qd, _ = robot.inverse_dynamics_derivatives(q, qd, qdd, external, threads=threads)
    return qdd, -inverse @ by_q, -inverse @ (by_qd - added[..., None] * p_by_qd), inverse


class Actuation(NamedTuple):
    """Inputs at states.

    Efforts tau (..., n); wrenches {link: (..., 6)}, constant in the link frames; force elements; a flag for joint stops
    at the end of a step; number of threads; the times (...) of the states, s; a flag for the model's dry friction; and
    the function for the accelerations, with the results of of_tree."""

    tau: np.ndarray
    external: Mapping[str, ArrayLike] | None = None
    total: ForceSum | None = None
    limits: bool = False
    threads: int | None = None
    t: ArrayLike = 0.0
    friction: bool = False
    accelerations: Callable = of_tree

    def dry(self, robot: Any) -> np.ndarray:
        """Return the efforts (n,) of dry friction."""
        return robot.model.friction * self.friction

    def resisted(self, robot: Any, qd: np.ndarray) -> "Actuation":
        """Return the Actuation whose efforts include dry friction, if it acts, for the velocities (..., n) at the start
        of a step."""
        return self._replace(tau=self.tau - robot.model.friction * np.sign(qd)) if self.friction else self


def continuous(robot: Any, q: np.ndarray, qd: np.ndarray, actuation: Actuation) -> LinearModel:
    """Return the linear model in continuous time, of states q (..., nq) and qd (..., n)."""
    n, (qdd, by_q, by_qd, by_tau) = robot.n, _accelerations(robot, q, qd, actuation.resisted(robot, qd), actuation.t)
    A, B = np.zeros((*qd.shape[:-1], 2 * n, 2 * n)), np.zeros((*qd.shape[:-1], 2 * n, n))
    if robot.model.on_groups:
        A[..., :n, :n] = transport(robot.model, qd)
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = by_q, by_qd, by_tau
    return LinearModel(A, B, qdd)


def over_a_step(robot: Any, integrator: str, q: np.ndarray, qd: np.ndarray, actuation: Actuation, h: float,
                apart: bool = False) -> tuple[LinearModel, list[Stage]]:
    """Return the linear model of a step of length h and its stages, from states q (..., nq) and qd (..., n).

    apart: B (..., 2n, stages n) by the efforts of each stage, as if they could differ."""
    n = robot.n
    F, stages = step_derivatives(robot, integrator, q, qd, actuation, h, apart, True)
    columns = (2 + (len(stages) if apart else 1)) * n
    return LinearModel(F[..., :2 * n], F[..., 2 * n:columns], stages[0].qdd), stages


def are_euler_steps(robot: Any, integrator: str, impulses: bool) -> bool:
    """Return True if steps are qd+ = qd + h qdd, q+ = q + h qd+ in coordinates, without impulses."""
    return INTEGRATORS[integrator].implicit and not (impulses or robot.model.on_groups)


def step_derivatives(robot: Any, integrator: str, q: np.ndarray, qd: np.ndarray, actuation: Actuation, h: float,
                     apart: bool = False, stages: bool = False, whole: bool = True
                     ) -> tuple[np.ndarray, list[Stage]]:
    """Return F = (A B) (..., 2n, padded(3n)) of a step, padded with zeros for `sweeps`, and the stages.

    stages: include accelerations that are otherwise not computed. whole=False: for steps that are_euler_steps, only the
    last n rows."""
    rule, n = INTEGRATORS[integrator], robot.n
    if are_euler_steps(robot, integrator, actuation.limits or actuation.friction) and not (apart or stages):
        by = implicit(robot, q, qd, actuation, h, False)[0][1:]
        return derivatives_of_euler_steps(*by, h, whole), [Stage(q, qd, None)]
    after, found, u, v = before_projection(robot, integrator, q, qd, actuation, h, apart)
    columns = (2 + (len(found) if apart else 1)) * n
    if actuation.limits or actuation.friction and not rule.implicit:
        end, dry = robot.integrate(q, u), h * actuation.dry(robot) * (not rule.implicit)
        _without_impulses(robot, apart, v, end_step(
            robot, actuation.limits, dry, qd, end, v, after[..., :n, :columns], after[..., n:, :columns],
            actuation.threads))
    return after, found


def before_projection(robot: Any, integrator: str, q: np.ndarray, qd: np.ndarray, actuation: Actuation, h: float,
                   apart: bool = False) -> tuple[np.ndarray, list[Stage], np.ndarray, np.ndarray]:
    """Return F and the stages of `step_derivatives` without the effects at the end of a step, and the displacement and
    velocities there."""
    rule = INTEGRATORS[integrator]
    step = _semi_implicit_euler if rule.implicit else _runge_kutta
    return step(robot, rule.tableau, q, qd, actuation.resisted(robot, qd), h, apart)


def _without_impulses(robot, apart, before, after):
    """Return the velocities after impulses. Raises ValueError if impulses change them while efforts are apart, for
    derivatives by inertial parameters."""
    if apart and (after != before).any():
        joint = joint_of(robot.model, int(np.argwhere(after != before)[0, -1]))
        raise ValueError("parameters=True: derivatives by inertial parameters are without the impulses of dry "
                         f"friction, which brings a joint to rest here and changes the velocity of {joint!r}")
    return after


def _semi_implicit_euler(robot, tableau, q, qd, actuation, h, apart):
    """Return the derivatives (..., 2n, 3n) of the state after a step, its stage, and the displacement and velocity at
    its end."""
    n, (qdd, *by), added = robot.n, *implicit(robot, q, qd, actuation, h)
    v = qd + h * qdd
    after = derivatives_of_euler_steps(*by, h)              # dv = [0 1 0] + h [dqdd/dq dqdd/dqd dqdd/dtau], dq = ...
    dq, dv = after[..., :n, :3 * n], after[..., n:, :3 * n]
    if actuation.limits or actuation.friction:
        start, acts, each = np.zeros_like(dq), resisting(h * actuation.dry(robot), np.sign(qd)), np.arange(n)
        start[..., each, each] = 1.0
        v = _without_impulses(robot, apart, v, push(robot, actuation.limits, acts, q, v, start, dv, actuation.threads,
                                                    added))
        dq[...] = start + h * dv
    if robot.model.on_groups:                               # dq = T [1 0 0] + E h dv
        T, E, _ = displacement(robot.model, h * v)
        dq[...] = E @ (h * dv)
        dq[..., :n] += T
    return after, [Stage(q, qd, qdd)], h * v, v


def _runge_kutta(robot, tableau, q, qd, actuation, h, apart):
    """Return the derivatives (..., 2n, 2n + n) or (..., 2n, 2n + stages n), padded with zeros, of the state after a
    step, its stages, and the displacement and velocity at its end."""
    model, n, count = robot.model, robot.n, len(tableau.c)
    by_q, by_qd = _columns(n, qd, count if apart else 1)
    stages, u_rates, accelerations, dk, dl = [], [], [], [], []
    for s in range(count):
        u, dv = h * _weighted(tableau.a[s], u_rates, qd), by_qd + h * _weighted(tableau.a[s], dl, by_qd)
        v, du = qd + h * _weighted(tableau.a[s], accelerations, qd), h * _weighted(tableau.a[s], dk, by_qd)
        here = robot.integrate(q, u)
        qdd, a_by_q, a_by_qd, a_by_tau = _accelerations(robot, here, v, actuation, actuation.t + tableau.c[s] * h)
        stages.append(Stage(here, v, qdd))
        accelerations.append(qdd)
        dl.append(a_by_q @ _moved(robot, u, by_q, du) + a_by_qd @ dv)
        own = slice(2 * n + s * n * apart, 3 * n + s * n * apart)
        dl[s][..., own] += a_by_tau
        if model.on_groups:
            F, G = trivialization(model, u, v)
            u_rates.append((F @ v[..., None])[..., 0])
            dk.append(F @ dv + G @ du)
        else:
            u_rates.append(v)
            dk.append(dv)
    u, du = h * _weighted(tableau.b, u_rates, qd), h * _weighted(tableau.b, dk, by_qd)
    dv = by_qd + h * _weighted(tableau.b, dl, by_qd)
    after = with_padding(np.concatenate((_moved(robot, u, by_q, du), dv), axis=-2))
    return after, stages, u, qd + h * _weighted(tableau.b, accelerations, qd)


def with_padding(rows: np.ndarray) -> np.ndarray:
    """Return the rows padded with zeros as `sweeps` requires."""
    found = np.zeros((*rows.shape[:-1], padded(rows.shape[-1])))
    found[..., :rows.shape[-1]] = rows
    return found


def _weighted(weights, terms, like):
    """Return the sum of the terms with nonzero weights."""
    total = np.zeros_like(like)
    for weight, term in zip(weights, terms, strict=False):
        if weight != 0.0:
            total += weight * term
    return total


def _columns(n, like, count):
    """Return the derivatives (n, 2n + count n) of dq and dqd by dq, dqd and dtau, with the leading axes of `like` (...,
    n)."""
    one = np.zeros((2, *like.shape, (2 + count) * n))
    for k in range(2):
        one[k, ..., k * n:(k + 1) * n] = np.eye(n)
    return one


def _moved(robot, u, dq, du):
    """Return the deviation of q exp(u) for deviations dq of q and du of u."""
    if not robot.model.on_groups:
        return dq + du
    T, E, _ = displacement(robot.model, u)
    return T @ dq + E @ du


def _accelerations(robot, q, qd, actuation, t, wanted=True):
    """Return the accelerations of the Actuation and their derivatives by q, qd and tau, with force elements."""
    tau, external, total, threads = actuation.tau, actuation.external, actuation.total, actuation.threads
    if not total:
        return actuation.accelerations(robot, q, qd, tau, external, threads, None, wanted)
    f, f_by_q, f_by_qd = _efforts(total.derivatives(q, qd, t))
    qdd, by_q, by_qd, by_tau = actuation.accelerations(robot, q, qd, tau + f, external, threads)
    return qdd, by_q + by_tau @ f_by_q, by_qd + by_tau @ f_by_qd, by_tau


def _efforts(found):
    """Return the efforts of force elements and their derivatives."""
    return (x[..., EFFORT, :] if x is found.terms else x[..., EFFORT, :, :] for x in found)


def implicit(robot: Any, q: np.ndarray, qd: np.ndarray, actuation: Actuation, h: float, wanted: bool = True) -> tuple:
    """Return the accelerations and derivatives of `_accelerations` with force elements taken at the end of a step h,
    and their added inertia h D + h^2 K (..., n) with its derivatives (..., n, 3n), or None."""
    tau, external, total, threads, t = (actuation.tau, actuation.external, actuation.total, actuation.threads,
                                        actuation.t)
    if not total:
        return _accelerations(robot, q, qd, actuation, t, wanted), None
    found = total.derivatives(q, qd, t, ahead=h)
    f, f_by_q, f_by_qd = _efforts(found)
    added, added_by_q, added_by_qd = (_added(x, h, axis) for x, axis in zip(found, (-2, -3, -3), strict=True))
    qdd, by_q, by_qd, by_tau = actuation.accelerations(robot, q, qd, tau + f, external, threads, added)
    resisted = (qdd - products(robot.model, qd)[0])[..., None]
    changes = np.concatenate((added_by_q, added_by_qd, np.zeros_like(added_by_q)), axis=-1)
    return (qdd, by_q + by_tau @ (f_by_q - resisted * added_by_q),
            by_qd + by_tau @ (f_by_qd - resisted * added_by_qd), by_tau), (added, changes)


def _added(terms, h, axis):
    """Return h D + h^2 K of terms of force elements, or of their derivatives."""
    return h * np.take(terms, DAMPING, axis) + h * h * np.take(terms, STIFFNESS, axis)


def states(robot: Any, external: Mapping[str, ArrayLike] | None, **given: ArrayLike
           ) -> tuple[list[np.ndarray], dict[str, np.ndarray] | None]:
    """Return q, qd and further states as float64 arrays, and the wrenches {link: wrench}, broadcast to common leading
    axes."""
    arrays = {name: checks.real_numbers(name, x, robot.nq if name == "q" else robot.n) for name, x in given.items()}
    if external is not None:
        external = checks.wrenches(external, robot.link_names)
        arrays |= {f"the wrench on link {link!r}": checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
                   for link, wrench in external.items()}
    found = [np.asarray(x, dtype=float) for x in checks.broadcast(arrays)]
    return found[:len(given)], dict(zip(external, found[len(given):], strict=True)) if external is not None else None
