"""The Newton-Euler equations of one rigid body in components, as the recursions evaluate them."""
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.se3 import Twist, Wrench
from screw_dynamics.screws.vectors import Matrix3, Symmetric3, Vec3, cross


@kernel
def acceleration_matrix(w: Vec3, wd: Vec3) -> Matrix3:
    """S = w'~ + w~ w~: S r is the acceleration of a point of the body against another, r the vector between them."""
    xx, yy, zz, xy, xz, yz = w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z
    return Matrix3(Vec3(-yy - zz, xy - wd.z, xz + wd.y),
                   Vec3(xy + wd.z, -xx - zz, yz - wd.x),
                   Vec3(xz - wd.y, yz + wd.x, -xx - yy))


@kernel
def euler(Theta: Symmetric3, w: Vec3, wd: Vec3) -> Vec3:
    """Theta w' + w x Theta w, the torque about a fixed point."""
    return Theta @ wd + cross(w, Theta @ w)


@kernel
def balance(M: Inertia, V: Twist, Vd: Twist) -> Wrench:
    """M V' - ad_V^T M V, the wrench that a motion requires, in the body frame or in the world frame; [MD] (38), (41).

    In the components (42), (43), with a = v' + w x v the acceleration of the point at the frame's origin: 54 products
    where the screw form takes 66."""
    w, wd, h = V.angular, Vd.angular, M.moment
    a = Vd.linear + cross(w, V.linear)
    return Wrench(euler(M.rotational, w, wd) + cross(h, a), M.mass * a + acceleration_matrix(w, wd) @ h)
