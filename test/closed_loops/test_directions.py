"""The directions that constraints hold, by NumPy's pseudoinverse: ranks that are not exceeded, rows that are dependent
but for rounding, states of several ranks at once, and what is not determined."""
import numpy as np
import pytest

from screw_dynamics.closed_loops.derivatives import check_determined, response
from screw_dynamics.closed_loops.projection import directions, directions_at_once, rank

BOTH = pytest.mark.parametrize("find", [directions, directions_at_once])


def check(at, J, ranks):
    """J^+ and its range, of the largest singular values alone, and of a given number of these."""
    U, s, Vt = np.linalg.svd(J)
    inverse = at.acting @ (at.inverse[..., None] * np.swapaxes(at.U, -1, -2))
    assert at.rank.tolist() == list(ranks)
    for k, r in enumerate(ranks):
        assert inverse[k] == pytest.approx((Vt[k, :r].T / s[k, :r]) @ U[k, :, :r].T, abs=1e-10)
        assert at.admissible[k] @ at.admissible[k].T == pytest.approx(Vt[k, r:].T @ Vt[k, r:], abs=1e-12)


@BOTH
@pytest.mark.parametrize("most", [[3, 3, 3], [3, 2, 3], [2, 1, 0]])
def test_a_rank_that_is_given_is_not_exceeded(find, most, rng):
    J = rng.normal(size=(3, 3, 5))
    check(find(J, np.array(most)), J, most)


@BOTH
def test_rows_that_are_combinations_of_others_hold_nothing_more(find, rng):
    """Also of many states of which one alone has such rows."""
    J = rng.normal(size=(4, 4, 6))
    J[2, 3] = rng.normal(size=3) @ J[2, :3]
    check(find(J), J, [4, 4, 3, 4])


@BOTH
def test_rounding_is_no_constraint(find, rng):
    """Of loops that close whatever the tree does."""
    J = 1e-15 * rng.normal(size=(2, 2, 3))
    at = find(J)
    assert not at.held.any() and not at.inverse.any() and rank(J).tolist() == [0, 0]
    assert at.admissible @ np.swapaxes(at.admissible, -1, -2) == pytest.approx(np.broadcast_to(np.eye(3), (2, 3, 3)))


@BOTH
def test_states_of_several_ranks_respond_each_as_alone(find, rng):
    """N (N^T M N)^-1 N^T of a basis N of the null space, of any: efforts leave J x = 0, and M x = efforts there."""
    J, Y = rng.normal(size=(3, 3, 5)), rng.normal(size=(3, 5, 8))
    J[1, 2], J[2, 1:] = J[1, 0] - J[1, 1], (3.0 * J[2, 0], 0.0 * J[2, 0])
    M = Y @ np.swapaxes(Y, -1, -2)
    found = response(M, find(J))
    for k, r in enumerate((3, 2, 1)):
        N = np.linalg.svd(J[k])[2][r:].T
        assert found[k] == pytest.approx(N @ np.linalg.inv(N.T @ M[k] @ N) @ N.T, rel=1e-9, abs=1e-11)


def test_what_is_determined_but_for_rounding_is_not():
    check_determined(np.array([[1.0, 0.0], [1.0, 1e-6]]), np.ones(2))
    with pytest.raises(ValueError, match="the 2 actuated velocities do not determine every motion"):
        check_determined(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13]]), np.ones(2))
