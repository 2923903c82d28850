"""Invariant metrics, [PK] (11) to (15), (18); bi-invariant ones, of which SE(3) has none."""
import numpy as np
import pytest

from screw_dynamics.papers import lie_groups as lg


def definite(rng, d):
    A = rng.normal(size=(d, d))
    return A @ A.T + np.eye(d)


@pytest.mark.parametrize("group", [lg.SO3, lg.SE3, lg.special_linear(2)], ids=repr)
def test_14_15_metrics_are_invariant_on_their_side_alone(group, rng):
    Q = definite(rng, group.dimension)
    x, t, a, b = 0.5 * rng.normal(size=(4, group.dimension))
    X, T = group.exp(x), group.exp(t)
    A, B = X @ group.hat(a), X @ group.hat(b)                               # tangent vectors at X
    left, right = (lg.inner(group, Q, X, A, B, side) for side in ("left", "right"))
    assert abs(left - a @ Q @ b) < 1e-12
    assert abs(lg.inner(group, Q, T @ X, T @ A, T @ B) - left) < 1e-11
    assert abs(lg.inner(group, Q, X @ T, A @ T, B @ T, "right") - right) < 1e-11
    assert abs(lg.inner(group, Q, X @ T, A @ T, B @ T) - left) > 1e-3
    assert abs(lg.inner(group, Q, T @ X, T @ A, T @ B, "right") - right) > 1e-3


def test_so3_has_one_bi_invariant_metric_and_se3_none(rng):
    """On SE(3) the forms are Klein's and Killing's: of every combination pure displacements have length 0."""
    form, = lg.bi_invariant_forms(lg.SO3)
    assert np.abs(form / form[0, 0] - np.eye(3)).max() < 1e-14
    forms = lg.bi_invariant_forms(lg.SE3)
    Klein, Killing = np.kron([[0, 1], [1, 0]], np.eye(3)), np.kron([[1, 0], [0, 0]], np.eye(3))
    assert len(forms) == 2
    assert np.linalg.matrix_rank(np.reshape([*forms, Klein, Killing], (4, -1)), 1e-12) == 2
    assert np.abs(np.tensordot(forms, forms, ((1, 2), (1, 2))) - np.eye(2)).max() < 1e-14       # orthonormal
    assert np.abs(forms[:, 3:, 3:]).max() < 1e-14
    Ad = lg.SE3.Ad(lg.SE3.exp(rng.normal(size=6)))
    assert np.abs(np.swapaxes(Ad, 0, 1) @ forms @ Ad - forms).max() < 1e-13             # under a finite motion too
    Q = definite(rng, 6)
    assert np.abs(Ad.T @ Q @ Ad - Q).max() > 0.1
    assert len(lg.bi_invariant_forms(lg.special_orthogonal(4))) == 2                    # as so(4) is so(3) + so(3)


def test_18_trace_form(rng):
    n = lg.SE3.size
    Q, (a, b) = definite(rng, n), rng.normal(size=(2, 6))
    A, B = lg.SE3.hat(a), lg.SE3.hat(b)
    assert abs(a @ lg.trace_form(lg.SE3, Q) @ b - np.trace(A.T @ Q @ B)) < 1e-12
    assert np.abs(lg.trace_form(lg.SE3, np.eye(4)) - np.diag((2, 2, 2, 1, 1, 1))).max() == 0.0


def test_metrics_that_are_none_are_refused():
    X = np.eye(3)
    for Q, message in ((np.diag((1.0, 1.0, 0.0)), "Q must be positive-definite, but its least eigenvalue is 0"),
                       (np.triu(np.ones((3, 3))), "Q must be a symmetric matrix"), (np.eye(6), "must end in 3, 3")):
        with pytest.raises(ValueError, match=message):
            lg.inner(lg.SO3, Q, X, np.zeros((3, 3)), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="side"):
        lg.trivialized(lg.SO3, X, np.zeros((3, 3)), "both")
    with pytest.raises(ValueError, match=r"Q must be a symmetric positive-definite matrix \(4, 4\)"):
        lg.trace_form(lg.SE3, -np.eye(4))
