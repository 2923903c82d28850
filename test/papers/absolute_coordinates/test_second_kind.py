"""Canonical coordinates of the second kind, the extension of [MT] remark 4 to SE(3)."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from screw_dynamics.papers.absolute_coordinates import (
    SEMIDIRECT,
    ConfigurationGroup,
    second_kind,
    simulate,
    simulate_in,
)
from screw_dynamics.screws.groups import se3
from screw_dynamics.screws.groups.lie_group import exp_second_kind, second_kind_jacobian
from studies.examples import examples
from support import matrices

E = np.eye(6)
TURNS_THEN_SLIDES, SLIDES_THEN_EULER = E, np.concatenate((E[3:], E[[2, 0, 2]]))
MIXED_ORDER = E[[0, 3, 1, 5, 2, 4]]
EULERS_START = (0.0, 0.0, 0.0, 0.0, 0.5 * np.pi, 0.0)           # zxz is singular at 0
TOP = next(e.system for e in examples() if e.name == "heavy_top")


def oblique():
    """Six unit screws along and about oblique axes off the origin, those that turn with a pitch."""
    rng = np.random.default_rng(0)
    e, p = np.repeat(np.eye(3), 2, axis=0) + 0.2 * rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    return np.array([np.r_[e[k], np.cross(p[k], e[k]) + 0.2 * e[k]] if k % 2 else np.r_[np.zeros(3), e[k]]
                     for k in range(6)])


CHOICES = [(TURNS_THEN_SLIDES, np.zeros(6)), (MIXED_ORDER, np.zeros(6)), (SLIDES_THEN_EULER, EULERS_START),
           (oblique(), np.zeros(6))]


@pytest.mark.parametrize("screws, start", CHOICES)
def test_poses_are_the_products_of_exponentials_and_b_gives_their_twists(screws, start):
    """By the matrix exponential, and V = B q' by differences."""
    rng = np.random.default_rng(1)
    initial = ConfigurationGroup([SEMIDIRECT] * 3).exp(rng.normal(size=(3, 6)))
    coordinates = second_kind(screws, initial, start)
    q, V = start + 0.3 * rng.normal(size=(3, 6)), rng.normal(size=(3, 6))

    def expected(q):
        at_start, result = np.eye(4), np.eye(4)
        for X, first, x in zip(screws, start, q, strict=True):
            at_start, result = at_start @ matrices.exp(first * X), result @ matrices.exp(x * X)
        return np.linalg.inv(at_start) @ result
    assert np.abs(coordinates.poses(q) - initial @ np.array([expected(x) for x in q])).max() < 1e-13
    assert np.abs(coordinates.of(initial) - start).max() < 1e-12
    assert np.abs(coordinates.poses(coordinates.of(coordinates.poses(q))) - coordinates.poses(q)).max() < 1e-12
    h, rates = 1e-6, coordinates.rates(q, V)
    ahead, behind = (coordinates.poses(q + s * h * rates) for s in (1, -1))
    body_fixed = np.linalg.inv(coordinates.poses(q)) @ (ahead - behind) / (2.0 * h)
    assert max(np.abs(matrices.hat(v) - found).max() for v, found in zip(V, body_fixed, strict=True)) < 1e-8


def test_59_is_the_angular_part():
    """Slides first, then Euler's angles: r' is that of the slides, and B of (59) as printed."""
    rng = np.random.default_rng(2)
    q = rng.normal(size=6)
    B = second_kind_jacobian(SLIDES_THEN_EULER, q)
    _, Rj, Rk = (Rotation.from_rotvec(angle * axis).as_matrix() for angle, axis in zip(q[3:], np.eye(3)[[2, 0, 2]],
                                                                                       strict=True))
    printed = np.column_stack((Rk.T @ Rj.T @ (0, 0, 1), Rk.T @ (1, 0, 0), (0, 0, 1)))
    assert np.abs(B[:3, 3:] - printed).max() < 1e-15 and np.abs(B[:3, :3]).max() == 0.0
    R = Rotation.from_euler("ZXZ", q[3:]).as_matrix()
    g = exp_second_kind(se3.exp, SLIDES_THEN_EULER, q)
    assert np.abs(g[:3, :3] - R).max() < 1e-15 and np.abs(g[:3, 3] - q[:3]).max() < 1e-15
    assert np.abs(B[3:, :3] - R.T).max() < 1e-15 and np.abs(B[3:, 3:]).max() < 1e-15


@pytest.mark.slow
def test_order_and_subgroups():
    """The motion of the top has order 4; its pivot stays closed exactly where the last three screws are turns about
    it, and opens with order 4 otherwise."""
    expected = simulate(TOP, 0.1, 1e-3).poses[-1]
    about_pivot = np.concatenate((E[3:], [np.r_[e, np.cross((-0.5, 0.0, 0.0), e)] for e in np.eye(3)]))
    for screws, closed in ((about_pivot, True), (TURNS_THEN_SLIDES, False)):
        coordinates = second_kind(screws, TOP.initial().poses)
        motions = [simulate_in(coordinates, TOP, 0.1, dt) for dt in (1e-2, 5e-3)]
        errors = [np.abs(motion.poses[-1] - expected).max() for motion in motions]
        opened = [max(np.abs(TOP.residuals(g)).max() for g in motion.poses) for motion in motions]
        assert errors[1] < 1e-5 and 3.4 < np.log2(errors[0] / errors[1]) < 5.5
        assert max(opened) < 1e-13 if closed else 3.4 < np.log2(opened[0] / opened[1]) < 5.5


def test_singularities_are_refused():
    g = TOP.initial().poses
    with pytest.raises(ValueError, match="the screws are linearly dependent at the start"):
        second_kind(SLIDES_THEN_EULER, g)
    with pytest.raises(ValueError, match=r"second_kind: screws has shape \(5, 6\), not \(6, 6\)"):
        second_kind(E[:5], g)
    with pytest.raises(ValueError, match="start must be 6 finite numbers"):
        second_kind(E, g, (0, 0, 0, 0, 0, np.nan))
    with pytest.raises(ValueError, match="second_kind: last row of a pose must be 0 0 0 1"):
        second_kind(E, 2.0 * g)
    with pytest.raises(ValueError, match="dt"):
        simulate_in(second_kind(E, g), TOP, 0.1, 0.0)
    coordinates = second_kind(E, g)
    q = np.array([(0.3, 0.5 * np.pi, 0.1, 0.0, 0.0, 0.0)])          # gimbal lock of x, y, z
    assert coordinates.regularity(q)[0] < 1e-15 < 0.5 < coordinates.regularity(0.3 * q)[0]
