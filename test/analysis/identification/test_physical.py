"""Which inertial parameters a body can have: point masses, and coordinates of all bodies."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.identification import physical
from screw_dynamics.model import inertial_parameters


def points(rng, count=5):
    """The parameters of heavy points, and the integral of r r^T, r = (x, y, z, 1)."""
    r, m = rng.normal(size=(count, 3)), rng.uniform(0.1, 1.0, count)
    p = sum(inertial_parameters.of_matrix(sd.inertia_matrix(mass, place, np.zeros((3, 3))))
            for mass, place in zip(m, r, strict=True))
    whole = np.column_stack([r, np.ones(count)])
    return p, np.einsum("k,ki,kj->ij", m, whole, whole)


def test_the_pseudo_inertia_is_the_second_moment_of_mass(rng):
    p, J = points(rng)
    np.testing.assert_allclose(physical.pseudo_inertia(p), J, atol=1e-13)
    np.testing.assert_allclose(physical.of_pseudo_inertia(J), p, atol=1e-13)


def test_heavy_points_are_physical_unless_they_are_flat_or_light(rng):
    many = np.array([points(rng)[0] for _ in range(6)])
    assert physical.is_physical(many.reshape(2, 3, 10)).shape == (2, 3) and physical.is_physical(many).all()
    flat = inertial_parameters.of_matrix(sd.inertia_matrix(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.1])))
    assert not physical.is_physical([flat, -many[0], np.full(10, np.nan), np.zeros(10)]).any()
    with pytest.raises(ValueError, match=r"^no rigid body that is not flat can have the inertial parameters \[1\.0, 0"):
        physical.log_cholesky(flat)
    with pytest.raises(ValueError, match=r"^parameters has shape \(9,\), but must end in 10$"):
        physical.is_physical(np.zeros(9))


def test_log_cholesky_parameters_are_coordinates_of_all_bodies(rng):
    p = np.array([points(rng)[0] for _ in range(4)])
    theta = physical.log_cholesky(p)
    np.testing.assert_allclose(physical.of_log_cholesky(theta), p, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.exp(2.0 * theta[:, 0]), p[:, 0], rtol=1e-13)              # the mass
    np.testing.assert_allclose(theta[:, 7:], p[:, 1:4] / p[:, :1], rtol=1e-12, atol=1e-14)      # its center
    anything = rng.normal(size=(3, 7, 10))
    assert physical.is_physical(physical.of_log_cholesky(anything)).all()
    np.testing.assert_allclose(physical.log_cholesky(physical.of_log_cholesky(anything)), anything, atol=1e-9)


@pytest.mark.parametrize("of, derivative", [
    (physical.of_log_cholesky, physical.of_log_cholesky_derivative),
    (physical.of_log_cholesky_derivative, physical.of_log_cholesky_second_derivative)])
def test_derivatives_by_log_cholesky_parameters(rng, of, derivative):
    theta, h = rng.normal(size=(3, 10)), 1e-3

    def slope(k, step):
        e = step * np.eye(10)[k]
        return (of(theta + e) - of(theta - e)) / (2.0 * step)
    expected = np.stack([(4.0 * slope(k, h / 2) - slope(k, h)) / 3.0 for k in range(10)], axis=-1)
    np.testing.assert_allclose(derivative(theta), expected, atol=1e-9 * np.abs(expected).max())


def test_the_nearest_body_of_what_no_body_has(rng):
    good = points(rng)[0]
    rod = inertial_parameters.of_matrix(sd.inertia_matrix(2.0, [0.0, 0.0, 0.5], np.diag([0.1, 0.1, -0.01])))
    point = inertial_parameters.of_matrix(sd.inertia_matrix(2.0, [0.1, 0.0, 0.5], np.zeros((3, 3))))
    found = physical.nearest_physical([good, rod, point])
    assert np.array_equal(found[0], good) and physical.is_physical(found).all()
    np.testing.assert_allclose(found[1:, :4], [rod[:4], point[:4]], rtol=1e-12)
    assert np.abs(found[1] - rod).max() < 0.02
    with pytest.raises(ValueError, match="^the mass 0 kg must be > 0$"):
        physical.nearest_physical(np.zeros(10))
