"""Efforts and their time derivatives in hybrid twists: about the bodies' origins, resolved in the world."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import inner, pose
from screw_dynamics.screws.se3 import Twist, Wrench, dot, identity, shifted_wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Symmetric3, Vec3, cross


class NewtonEulerDerivatives(NamedTuple):
    """Data of each body in the recursion, resolved in the world frame: joint coordinate and its derivatives;
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
    """Return w x X, for both parts."""
    return Twist(cross(w, X.angular), cross(w, X.linear))


@kernel
def turned_wrench(w: Vec3, W: Wrench) -> Wrench:
    """Return w x W, for both parts."""
    return Wrench(cross(w, W.torque), cross(w, W.force))


@kernel
def resolved(R: Rotation, Theta: Symmetric3, x: Vec3) -> Vec3:
    """Return R Theta R^T x."""
    return R @ (Theta @ (x @ R))


def motion(second: bool) -> Callable:
    """Return the function that fills the motion columns of body i from the parent's; [MD] (75)."""
    @kernel
    def move(links, body, i):
        p, X, o = links.parent[i], links.X[i], zero(Vec3, body.q[0])
        q, qd, qdd, qddd, qdddd, R, r, rd, rdd, J, w, Vd, Vdd, Vddd, _, _, _ = body
        C = pose(links.E[i], q[i])
        R[i], r[i] = R[p] @ C.R, R[p] @ C.p                                             # (75a)
        J[i] = Twist(R[i] @ X.angular, R[i] @ X.linear)                                 # (75b)
        wp, wpd, wpdd = w[p], Vd[p].angular, Vdd[p].angular
        w[i] = wp + qd[i] * J[i].angular                                                # (75c)
        Jd = turned(w[i], J[i])
        K, Kd = qd[i] * J[i], qdd[i] * J[i] + qd[i] * Jd                                # J q', and its derivatives
        rd[i] = cross(wp, r[i]) + K.linear
        slide = cross(wpd, r[i]) + cross(wp, rd[i])
        rdd[i] = slide + Kd.linear
        Vd[i] = Vd[p] + Kd + Twist(o, slide)                                            # (75d)
        Jdd = turned(Vd[i].angular, J[i]) + turned(w[i], Jd)
        Kdd = qddd[i] * J[i] + 2.0 * qdd[i] * Jd + qd[i] * Jdd
        slide = cross(wpdd, r[i]) + 2.0 * cross(wpd, rd[i]) + cross(wp, rdd[i])
        Vdd[i] = Vdd[p] + Kdd + Twist(o, slide)
        if second:
            Jddd = turned(Vdd[i].angular, J[i]) + 2.0 * turned(Vd[i].angular, Jd) + turned(w[i], Jdd)
            Kddd = qdddd[i] * J[i] + 3.0 * qddd[i] * Jd + 3.0 * qdd[i] * Jdd + qd[i] * Jddd
            rddd, wpddd = slide + Kdd.linear, Vddd[p].angular
            slide = cross(wpddd, r[i]) + 3.0 * cross(wpdd, rd[i]) + 3.0 * cross(wpd, rdd[i]) + cross(wp, rddd)
            Vddd[i] = Vddd[p] + Kddd + Twist(o, slide)
    return move


def own_wrench(second: bool) -> Callable:
    """Return the function that fills the wrench columns of body i with the wrench of its own motion; [MD] (54), (55).

    h is the body's first moment, L its angular momentum about its origin, and T the inertia there, for which (T x)' = T
    (x' - w x x) + w x T x."""
    @kernel
    def load(links, body, i):
        R, w, Vd, Vdd, Vddd, M = body.R[i], body.w[i], body.Vd[i], body.Vdd[i], body.Vddd[i], links.M[i]
        m, h, T = M.mass, R @ M.moment, M.rotational
        wd, a, wdd, jerk = Vd.angular, Vd.linear, Vdd.angular, Vdd.linear
        hd = cross(w, h)
        hdd = cross(wd, h) + cross(w, hd)
        hddd = cross(wdd, h) + 2.0 * cross(wd, hd) + cross(w, hdd)
        z = wdd - cross(w, wd)
        L, Tw, Tz = resolved(R, T, w), resolved(R, T, wd), resolved(R, T, z)
        Ld = Tw + cross(w, L)
        Twd = Tz + cross(w, Tw)
        Ldd = Twd + cross(wd, L) + cross(w, Ld)
        body.W[i] = Wrench(Ld + cross(h, a), m * a + hdd)
        body.Wd[i] = Wrench(Ldd + cross(hd, a) + cross(h, jerk), m * jerk + hddd)
        if second:
            wddd, snap = Vddd.angular, Vddd.linear
            hdddd = cross(wddd, h) + 3.0 * cross(wdd, hd) + 3.0 * cross(wd, hdd) + cross(w, hddd)
            zd = wddd - cross(w, wdd)
            Tzd = resolved(R, T, zd - cross(w, z)) + cross(w, Tz)
            Twdd = Tzd + cross(wd, Tw) + cross(w, Twd)
            Lddd = Twdd + cross(wdd, L) + 2.0 * cross(wd, Ld) + cross(w, Ldd)
            torque = Lddd + cross(hdd, a) + 2.0 * cross(hd, jerk) + cross(h, snap)
            body.Wdd[i] = Wrench(torque, m * snap + hdddd)
    return load


def recursion(second: bool) -> Callable:
    """Return the algorithm for tau and tau', and tau'' if `second`."""
    move, load = motion(second), own_wrench(second)

    @kernel
    def inverse_dynamics_time_derivatives(links, body, tau):
        """Compute [MD] (75), (76), and their derivatives. Body-fixed vectors rotate with the body, as J' = w x J."""
        parent, k, q, r, J, w, W, Wd, Wdd = (links.parent, links.coordinate, body.q, body.r, body.J, body.w, body.W,
                                             body.Wd, body.Wdd)
        n, o, none, still = len(parent) - 1, zero(Vec3, q[0]), zero(Wrench, q[0]), zero(Twist, q[0])
        body.R[0], w[0], W[0], Wd[0], Wdd[0] = identity(q[0]).R, o, none, none, none
        body.Vd[0], body.Vdd[0], body.Vddd[0] = over(links.X[0], q[0]), still, still
        for i in range(1, n + 1):
            move(links, body, i)
            load(links, body, i)
        Fd, Fdd = none, none                        # the derivatives in the joint's child, which is its last body
        for i in range(n, 0, -1):
            p, carries = parent[i], i < n and inner(q[i + 1])
            f, fd, turn = W[i].force, Wd[i].force, turned_wrench(w[i], W[i])
            tau[0, k[i]] += dot(W[i], J[i]) + links.armature[i] * body.qdd[i]      # (76c)
            Fd = shifted_wrench(r[i + 1], Fd) if carries else Wd[i] - turn
            tau[1, k[i]] += dot(Fd, J[i]) + links.armature[i] * body.qddd[i]
            if second:
                own = Wdd[i] - turned_wrench(body.Vd[i].angular, W[i]) - turned_wrench(w[i], 2.0 * Wd[i] - turn)
                Fdd = shifted_wrench(r[i + 1], Fdd) if carries else own
                tau[2, k[i]] += dot(Fdd, J[i]) + links.armature[i] * body.qdddd[i]
                arm = cross(body.rdd[i], f) + 2.0 * cross(body.rd[i], fd)
                Wdd[p] += shifted_wrench(r[i], Wdd[i]) + Wrench(arm, o)
            Wd[p] += shifted_wrench(r[i], Wd[i]) + Wrench(cross(body.rd[i], f), o)
            W[p] += shifted_wrench(r[i], W[i])                                          # (76b), from its subtree
    return inverse_dynamics_time_derivatives
