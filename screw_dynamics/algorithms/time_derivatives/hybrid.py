"""Efforts and their time derivatives in hybrid twists: about the bodies' origins, resolved in the world."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import inner, pose
from screw_dynamics.screws.se3 import Twist, Wrench, dot, identity, shifted_wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Symmetric3, Vec3, cross


class Body(NamedTuple):
    """What the recursion holds of each body, resolved in the world frame: joint coordinate and its derivatives;
    orientation; vector from the parent's origin, with its derivatives; joint screw; angular velocity; the derivatives
    of the twist; wrench through the joint, with its derivatives."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    qddd: Scalar
    qdddd: Scalar
    R: Rotation
    r: Vec3
    rd: Vec3
    rdd: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    Vdd: Twist
    Vddd: Twist
    W: Wrench
    Wd: Wrench
    Wdd: Wrench


@kernel
def turned(w: Vec3, X: Twist) -> Twist:
    """w x X, of both parts."""
    return Twist(cross(w, X.angular), cross(w, X.linear))


@kernel
def turned_wrench(w: Vec3, W: Wrench) -> Wrench:
    """w x W, of both parts."""
    return Wrench(cross(w, W.torque), cross(w, W.force))


@kernel
def resolved(R: Rotation, Theta: Symmetric3, x: Vec3) -> Vec3:
    """R Theta R^T x."""
    return R @ (Theta @ (x @ R))


def recursion(second: bool) -> Callable:
    """The algorithm for tau and tau', and tau'' if `second`."""
    @kernel
    def inverse_dynamics_time_derivatives(links, body, tau):
        """[MD] (75), (76), and their derivatives, in which what is fixed to a body turns with it, as J' = w x J."""
        parent, k, X, M, E = links
        q, qd, qdd, qddd, qdddd, R, r, rd, rdd, J, w, Vd, Vdd, Vddd, W, Wd, Wdd = body
        n, none = len(parent) - 1, zero(Wrench, q[0])
        R[0], w[0] = identity(q[0]).R, zero(Vec3, q[0])
        Vd[0], Vdd[0], Vddd[0] = over(X[0], q[0]), zero(Twist, q[0]), zero(Twist, q[0])
        W[0], Wd[0], Wdd[0] = none, none, none
        for i in range(1, n + 1):
            p = parent[i]
            C = pose(E[i], q[i])
            R[i], r[i] = R[p] @ C.R, R[p] @ C.p
            J[i] = Twist(R[i] @ X[i].angular, R[i] @ X[i].linear)
            wp, wpd, wpdd = w[p], Vd[p].angular, Vdd[p].angular
            w[i] = wp + qd[i] * J[i].angular
            Jd = turned(w[i], J[i])
            K, Kd = qd[i] * J[i], qdd[i] * J[i] + qd[i] * Jd                            # J q', and its derivatives
            rd[i] = cross(wp, r[i]) + K.linear
            slide = cross(wpd, r[i]) + cross(wp, rd[i])
            rdd[i] = slide + Kd.linear
            Vd[i] = Vd[p] + Kd + Twist(zero(Vec3, q[0]), slide)
            wd, a = Vd[i].angular, Vd[i].linear
            Jdd = turned(wd, J[i]) + turned(w[i], Jd)
            Kdd = qddd[i] * J[i] + 2.0 * qdd[i] * Jd + qd[i] * Jdd
            slide = cross(wpdd, r[i]) + 2.0 * cross(wpd, rd[i]) + cross(wp, rdd[i])
            Vdd[i] = Vdd[p] + Kdd + Twist(zero(Vec3, q[0]), slide)
            wdd, jerk = Vdd[i].angular, Vdd[i].linear

            m, h, Theta = M[i].mass, R[i] @ M[i].moment, M[i].rotational
            hd = cross(w[i], h)
            hdd = cross(wd, h) + cross(w[i], hd)
            hddd = cross(wdd, h) + 2.0 * cross(wd, hd) + cross(w[i], hdd)
            L, Lw, z = resolved(R[i], Theta, w[i]), resolved(R[i], Theta, wd), wdd - cross(w[i], wd)
            Lz = resolved(R[i], Theta, z)           # (Theta x)' = Theta (x' - w x x) + w x Theta x
            Ld = Lw + cross(w[i], L)
            Lwd = Lz + cross(w[i], Lw)
            Ldd = Lwd + cross(wd, L) + cross(w[i], Ld)
            W[i] = Wrench(Ld + cross(h, a), m * a + hdd)                                # (54), (55)
            Wd[i] = Wrench(Ldd + cross(hd, a) + cross(h, jerk), m * jerk + hddd)
            if second:
                Jddd = turned(wdd, J[i]) + 2.0 * turned(wd, Jd) + turned(w[i], Jdd)
                Kddd = qdddd[i] * J[i] + 3.0 * qddd[i] * Jd + 3.0 * qdd[i] * Jdd + qd[i] * Jddd
                rddd = slide + Kdd.linear
                slide = (cross(Vddd[p].angular, r[i]) + 3.0 * cross(wpdd, rd[i]) + 3.0 * cross(wpd, rdd[i])
                         + cross(wp, rddd))
                Vddd[i] = Vddd[p] + Kddd + Twist(zero(Vec3, q[0]), slide)
                wddd, snap = Vddd[i].angular, Vddd[i].linear
                hdddd = cross(wddd, h) + 3.0 * cross(wdd, hd) + 3.0 * cross(wd, hdd) + cross(w[i], hddd)
                zd = wddd - cross(w[i], wdd)
                Lwdd = (resolved(R[i], Theta, zd - cross(w[i], z)) + cross(w[i], Lz)
                        + cross(wd, Lw) + cross(w[i], Lwd))
                Lddd = Lwdd + cross(wdd, L) + 2.0 * cross(wd, Ld) + cross(w[i], Ldd)
                torque = Lddd + cross(hdd, a) + 2.0 * cross(hd, jerk) + cross(h, snap)
                Wdd[i] = Wrench(torque, m * snap + hdddd)
        Fd, Fdd = none, none                        # the derivatives in the joint's child, which the last body has
        for i in range(n, 0, -1):
            p, wd = parent[i], Vd[i].angular
            carries = i < n and inner(q[i + 1])
            tau[0, k[i]] += dot(W[i], J[i])                                             # (76c)
            turn = turned_wrench(w[i], W[i])
            Fd = shifted_wrench(r[i + 1], Fd) if carries else Wd[i] - turn
            tau[1, k[i]] += dot(Fd, J[i])
            f, fd = W[i].force, Wd[i].force
            if second:
                own = Wdd[i] - turned_wrench(wd, W[i]) - turned_wrench(w[i], 2.0 * Wd[i] - turn)
                Fdd = shifted_wrench(r[i + 1], Fdd) if carries else own
                tau[2, k[i]] += dot(Fdd, J[i])
                arm = cross(rdd[i], f) + 2.0 * cross(rd[i], fd)
                Wdd[p] += shifted_wrench(r[i], Wdd[i]) + Wrench(arm, zero(Vec3, q[0]))
            Wd[p] += shifted_wrench(r[i], Wd[i]) + Wrench(cross(rd[i], f), zero(Vec3, q[0]))
            W[p] += shifted_wrench(r[i], W[i])                                          # (76b), what it carries
    return inverse_dynamics_time_derivatives
