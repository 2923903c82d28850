"""Second derivatives of the nonlinear program of a motion on a spline. Those of inverse dynamics and of the duration
are exact. Those of nonlinear quantities and of forces are difference quotients of exact first derivatives."""
from collections.abc import Callable

import numpy as np
from scipy import sparse

from screw_dynamics.planning.optimal.quantities import Value
from screw_dynamics.planning.optimal.terms import Bound

from .program import Program, State
from .spline import ORDERS

NUDGE = 1e-5            # of difference quotients, rad, m, their rates, and efforts


def hessian(program: Program, x: np.ndarray, multipliers: np.ndarray, share: float = 1.0) -> sparse.csr_matrix:
    """Return the Hessian (size, size) of share * cost + multipliers . constraints, with the same sparsity pattern at
    all x."""
    at = program.state(x)
    g, H, on_tau = _by_y(program, at, multipliers, share)
    H = np.swapaxes(at.y_by_z, -1, -2) @ H @ at.y_by_z
    g = (g[:, None] @ at.y_by_z)[:, 0]
    n, passive = program.robot.n, program.passive
    g[:, :3 * n] += (on_tau[:, None, passive] @ at.efforts_by_z[:, passive])[:, 0]
    H[:, :3 * n, :3 * n] += _of_efforts(program, at, on_tau)
    by_x = np.swapaxes(at.z_by_x, -1, -2) @ H @ at.z_by_x
    _add_of_time(at, g, by_x)
    w, columns = by_x.shape[-1], program.of_node
    entries = [(by_x, np.repeat(columns, w, axis=1), np.tile(columns, (1, w)))]
    if program.free:                        # weights depend on T: its mixed derivatives, symmetrically
        mixed, every = share * program.gradients(x)[1], np.arange(program.columns)
        last = np.full(program.columns, program.columns - 1)
        entries += [(mixed, every, last), (mixed, last, every)]
    values, rows, columns = (np.concatenate([a.ravel() for a in one]) for one in zip(*entries, strict=True))
    return sparse.csr_matrix((values, (rows, columns)), 2 * (program.columns,))[:program.size, :program.size]


def _by_y(program, at, multipliers, share):
    """Return first and second derivatives by y, (N + 1, 4 n + m) and (..., 4 n + m), and the factors of tau (N + 1,
    n)."""
    width, tests = at.y_by_z.shape[1], program.spline.tests
    g, H = np.zeros((len(at.t), width)), np.zeros((len(at.t), width, width))
    first = len(program.linear.lower)
    last = first + len(program.passive) * tests.shape[0]
    on_tau = np.zeros_like(at.tau)
    on_tau[:, program.passive] = tests.T @ multipliers[first:last].reshape(-1, tests.shape[0]).T
    for k, term in enumerate(program.terms):
        value, J = at.values[k], program.by_y(at.values[k])
        if term.weight is None:
            first, last = last, last + value.r.size
            mu = multipliers[first:last].reshape(value.r.shape) / term.scale
        else:
            weight = np.broadcast_to(share * program.weight(k, at.T)[0], value.r.shape)
            mu = weight * value.r
            H[term.some] += np.swapaxes(J, -1, -2) @ (weight[..., None] * J)
        g[term.some] += (mu[:, None] @ J)[:, 0]
        if term.quantity.curved and mu.any():
            H[term.some] += _of_quantity(program, at, term, value, mu)
    on_tau[:, program.driven] = g[:, program.parts["tau"]]
    return g, H, on_tau


def _of_quantity(program: Program, at: State, term: Bound, value: Value, mu: np.ndarray) -> np.ndarray:
    """Return sum mu d2r/dy2 (nodes, 4 n + m, 4 n + m)."""
    nodes, width = at.nodes(term), at.y_by_z.shape[1]
    found = np.zeros((len(mu), width, width))
    for name in ("q", "qd", "tau"):
        if value.by.get(name) is not None:
            x = getattr(nodes, name)
            found[:, program.parts[name]] = _differences(lambda dx, name=name, x=x: (mu[:, None] @ program.by_y(
                term.quantity.at(program.robot, nodes._replace(**{name: x + dx}), True)))[:, 0], x.shape[-1])
    return 0.5 * (found + np.swapaxes(found, -1, -2))


def _of_efforts(program: Program, at: State, mu: np.ndarray) -> np.ndarray:
    """Return sum mu d2tau/dz2 (N + 1, 3 n, 3 n), by q, q' and q''."""
    n, (q, qd, qdd) = program.robot.n, at.z[:3]
    found = np.zeros((len(q), 3 * n, 3 * n))
    q_, qd_, qdd_ = (slice(k * n, k * n + n) for k in range(3))
    by = program.robot.inverse_dynamics_second_derivatives(q, qd, qdd, threads=program.threads)
    for a, b, second in zip((q_, q_, qd_, q_), (q_, qd_, qd_, qdd_), by, strict=True):
        found[:, a, b] = np.einsum("ki,kiab->kab", mu, second)
        found[:, b, a] = np.swapaxes(found[:, a, b], -1, -2)
    if program.forces:
        def by_state(dx):
            d = program.forces.derivatives(q + dx[:n], qd + dx[n:], at.t)
            return (mu[:, None] @ np.concatenate((d.by_q[..., 0, :, :], d.by_qd[..., 0, :, :]), axis=-1))[:, 0]
        second = _differences(by_state, 2 * n)
        found[:, :2 * n, :2 * n] -= 0.5 * (second + np.swapaxes(second, -1, -2))
    return found


def _differences(function: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    """Return the derivatives (k, size, ...) of a function (k, ...) of displacements (size,), by central differences."""
    return np.stack([(function(dx) - function(-dx)) / (2.0 * NUDGE) for dx in NUDGE * np.eye(size)], axis=1)


def _add_of_time(at: State, g: np.ndarray, by_x: np.ndarray) -> None:
    """Add the terms of z ~ T^-d: d2z/dc dT = -d/T dz/dc and d2z/dT2 = d (d + 1) z / T^2, times derivatives g by z."""
    n = at.z.shape[-1]
    d, z = np.repeat(np.arange(ORDERS), n), np.moveaxis(at.z, 0, 1).reshape(-1, ORDERS * n)
    mixed = ((-d / at.T * g)[:, None] @ at.z_by_x[:, :, :-1])[:, 0]
    by_x[:, :-1, -1] += mixed
    by_x[:, -1, :-1] += mixed
    by_x[:, -1, -1] += (d * (d + 1) / at.T**2 * g * z).sum(axis=-1)
