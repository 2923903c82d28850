"""Mixed twists of all bodies: rotation resolved in the body frame, velocity of its origin in the world frame."""
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Pose, Twist
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import cross

from .recursion import Twists


@kernel
def place(links: Link, body: Twists, i: int) -> None:
    """Fill the pose in the parent, and the orientation."""
    body.C[i] = pose(links.E[i], body.q[i])
    body.R[i] = body.R[links.parent[i]] @ body.C[i].R


@kernel
def screw(links: Link, body: Twists, i: int) -> Twist:
    """Return X_i, the linear part resolved in the world; (50), i = j."""
    X = links.X[i]
    return Twist(X.angular, body.R[i] @ X.linear)


@kernel
def moved_twist(C: Pose, R: Rotation, V: Twist) -> Twist:
    """Return the mixed twist of a frame fixed to a parent at the relative pose C, from that of the parent.

    R is the parent's orientation. The matrix is that of (51) and (52) with R_(i-1), not R_i as printed: the parent's
    angular velocity is in its own frame."""
    return Twist(V.angular @ C.R, V.linear + R @ cross(V.angular, C.p))


@kernel
def moved(body: Twists, p: int, i: int, V: Twist) -> Twist:
    """Return moved_twist by the pose in the parent; (51), (52)."""
    return moved_twist(body.C[i], body.R[p], V)


@kernel
def seen(frames: Frame, target: Target, body: Twists, i: int, V: Twist) -> Twist:
    """Return the twist of the body's own frame, the linear part resolved in that of the root."""
    V = moved_twist(frames.C[i], body.R[i], V)
    return Twist(V.angular, V.linear @ frames.C[target.reference].R)
