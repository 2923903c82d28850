"""Mimic joints of the part of the tree in use."""
from collections.abc import Sequence

from screw_dynamics.model.mimic import MimicError, followed

from .description import Joint
from .error import fault, listed, quote
from .schema import LARGEST_NUMBER
from .tree import Tree


def check_mimics(tree: Tree, joints: Sequence[Joint]) -> None:
    """UrdfError for a leader that is fixed or not among these joints, a loop of leaders, or a product out of range."""
    kept = {joint.name: joint for joint in joints}
    mimics = {joint.name: joint.mimic for joint in joints if joint.mimic}
    for name, mimic in mimics.items():
        wrong = _wrong_leader(tree.joints.get(mimic.joint), name, kept)
        if wrong:
            raise fault(f"joint {quote(name)}: mimic of joint {quote(mimic.joint)}, which {wrong}", kept[name].line)
    try:
        followed(kept, mimics, LARGEST_NUMBER)
    except MimicError as error:
        raise fault(f"joint {quote(error.joint)}: {error.reason}{listed(error.loop)}", kept[error.joint].line) from None


def _wrong_leader(leader, follower, kept):
    if leader is None:
        return "does not exist"
    if leader.name == follower:
        return "is itself"
    if leader.axis is None:
        return f"is {leader.kind}"
    return None if leader.name in kept else "base_link or tip_link cuts off"
