"""Cayley-Rodrigues parameters, against axis and angle, SciPy's modified parameters, and the laws of the map."""
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from screw_dynamics.papers import lie_groups as lg
from screw_dynamics.screws.arrays import tilde

ORDERS = range(1, 6)


@pytest.mark.parametrize("order", ORDERS)
def test_parameters_are_the_tangent_along_the_axis(order, rng):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    for angle in (0.0, 1e-9, 0.5, 3.0, 0.98 * order * np.pi):
        s = np.tan(angle / (2 * order)) * axis
        assert np.abs(lg.from_cayley(lg.SO3, s, order) - expm(angle * tilde(axis))).max() < 1e-12
        if angle < np.pi:
            assert np.abs(lg.to_cayley(lg.SO3, expm(angle * tilde(axis)), order) - s).max() < 1e-12 * (1 + abs(s).max())


def test_orders_1_and_2_are_those_of_the_field(rng):
    """Rodrigues' parameters are the quaternion's vector part by its scalar part; SciPy has the modified ones."""
    rotations = Rotation.random(6, random_state=1)
    x, y, z, w = rotations.as_quat().T
    assert np.abs(lg.to_cayley(lg.SO3, rotations.as_matrix(), 1) - np.stack((x, y, z), -1) / w[:, None]).max() < 1e-11
    assert np.abs(lg.to_cayley(lg.SO3, rotations.as_matrix(), 2) - rotations.as_mrp()).max() < 1e-14


@pytest.mark.parametrize("order", ORDERS)
def test_motions_have_parameters_too(order, rng):
    """On SE(3): there and back, X^-1 has -s, and a change of frame acts by Ad."""
    s, x = 0.4 * rng.normal(size=(4, 6)), rng.normal(size=6)
    X, T = lg.from_cayley(lg.SE3, s, order), lg.SE3.exp(x)
    hat, one = lg.SE3.hat(s), np.eye(4)
    assert np.abs(X - np.linalg.matrix_power(one + hat, order) @ np.linalg.inv(
        np.linalg.matrix_power(one - hat, order))).max() < 1e-12
    assert lg.SE3.misses(X).max() < 1e-13
    near = lg.from_cayley(lg.SE3, 0.3 * s / order, order)
    assert np.abs(lg.to_cayley(lg.SE3, near, order) - 0.3 * s / order).max() < 1e-13
    assert np.abs(lg.from_cayley(lg.SE3, -s, order) - np.linalg.inv(X)).max() < 1e-12
    moved = lg.from_cayley(lg.SE3, s @ lg.SE3.Ad(T).T, order)
    assert np.abs(moved - T @ X @ np.linalg.inv(T)).max() < 1e-11


def test_a_half_turn_has_no_parameters_of_order_1():
    half_turn = np.diag((-1.0, -1.0, 1.0))
    with pytest.raises(ValueError, match="parameters of order 1 are infinite at pi; use a higher order"):
        lg.to_cayley(lg.SO3, half_turn)
    assert abs(np.linalg.norm(lg.to_cayley(lg.SO3, half_turn, 2)) - 1.0) < 1e-15
    with pytest.raises(ValueError, match=r"those of SO\(3\) and SE\(3\), not of SL\(2\)"):
        lg.from_cayley(lg.special_linear(2), np.zeros(3))
