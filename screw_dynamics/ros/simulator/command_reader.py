"""From a message on joint_commands to commands in model order."""

from collections.abc import Callable, Sequence

import numpy as np

from ..node.joint_state import Fault, JointMap, JointStateLike, check_lengths


class CommandReader:
    """From a message to commands (n,) in model order, NaN where a joint has none.

    Only the field of the command mode is read; empty, it commands nothing. `notify` receives a `Fault` of
    joints that are ignored: those the model does not have, and mimic joints, which follow their leader."""

    def __init__(self, joint_names: Sequence[str], mode: str, notify: Callable[[Fault], None] = lambda fault: None):
        self._map = JointMap(joint_names, notify)
        self._mode = mode

    def read(self, msg: JointStateLike) -> np.ndarray:
        """The commands in a message. `Fault`: lengths that differ, a joint named twice, an infinite command."""
        check_lengths(msg)
        selection = self._map.select(msg.name)
        command = np.full(len(self._map.joint_names), np.nan)
        given = np.asarray(getattr(msg, self._mode))
        if len(given):
            command[selection.target] = given[selection.source]
        commanded = np.flatnonzero(~np.isnan(command))
        self._map.check_finite(command[commanded], commanded, self._mode)
        return command
