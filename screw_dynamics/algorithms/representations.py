"""The four representations of a twist, and the maps between them; [MK] table 3.

"body": measured and resolved in the body frame. "spatial": measured at the origin of the reference frame and resolved
in it. "hybrid": of the body frame's origin, resolved in the reference frame. "mixed": angular part resolved in the body
frame, linear part (of the body frame's origin) in the reference frame. Compiled code uses their indices."""
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.se3 import Ad, Ad_inv, Pose, Twist, ad
from screw_dynamics.screws.vectors import cross

REPRESENTATIONS = ("body", "spatial", "hybrid", "mixed")
BODY, SPATIAL, HYBRID, MIXED = range(len(REPRESENTATIONS))


@kernel
def represent(representation: int, C: Pose, V: Twist) -> Twist:
    """Return the body-fixed twist V of a frame with pose C, in a representation; [MK] table 3."""
    if representation == SPATIAL:
        return Ad(C, V)
    if representation == HYBRID:
        return Twist(C.R @ V.angular, C.R @ V.linear)
    if representation == MIXED:
        return Twist(V.angular, C.R @ V.linear)
    return V


@kernel
def represent_rate(representation: int, C: Pose, V: Twist, X: Twist, Xd: Twist) -> Twist:
    """Return the time derivative of represent(representation, C, X), with the body-fixed twist V of the frame and the
    rate Xd of X."""
    w = V.angular
    if representation == SPATIAL:
        return Ad(C, Xd + ad(V, X))
    if representation == HYBRID:
        return Twist(C.R @ (Xd.angular + cross(w, X.angular)), C.R @ (Xd.linear + cross(w, X.linear)))
    if representation == MIXED:
        return Twist(Xd.angular, C.R @ (Xd.linear + cross(w, X.linear)))
    return Xd


@kernel
def body_fixed(representation: int, C: Pose, V: Twist) -> Twist:
    """Return the body-fixed twist of a frame with pose C, from any representation V: the inverse of `represent`; [MK]
    3."""
    if representation == SPATIAL:
        return Ad_inv(C, V)                                                           # (54)
    if representation == HYBRID:
        return Twist(V.angular @ C.R, V.linear @ C.R)                                 # (55)
    if representation == MIXED:
        return Twist(V.angular, V.linear @ C.R)                                       # (47)
    return V


@kernel
def converted(source: int, target: int, C: Pose, V: Twist) -> Twist:
    """Convert the twist V of a frame with pose C in the reference frame from one representation to another; [MK] table
    3."""
    return represent(target, C, body_fixed(source, C, V))
