"""The joints listed in the topics of dynamics_node, and their order: the parameters joints and joint_order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.floating_base import coordinate_joints
from screw_dynamics.model.model import Model
from screw_dynamics.model.multi_dof_joints import coordinate_indices

from ..node.description import output_order
from ..node.parameters import Parameters, Setting

FOLLOWER = -1       # used as the index of a mimic joint, whose torque is reduced to the joint that it follows
MODEL, JOINT_STATES = "model", "joint_states"
SETTINGS = (
    Setting(
        "joint_order", MODEL, "order of the joints in ~/gravity, ~/coriolis, ~/inverse_dynamics and ~/external_torque "
        "while joints is empty: that of the model, or that of joint_states, with its mimic joints, whose effort is 0",
        choices=(MODEL, JOINT_STATES), read_only=True,
    ),
)


class OutputJoints(NamedTuple):
    """The joints of an output. names: their names; order: the index of each in the efforts (n,) of the model, or
    FOLLOWER."""

    names: tuple[str, ...]
    order: np.ndarray


def follows_states(parameters: Parameters) -> bool:
    """Return True if outputs list joints in the order of joint_states. Raises ValueError if the parameter joints also
    lists them."""
    if parameters.joint_order == JOINT_STATES and any(parameters.joints):
        raise ValueError("parameters joints and joint_order: joint_states are both given; give one of them")
    return parameters.joint_order == JOINT_STATES


def output_joints(model: Model, joints: Sequence[str]) -> OutputJoints:
    """Return the joints in the parameter `joints`, in its order; if it is empty, every joint of one degree of
    freedom."""
    names = coordinate_joints(model)
    order = output_order(names, joints)
    return OutputJoints(tuple(names[i] for i in order), coordinate_indices(model)[1][order])


def listed_joints(model: Model, listing: Sequence[str]) -> OutputJoints:
    """Return the OutputJoints of a list of joints and mimic joints of the model."""
    index = dict(zip(coordinate_joints(model), coordinate_indices(model)[1], strict=True))
    return OutputJoints(tuple(listing), np.array([index.get(name, FOLLOWER) for name in listing], dtype=np.intp))
