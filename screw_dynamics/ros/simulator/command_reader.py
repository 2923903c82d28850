"""From a message on joint_commands to commands in model order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..node.joint_state import Fault, JointMap, check_lengths


class CommandReader:
    """From a message with the fields of JointState to commands (n,) in model order, NaN where a joint has none.

    Only the field of the command mode is read; empty, it commands nothing. `notify` hears of joints that are ignored:
    those the model does not have, and mimic joints, which follow their leader.
    """

    def __init__(self, joint_names: Sequence[str], mode: str, notify: Callable[[Fault], None] = lambda fault: None):
        self._map = JointMap(joint_names)
        self._mode = mode
        self._notify = notify

    def read(self, msg) -> np.ndarray:
        """The commands in a message. `Fault`: lengths that differ, a joint named twice, an infinite command."""
        check_lengths(msg)
        known = self._map.knows(msg.name)
        selection = self._map.select(msg.name)
        if selection.extra and not known:
            self._notify(Fault("extra joint", f"joints that take no command: {', '.join(selection.extra)}", "debug"))
        command = np.full(len(self._map.joint_names), np.nan)
        given = np.asarray(getattr(msg, self._mode))
        if len(given):
            command[selection.target] = given[selection.source]
        if np.isinf(command).any():
            name = self._map.joint_names[np.flatnonzero(np.isinf(command))[0]]
            raise Fault("non-finite value", f"{self._mode} of joint '{name}' is infinite")
        return command
