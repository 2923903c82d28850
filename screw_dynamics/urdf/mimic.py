"""What mimic joints follow in the end, through chains of them."""
from screw_dynamics.model.builder import Mimic

from .error import fault, listed, quote
from .schema import LARGEST_NUMBER


def followed(tree, joints):
    """{mimic joint: Mimic of a joint that is none} among the joints of a part of the tree.

    UrdfError if the leader is not among them or does not move, if the chain is a loop, or its product out of range.
    """
    kept = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic:
            _check_leader(joint, tree.joints.get(joint.mimic.joint), kept)
    motion = {joint.name: Mimic(joint.name) for joint in joints if not joint.mimic}
    for joint in joints:
        chain = {}
        while joint.name not in motion and joint.name not in chain:
            chain[joint.name] = joint
            joint = kept[joint.mimic.joint]
        if joint.name in chain:
            raise fault(f"joint {quote(joint.name)}: mimic in a loop of {listed(chain)}", joint.line)
        for follower in reversed(chain.values()):
            motion[follower.name] = _through(follower, motion[follower.mimic.joint])
    return {joint.name: motion[joint.name] for joint in joints if joint.mimic}


def _check_leader(joint, leader, kept):
    wrong = None
    if leader is None:
        wrong = "which does not exist"
    elif leader is joint:
        wrong = "which is itself"
    elif leader.axis is None:
        wrong = f"which is {leader.kind}"
    elif leader.name not in kept:
        wrong = "which base_link or tip_link cuts off"
    if wrong:
        raise fault(f"joint {quote(joint.name)}: mimic of joint {quote(joint.mimic.joint)}, {wrong}", joint.line)


def _through(joint, leader):
    """q = m (k q_leader + c) + o, as a Mimic of the leader's leader."""
    _, m, o = joint.mimic
    mimic = Mimic(leader.joint, m * leader.multiplier, m * leader.offset + o)
    if max(abs(mimic.multiplier), abs(mimic.offset)) > LARGEST_NUMBER:
        raise fault(f"joint {quote(joint.name)}: mimic multiplier {mimic.multiplier:g} and offset {mimic.offset:g}, "
                    "through its chain of leaders, are out of range", joint.line)
    return mimic
