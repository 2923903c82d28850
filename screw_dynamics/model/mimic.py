"""Mimic joints, and what they follow in the end through chains of them."""
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple


class Mimic(NamedTuple):
    """A joint that follows another: q = multiplier q_joint + offset.

    Parameters
    ----------
    joint : str
        Joint that it follows.
    multiplier : float, optional
        Factor of that joint's coordinate.
    offset : float, optional
        Coordinate while that joint is at 0, rad or m.
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


# Of what a joint's motion meets, how much its leader feels of a follower's, by the multiplier.
SHARES: dict[str, Callable[[float], float]] = {
    "damping": lambda multiplier: multiplier**2, "friction": abs, "armature": lambda multiplier: multiplier**2}


class MimicError(ValueError):
    """A joint that cannot follow another: `joint`, the `reason`, and the joints of the `loop` if it is one."""

    def __init__(self, joint: str, reason: str, loop: Iterable[str] = ()) -> None:
        self.joint, self.reason, self.loop = joint, reason, tuple(loop)
        super().__init__(f"joint {joint!r}: {reason}{', '.join(map(repr, self.loop))}")


def followed(joints: Iterable[str], mimics: Mapping[str, Mimic],
             largest: float = sys.float_info.max) -> dict[str, Mimic]:
    """Each joint as a Mimic of a joint that follows none, through chains; such a joint as one of itself.

    MimicError if the leader is none of the joints, if a chain is a loop, or if its product exceeds the largest number
    allowed. O(n) for chains of any length."""
    found = {joint: Mimic(joint) for joint in joints if joint not in mimics}
    for joint in mimics:
        chain: dict[str, Mimic] = {}
        while joint not in found:
            if joint in chain:
                raise MimicError(joint, "mimic in a loop of ", list(chain)[list(chain).index(joint):])
            chain[joint] = mimic = mimics[joint]
            if mimic.joint not in found and mimic.joint not in mimics:
                raise MimicError(joint, f"mimic of joint {mimic.joint!r}, which does not exist or does not move")
            joint = mimic.joint
        for follower, (leader, m, o) in reversed(chain.items()):
            last, k, c = found[leader]
            found[follower] = mimic = Mimic(last, m * k, m * c + o)                # m (k q + c) + o
            if not max(abs(mimic.multiplier), abs(mimic.offset)) <= largest:
                raise MimicError(follower, f"mimic multiplier {mimic.multiplier:g} and offset {mimic.offset:g}, "
                                           "through its chain of leaders, are out of range")
    return found
