"""Spatial twists of all bodies: of the point of the body at the world's origin, resolved in the world frame."""
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad, Ad_inv, Twist

from .recursion import Twists


@kernel
def place(links: Link, body: Twists, i: int) -> None:
    """Fill the pose in the world."""
    body.C[i] = body.C[links.parent[i]] @ pose(links.E[i], body.q[i])


@kernel
def screw(links: Link, body: Twists, i: int) -> Twist:
    """Return J_i = Ad_(C_i) X_i; (28)."""
    return Ad(body.C[i], links.X[i])


@kernel
def moved(body: Twists, p: int, i: int, V: Twist) -> Twist:
    """Return V: all bodies' twists have the same reference point; (29), (30)."""
    return V


@kernel
def seen(frames: Frame, target: Target, body: Twists, i: int, V: Twist) -> Twist:
    """Return the twist about and in the frame of the root; (35)."""
    return Ad_inv(frames.C[target.reference], V)
