"""Newton and Euler's equations of one body in every frame: rates of the momentum, and one form from the other."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations.newton_euler import any_frame, body_fixed, hybrid, mixed, spatial
from support import matrices
from support.matrices import error, hat
from support.random_trees import random_body, random_pose

TINY = 1e-200       # a complex step: its square vanishes, so the slope has no error but rounding
FORMS = {"spatial": spatial, "hybrid": hybrid, "mixed": mixed}


class Motion:
    """A frame on a random way C(t): C(0), and its twists with their derivatives at t = 0, in every representation.

    C(t) = C (I + t V~ + t^2/2 (V'~ + V~ V~)) to the second order, for the body-fixed twist V and its derivative V'."""

    def __init__(self, rng):
        self.start, self.V, self.Vd = random_pose(rng), *rng.normal(size=(2, 6))
        V = hat(self.V)
        self.second = self.start @ (hat(self.Vd) + V @ V)                               # C''
        self.first = self.start @ V                                                     # C'

    def pose(self, t=0.0):
        """C(t), exact in a complex step."""
        return self.start + t * self.first

    def twist(self, form, t=0.0):
        """The twist in a representation; its imaginary part at t = i TINY is the derivative times TINY."""
        C, Cd = self.pose(t), self.first + t * self.second
        R, Rd = C[:3, :3], Cd[:3, :3]
        w, v = Rd @ R.T, Cd[:3, 3]
        w = np.array([w[2, 1], w[0, 2], w[1, 0]])
        return {"body": np.r_[R.T @ w, R.T @ v], "spatial": np.r_[w, v + np.cross(C[:3, 3], w)],
                "hybrid": np.r_[w, v], "mixed": np.r_[R.T @ w, v]}[form]

    def both(self, form):
        """The twist and its derivative."""
        return self.twist(form), self.twist(form, 1j * TINY).imag / TINY


def slope(f):
    """The derivative of f(t) at t = 0."""
    return f(1j * TINY).imag / TINY


def case(seed, at_com=False):
    """A motion and the inertia of a body."""
    rng = np.random.default_rng(seed)
    mass, com, rotational = random_body(rng)
    return Motion(rng), sd.inertia_matrix(mass, 0 * com if at_com else com, rotational), rng


SEEDS = pytest.mark.parametrize("seed", range(3))


def arguments(form, motion, t=0.0):
    """What inertia and momentum take after M and V."""
    return () if form == "body" else (motion.pose(t),)


def module(form):
    return FORMS.get(form, body_fixed)


def in_form(form, C, W):
    """A spatial wrench in a representation."""
    R, r, force = C[:3, :3], C[:3, 3], W[3:]
    torque = W[:3] - np.cross(r, force)
    return {"body": np.r_[R.T @ torque, R.T @ force], "spatial": W,
            "hybrid": np.r_[torque, force], "mixed": np.r_[R.T @ torque, force]}[form]


# ------------------------------------------------------------------------------------------------- laws
@SEEDS
def test_motion_of_the_test(seed):
    """The derivative of the body-fixed twist is the one the motion was made of."""
    motion, _, _ = case(seed)
    V, Vd = motion.both("body")
    assert error(V, motion.V) < 1e-14 and error(Vd, motion.Vd) < 1e-14


@SEEDS
def test_spatial_momentum_balance(seed):
    """[MD] (36): d/dt (M^s V^s) = W^s."""
    motion, M, _ = case(seed)
    W = spatial.wrench(M, *motion.both("spatial"), motion.pose())
    assert error(slope(lambda t: spatial.momentum(M, motion.twist("spatial", t), motion.pose(t))), W) < 1e-14
    assert error(spatial.momentum_rate(M, *motion.both("spatial"), motion.pose()), W) < 1e-15


@SEEDS
def test_spatial_newton_euler_against_newton_s_law_for_points(seed):
    """[MD] (34)-(38): a body is points that Newton's law moves; their momenta and forces, summed."""
    motion, _, rng = case(seed)
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.1, 1, 5)
    M = sum(sd.inertia_matrix(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True))
    x, xd, xdd = ((np.c_[points, np.ones(5)] @ A.T)[:, :3] for A in (motion.start, motion.first, motion.second))
    V, Vd = motion.both("spatial")
    momenta, forces = masses[:, None] * xd, masses[:, None] * xdd
    momentum = np.r_[np.cross(x, momenta).sum(axis=0), momenta.sum(axis=0)]
    assert error(spatial.momentum(M, V, motion.pose()), momentum) < 1e-13
    W = np.r_[np.cross(x, forces).sum(axis=0), forces.sum(axis=0)]
    assert error(spatial.wrench(M, V, Vd, motion.pose()), W) < 1e-13


@pytest.mark.parametrize("form", ["body", "hybrid", "mixed"])
@SEEDS
def test_newton_euler_is_the_spatial_one_after_a_change_of_frame(form, seed):
    """[MD] (41) body-fixed, (53) hybrid, (56)-(57) mixed: W and Pi from the spatial ones."""
    motion, M, _ = case(seed)
    C, (V, Vd) = motion.pose(), motion.both(form)
    W = spatial.wrench(M, *motion.both("spatial"), C)
    assert error(module(form).wrench(M, V, Vd, *arguments(form, motion)), in_form(form, C, W)) < 1e-13
    momentum = spatial.momentum(M, motion.twist("spatial"), C)
    assert error(module(form).momentum(M, V, *arguments(form, motion)), in_form(form, C, momentum)) < 1e-13


@pytest.mark.parametrize("form", ["body", "spatial", "hybrid", "mixed"])
@SEEDS
def test_rate_of_the_momentum_s_components(form, seed):
    """[MD] (36), (41), (52): the momentum balance of each representation, by a complex step along the motion."""
    motion, M, _ = case(seed)
    expected = slope(lambda t: module(form).momentum(M, motion.twist(form, t), *arguments(form, motion, t)))
    assert error(module(form).momentum_rate(M, *motion.both(form), *arguments(form, motion)), expected) < 1e-14


@pytest.mark.parametrize("form", FORMS)
@SEEDS
def test_inertias_give_one_energy(form, seed):
    """[MD] (34), (51): V^T M V is twice the kinetic energy in every representation."""
    motion, M, _ = case(seed)
    V = motion.twist(form)
    assert abs(V @ module(form).inertia(M, motion.pose()) @ V / (motion.V @ M @ motion.V) - 1) < 1e-14


@pytest.mark.parametrize("form", ["spatial", "hybrid"])
@SEEDS
def test_rate_of_the_inertia(form, seed):
    """[MD] (37), and that of the hybrid inertia before (48)."""
    motion, M, _ = case(seed)
    found = FORMS[form].inertia_rate(M, motion.twist(form), motion.pose())
    assert error(found, slope(lambda t: FORMS[form].inertia(M, motion.pose(t)))) < 1e-14


@SEEDS
def test_remark_2_skew_symmetry(seed):
    """[MD] remark 2: W^s = M^s V' + C^s V, and M^s' - 2 C^s is skew."""
    motion, M, _ = case(seed)
    (V, Vd), C = motion.both("spatial"), motion.pose()
    coriolis = spatial.coriolis(M, V, C)
    assert error(spatial.inertia(M, C) @ Vd + coriolis @ V, spatial.wrench(M, V, Vd, C)) < 1e-14
    N = spatial.inertia_rate(M, V, C) - 2 * coriolis
    assert np.abs(N + N.T).max() < 1e-14 * np.abs(N).max()


# ------------------------------------------------------------------------------------------------- components
@pytest.mark.parametrize("form", ["body", "hybrid"])
@pytest.mark.parametrize("at_com", [False, True])
@SEEDS
def test_newton_euler_by_components(form, at_com, seed):
    """[MD] (42), (43) and (54), (55)."""
    motion, M, _ = case(seed, at_com)
    rest = motion.both(form) + arguments(form, motion)
    assert error(module(form).wrench_by_components(M, *rest), module(form).wrench(M, *rest)) < 1e-13


@SEEDS
def test_newton_euler_at_the_center_of_mass(seed):
    """[MD] (45), (46), (49), (50), (58): what is left when d = 0."""
    motion, M, _ = case(seed, at_com=True)
    R, m, Theta = motion.pose()[:3, :3], M[5, 5], M[:3, :3]
    (w, v), (wd, vd) = (x.reshape(2, 3) for x in motion.both("body"))
    t = Theta @ wd + np.cross(w, Theta @ w)
    acceleration = motion.second[:3, 3]
    assert error(body_fixed.wrench(M, *motion.both("body")), np.r_[t, m * (vd + np.cross(w, v))]) < 1e-13
    assert error(hybrid.wrench(M, *motion.both("hybrid"), motion.pose()), np.r_[R @ t, m * acceleration]) < 1e-13
    assert error(mixed.wrench(M, *motion.both("mixed"), motion.pose()), np.r_[t, m * acceleration]) < 1e-13


@SEEDS
def test_last_twist_of_the_hybrid_equations(seed):
    """[MD] (53): it is (w, 0), as said after (48); with V^h in its place the change of frame does not hold."""
    motion, M, _ = case(seed)
    (V, Vd), C = motion.both("hybrid"), motion.pose()
    W = in_form("hybrid", C, spatial.wrench(M, *motion.both("spatial"), C))
    Mh, turn = hybrid.inertia(M, C), np.r_[V[:3], np.zeros(3)]
    assert error(Mh @ Vd + matrices.ad(turn) @ Mh @ turn, W) < 1e-13
    assert error(Mh @ Vd + matrices.ad(turn) @ Mh @ V, W) > 1e-2


@SEEDS
def test_inertia_from_the_center_of_mass(seed):
    """[MD] (39), (40): M = Ad_S^-T M_c Ad_S^-1 with S = (I, d)."""
    _, M, _ = case(seed)
    Mc, d = body_fixed.at_center_of_mass(M)
    assert np.abs(Mc[:3, 3:]).max() < 1e-15 and error(Mc[3:, 3:], M[3:, 3:]) < 1e-15
    to_com = np.linalg.inv(matrices.Ad(np.block([[np.eye(3), d[:, None]], [np.zeros(3), 1.0]])))
    assert error(to_com.T @ Mc @ to_com, M) < 1e-14


# ------------------------------------------------------------------------------------------------- any frame
def twist_in(F, motion, t=0.0):
    """The body's twist in a moving frame."""
    return any_frame.represented(motion.twist("spatial", t), F(t))


@SEEDS
def test_newton_euler_in_any_frame(seed):
    """[MD] (60), (61): a frame j that moves on its own; W_j = Ad_(C_j)^T W^s, and the rate of the momentum."""
    motion, M, rng = case(seed)
    C, frame = motion.pose(), Motion(rng)
    V, Vd = twist_in(frame.pose, motion), slope(lambda t: twist_in(frame.pose, motion, t))
    W = any_frame.represented_wrench(spatial.wrench(M, *motion.both("spatial"), C), frame.start)
    assert error(any_frame.wrench(M, V, Vd, C, frame.start, frame.V), W) < 1e-13
    assert error(W, matrices.Ad(frame.start).T @ spatial.wrench(M, *motion.both("spatial"), C)) < 1e-14
    assert error(any_frame.represented(motion.twist("spatial"), frame.start), V) < 1e-15
    rate = slope(lambda t: any_frame.momentum(M, twist_in(frame.pose, motion, t), motion.pose(t), frame.pose(t)))
    assert error(any_frame.momentum_rate(M, V, Vd, C, frame.start, frame.V), rate) < 1e-13


@SEEDS
def test_newton_euler_measured_in_one_frame_and_resolved_in_another(seed):
    """[MD] (62)-(64): frames j and k that move on their own."""
    motion, M, rng = case(seed)
    C, j, k = motion.pose(), Motion(rng), Motion(rng)

    def both(t):
        """The frame at the origin of j with the axes of k."""
        return np.c_[k.pose(t)[:, :3], j.pose(t)[:, 3]]
    V, Vd = twist_in(both, motion), slope(lambda t: twist_in(both, motion, t))
    R_kj = k.start[:3, :3].T @ j.start[:3, :3]
    turn = np.kron(np.eye(2), R_kj)                                                     # Ad_(R_kj)
    assert error(turn @ twist_in(j.pose, motion), V) < 1e-14
    W = turn @ any_frame.represented_wrench(spatial.wrench(M, *motion.both("spatial"), C), j.start)
    assert error(any_frame.wrench_resolved(M, V, Vd, C, j.start, j.V, k.start, k.V), W) < 1e-13
    pose, U = any_frame.measured_and_resolved(j.start, j.V, k.start, k.V)
    assert error(pose, both(0.0)) == 0.0
    assert error(any_frame.wrench(M, V, Vd, C, pose, U), W) < 1e-13
    assert error(any_frame.inertia(M, C, pose), turn @ any_frame.inertia(M, C, j.start) @ turn.T) < 1e-14


@SEEDS
def test_special_cases_of_any_frame(seed):
    """[MD] after (61) and (64): the world gives the spatial form, the body the body-fixed, both the hybrid."""
    motion, M, _ = case(seed)
    C, world, still = motion.pose(), np.eye(4), np.zeros(6)
    found = any_frame.wrench(M, *motion.both("spatial"), C, world, still)
    assert error(found, spatial.wrench(M, *motion.both("spatial"), C)) < 1e-14
    found = any_frame.wrench(M, *motion.both("body"), C, C, motion.V)
    assert error(found, body_fixed.wrench(M, *motion.both("body"))) < 1e-14
    found = any_frame.wrench_resolved(M, *motion.both("hybrid"), C, C, motion.V, world, still)
    assert error(found, hybrid.wrench(M, *motion.both("hybrid"), C)) < 1e-13


# ------------------------------------------------------------------------------------------------- arrays
def test_batches_broadcast():
    """Many motions at once, and many bodies on one motion."""
    cases = [case(seed) for seed in range(4)]
    Ms, poses = np.array([M for _, M, _ in cases]), np.array([motion.start for motion, _, _ in cases])
    for form in ("body", *FORMS):
        V, Vd = np.array([motion.both(form) for motion, _, _ in cases]).transpose(1, 0, 2)
        rest = (lambda x: ()) if form == "body" else (lambda x: (x,))
        for name in ("wrench", "momentum_rate"):
            f = getattr(module(form), name)
            single = [f(M, v, vd, *rest(C)) for M, v, vd, C in zip(Ms, V, Vd, poses, strict=True)]
            assert error(f(Ms, V, Vd, *rest(poses)), single) < 1e-15
            assert error(f(Ms, V[0], Vd[0], *rest(poses[0]))[0], single[0]) < 1e-15
    j, k, body = (motion for motion, _, _ in cases[:3])
    V, Vd = np.array([motion.both("body") for motion, _, _ in cases]).transpose(1, 0, 2)
    found = any_frame.wrench_resolved(Ms, V, Vd, poses, j.start, j.V, k.start, k.V)
    single = [any_frame.wrench_resolved(M, v, vd, C, j.start, j.V, k.start, k.V)
              for M, v, vd, C in zip(Ms, V, Vd, poses, strict=True)]
    assert error(found, single) < 1e-15


@pytest.mark.parametrize("call, message", [
    (lambda: body_fixed.wrench(np.eye(5), np.zeros(6), np.zeros(6)), r"M has the shape \(5, 5\), not \(..., 6, 6\)"),
    (lambda: spatial.wrench(np.eye(6), np.zeros(6), np.zeros(3), np.eye(4)),
     r"Vd has the shape \(3,\), not \(..., 6\)"),
    (lambda: hybrid.momentum(np.eye(6), np.zeros(6), np.eye(3)), r"C has the shape \(3, 3\), not \(..., 4, 4\)"),
    (lambda: mixed.wrench(np.eye(6), 1.0, np.zeros(6), np.eye(4)), r"V has the shape \(\), not \(..., 6\)"),
    (lambda: body_fixed.at_center_of_mass(np.zeros((6, 6))), "a body of mass 0 has no center of mass"),
])
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
