"""Rigid bodies whose motions are known in elliptic functions: the integrators on groups against them."""
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipj, ellipk

import screw_dynamics as sd

pytestmark = pytest.mark.slow

I1, I2, I3 = 1.0, 2.0, 3.0              # kg m^2
WEIGHT, A, C = 9.81 * 0.5 * 0.3, 0.06, 0.02        # N m: of 0.5 kg at 0.3 m; A and C about the point that stays, kg m^2


def free_body():
    """A body that floats without gravity, and its state: it turns and its center of mass moves."""
    builder = sd.ModelBuilder("world")
    body = sd.inertia_matrix(2.0, np.zeros(3), np.diag([I1, I2, I3]))
    builder.add_group_joint("free", "base", "body", "world", inertia=body)
    robot = sd.Robot(builder.build(), gravity=(0.0, 0.0, 0.0))
    w = np.array([0.8, 0.0, 1.0])       # so that L^2 > 2 E I2: it turns about its third axis
    return robot, robot.neutral(), np.r_[w, 0.3, -0.2, 0.1]


def euler(t, w):
    """The angular velocity (samples, 3) of a free body that has w = (w1, 0, w3) at first; Landau and Lifshitz, 37."""
    twice, square = I1 * w[0]**2 + I3 * w[2]**2, (I1 * w[0])**2 + (I3 * w[2])**2            # 2 E and L^2
    rate = np.sqrt((I3 - I2) * (square - twice * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (twice * I3 - square) / ((I3 - I2) * (square - twice * I1))
    sn, cn, dn, _ = ellipj(rate * t, m)
    return np.stack([w[0] * cn, np.sqrt((twice * I3 - square) / (I2 * (I3 - I2))) * sn, w[2] * dn], axis=-1)


def attitude_errors(robot, t, q, w0):
    """How far, rad, the third axis has gone about the angular momentum from where it should be, and that from rest."""
    R = robot.forward_kinematics(q, "body")[:, :3, :3]
    L = np.array([I1, 0.0, I3]) * w0
    size, momentum = np.linalg.norm(L), np.einsum("kij,kj->ki", R, euler(t, w0) * [I1, I2, I3])
    north = L / size
    east = np.cross(north, [0.0, 1.0, 0.0])
    angle = np.unwrap(np.arctan2(R[:, :, 2] @ np.cross(north, east), R[:, :, 2] @ east))

    def precession(t):
        x, y, _ = euler(t, w0)
        return size * (I1 * x * x + I2 * y * y) / (I1**2 * x * x + I2**2 * y * y)
    expected = [quad(precession, 0.0, end, epsabs=1e-13, epsrel=1e-13, limit=500)[0] for end in t]
    return np.abs(angle - angle[0] - expected).max(), np.abs(momentum - L).max() / size


def heavy_top():
    """A symmetric top on a ball joint, and its state: it is let go, spinning about its inclined axis alone."""
    builder, mass, arm = sd.ModelBuilder("stand"), 0.5, 0.3
    about = np.diag([A - mass * arm**2, A - mass * arm**2, C])
    builder.add_group_joint("spherical", "ball", "top", "stand", inertia=sd.inertia_matrix(mass, [0, 0, arm], about))
    robot = sd.Robot(builder.build())
    return robot, np.array([np.sin(0.25), 0.0, 0.0, np.cos(0.25)]), np.array([0.0, 0.0, 40.0])


def nutation(t, u, spin):
    """cos of the inclination of a heavy top that is let go at u with a spin; the cubic of Lagrange's case."""
    a, beta = C * spin / A, 2.0 * WEIGHT / A
    alpha, b = beta * u, a * u                              # neither theta' nor precession at first
    roots = np.sort(np.roots([beta, -alpha - a * a, 2.0 * a * b - beta, alpha - b * b]).real)
    m, rate = (roots[1] - roots[0]) / (roots[2] - roots[0]), np.sqrt(beta * (roots[2] - roots[0])) / 2.0
    return roots[0] + (roots[1] - roots[0]) * ellipj(rate * t + ellipk(m), m)[0]**2


METHODS = [("rk4", {}), pytest.param("rk45", {"rtol": 1e-10, "atol": 1e-12}, marks=pytest.mark.slow)]


@pytest.mark.parametrize("integrator, options", METHODS)
def test_a_free_body_turns_as_euler_has_it(integrator, options):
    robot, q0, v0 = free_body()
    t, q, v = robot.rollout(q0, v0, None, 2e-3, 5000, integrator, every=100, **options)
    assert np.abs(v[:, :3] - euler(t, v0[:3])).max() < 1e-9
    assert max(attitude_errors(robot, t, q, v0[:3])) < 1e-9
    assert np.abs(robot.forward_kinematics(q, "body")[:, :3, 3] - t[:, None] * v0[3:]).max() < 1e-9
    energy = robot.kinetic_energy(q, v)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-10


@pytest.mark.parametrize("integrator, options", METHODS)
def test_a_heavy_top_nods_as_lagrange_has_it(integrator, options):
    robot, q0, v0 = heavy_top()
    t, q, v = robot.rollout(q0, v0, None, 1e-3, 2000, integrator, every=20, **options)
    u = robot.forward_kinematics(q, "top")[:, 2, 2]
    assert np.abs(u - nutation(t, u[0], v0[2])).max() < 1e-7 and np.ptp(u) > 0.05
    assert np.abs(v[:, 2] / v0[2] - 1.0).max() < 1e-12
    energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-9


@pytest.mark.parametrize("body, exact", [(free_body, lambda robot, t, q, v: v[:, :3] - euler(t, v[0, :3])), (
    heavy_top, lambda robot, t, q, v: robot.forward_kinematics(q, "top")[:, 2, 2] - nutation(t, np.cos(0.5), 40.0))],
    ids=["free body", "heavy top"])
def test_semi_implicit_euler_is_of_the_first_order(body, exact):
    robot, q0, v0 = body()
    errors, drifts = [], []
    for steps in (5000, 10_000):
        t, q, v = robot.rollout(q0, v0, None, 0.5 / steps, steps, every=steps // 100)
        energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
        errors.append(np.abs(exact(robot, t, q, v)).max())
        drifts.append(np.abs(energy / energy[0] - 1.0).max())
    assert [errors[0] / errors[1], drifts[0] / drifts[1]] == pytest.approx([2.0, 2.0], rel=0.05)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("body, spin", [(free_body, 1.0), (heavy_top, 0.1)])
def test_quaternions_are_of_unit_length_after_a_million_steps(body, spin, integrator):
    robot, q0, v0 = body()
    _, q, _ = robot.rollout(q0, spin * v0, None, 1e-3, 1_000_000, integrator, every=1000)
    assert np.abs(np.linalg.norm(q[:, -4:], axis=1) - 1.0).max() < 4e-16


def test_a_top_that_spins_too_fast_for_the_steps_diverges_with_a_warning():
    """Gyroscopic terms enter at the start of a step: h (A - C) / A times the spin must be small."""
    robot, q0, v0 = heavy_top()
    with pytest.warns(sd.DivergenceWarning, match="the state is not finite from t = .* s on; try a dt smaller"):
        robot.rollout(q0, v0, None, 1e-2, 100_000, every=1000)
