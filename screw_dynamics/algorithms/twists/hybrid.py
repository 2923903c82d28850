"""Hybrid twists of all bodies: of the body frame's origin, resolved in the world frame."""
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Twist, shifted_twist

from .recursion import Twists


@kernel
def place(links: Link, body: Twists, i: int) -> None:
    """Fill the orientation, and the vector from the parent's origin."""
    R, C = body.R[links.parent[i]], pose(links.E[i], body.q[i])
    body.R[i], body.r[i] = R @ C.R, R @ C.p


@kernel
def screw(links: Link, body: Twists, i: int) -> Twist:
    """Return the screw X_i, resolved in the world; (38)."""
    return Twist(body.R[i] @ links.X[i].angular, body.R[i] @ links.X[i].linear)


@kernel
def moved(body: Twists, p: int, i: int, V: Twist) -> Twist:
    """Return Ad_(-r) V; (41), (42), where r_(i,i-1) is -r."""
    return shifted_twist(body.r[i], V)


@kernel
def seen(frames: Frame, target: Target, body: Twists, i: int, V: Twist) -> Twist:
    """Return the twist of the body's own frame, resolved in that of the root."""
    R, V = frames.C[target.reference].R, shifted_twist(body.R[i] @ frames.C[i].p, V)
    return Twist(V.angular @ R, V.linear @ R)
