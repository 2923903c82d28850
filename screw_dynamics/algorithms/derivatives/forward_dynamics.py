"""Partial derivatives of forward dynamics, from those of inverse dynamics at the motion that the efforts cause."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Square
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dot

from ..coriolis_matrix import Gyration
from ..group_rates import add_products
from ..mass_matrix import add_pairs
from .inverse_dynamics import accelerations, add_derivatives, velocities


class Body(NamedTuple):
    """The columns of inverse_dynamics.Body, with the effort of each joint, and the mass matrix."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    qdd: Scalar
    C: Pose
    V: Twist
    Vd: Twist
    U: Twist
    Ud: Twist
    X1: Twist
    X2: Twist
    Y: Twist
    M: Inertia
    B: Gyration
    W: Wrench
    H: Square


@kernel
def coordinates_alone(links: Link, body: Body) -> None:
    """The accelerations are those of coordinates."""


@kernel
def on_groups(links: Link, body: Body) -> None:
    """Make the accelerations in body.qdd those of the coordinates of joints on groups."""
    add_products(links, body.q, body.qd, -1.0, body.qdd)


def caused(prescribe: Callable, factorize: Callable, substitute: Callable) -> Callable:
    """The algorithm for accelerations of which prescribe(links, body) makes those of coordinates, with
    factorize(parent, H, n) for the mass matrix and substitute(parent, H, B) for M X = B."""
    @kernel
    def forward_dynamics_derivatives(links, body, out):
        parent, k, H, qdd, like, n = links.parent, links.coordinate, body.H, body.qdd, body.q[0], out.shape[1]
        velocities(links, body)
        for i in range(1, len(k)):
            qdd[i] = null(like)
        prescribe(links, body)
        accelerations(links, body)
        found = out[2, :, :1]                                   # q'' = M^-1 (tau - bias)
        for i in range(1, len(k)):
            found[k[i], 0] = body.tau[i]
        for i in range(1, len(k)):
            found[k[i], 0] -= dot(body.W[i], links.X[i])
        for i in range(n):
            for j in range(n):
                H[i, j] = null(like)
        add_pairs(links, like, body.C, body.M, H)
        factorize(parent, H, n)
        substitute(parent, H, found)
        for i in range(1, len(k)):
            qdd[i] = found[k[i], 0]
        prescribe(links, body)
        accelerations(links, body)
        add_derivatives(links, body, out)
        for j in range(n):
            for i in range(n):
                out[2, i, j] = null(like)
                out[0, i, j], out[1, i, j] = -out[0, i, j], -out[1, i, j]
            out[2, j, j] = null(like) + 1.0
        for part in range(3):                               # d q'' = M^-1 (d tau - dtau/dq dq - dtau/dq' dq')
            substitute(parent, H, out[part])
    return forward_dynamics_derivatives
