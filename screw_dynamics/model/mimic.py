"""Mimic joints, and the resolution of chains of them."""
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple


class Mimic(NamedTuple):
    """The leader of a mimic joint: q = multiplier q_joint + offset.

    Parameters
    ----------
    joint : str
        Leader.
    multiplier : float, optional
        Factor of the leader's coordinate.
    offset : float, optional
        Coordinate if the leader is at 0, rad or m.
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


# The factors by which a mimic joint's damping, friction and armature act on its leader, as functions of the multiplier.
SHARES: dict[str, Callable[[float], float]] = {
    "damping": lambda multiplier: multiplier**2, "friction": abs, "armature": lambda multiplier: multiplier**2}


class MimicError(ValueError):
    """The error of an invalid mimic joint: `joint`, the `reason`, and the joints of the `loop`, if there is one."""

    def __init__(self, joint: str, reason: str, loop: Iterable[str] = ()) -> None:
        self.joint, self.reason, self.loop = joint, reason, tuple(loop)
        super().__init__(f"joint {joint!r}: {reason}{', '.join(map(repr, self.loop))}")


def followed(joints: Iterable[str], mimics: Mapping[str, Mimic],
             largest: float = sys.float_info.max) -> dict[str, Mimic]:
    """Return for each joint a Mimic of its final leader, resolving chains; a joint that mimics no other is its own.

    Raises MimicError if a leader is not among the joints, a chain is a loop, or its product exceeds `largest`. O(n) for
    chains of any length."""
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
