"""[PK] (20) and (23): against Newton and Euler, and as printed in matrices, which holds on GL(n) but not on SE(3)."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers import lie_groups as lg
from screw_dynamics.papers.lie_groups.euler_poincare import MinimumAcceleration


def definite(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + np.eye(n)


def test_20_with_an_inertia_is_a_free_body_s_motion(rng):
    """Euler's equations and a center of mass that goes straight; about another point, the same after the change of
    frame, as the paper's introduction says of (1)."""
    Theta, m, com = definite(rng, 3), 2.5, rng.normal(size=3)
    w, v = rng.normal(size=(2, 3))
    about_com = np.r_[np.linalg.solve(Theta, np.cross(Theta @ w, w)), np.cross(v, w)]
    found = lg.euler_poincare(lg.SE3, sd.inertia_matrix(m, np.zeros(3), Theta), np.r_[w, v])
    assert np.abs(found - about_com).max() < 1e-13
    to_frame = np.eye(4)
    to_frame[:3, 3] = com                                                   # of the center of mass, in the body frame
    Ad = lg.SE3.Ad(to_frame)
    found = lg.euler_poincare(lg.SE3, sd.inertia_matrix(m, com, Theta), Ad @ np.r_[w, v])
    assert np.abs(found - Ad @ about_com).max() < 1e-12


def test_20_as_printed_holds_on_gl_n(rng):
    """Q U' = [U^T, Q U] for the inner product tr(A^T Q B), (18), and for Q = 1 the printed U' = [U^T, U]."""
    group = lg.general_linear(3)
    for Q in (definite(rng, 3), np.eye(3)):
        U = rng.normal(size=(3, 3))
        found = group.hat(lg.euler_poincare(group, lg.trace_form(group, Q), group.vee(U)))
        assert np.abs(Q @ found - (U.T @ Q @ U - Q @ U @ U.T)).max() < 1e-12


def test_23_as_printed_holds_on_gl_n(rng):
    """U''' = [U^T, U''] for Q = 1: of the state (V, V', -V'') the last vector's rate is -V'''."""
    group = lg.general_linear(3)
    U, U1, U2 = rng.normal(size=(3, 3, 3))
    state = np.stack([group.vee(A) for A in (U, U1, -U2)])
    rates = MinimumAcceleration(group, np.eye(9)).rates(state)
    for found, expected in zip(rates, (U1, U2, -(U.T @ U2 - U2 @ U.T)), strict=True):
        assert np.abs(group.hat(found) - expected).max() < 1e-13


def test_20_and_23_as_printed_lead_out_of_se3(rng):
    """[U^T, U] is no element of se(3); what minimizes is the nearest one, here w' = 0, v' = v x w: straight lines. On
    SO(3) it is 0."""
    x, y = rng.normal(size=(2, 6))
    for A in (lg.SE3.hat(x), lg.SE3.hat(y)):                    # U and U''
        U = lg.SE3.hat(x)
        printed = U.T @ A - A @ U.T
        with pytest.raises(ValueError, match=r"A is not in the algebra of SE\(3\)"):
            lg.SE3.vee(printed)
    U, Q = lg.SE3.hat(x), lg.trace_form(lg.SE3, np.eye(4))
    found = lg.euler_poincare(lg.SE3, Q, x)
    assert np.abs(found - np.r_[np.zeros(3), np.cross(x[3:], x[:3])]).max() < 1e-14
    assert np.abs(found - lg.SE3.projected(U.T @ U - U @ U.T)).max() < 1e-14
    W = lg.SO3.hat(x[:3])
    assert np.abs(W.T @ W - W @ W.T).max() == 0.0
