"""Axes and pitches of screws, the reciprocal product, and rates of screws in moving frames; [MD] appendix B."""
import numpy as np
import pytest

from screw_dynamics.papers.formulations import screw_coordinates as screws
from support import matrices
from support.differences import slopes
from support.matrices import error
from support.random_trees import random_pose


@pytest.fixture
def line(rng):
    """Magnitude, direction, point and pitch of five screws."""
    e = rng.standard_normal((5, 3))
    return rng.uniform(0.5, 2.0, 5), e / np.linalg.norm(e, axis=-1, keepdims=True), *(
        rng.standard_normal(shape) for shape in ((5, 3), 5))


def test_finite_motions_of_a_twist_go_along_its_axis(line):
    """Chasles: exp V moves points of the axis along it, by pitch and angle, and turns by the angle."""
    V = screws.twist(*line)
    for Vk, m, e, p, h in zip(V, *line, strict=True):
        C = matrices.exp(Vk)
        assert error(C[:3, :3] @ p + C[:3, 3], p + h * m * e) < 1e-13
        assert error(C[:3, :3] @ e, e) < 1e-13 and abs(np.trace(C[:3, :3]) - 1.0 - 2.0 * np.cos(m)) < 1e-13


def test_the_torque_of_a_wrench_about_its_axis_is_along_the_force(line):
    """Poinsot: about p there is the force, and a couple along it."""
    m, e, p, h = line
    W = screws.wrench(*line)
    assert error(W[:, 3:], m[:, None] * e) < 1e-15
    assert error(W[:, :3] - np.cross(p, W[:, 3:]), (m * h)[:, None] * e) < 1e-13


@pytest.mark.parametrize("of, axis_of", [(screws.twist, screws.axis_of_twist), (screws.wrench, screws.axis_of_wrench)])
def test_axes_come_back(line, of, axis_of):
    m, e, p, h = line
    found = axis_of(of(*line))
    assert error(found.magnitude, m) < 1e-13 and error(found.direction, e) < 1e-13 and error(found.pitch, h) < 1e-12
    nearest = p - np.sum(p * e, axis=-1, keepdims=True) * e
    assert error(found.point, nearest) < 1e-12
    slide = of(2.0, e[0], p[0], np.inf)
    part = slide[:3] if of is screws.wrench else slide[3:]
    assert error(part, 2.0 * e[0]) < 1e-15 and np.abs(slide).sum() == np.abs(part).sum()
    found = axis_of(slide)
    assert found.magnitude == pytest.approx(2.0, rel=1e-15) and found.pitch == np.inf and not found.point.any()
    zero = axis_of(np.zeros(6))
    assert zero.magnitude == 0.0 and zero.pitch == np.inf and not zero.direction.any()


def test_reciprocal_product_is_the_power_and_the_same_in_every_frame(line, rng):
    V, W = screws.twist(*line), screws.wrench(*(x[::-1] for x in line))
    X = screws.screw_of_wrench(W)
    power = screws.reciprocal_product(X, V)
    assert error(power, np.sum(W * V, axis=-1)) < 1e-15
    Ad = matrices.Ad(random_pose(rng))
    assert error(screws.reciprocal_product(X @ Ad.T, V @ Ad.T), power) < 1e-13
    moved = screws.screw_of_wrench(X @ Ad.T)
    assert error(moved, np.linalg.solve(Ad.T, W.T).T) < 1e-12                       # (120): a wrench by Ad^-T


def test_reciprocal_product_of_lines_and_pitches(line):
    _, e, p, h = line
    X, (f, s, k) = screws.twist(1.0, e, p, h), (x[::-1] for x in (e, p, h))
    expected = (h + k) * np.sum(e * f, axis=-1) + np.sum((p - s) * np.cross(e, f), axis=-1)
    assert error(screws.reciprocal_product(X, screws.twist(1.0, f, s, k)), expected) < 1e-13
    meeting = screws.twist(1.0, f, p, 0.0)
    assert np.abs(screws.reciprocal_product(screws.twist(1.0, e, p, 0.0), meeting)).max() < 1e-15 * np.abs(p).max() * 10


def test_117_rate_of_a_screw_in_a_moving_frame(rng):
    C, (V, X, Xd) = random_pose(rng), rng.standard_normal((3, 6))
    found = screws.rate_of_screw(C, V, X, Xd)
    assert error(found, slopes(lambda t: matrices.Ad(C @ matrices.exp(t[0] * V)) @ (X + t[0] * Xd), 1)[..., 0]) < 1e-12
    many = screws.rate_of_screw(np.stack([C, np.eye(4)]), V, X, Xd)
    assert error(many[1], Xd + matrices.ad(V) @ X) < 1e-14


def test_shapes_are_checked():
    for call in (lambda: screws.axis_of_twist(np.zeros(5)), lambda: screws.reciprocal_product(np.zeros(6), np.zeros(3)),
                 lambda: screws.twist(1.0, np.zeros(2), np.zeros(3)), lambda: screws.screw_of_wrench(np.zeros((6, 1)))):
        with pytest.raises(ValueError, match="has the shape"):
            call()
