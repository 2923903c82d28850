"""SE(3), SO(3) x R^3 and their products: laws, the functions of se3 and so3, and the matrices of [MT]."""
import numpy as np
import pytest
from scipy.linalg import expm

from screw_dynamics.papers.absolute_coordinates import DIRECT, SEMIDIRECT, ConfigurationGroup
from screw_dynamics.screws.groups import se3, so3
from screw_dynamics.screws.groups.lie_group import bernoulli_numbers
from support import matrices

GROUP = ConfigurationGroup([SEMIDIRECT, DIRECT, SEMIDIRECT])
ANGLES = 0.0, 1e-9, 1e-3, 0.3, 0.999, 1.001, 2.9


def vectors(angle, seed=0):
    """Vectors (4, 3, 6) of the algebra, of an angle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, GROUP.n, 6))
    X[..., :3] *= angle / np.linalg.norm(X[..., :3], axis=-1, keepdims=True)
    return X, rng.normal(size=X.shape)


def as_7_by_7(g):
    """A pose as an element of the matrix group (61)."""
    C = np.eye(7)
    C[:3, :3], C[3:6, 6] = g[:3, :3], g[:3, 3]
    return C


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_is_that_of_each_factor(angle):
    X, _ = vectors(angle)
    g = GROUP.exp(X)
    of_se3 = [0, 2]
    assert np.abs(g[:, of_se3] - se3.exp(X[:, of_se3])).max() < 1e-15
    for k in range(len(X)):
        algebra = np.zeros((7, 7))                                                           # (64)
        algebra[:3, :3], algebra[3:6, 6] = matrices.skew(X[k, 1, :3]), X[k, 1, 3:]
        assert np.abs(as_7_by_7(g[k, 1]) - expm(algebra)).max() < 4e-15
    assert np.abs(GROUP.log(g) - X).max() < 4e-15


@pytest.mark.parametrize("angle", ANGLES)
def test_dexp_inv_undoes_dexp_and_is_that_of_se3(angle):
    X, Y = vectors(angle)
    assert np.abs(GROUP.dexp_inv(X, GROUP.dexp(X, Y)) - Y).max() < 4e-15
    assert np.abs(GROUP.dexp_inv(X, Y)[:, 0] - se3.dexp_inv(X[:, 0], Y[:, 0])).max() < 4e-15
    expected = np.concatenate((so3.dexp_inv(X[:, 1, :3], Y[:, 1, :3]), Y[:, 1, 3:]), axis=-1)   # inverse of (68)
    assert np.abs(GROUP.dexp_inv(X, Y)[:, 1] - expected).max() < 4e-15


def test_dexp_is_the_differential_of_exp():
    X, Y = vectors(0.7)
    h = 1e-5
    rate = GROUP.compose(GROUP.inverse(GROUP.exp(X - h * Y)), GROUP.exp(X + h * Y))
    assert np.abs(GROUP.log(rate) / (2.0 * h) - GROUP.dexp(-X, Y)).max() < 1e-8


def test_truncated_series_of_dexp_inv():
    """(43) and (45): of the orders 2 and 3 they are the same, and the error is of the next even one."""
    X, Y = vectors(0.1)
    X[..., 3:] *= 0.1
    exact, errors = GROUP.dexp_inv(X, Y), []
    for order in (0, 1, 2, 4, 6):
        errors.append(np.abs(GROUP.dexp_inv(X, Y, order) - exact).max())
    assert all(later < 0.1 * before for before, later in zip(errors, errors[1:], strict=False))
    assert (GROUP.dexp_inv(X, Y, 2) == GROUP.dexp_inv(X, Y, 3)).all()
    ad = GROUP.ad(X[0])[0]
    assert np.allclose(GROUP.dexp_inv(X, Y, 2)[0, 0], Y[0, 0] - ad @ Y[0, 0] / 2 + ad @ ad @ Y[0, 0] / 12, atol=1e-15)
    assert bernoulli_numbers(4) == [1.0, -0.5, 1 / 6, 0.0, -1 / 30]


def test_composition_is_associative_and_has_inverses():
    g, h, k = (GROUP.exp(vectors(1.0, seed)[0]) for seed in range(3))
    c = GROUP.compose
    assert np.abs(c(c(g, h), k) - c(g, c(h, k))).max() < 4e-15
    assert np.abs(c(g, GROUP.inverse(g)) - np.eye(4)).max() < 4e-15
    assert np.abs(as_7_by_7(c(g, h)[0, 1]) - as_7_by_7(g[0, 1]) @ as_7_by_7(h[0, 1])).max() < 1e-15     # (60), (61)
    assert np.abs(c(g, h)[:, 0] - g[:, 0] @ h[:, 0]).max() == 0.0                                        # (47)


def test_brackets_obey_jacobi():
    (X, Y), (Z, _) = vectors(1.0), vectors(1.0, 1)
    b = GROUP.bracket
    assert np.abs(b(X, b(Y, Z)) + b(Y, b(Z, X)) + b(Z, b(X, Y))).max() < 1e-13
    assert np.abs(b(X, Y)[:, 1, 3:]).max() == 0.0                                                        # (62)


def test_groups_that_do_not_exist():
    with pytest.raises(ValueError, match=r"the group 'SE\(2\)' must be one of 'SE\(3\)', 'SO\(3\) x R\^3'"):
        ConfigurationGroup(["SE(2)"])
    assert GROUP.representations == ("body-fixed", "mixed", "body-fixed")
    assert repr(GROUP) == "<(SE(3))^2 x (SO(3) x R^3)^1>"
