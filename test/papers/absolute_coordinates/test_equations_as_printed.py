"""Equations of [MT] sections 1 to 4 and appendix A as they are printed, which no other file holds against the package:
by SciPy's integrators, matrices and differences."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import (
    DIRECT,
    SEMIDIRECT,
    Body,
    ConfigurationGroup,
    Joint,
    MultibodySystem,
    angles,
    simulate,
    simulate_in,
)
from screw_dynamics.papers.absolute_coordinates.integrators import HEUN, munthe_kaas
from screw_dynamics.screws.groups.lie_group import bernoulli_numbers
from support import matrices
from support.polyhedra import at
from support.random_trees import random_body, random_pose

LOWER_PAIRS = "revolute", "prismatic", "cylindrical", "helical", "spherical", "planar"
CHECKED = dict(method="DOP853", rtol=1e-12, atol=1e-12)
s = matrices.skew


def on_a_joint(kind, group=SEMIDIRECT, seed=3):
    """A body on the ground by a joint of a kind, off its frame, with closed velocities."""
    rng = np.random.default_rng(seed)
    body = Body("b", sd.inertia_matrix(*random_body(rng)), random_pose(rng), rng.normal(size=6), group)
    return MultibodySystem([body], [Joint("j", kind, "b", random_pose(rng), **({"pitch": 0.3} if kind == "helical" else
                                                                               {}))])


def hat_7(X):
    """(64)."""
    matrix = np.zeros((7, 7))
    matrix[:3, :3], matrix[3:6, 6] = s(X[:3]), X[3:]
    return matrix


def test_1_and_2_in_cardan_angles_by_scipy():
    """The descriptor form (1) of a body on a spherical joint with its frame at the center of mass, q = (angles, r),
    V = (omega, r') = diag(B, I) q', solved by hand for V' and integrated by SciPy."""
    m, Theta, r0 = 2.0, np.diag((0.3, 0.2, 0.4)), np.array((-0.4, 0.1, 0.2))
    pose, frame = np.eye(4), np.eye(4)
    pose[:3, 3], frame[:3, 3] = -r0, r0
    omega0 = np.array((1.0, 2.0, -1.0))
    top = Body("top", sd.inertia_matrix(m, np.zeros(3), Theta), pose, np.r_[omega0, np.cross(r0, omega0)])
    system = MultibodySystem([top], [Joint("pivot", "spherical", "top", frame)])

    def rate(t, y):
        a, b, c = (Rotation.from_rotvec(x * e).as_matrix() for x, e in zip(y[:3], np.eye(3), strict=True))
        R, w = a @ b @ c, y[6:9]
        B = np.column_stack((c.T @ b.T @ (1, 0, 0), c.T @ (0, 1, 0), (0, 0, 1)))
        J = np.hstack((R @ s(r0), -np.eye(3)))                      # of h = r + R r0, but for the sign
        M = np.block([[Theta, np.zeros((3, 3))], [np.zeros((3, 3)), m * np.eye(3)]])
        Q = np.r_[-np.cross(w, Theta @ w), 0.0, 0.0, -9.81 * m]
        eta = R @ np.cross(w, np.cross(w, r0))
        dV = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((3, 3))]]), np.r_[Q, eta])[:6]
        return np.r_[np.linalg.solve(B, w), y[9:], dV]
    y0 = np.r_[np.zeros(3), -r0, omega0, np.cross(omega0, -r0)]
    end = solve_ivp(rate, (0.0, 0.5), y0, **CHECKED).y[:, -1]
    motion = simulate_in(angles("xyz"), system, 0.5, 2e-3)
    assert np.abs(motion.recorded["coordinates"][-1, 0] - end[:6]).max() < 1e-9
    assert np.abs(motion.velocities[-1, 0] - end[6:]).max() < 1e-9


@pytest.mark.parametrize("kind", LOWER_PAIRS)
def test_8_and_11_are_one_set_of_the_dimension_of_the_freedoms(kind):
    """Of a body and one on it: h = 0 is the same in both groups; what J V = 0 allows is tangent to it, so that poses
    displaced so are of second order from it, and in each group they are as many as there are freedoms."""
    rng, inner = np.random.default_rng(4), on_a_joint("spherical").bodies[0]
    outer = Body("outer", sd.inertia_matrix(*random_body(rng)), random_pose(rng))
    pitch = {"pitch": 0.3} if kind == "helical" else {}
    system = MultibodySystem([inner, outer], [Joint("base", "universal", "b", random_pose(rng)),
                                              Joint("tip", kind, "outer", random_pose(rng), on="b", **pitch)])
    for group in (SEMIDIRECT, DIRECT):
        moved = system.with_groups(group)
        g = moved.initial().poses
        J = np.column_stack([moved.velocity_residuals(g, e.reshape(2, 6)) for e in np.eye(12)])
        allowed = null_space(J, rcond=1e-10).T.reshape(-1, 2, 6)
        assert len(allowed) == moved.degrees_of_freedom
        for V in allowed:
            gaps = []
            for h in (2e-3, 1e-3):
                displaced = moved.group.compose(g, moved.group.exp(h * V))
                closed = moved.closed_poses(displaced)
                assert np.abs(system.residuals(closed)).max() < 1e-12           # of the other group's set too
                gaps.append(np.abs(closed - displaced).max())
            assert gaps[0] < 1e-4 and gaps[1] < 0.3 * gaps[0] + 1e-12


@pytest.mark.parametrize("group", (SEMIDIRECT, DIRECT))
def test_17_as_an_ode_in_matrices_by_scipy(group):
    """g' = g V^, V' = F(g, V): with 4 x 4 matrices of SE(3), or the 7 x 7 ones (61), (66) of SO(3) x R^3."""
    system = on_a_joint("universal", group)
    poses, V = system.initial(closed=True)
    hat, size = (matrices.hat, 4) if group == SEMIDIRECT else (hat_7, 7)
    start = poses[0]
    if group == DIRECT:
        start = np.eye(7)
        start[:3, :3], start[3:6, 6] = poses[0, :3, :3], poses[0, :3, 3]

    def pose(C):
        g = np.eye(4)
        g[:3, :3], g[:3, 3] = C[:3, :3], C[-4:-1, -1]
        return g[None]

    def rate(t, y):
        C, v = y[:size * size].reshape(size, size), y[size * size:]
        return np.r_[(C @ hat(v)).ravel(), system.accelerations(t, pose(C), v[None]).ravel()]
    end = solve_ivp(rate, (0.0, 0.3), np.r_[start.ravel(), V.ravel()], **CHECKED).y[:, -1]
    motion = simulate(system, 0.3, 1e-3)
    assert np.abs(motion.poses[-1] - pose(end[:size * size].reshape(size, size))[0]).max() < 1e-10
    assert np.abs(motion.velocities[-1, 0] - end[size * size:]).max() < 1e-9


@pytest.mark.parametrize("kind", LOWER_PAIRS)
def test_18_increments_are_nested_brackets_and_lie_in_the_subalgebra(kind):
    """Of Heun's method, whose two samples are V_1 and V_2 = V_1 + h V_1': Phi = h/2 (V_1 + sum_r B_r/r! ad_(-h V_1)^r
    V_2); and of RK4: Phi obeys the joint's J Phi = 0 at the start, which in SO(3) x R^3 it does for prismatic and
    planar joints alone, whose motions are subgroups of that too."""
    system, h = on_a_joint(kind), 0.1
    (g,), V = system.initial(closed=True)
    V1 = V[0]
    V2, ad = V1 + h * system.accelerations(0.0, g[None], V)[0], matrices.ad(-h * V1)
    term, total = V2, V2
    for r, B in enumerate(bernoulli_numbers(24)[1:], start=1):
        term = ad @ term / r
        total = total + B * term
    step = munthe_kaas(HEUN, system.group, system.accelerations, 0.0, h, g[None], V)
    assert np.abs(step.poses[0] - g @ matrices.exp(0.5 * h * (V1 + total))).max() < 1e-14
    outside = {}
    for group in (SEMIDIRECT, DIRECT):
        moved = system.with_groups(group)
        end = simulate(moved, h, h).poses[-1]
        Phi = moved.group.log(moved.group.compose(moved.group.inverse(moved.initial().poses), end))
        outside[group] = np.abs(moved.velocity_residuals(moved.initial().poses, Phi)).max()
    assert outside[SEMIDIRECT] < 1e-15
    assert (outside[DIRECT] > 1e-6) == (kind not in ("prismatic", "planar"))


def test_19_and_figure_1():
    """A body that turns at a constant rate about an axis at p: the midpoint rule is exact in SE(3); in SO(3) x R^3 the
    position is off by |p| (a - 2 sin(a/2)) for the angle a of a step. The expansion that leads to (19) has a plus."""
    e, p, omega, dt = np.array((0.6, 0.0, 0.8)), np.array((0.8, 0.5, -0.6)), 3.0, 0.2
    p = p - e * (e @ p)                                             # from the axis straight to the frame: figure 1a)
    V = omega * np.r_[e, np.cross(p, e)]
    start = random_pose(np.random.default_rng(0))
    exact = start @ at(*p) @ matrices.exp(dt * omega * np.r_[e, np.zeros(3)]) @ at(*-p)
    se3, direct = (ConfigurationGroup([group]) for group in (SEMIDIRECT, DIRECT))
    k2 = se3.dexp_inv(-0.5 * dt * V[None], V[None])
    assert np.abs(k2 - V).max() < 1e-15
    assert np.abs(se3.compose(start[None], se3.exp(dt * k2))[0] - exact).max() < 1e-14
    half = start @ matrices.exp(0.5 * dt * V)
    mixed = np.r_[V[:3], half[:3, :3] @ V[3:]]
    updated = direct.compose(start[None], direct.exp(dt * mixed[None]))[0]
    assert np.abs(updated[:3, :3] - exact[:3, :3]).max() < 1e-14
    angle = omega * dt
    off = np.linalg.norm(updated[:3, 3] - exact[:3, 3])
    assert abs(off - np.linalg.norm(p) * (angle - 2.0 * np.sin(0.5 * angle))) < 1e-14 < 1e-3 < off
    V1, V2 = np.random.default_rng(1).normal(size=(2, 1, 6))

    def left(h, sign):
        return np.abs(h * se3.dexp_inv(-0.5 * h * V1, V2) - h * V2 - sign * h * h / 4.0 * se3.bracket(V1, V2)).max()
    assert np.log2(left(2e-2, 1) / left(1e-2, 1)) > 2.9 and np.log2(left(2e-2, -1) / left(1e-2, -1)) < 2.1


def test_46_to_50_in_matrices():
    """Poses, their products, twists C^-1 C' with r' = R v, brackets as commutators, and ad."""
    rng, group = np.random.default_rng(5), ConfigurationGroup([SEMIDIRECT])
    (C1, C2), (X1, X2) = (random_pose(rng), random_pose(rng)), rng.normal(size=(2, 6))
    (R1, r1), (R2, r2) = ((C[:3, :3], C[:3, 3]) for C in (C1, C2))
    product = group.compose(C2[None], C1[None])[0]
    assert np.abs(product[:3, :3] - R2 @ R1).max() < 1e-15 and np.abs(product[:3, 3] - r2 - R2 @ r1).max() < 1e-15
    h = 1e-6
    rate = (group.compose(C1[None], group.exp(h * X1[None])) - group.compose(C1[None], group.exp(-h * X1[None])))[0]
    rate /= 2.0 * h
    assert np.abs(np.linalg.inv(C1) @ rate - matrices.hat(X1)).max() < 1e-9
    assert np.abs(R1.T @ rate[:3, 3] - X1[3:]).max() < 1e-9                              # v = R^T r'
    (xi1, eta1), (xi2, eta2) = X1.reshape(2, 3), X2.reshape(2, 3)
    printed = np.r_[np.cross(xi1, xi2), np.cross(xi1, eta2) - np.cross(xi2, eta1)]
    commutator = matrices.hat(X1) @ matrices.hat(X2) - matrices.hat(X2) @ matrices.hat(X1)
    assert np.abs(matrices.hat(printed) - commutator).max() < 1e-15
    assert np.abs(group.bracket(X1[None], X2[None])[0] - printed).max() < 1e-15
    ad = np.block([[s(xi1), np.zeros((3, 3))], [s(eta1), s(xi1)]])
    assert np.abs(group.ad(X1[None])[0] - ad).max() == 0.0 and np.abs(ad @ X2 - printed).max() < 1e-15


def test_62_and_63_are_ad_of_the_first_times_the_second():
    """The commutator of the matrices (64) is (62), which by (63) is ad_X1 X2; ad_X2 X1, as printed, is its opposite."""
    X1, X2 = np.random.default_rng(6).normal(size=(2, 6))
    bracket = np.r_[np.cross(X1[:3], X2[:3]), np.zeros(3)]                               # (62)
    assert np.abs(hat_7(X1) @ hat_7(X2) - hat_7(X2) @ hat_7(X1) - hat_7(bracket)).max() < 1e-15

    def ad(X):
        return np.block([[s(X[:3]), np.zeros((3, 3))], [np.zeros((3, 6))]])              # (63)
    group = ConfigurationGroup([DIRECT])
    assert np.abs(group.ad(X1[None])[0] - ad(X1)).max() == 0.0
    assert np.abs(ad(X1) @ X2 - bracket).max() < 1e-15 and np.abs(ad(X2) @ X1 + bracket).max() < 1e-15
    assert np.abs(bracket).max() > 0.1
