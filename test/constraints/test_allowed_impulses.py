"""Impulses of sticking contacts: within all bounds and cones. Each is violated alone, by its definition."""
from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.constraints.cones.sticking import allowed

# Two bounded rows, two contacts (tangents and normal), the second with spinning and rolling friction.
INSIDE = np.array([-0.5, 1.0, 0.3, 0.4, 1.0, 0.6, -0.8, 2.0, 0.2, 0.05, 0.08])
GIVEN = dict(lower=np.array([-1.0, 0.0]), upper=np.array([0.0, 2.0]), mu=np.array([0.6, 0.6]), spin_mu=np.array([0.1]),
             spin_of=np.array([1.0]), roll_mu=np.array([0.05]), roll_of=np.array([1.0]), found=np.zeros(1))


@pytest.mark.parametrize("row, number, is_allowed", [
    (0, -1.0, True), (0, 0.0, True), (0, -1.01, False), (0, 0.01, False),             # bounds
    (1, 2.0, True), (1, -0.01, False), (1, 2.01, False),
    (2, 0.44, True), (2, 0.45, False), (3, -0.51, True), (3, -0.53, False),           # 0.6 of a normal impulse of 1
    (4, 0.834, True), (4, 0.832, False), (4, -1.0, False),
    (5, 0.89, True), (5, 0.91, False), (6, 1.03, True), (6, 1.05, False),             # of 2
    (8, -0.2, True), (8, -0.21, False), (8, 0.21, False),                             # spinning: 0.1 of 2
    (9, 0.059, True), (9, 0.061, False), (10, 0.079, True), (10, -0.087, False)])     # rolling: 0.05 of 2
def test_an_impulse_is_allowed_up_to_each_bound(row, number, is_allowed):
    x = INSIDE.copy()
    assert allowed(SimpleNamespace(x=x, **GIVEN))
    x[row] = number
    assert bool(allowed(SimpleNamespace(x=x, **GIVEN))) == is_allowed


def test_contacts_only_push():
    x = np.array([0.0, 0.0, -1e-9])
    assert not allowed(SimpleNamespace(x=x, **{**GIVEN, **{key: np.zeros(0) for key in (
        "lower", "upper", "spin_mu", "spin_of", "roll_mu", "roll_of")}, "mu": np.ones(1)}))
