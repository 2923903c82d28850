"""Matrix groups: SciPy's exponential and logarithm, the defining equations, [PK] (2) to (13)."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm, expm_frechet
from scipy.spatial.transform import Rotation

from screw_dynamics.papers import lie_groups as lg
from screw_dynamics.papers.absolute_coordinates.integrators import TABLEAUS, commutator_free, munthe_kaas
from screw_dynamics.screws.groups import se3, so3

GROUPS = [lg.SO3, lg.SE3, lg.general_linear(3), lg.special_linear(2), lg.special_linear(3), lg.special_orthogonal(2),
          lg.special_orthogonal(4), lg.special_euclidean(2)]


def named(groups):
    return pytest.mark.parametrize("group", groups, ids=repr)


@named(GROUPS)
def test_5_exponentials_of_the_algebra_are_in_the_group(group, rng):
    x = 0.7 * rng.normal(size=group.dimension)
    X = group.exp(x)
    assert np.abs(X - expm(group.hat(x))).max() < 1e-13 * np.abs(X).max()
    assert group.misses(X) < 1e-13 * max(1.0, np.abs(X).max()) ** 3
    assert np.abs(group.vee(group.hat(x)) - x).max() < 1e-15
    assert np.linalg.matrix_rank(group.basis.reshape(group.dimension, -1)) == group.dimension


@named(GROUPS)
def test_properties_1_to_3_of_exp(group, rng):
    """e^A e^-A = 1; P e^A P^-1 = e^(P A P^-1); d/dt e^(A t) = A e^(A t) = e^(A t) A; det e^A = e^(tr A)."""
    x, y = 0.7 * rng.normal(size=(2, group.dimension))
    A, X, P, h = group.hat(x), group.exp(x), group.exp(y), 1e-4
    size = np.abs(X).max()
    assert np.abs(X @ group.exp(-x) - np.eye(group.size)).max() < 1e-13 * size**2
    assert np.abs(group.exp(group.vee(P @ A @ np.linalg.inv(P))) - P @ X @ np.linalg.inv(P)).max() < 1e-12 * size
    slope = sum(c * (group.exp((1.0 + k * h) * x) - group.exp((1.0 - k * h) * x)) for k, c in (
        (1, 8.0), (2, -1.0))) / (12.0 * h)
    assert np.abs(slope - A @ X).max() < 1e-10 * size and np.abs(A @ X - X @ A).max() < 1e-13 * size
    assert np.linalg.det(X) == pytest.approx(np.exp(np.trace(A)), rel=1e-12)


@named(GROUPS)
def test_2_6_7_bracket_and_adjoint_maps(group, rng):
    """[A, B] = A B - B A, ad_A B = [A, B], Ad_X A = X A X^-1, and Jacobi's identity."""
    x, y, z = 0.5 * rng.normal(size=(3, group.dimension))
    A, B, X = group.hat(x), group.hat(y), expm(group.hat(z))
    assert np.abs(group.hat(group.bracket(x, y)) - (A @ B - B @ A)).max() < 1e-14
    assert np.abs(group.ad(x) @ y - group.bracket(x, y)).max() < 1e-15
    assert np.abs(group.hat(group.Ad(X) @ y) - X @ B @ np.linalg.inv(X)).max() < 1e-13
    assert np.abs(expm(group.ad(z)) - group.Ad(X)).max() < 1e-13 * np.abs(X).max() ** 2
    jacobi = sum(group.bracket(a, group.bracket(b, c)) for a, b, c in ((x, y, z), (y, z, x), (z, x, y)))
    assert np.abs(jacobi).max() < 1e-14


@named(GROUPS)
def test_8_log_undoes_exp_and_is_the_series_near_the_identity(group, rng):
    x = rng.normal(size=group.dimension)
    x *= 0.9 / np.abs(np.linalg.eigvals(group.hat(x))).max()
    X = group.exp(x)
    assert np.abs(group.log(X) - x).max() < 1e-12
    near = group.exp(0.05 * x / np.abs(group.hat(x)).max())
    D, series, power = near - np.eye(group.size), 0.0, np.eye(group.size)
    for k in range(1, 20):
        power = power @ D
        series = series - (-1) ** k / k * power
    assert np.abs(group.hat(group.log(near)) - series).max() < 1e-14


def test_8_logarithms_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"X is not in SO\(3\): it violates the equations of the group by 2"):
        lg.SO3.log(np.diag((1.0, 1.0, -1.0)))
    with pytest.raises(ValueError, match="X has no principal logarithm: an eigenvalue is real and negative"):
        lg.special_linear(2).log(np.diag((-2.0, -0.5)))                 # sl(2) reaches no such element
    with pytest.raises(ValueError, match="X has no principal logarithm"):
        lg.special_orthogonal(4).log(np.diag((-1.0, -1.0, 1.0, 1.0)))
    with pytest.raises(ValueError, match=r"X must be one matrix \(2, 2\)"):
        lg.special_linear(2).log(np.tile(np.eye(2), (3, 1, 1)))
    with pytest.raises(ValueError, match=r"A is not in the algebra of SL\(2\)"):
        lg.special_linear(2).vee(np.eye(2))
    half_turn = np.diag((-1.0, -1.0, 1.0))
    assert np.abs(np.abs(lg.SO3.log(half_turn)) - (0.0, 0.0, np.pi)).max() < 1e-15


def test_9_10_coordinates_of_both_kinds(rng):
    """Those of the second kind on SO(3) are Euler angles."""
    x = rng.uniform(-1.0, 1.0, (5, 3))
    assert np.abs(lg.SO3.exp_second_kind(x) - Rotation.from_euler("XYZ", x).as_matrix()).max() < 1e-14
    group = lg.special_linear(2)
    y = rng.normal(size=3)
    product = expm(y[0] * group.basis[0]) @ expm(y[1] * group.basis[1]) @ expm(y[2] * group.basis[2])
    assert np.abs(group.exp_second_kind(y) - product).max() < 1e-14
    assert np.abs(lg.SO3.exp(x[0]) - Rotation.from_rotvec(x[0]).as_matrix()).max() < 1e-15


@named(GROUPS)
def test_dexp_is_the_right_differential_of_exp_and_dexp_inv_undoes_it(group, rng):
    """By SciPy's derivative of the exponential; and the truncated series, by the even Bernoulli numbers."""
    x, dx = 0.3 * rng.normal(size=(2, group.dimension))
    X, dX = expm_frechet(group.hat(x), group.hat(dx))
    found = group.dexp(x, dx)
    assert np.abs(group.hat(found) - dX @ np.linalg.inv(X)).max() < 1e-13
    assert np.abs(group.dexp_inv(x, found) - dx).max() < 1e-13
    assert np.abs(group.dexp_inv(x, found, 24) - dx).max() < 1e-9


@pytest.mark.parametrize("group", [lg.SO3, lg.SE3, lg.special_orthogonal(4)], ids=repr)
def test_integrators_take_any_matrix_group(group):
    """X' = X V^ with V' = a, in one step of half and of full length: the error is of order 5, as by the series."""
    V, a = np.random.default_rng(1).normal(size=(2, group.dimension))
    X, one = group.exp(0.3 * a), np.eye(group.size).ravel()
    errors = []
    for h in (0.1, 0.05):
        step = munthe_kaas(TABLEAUS["rk4"], group, lambda t, g, V: a, 0.0, h, X, V)
        exact = solve_ivp(lambda t, y: (y.reshape(X.shape) @ group.hat(V + t * a)).ravel(), (0.0, h), one, rtol=1e-12,
                          atol=1e-14).y[:, -1].reshape(X.shape)
        errors.append(np.abs(step.poses - X @ exact).max())
        assert np.abs(step.poses - commutator_free(group, lambda t, g, V: a, 0.0, h, X, V).poses).max() < 1e-5
    assert 16.0 < errors[0] / errors[1] < 64.0


@pytest.mark.parametrize(("group", "functions"), [(lg.SO3, so3), (lg.SE3, se3)], ids=repr)
def test_12_13_left_and_right_differentials_of_exp(group, functions, rng):
    """X^-1 X' and X' X^-1 for X = exp A(t), by SciPy's derivative of the exponential, are dexp_-A A' and dexp_A A'."""
    x, dx = rng.normal(size=(2, group.dimension))
    X, dX = expm_frechet(group.hat(x), group.hat(dx))
    assert np.abs(lg.trivialized(group, X, dX, "left") - functions.dexp(-x, dx)).max() < 1e-13
    assert np.abs(lg.trivialized(group, X, dX, "right") - functions.dexp(x, dx)).max() < 1e-13
