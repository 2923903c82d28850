"""Conversion of messages on joint_commands to commands in model order."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..node.joint_state import Fault, JointMap, JointStateLike, Selection, listed
from .complaints import NO_COMMAND, OTHER_FIELD, UNKNOWN_JOINT

FIELDS = "position", "velocity", "effort"


class Column(NamedTuple):
    """The indices of commands of some joints in an array: entry source[k] is that of joint target[k] of the model."""

    source: np.ndarray
    target: np.ndarray


class CommandReader:
    """A converter from messages to commands of the joints of one degree of freedom in model order, NaN for joints
    without a command.

    names: the command names of the joints; mimics: {joint: (its leader, ...)}. interfaces: {joint: "position",
    "velocity" or "effort"}, the field that commands a joint; its other fields are ignored. An empty field commands
    nothing. Otherwise a field has a value for each name in the message. Alternatively, as ros2_control's
    JointStateTopicSystem sends it, it has one for each named joint that it commands, in the order of the names; mimic
    joints have the interface of their leader or are omitted. A field that commands no named joint may have any length.

    `notify` receives a `Fault` for each message with joints that the robot does not have, joints with a command in a
    field other than their interface's, or joints without a command: NaN or an empty field. references: it also receives
    one for the first message in which effort-commanded joints also have position and velocity, for example from
    ~/motor_feed_forward: with the efforts alone, the joints drift off."""

    def __init__(self, names: Sequence[str], mimics: Mapping[str, Sequence], interfaces: Mapping[str, str],
                 notify: Callable[[Fault], None] = lambda fault: None, references: bool = False):
        self._map, self._references = JointMap(names), references
        self._notify = notify
        followers = {name: mimic[0] for name, mimic in mimics.items() if mimic[0] in interfaces}
        self._interfaces = {**interfaces, **{name: interfaces[leader] for name, leader in followers.items()}}
        self._selection: Selection | None = None    # that of the names in the last message; its columns:
        self._columns: dict[str, dict[int, Column]] = {}
        self._unknown: Fault | None = None

    def read(self, msg: JointStateLike) -> np.ndarray:
        """Return the commands in a message. Raises `Fault` for a wrong length, a joint named twice, or an infinite
        command."""
        if not len(msg.name) and any(len(getattr(msg, field)) for field in FIELDS):
            raise Fault("length mismatch", "name is empty, must list the commanded joints")
        selection = self._map.select(msg.name)
        if selection is not self._selection:
            self._columns, self._selection = self._learn(msg.name, selection), selection
            self._unknown = self._unknown_joints(msg.name, selection)
        if self._references:
            self._notice_references(msg, selection)
        if self._unknown is not None:
            self._notify(self._unknown)
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
            self._notice_uncommanded(msg, selection, uncommanded)
        return command

    def _learn(self, names: Sequence[str], selection: Selection) -> dict[str, dict[int, Column]]:
        """Return for each field that commands a named joint the columns of its joints, by the length of the array."""
        columns: dict[str, dict[int, Column]] = {}
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

    def _unknown_joints(self, names: Sequence[str], selection: Selection) -> Fault | None:
        """Return the fault of names of another robot, or None. It is a warning only if no joint is the robot's:
        additional joints are usual in ros2_control."""
        unknown = [name for name in names if name not in self._interfaces]
        if not unknown:
            return None
        joints = f"joint{'s' * (len(unknown) > 1)} {listed(unknown)} {'do' if len(unknown) > 1 else 'does'} not exist"
        return Fault(UNKNOWN_JOINT, f"{joints}, the robot has {listed(self._map.joint_names)}",
                     "debug" if len(selection.target) else "warn")

    def _misfit(self, field: str, length: int, columns: Mapping[int, Column], names: Sequence[str]) -> Fault:
        joints = ", ".join(self._map.joint_names[i] for i in next(iter(columns.values())).target)
        fit = " or ".join(f"{k}" for k in sorted({*columns, 0}))
        unknown = [name for name in names if name not in self._interfaces]
        also = f"; the robot does not have {', '.join(unknown)}" if unknown else ""
        return Fault("length mismatch", f"{field} has {length} values, must have {fit}, for {len(names)} names and the "
                     f"joints whose command interface it is: {joints}{also}")

    def _notice_references(self, msg: JointStateLike, selection: Selection) -> None:
        """Notify, once, of joints that have position, velocity and effort, of which only the effort is used."""
        fields = [np.asarray(getattr(msg, field)) for field in FIELDS]
        if all(len(given) == len(msg.name) for given in fields):
            given = np.isfinite([values[selection.source] for values in fields]).all(axis=0)
            if found := [i for i in selection.target[given] if self._interface(i) == "effort"]:
                self._references = False
                self._notify(Fault(
                    "not followed", f"position and velocity of {self._names(found)} are not followed: the command "
                    "interface is effort. Efforts of a feed-forward alone drift off; command_mode: position follows "
                    "the positions, lockstep lets each effort act on the state that it answers"))

    def _notice_uncommanded(self, msg: JointStateLike, selection: Selection, uncommanded: np.ndarray) -> None:
        """Notify of named joints without a command: those with numbers in a field that does not command them, and
        others."""
        left = [i for i in selection.target if uncommanded[i]]
        for field in FIELDS:
            given = np.asarray(getattr(msg, field))
            if len(given) == len(msg.name):
                candidates = selection.target[np.isfinite(given[selection.source])]
            elif field not in self._columns and np.isfinite(given).any() and uncommanded.all():
                candidates = selection.target
            else:
                continue
            found = [i for i in candidates if i in left and self._interface(i) != field]
            if found:
                left = [i for i in left if i not in found]
                own = " or ".join(sorted({self._interface(i) for i in found}))
                self._notify(Fault(OTHER_FIELD, f"{field} is given for {self._names(found)}, whose command interface "
                                   f"is {own}: not used (parameters command_mode, command_interfaces.<joint>)"))
        for field in FIELDS:
            lacking = [i for i in left if self._interface(i) == field]
            if lacking:
                why = "nan" if len(getattr(msg, field)) else "empty"
                self._notify(Fault(NO_COMMAND, f"{field} of {self._names(lacking)} is {why}: not commanded", "debug"))

    def _interface(self, joint: int) -> str:
        return self._interfaces[self._map.joint_names[joint]]

    def _names(self, joints: Sequence[int]) -> str:
        return listed([self._map.joint_names[i] for i in joints])
