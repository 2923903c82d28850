"""Body-fixed twists of all bodies: measured and resolved in the body frame."""
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad_inv, Twist

from .recursion import Twists


@kernel
def place(links: Link, body: Twists, i: int) -> None:
    """Fill the pose in the parent."""
    body.C[i] = pose(links.E[i], body.q[i])


@kernel
def screw(links: Link, body: Twists, i: int) -> Twist:
    """Return X_i."""
    return links.X[i]


@kernel
def moved(body: Twists, p: int, i: int, V: Twist) -> Twist:
    """Return Ad_(C_i,p) V; (14), (19)."""
    return Ad_inv(body.C[i], V)


@kernel
def seen(frames: Frame, target: Target, body: Twists, i: int, V: Twist) -> Twist:
    """Return the twist of the body's own frame; (20)."""
    return Ad_inv(frames.C[i], V)
