"""[PK] (4): the series against SciPy's logarithm, its first terms as in textbooks, and where it ends."""
import numpy as np
import pytest
from scipy.linalg import expm, logm

from screw_dynamics.papers import lie_groups as lg
from screw_dynamics.papers.lie_groups.baker_campbell_hausdorff import commutator, terms
from screw_dynamics.screws.groups import se3


def test_4_first_terms_are_those_of_textbooks(rng):
    A, B = rng.normal(size=(2, 3, 3))
    Z, AB = terms(A, B, 4), commutator(A, B)
    expected = [A + B, AB / 2, (commutator(A, AB) - commutator(B, AB)) / 12, -commutator(B, commutator(A, AB)) / 24]
    for found, term in zip(Z, expected, strict=True):
        assert np.abs(found - term).max() < 1e-14


@pytest.mark.parametrize("order", range(1, 9))
def test_4_error_is_of_the_next_order(order, rng):
    A, B = rng.normal(size=(2, 3, 3))
    A, B = A / np.linalg.norm(A, 2), B / np.linalg.norm(B, 2)
    errors = [np.abs(lg.baker_campbell_hausdorff(e * A, e * B, order) - logm(expm(e * A) @ expm(e * B))).max()
              for e in (0.16, 0.08)]
    assert errors[1] > 1e-15 and 0.7 < np.log2(errors[0] / errors[1]) - order < 1.5


def test_4_is_exact_where_brackets_end(rng):
    """In the algebra of upper triangular matrices (6, 6) brackets of six factors vanish, and so does the error."""
    A, B = (np.triu(rng.normal(size=(6, 6)), 1) for _ in range(2))
    D = expm(A) @ expm(B) - np.eye(6)
    log = sum((-1) ** (k + 1) / k * np.linalg.matrix_power(D, k) for k in range(1, 6))         # ends as well
    assert np.abs(lg.baker_campbell_hausdorff(A, B, 5) - log).max() < 1e-13
    assert np.abs(lg.baker_campbell_hausdorff(A, B, 4) - log).max() > 1e-3
    assert np.abs(terms(A, B, 8)[5:]).max() < 1e-13


def test_4_in_screw_coordinates(rng):
    """On se(3): the log of SE(3), batches, and the same as with matrices (4, 4)."""
    X, Y = 0.1 * rng.normal(size=(2, 5, 6))
    found = lg.baker_campbell_hausdorff(X, Y, 12, se3.ad)
    assert np.abs(found - se3.log(se3.compose(se3.exp(X), se3.exp(Y)))).max() < 1e-12
    matrices = lg.baker_campbell_hausdorff(lg.SE3.hat(X), lg.SE3.hat(Y), 12)
    assert np.abs(lg.SE3.vee(matrices) - found).max() < 1e-15


def test_4_refuses_what_is_no_order():
    with pytest.raises(ValueError, match="order"):
        lg.baker_campbell_hausdorff(np.eye(2), np.eye(2), 0)
    with pytest.raises(ValueError, match="B must be finite"):
        lg.baker_campbell_hausdorff(np.eye(2), np.full((2, 2), np.nan), 2)
