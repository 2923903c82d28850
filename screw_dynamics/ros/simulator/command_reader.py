"""From a message on joint_commands to commands in model order."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from screw_dynamics.floating_base import coordinate_joints
from screw_dynamics.model.model import Model

from ..node.joint_state import Fault, JointMap, JointStateLike, Selection

FIELDS = "position", "velocity", "effort"


class Column(NamedTuple):
    """Where the commands of some joints are in an array: entry source[k] is that of joint target[k] of the model."""

    source: np.ndarray
    target: np.ndarray


class CommandReader:
    """From a message to commands of the joints of one degree of freedom in model order, NaN where a joint has none.

    interfaces {joint: "position", "velocity" or "effort"}: the field that commands a joint; others are not read for it.
    A field may be empty, then it commands nothing, or have a value for each name in the message, or, as ros2_control's
    JointStateTopicSystem sends it, for each named joint that it commands, in the order of the names, mimic joints with
    the interface of their leader or left out. A field that commands no named joint may have any length.

    `notify` receives a `Fault` of joints that are ignored, those the model does not have, and mimic joints, which
    follow their leader; and of joints that are given a command in another field than that of their interface."""

    def __init__(self, model: Model, interfaces: Mapping[str, str],
                 notify: Callable[[Fault], None] = lambda fault: None):
        self._map = JointMap(coordinate_joints(model), notify)
        self._notify = notify
        self._interfaces = {**interfaces, **{name: interfaces[mimic.joint] for name, mimic in model.mimics.items()}}
        self._selection: Selection | None = None    # of the names of the last message; its columns:
        self._columns: dict[str, dict[int, Column]] = {}

    def read(self, msg: JointStateLike) -> np.ndarray:
        """The commands in a message. `Fault`: a length that does not fit, a joint named twice, an infinite command."""
        if not len(msg.name) and any(len(getattr(msg, field)) for field in FIELDS):
            raise Fault("length mismatch", "name is empty: which joints are commanded?", "error")
        selection = self._map.select(msg.name)
        if selection is not self._selection:
            self._columns, self._selection = self._learn(msg.name, selection), selection
        command = np.full(len(self._map.joint_names), np.nan)
        for field, columns in self._columns.items():
            given = np.asarray(getattr(msg, field))
            if len(given):
                column = columns.get(len(given))
                if column is None:
                    raise self._misfit(field, len(given), columns, msg.name)
                command[column.target] = given[column.source]
        uncommanded = np.isnan(command)
        infinite = np.flatnonzero(np.isinf(command))
        if len(infinite):
            joint = self._map.joint_names[infinite[0]]
            value = command[infinite[0]]
            raise Fault("non-finite value", f"{self._interfaces[joint]} of joint '{joint}' is {value}")
        if uncommanded[selection.target].any():
            self._notice_other_fields(msg, selection, uncommanded)
        return command

    def _learn(self, names: Sequence[str], selection: Selection) -> dict[str, dict[int, Column]]:
        """For each field that commands a named joint, the columns of its joints by the length of the array."""
        columns: dict[str, dict[int, Column]] = {}
        if len(names) and not len(selection.target):
            known = ", ".join(self._map.joint_names)
            self._notify(Fault("unknown joints", f"none of the named joints is the robot's, which has {known}"))
        for field in FIELDS:
            with_mimics = [k for k, name in enumerate(names) if self._interfaces.get(name) == field]
            pairs = [(k, i) for k, i in zip(selection.source, selection.target, strict=True) if k in with_mimics]
            if not pairs:
                continue
            source, target = (np.array(indices, dtype=np.intp) for indices in zip(*pairs, strict=True))
            columns[field] = {
                len(with_mimics): Column(np.searchsorted(with_mimics, source), target),
                len(pairs): Column(np.arange(len(pairs)), target),
                len(names): Column(source, target),
            }
        return columns

    def _misfit(self, field: str, length: int, columns: Mapping[int, Column], names: Sequence[str]) -> Fault:
        joints = ", ".join(self._map.joint_names[i] for i in next(iter(columns.values())).target)
        fit = " or ".join(f"{k}" for k in sorted({*columns, 0}))
        unknown = [name for name in names if name not in self._interfaces]
        also = f"; the robot does not have {', '.join(unknown)}" if unknown else ""
        return Fault("length mismatch", f"{field} has {length} values, must have {fit}, for {len(names)} names and the "
                     f"joints whose command interface it is: {joints}{also}", "error")

    def _notice_other_fields(self, msg: JointStateLike, selection: Selection, uncommanded: np.ndarray) -> None:
        """Notice joints without a command for which a field that does not command them has numbers."""
        for field in FIELDS:
            given = np.asarray(getattr(msg, field))
            if len(given) == len(msg.name):
                candidates = selection.target[np.isfinite(given[selection.source])]
            elif field not in self._columns and np.isfinite(given).any() and uncommanded.all():
                candidates = selection.target
            else:
                continue
            joints = [self._map.joint_names[i] for i in candidates if uncommanded[i]]
            joints = [joint for joint in joints if self._interfaces[joint] != field]
            if joints:
                own = " or ".join(sorted({self._interfaces[joint] for joint in joints}))
                self._notify(Fault("other field", f"{field} is given for {', '.join(joints)}, whose command interface "
                                   f"is {own}: not used (parameters command_mode, command_interfaces.<joint>)"))
