"""Newton-Euler equations of one rigid body in components, for the recursions."""
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.se3 import Pose, Twist, Wrench
from screw_dynamics.screws.vectors import Matrix3, Symmetric3, Vec3, cross


@kernel
def acceleration_matrix(w: Vec3, wd: Vec3) -> Matrix3:
    """Return S = w'~ + w~ w~: S r is the relative acceleration of two points of the body, with the vector r between
    them."""
    xx, yy, zz, xy, xz, yz = w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z
    return Matrix3(Vec3(-yy - zz, xy - wd.z, xz + wd.y),
                   Vec3(xy + wd.z, -xx - zz, yz - wd.x),
                   Vec3(xz - wd.y, yz + wd.x, -xx - yy))


@kernel
def euler(Theta: Symmetric3, w: Vec3, wd: Vec3) -> Vec3:
    """Return Theta w' + w x Theta w, the torque about a fixed point."""
    return Theta @ wd + cross(w, Theta @ w)


@kernel
def moment(Theta: Symmetric3, S: Matrix3) -> Vec3:
    """Return Theta w' + w x Theta w for S = w'~ + w~ w~, the moment of the accelerations S x of the body's points x.

    With Binet's K = tr(Theta) / 2 I - Theta, the integral of x x^T over the mass, its components are those of S K - (S
    K)^T: 15 products, where `euler` takes 24; Balafoutis and Patel (1991)."""
    half = 0.5 * (Theta.xx + Theta.yy + Theta.zz)
    x, y, z = half - Theta.xx, half - Theta.yy, half - Theta.zz
    return Vec3(S.z.y * y - S.y.z * z + (S.y.y - S.z.z) * Theta.yz + S.y.x * Theta.xz - S.z.x * Theta.xy,
                S.x.z * z - S.z.x * x + (S.z.z - S.x.x) * Theta.xz + S.z.y * Theta.xy - S.x.y * Theta.yz,
                S.y.x * x - S.x.y * y + (S.x.x - S.y.y) * Theta.xy + S.x.z * Theta.yz - S.y.z * Theta.xz)


@kernel
def balance(M: Inertia, V: Twist, Vd: Twist) -> Wrench:
    """Return M V' - ad_V^T M V, the wrench of a motion, in the body frame or in the world frame; [MD] (38), (41).

    It is computed in the components (42), (43), with the acceleration a = v' + w x v of the point at the frame's
    origin: 46 products, where the screw form takes 66."""
    S, h = acceleration_matrix(V.angular, Vd.angular), M.moment
    a = Vd.linear + cross(V.angular, V.linear)
    return Wrench(moment(M.rotational, S) + cross(h, a), M.mass * a + S @ h)


@kernel
def balance_at(C: Pose, M: Inertia, V: Twist, Vd: Twist) -> Wrench:
    """Return `balance` of a body with pose C and inertia M in its own frame, for spatial twists; [MD] (38), (34).

    The inertia stays in the body: angular velocity and acceleration are rotated into its axes, the torque back, and the
    wrench of the acceleration a of the body's origin is taken about the world's."""
    w, wd, h = V.angular, Vd.angular, C.R @ M.moment
    S = acceleration_matrix(w, wd)
    a = Vd.linear + cross(w, V.linear) + S @ C.p
    force = M.mass * a + S @ h
    return Wrench(C.R @ euler(M.rotational, w @ C.R, wd @ C.R) + cross(h, a) + cross(C.p, force), force)
