"""Partial derivatives of forward dynamics, from those of inverse dynamics at the resulting motion."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel, null
from screw_dynamics.screws.se3 import dot

from ..columns import clear
from ..group_rates import add_products
from ..solvers import factorize, factorize_tree, substitute, substitute_tree
from .articulated_solver import ForwardDynamicsDerivatives, factorize_bodies, substitute_bodies
from .inverse_dynamics import accelerations, add_by_positions, add_by_rates, velocities


@kernel
def coordinates_alone(links: Link, body: ForwardDynamicsDerivatives) -> None:
    """Do nothing: the accelerations are those of coordinates."""


@kernel
def on_groups(links: Link, body: ForwardDynamicsDerivatives) -> None:
    """Convert the accelerations in body.qdd to those of the coordinates of Lie-group joints."""
    add_products(links, body.q, body.qd, -1.0, body.qdd)


class Solver(NamedTuple):
    """A solver of M X = B: factorize(links, body, n), with M in body.H, and then substitute(links, body, B)."""

    factorize: Callable
    substitute: Callable


BY_TREE = Solver(kernel(lambda links, body, n: factorize_tree(links.parent, body.H, n)),
                 kernel(lambda links, body, B: substitute_tree(links.parent, body.H, B)))
BY_MATRIX = Solver(kernel(lambda links, body, n: factorize(body.H, n)),
                   kernel(lambda links, body, B: substitute(body.H, B)))
BY_BODIES = Solver(factorize_bodies, substitute_bodies)


def by_solver(prescribe: Callable, solver: Solver) -> Callable:
    """Return the algorithm; prescribe(links, body) converts accelerations to those of coordinates. Its third input is
    tau."""
    factorize, substitute = solver

    @kernel
    def forward_dynamics_derivatives(links, body, out):
        k, H, qdd, like, n = links.coordinate, body.H, body.qdd, body.q[0], out.shape[1]
        by_q, by_qd, found = out[0], out[1], out[2, :, :1]
        for i in range(1, len(k)):
            found[k[i], 0] = qdd[i]
        clear(qdd)
        prescribe(links, body)
        velocities(links, body)
        accelerations(links, body)
        for i in range(1, len(k)):
            found[k[i], 0] -= dot(body.W[i], body.J[i])         # tau minus the bias
        for i in range(n):
            for j in range(n):
                H[i, j] = null(like)
        add_by_rates(links, body, by_qd, H)
        factorize(links, body, n)
        substitute(links, body, found)
        for i in range(1, len(k)):
            qdd[i] = found[k[i], 0]
        prescribe(links, body)
        accelerations(links, body)
        add_by_positions(links, body, by_q)
        for j in range(n):
            for i in range(n):
                out[2, i, j] = null(like)
                by_q[i, j], by_qd[i, j] = -by_q[i, j], -by_qd[i, j]
            out[2, j, j] = null(like) + 1.0
        for part in range(3):                               # d q'' = M^-1 (d tau - dtau/dq dq - dtau/dq' dq')
            substitute(links, body, out[part])
    return forward_dynamics_derivatives
