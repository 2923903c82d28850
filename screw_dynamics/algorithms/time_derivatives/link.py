"""Acceleration, jerk and snap of a frame relative to any other, in the four representations of twists; [MD] 2.

The body-fixed column of joint k changes by J_k' = [J_k, W], with the twist W of the joints between k and the frame,
[MD] (5). The rest follows by Leibniz' rule."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Ad_inv, Twist, ad, inverse
from screw_dynamics.screws.vectors import cross

from ..jacobian import keep_column, put_twist
from ..kinematics import climb
from ..representations import HYBRID, MIXED, SPATIAL, represent


class Rates(NamedTuple):
    """A body-fixed twist with its first three time derivatives. Those that are not requested are 0."""

    V: Twist
    Vd: Twist
    Vdd: Twist
    Vddd: Twist


def against_carrier(order: int) -> Callable:
    """Return the function for Rates, up to this order, of a frame of body i relative to its ancestor `meet`."""
    @kernel
    def rates(links, body, i, meet):
        o = zero(Twist, body.q[0])
        V, Vd, Vdd, Vddd, W, Wd, Wdd = o, o, o, o, o, o, o      # W: of the joints so far, without this one
        while i != meet:
            J = body.J[i]
            Jd = ad(J, W)
            V += body.qd[i] * J
            Vd += body.qdd[i] * J + body.qd[i] * Jd
            if order > 1:
                Jdd = ad(Jd, W) + ad(J, Wd)
                Vdd += body.qddd[i] * J + 2.0 * body.qdd[i] * Jd + body.qd[i] * Jdd
            if order > 2:
                Jddd = ad(Jdd, W) + 2.0 * ad(Jd, Wd) + ad(J, Wdd)
                Vddd += (body.qdddd[i] * J + 3.0 * body.qddd[i] * Jd + 3.0 * body.qdd[i] * Jdd + body.qd[i] * Jddd)
            if not inner(body.q[i]):                            # the screws of one joint are constant in one frame
                W, Wd, Wdd = V, Vd, Vdd
            i = links.parent[i]
        return Rates(V, Vd, Vdd, Vddd)
    return rates


def against_reference(order: int) -> Callable:
    """Return the function that fills body.J and returns relative Rates up to this order.

    It returns the pose H of a frame in the reference frame, the body where their branches meet, and the Rates of the
    frame relative to the reference."""
    rates = against_carrier(order)

    @kernel
    def relative_rates(links, body, frames, target):
        C, D, meet = climb(links, frames, target, body.q, keep_column, body.J)
        H = inverse(D) @ C
        F, G = (rates(links, body, frames.body[target.frame], meet),
                rates(links, body, frames.body[target.reference], meet))
        A, A1, A2, A3 = Ad_inv(H, G.V), Ad_inv(H, G.Vd), Ad_inv(H, G.Vdd), Ad_inv(H, G.Vddd)
        V = F.V - A                                     # Y = Ad_H^-1 X of a twist X has Y' = Ad_H^-1 X' - [V, Y]
        Yd = A1 - ad(V, A)
        Vd, Vdd, Vddd = F.Vd - Yd, F.Vdd, F.Vddd
        if order > 1:
            Bd = A2 - ad(V, A1)
            Ydd = Bd - ad(Vd, A) - ad(V, Yd)
            Vdd = F.Vdd - Ydd
            if order > 2:
                Bdd = A3 - ad(V, A2) - ad(Vd, A1) - ad(V, Bd)
                Vddd = F.Vddd - Bdd + ad(Vdd, A) + 2.0 * ad(Vd, Yd) + ad(V, Ydd)
        return H, meet, Rates(V, Vd, Vdd, Vddd)
    return relative_rates


@kernel
def turning(representation: int, V: Twist, X: Twist) -> Twist:
    """Return N X, with which the derivative of represent(representation, C, X) is represent(representation, C, X' + N
    X), for the body-fixed twist V of the frame."""
    if representation == SPATIAL:
        return ad(V, X)
    if representation == HYBRID:
        return Twist(cross(V.angular, X.angular), cross(V.angular, X.linear))
    if representation == MIXED:
        return Twist(0.0 * X.angular, cross(V.angular, X.linear))
    return 0.0 * X


def link_derivative(order: int) -> Callable:
    """Return the algorithm for the derivative of this order of the twist of a frame relative to a reference frame."""
    relative_rates = against_reference(order)

    @kernel
    def derivative(links, body, frames, target, out):
        H, _, (V, Vd, Vdd, Vddd) = relative_rates(links, body, frames, target)
        r = target.representation
        Z = Vd + turning(r, V, V)                               # in the representation: Z', and so on, by N of V
        if order > 1:
            N = Z
            Nd = Vdd + turning(r, Vd, V) + turning(r, V, Vd)
            Z = Nd + turning(r, V, N)
            if order > 2:
                Ndd = Vddd + turning(r, Vdd, V) + 2.0 * turning(r, Vd, Vd) + turning(r, V, Vdd)
                Z = Ndd + turning(r, Vd, N) + turning(r, V, Nd) + turning(r, V, Z)
        put_twist(out, represent(r, H, Z))
    return derivative
