"""Steps of a simulated robot with room for what it touches, by a motion that finds too much as it is asked to."""
from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.constraints.contacts.tables import RESIDUALS
from screw_dynamics.simulator import moving
from screw_dynamics.simulator.moving import Moving

STEPS = 5


class Crowding:
    """Adds 1 to q in each step; more touch than there is room for in steps that are made together, and in step `at`."""

    def __init__(self, at):
        self._at = at

    def run(self, table, wrenches, reference, steps, t, h, q, qd, clipped, past):
        q += steps
        self._missed = steps > 1 or q[0] == self._at
        return steps, np.zeros(1), np.zeros(1, dtype=bool)

    def report(self, numbers):
        report = np.zeros(numbers)
        report[RESIDUALS] = self._missed
        return report


@pytest.mark.parametrize("at, made", [(3, 2), (STEPS, STEPS - 1), (None, STEPS)])
def test_steps_made_one_by_one_are_counted_up_to_the_first_that_is_not_made(monkeypatch, at, made):
    monkeypatch.setattr(moving, "driven", lambda *_: Crowding(at))
    of, q = Moving(None, None, (), SimpleNamespace(most=1, grow=lambda *_: False)), np.zeros(1)
    result = of.run(None, None, np.zeros((1, 1, 1)), STEPS, 0.0, 1e-3, q, np.zeros(1), np.zeros(1, dtype=np.int64),
                    np.empty((0, 1, 1)))
    assert (result[0], q[0], of.crowded) == (made, made, at is not None)
