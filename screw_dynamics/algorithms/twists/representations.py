"""Twists from one representation to another; [MK] table 3. Numbered as in jacobian.REPRESENTATIONS."""
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.se3 import Ad_inv, Twist

from ..jacobian import REPRESENTATIONS, represent

BODY, SPATIAL, HYBRID, MIXED = range(len(REPRESENTATIONS))


@kernel
def body_fixed(representation, C, V):
    """The body-fixed twist of a frame of pose C, from any representation V: the inverse of jacobian.represent."""
    if representation == SPATIAL:
        return Ad_inv(C, V)                                                           # (54)
    if representation == HYBRID:
        return Twist(V.angular @ C.R, V.linear @ C.R)                                 # (55)
    if representation == MIXED:
        return Twist(V.angular, V.linear @ C.R)                                       # (47)
    return V


@kernel
def converted(source, target, C, V):
    """The twist V of a frame of pose C in the world, from one representation in another; [MK] table 3."""
    return represent(target, C, body_fixed(source, C, V))
