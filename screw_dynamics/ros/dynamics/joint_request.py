"""The joints of one service request: conversion of its arrays to model order, and of results to the request's order.
Pure Python and NumPy, as joint_state.py."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..node.joint_state import JointMap


class JointRequest:
    """The order of joints in a request's `joint_names`; if that is empty, the order of the model.

    joint_names (tuple): the names in the response; other_names precede the joints: the velocities of a floating base,
    and those of joints of several degrees of freedom. order (n,): their indices among the model's velocities. indices:
    the indices of the joints and of the other velocities; None: the others come first. Names that the model does not
    have are skipped, so that the arrays of a JointState can be passed on. Raises ValueError if a joint of the model is
    missing or named twice."""

    def __init__(self, joint_map: JointMap, names: Sequence[str], other_names: Sequence[str] = (),
                 indices: tuple[np.ndarray, np.ndarray] | None = None):
        n = len(joint_map.joint_names)
        if names:
            selection = joint_map.select(names)
            if selection.missing:
                raise ValueError(f"joint_names: joint '{selection.missing[0]}' of the model is missing")
            self._source, self._target, self._length = selection.source, selection.target, len(names)
        else:
            self._source = self._target = np.arange(n)
            self._length = n
        self._map, self._names, self._other_names = joint_map, names, other_names
        first = len(other_names)
        of_joints, of_others = (first + np.arange(n), np.arange(first)) if indices is None else indices
        self.order = np.concatenate((of_others, of_joints[self._target])) if first else self._target
        self.joint_names = (*other_names, *(joint_map.joint_names[i] for i in self._target))

    def read(self, values: Sequence[float], field: str) -> np.ndarray:
        """Return a field of the request for the joints in model order. Raises ValueError that names the field, and the
        joint whose value is not finite."""
        if len(values) != self._length:
            raise ValueError(f"{field}: {len(values)} values for {self._length} joints")
        picked = np.asarray(values, dtype=np.float64)[self._source]
        self._map.check_finite(picked, self._target, field)
        result = np.empty(len(picked))
        result[self._target] = picked
        return result

    def read_or_zero(self, values: Sequence[float], field: str) -> np.ndarray:
        """Return the field as `read` does, or zeros if it is empty."""
        return self.read(values, field) if len(values) else np.zeros(len(self._target))

    def of_others(self, values: Sequence[float], field: str) -> np.ndarray:
        """Return the values of a field for the velocities that `read` does not cover; zero without an entry.

        Raises ValueError with the name of an entry that is not finite or occurs twice."""
        found, seen = np.zeros(len(self._other_names)), set()
        for k, name in enumerate(self._names if len(values) else ()):
            if name in self._other_names:
                if name in seen:
                    raise ValueError(f"{field}: '{name}' is named twice")
                seen.add(name)
                if not np.isfinite(values[k]):
                    raise ValueError(f"{field} of '{name}' is {values[k]}")
                found[self._other_names.index(name)] = values[k]
        return found

    def arrange(self, values: np.ndarray) -> np.ndarray:
        """Return an array whose last axis is rearranged from model order to the order of the request."""
        return values[..., self.order]

    def arrange_square(self, matrix: np.ndarray) -> np.ndarray:
        """Return a matrix whose rows and columns are rearranged from model order to the order of the request."""
        return matrix[np.ix_(self.order, self.order)]


def non_negative(request: Any, field: str, default: Any) -> Any:
    """Return a number of the request, or the default for 0. Raises ValueError unless it is finite and >= 0."""
    value = getattr(request, field)
    if not 0.0 <= value < np.inf:
        raise ValueError(f"{field}: {value}, must be finite and >= 0")
    return value or default
