"""Mimic joints of the part of the tree in use."""
from collections.abc import Sequence

from screw_dynamics.model.mimic import MimicError, followed

from .description import Joint
from .error import Notes, fault, listed, quote
from .schema import LARGEST_NUMBER
from .tree import Tree


def check_mimics(tree: Tree, joints: Sequence[Joint], notes: Notes) -> tuple[Joint, ...]:
    """Return the joints. A joint whose leader is not in the file becomes free, with a note.

    Raises UrdfError for a leader that is fixed or not among these joints, for a loop of leaders, and for a product of
    multipliers out of range."""
    joints = tuple(_free_without_leader(joint, tree, notes) for joint in joints)
    kept = {joint.name: joint for joint in joints}
    mimics = {joint.name: joint.mimic for joint in joints if joint.mimic}
    for name, mimic in mimics.items():
        wrong = _wrong_leader(tree.joints[mimic.joint], name, kept)
        if wrong:
            raise fault(f"joint {quote(name)}: mimic of joint {quote(mimic.joint)}, which {wrong}", kept[name].line)
    try:
        followed(kept, mimics, LARGEST_NUMBER)
    except MimicError as error:
        raise fault(f"joint {quote(error.joint)}: {error.reason}{listed(error.loop)}", kept[error.joint].line) from None
    return joints


def _free_without_leader(joint, tree, notes):
    if joint.mimic is None or joint.mimic.joint in tree.joints:
        return joint
    notes.add("mimic of a joint that does not exist, taken as free", f"{joint.name} of {joint.mimic.joint}")
    return joint._replace(mimic=None)


def _wrong_leader(leader, follower, kept):
    if leader.name == follower:
        return "is itself"
    if leader.axis is None:
        return f"is {leader.kind}"
    return None if leader.name in kept else "base_link or tip_link cuts off; lock it to fix both"
