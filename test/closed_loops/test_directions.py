"""The directions that constraints hold, by NumPy's pseudoinverse: ranks that are not exceeded, rows that are dependent
but for rounding, states of several ranks at once, and what is not determined."""
import numpy as np
import pytest

from screw_dynamics.robot.closed_loops.derivatives import check_determined
from screw_dynamics.robot.closed_loops.projection import directions, rank
from screw_dynamics.robot.closed_loops.response import response


def check(at, J, ranks):
    """J^+ and its range, of the largest singular values alone, and of a given number of these."""
    U, s, Vt = np.linalg.svd(J)
    inverse = at.constrained @ (at.inverse[..., None] * np.swapaxes(at.U, -1, -2))
    assert at.rank.tolist() == list(ranks)
    for k, r in enumerate(ranks):
        assert inverse[k] == pytest.approx((Vt[k, :r].T / s[k, :r]) @ U[k, :, :r].T, abs=1e-10)
        assert at.admissible[k] @ at.admissible[k].T == pytest.approx(Vt[k, r:].T @ Vt[k, r:], abs=1e-12)


@pytest.mark.parametrize("most", [[3, 3, 3], [3, 2, 3], [2, 1, 0]])
def test_a_rank_that_is_given_is_not_exceeded(most, rng):
    J = rng.normal(size=(3, 3, 5))
    check(directions(J, np.array(most)), J, most)


def test_rows_that_are_combinations_of_others_hold_nothing_more(rng):
    """Also of many states of which one alone has such rows."""
    J = rng.normal(size=(4, 4, 6))
    J[2, 3] = rng.normal(size=3) @ J[2, :3]
    check(directions(J), J, [4, 4, 3, 4])


def test_rounding_is_no_constraint(rng):
    """Of loops that close whatever the tree does."""
    J = 1e-15 * rng.normal(size=(2, 2, 3))
    at = directions(J)
    assert not at.held.any() and not at.inverse.any() and rank(J).tolist() == [0, 0]
    assert at.admissible @ np.swapaxes(at.admissible, -1, -2) == pytest.approx(np.broadcast_to(np.eye(3), (2, 3, 3)))


@pytest.mark.slow
@pytest.mark.parametrize("change", [
    lambda J: None, lambda J: np.subtract(J[1, 0], J[1, 1], out=J[1, 2]), lambda J: np.copyto(J[2, 1:], 0.0),
    lambda J: np.add(J[0, 0], 1e-13 * J[0, 2], out=J[0, 2]), lambda J: np.multiply(1e-12, J[1, 1], out=J[1, 1]),
    lambda J: np.add(J[0, 0], 1e-5 * J[0, 2], out=J[0, 2])],
    ids=["independent", "one is the difference of others", "two are 0", "one is another's but for rounding",
         "one is rounding", "one is nearly another's"])
def test_states_of_any_ranks_respond_each_as_alone(change, rng):
    """M x - J^T lambda = efforts, J x = drifts, of drifts for which there is an x; x by elimination in a basis of the
    null space, of singular values."""
    J, Y, E = rng.normal(size=(3, 3, 5)), rng.normal(size=(3, 5, 8)), rng.normal(size=(3, 5, 4))
    change(J)
    M, D = Y @ np.swapaxes(Y, -1, -2), J @ rng.normal(size=(3, 5, 4))
    found = response(M, J)
    x = found.solved(E, D)
    for k in range(3):
        U, s, Vt = np.linalg.svd(J[k])
        r = int((s > 1e-9 * s[0]).sum())
        N, some = Vt[r:].T, np.linalg.pinv(J[k], 1e-9) @ D[k]
        expected = some + N @ np.linalg.solve(N.T @ M[k] @ N, N.T @ (E[k] - M[k] @ some))
        assert found.rank[k] == r and x[k] == pytest.approx(expected, rel=1e-7, abs=1e-8)
        one = response(M[k], J[k]).solved(E[k], D[k])
        assert one == pytest.approx(x[k], rel=1e-7, abs=1e-8)
        push = J[k].T @ rng.normal(size=3)
        assert J[k].T @ response(M[k], J[k]).multipliers(push) == pytest.approx(push, rel=1e-8, abs=1e-9)


@pytest.mark.slow
def test_a_response_holds_no_more_than_it_may(rng):
    J, M = rng.normal(size=(2, 3, 5)), np.eye(5)
    J[:, 2] = J[:, 0] + 1e-2 * J[:, 2]                      # loops that are open a little
    for most in [2, 2], [2, 3], [3, 3]:
        found = response(M, J, np.array(most))
        free = [Vt[r:].T @ Vt[r:] for r, Vt in zip(most, np.linalg.svd(J)[2], strict=True)]
        assert found.rank.tolist() == most and found.K == pytest.approx(np.array(free), abs=1e-10)


@pytest.mark.slow
def test_what_moves_no_inertia_along_what_is_held_responds(rng):
    """A mass matrix that is singular: where constraints leave it none of its null space."""
    J, M = np.array([[0.0, 0.0, 1.0]]), np.diag([2.0, 4.0, 0.0])
    assert response(M, J).K == pytest.approx(np.diag([0.5, 0.25, 0.0]), abs=1e-15)


def test_what_is_determined_but_for_rounding_is_not():
    check_determined(np.array([[1.0, 0.0], [1.0, 1e-6]]), np.ones(2))
    with pytest.raises(ValueError, match="the 2 actuated velocities do not determine every motion"):
        check_determined(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13]]), np.ones(2))
