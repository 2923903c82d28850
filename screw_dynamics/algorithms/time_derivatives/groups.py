"""Time derivatives of coordinates for given derivatives of the velocities of Lie-group joints; see group_rates."""
from collections.abc import Callable
from typing import Any

from screw_dynamics.numbers.values import kernel, noinline, null, zero
from screw_dynamics.screws.se3 import Twist

from ..group_rates import add_shares, last_body
from .twist import passed_on, third


@noinline
def products(X: list, body: Any, order: int, first: int, last: int) -> Twist:
    """Return the derivative V^(order) of a joint's twist relative to its parent, in the frame of its last body.

    The contribution of the coordinates' derivatives of order + 1, the highest ones in V^(order), is omitted."""
    q, qd, qdd, qddd, o = body.q, body.qd, body.qdd, body.qddd, null(body.q[0])
    V, Vd, Vdd, Vddd = zero(Twist, o), zero(Twist, o), zero(Twist, o), zero(Twist, o)
    for i in range(first, last + 1):
        C, a, b = q[i].C, qdd[i] if order > 1 else o, qddd[i] if order > 2 else o
        Vddd = third(C, X[i], qd[i], a, b, o, V, Vd, Vdd, Vddd)
        V, Vd, Vdd = passed_on(C, X[i], qd[i], a, b, V, Vd, Vdd)
    return Vd if order == 1 else Vdd if order == 2 else Vddd


def inverse_on_groups(algorithm: Callable, second: bool) -> Callable:
    """Return the algorithm for velocities of Lie-group joints: theta'', theta''' and, for the second derivative,
    theta'''' replace V', V'' and V'''."""
    @kernel
    def on_groups(links, body, out):
        X, q, first = links.X, body.q, 1
        while first < len(q):
            last = last_body(q, first)
            add_shares(X, q, products(X, body, 1, first, last), first, last, -1.0, body.qdd)
            add_shares(X, q, products(X, body, 2, first, last), first, last, -1.0, body.qddd)
            if second:
                add_shares(X, q, products(X, body, 3, first, last), first, last, -1.0, body.qdddd)
            first = last + 1
        algorithm(links, body, out)
    return on_groups
