"""Rollouts and steps of one state take a dt of any kind of number, as batches do: machine code reads a float's bits."""
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import URDF

ROBOT = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
Q, QD = np.array([0.3, 0.4]), np.array([0.1, -0.2])
KINDS = int, np.int64, np.int32, np.uint8, np.float32, np.longdouble, Fraction


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "rk45"])
def test_a_rollout(kind, integrator):
    expected = ROBOT.rollout(Q, QD, dt=1.0, steps=2, integrator=integrator)
    found = ROBOT.rollout(Q, QD, dt=kind(1), steps=2, integrator=integrator)
    batch = ROBOT.rollout(Q[None], QD[None], dt=kind(1), steps=2, integrator=integrator)
    assert found[0].tolist() == [0.0, 1.0, 2.0] == batch[0].tolist()
    assert np.array_equal(found[1], expected[1]) and np.array_equal(found[2], expected[2])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_step(kind):
    found, expected = (ROBOT.step(Q, QD, np.zeros(2), dt) for dt in (kind(1), 1.0))
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("dt", [10**400, "1", None, 1j, np.ones(1), -1, 0, Decimal(1)])
def test_what_is_no_length_is_refused_by_name(dt):
    """Also where a number that equals it was taken before."""
    ROBOT.rollout(Q, QD, dt=1.0, steps=2), ROBOT.step(Q, QD, np.zeros(2), 1.0)
    for call in (lambda: ROBOT.rollout(Q, QD, dt=dt, steps=2), lambda: ROBOT.step(Q, QD, np.zeros(2), dt)):
        with pytest.raises(ValueError, match="dt"):
            call()
