"""The joints of one service request: its arrays into model order, and results back into the order of the request.

Pure Python and NumPy, as joint_state.py."""

from collections.abc import Sequence

import numpy as np

from ..node.joint_state import JointMap


class JointRequest:
    """The order of joints that a request's `joint_names` gives; empty: that of the model.

    joint_names (tuple): the joints of the answer. order (n,): their indices in the model. Names that the model does not
    have are skipped, so that the arrays of a JointState can be passed on; ValueError when a joint of the model is
    missing or named twice."""

    def __init__(self, joint_map: JointMap, names: Sequence[str]):
        n = len(joint_map.joint_names)
        if names:
            selection = joint_map.select(names)
            if selection.missing:
                raise ValueError(f"joint_names: joint '{selection.missing[0]}' of the model is missing")
            self._source, self.order, self._length = selection.source, selection.target, len(names)
        else:
            self._source = self.order = np.arange(n)
            self._length = n
        self._map = joint_map
        self.joint_names = tuple(joint_map.joint_names[i] for i in self.order)

    def read(self, values: Sequence[float], field: str) -> np.ndarray:
        """A field of the request in model order; ValueError naming it, and a joint whose value is not finite."""
        if len(values) != self._length:
            raise ValueError(f"{field}: {len(values)} values for {self._length} joints")
        picked = np.asarray(values, dtype=np.float64)[self._source]
        self._map.check_finite(picked, self.order, field)
        result = np.empty(len(picked))
        result[self.order] = picked
        return result

    def read_or_zero(self, values: Sequence[float], field: str) -> np.ndarray:
        """As `read`, but zeros for an empty field."""
        return self.read(values, field) if len(values) else np.zeros(len(self.order))

    def arrange(self, values: np.ndarray) -> np.ndarray:
        """The last axis of an array in model order, rearranged into the order of the request."""
        return values[..., self.order]

    def arrange_square(self, matrix: np.ndarray) -> np.ndarray:
        """Rows and columns of a matrix in model order, rearranged into the order of the request."""
        return matrix[np.ix_(self.order, self.order)]
