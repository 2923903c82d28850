"""Reconstructions in coordinates: quaternions and angles as defined, misprints of [MT], the same motion from all."""
import numpy as np
import pytest

from screw_dynamics.papers.absolute_coordinates import DIRECT, SEMIDIRECT, ConfigurationGroup, simulate
from screw_dynamics.papers.absolute_coordinates import quaternions as of
from screw_dynamics.papers.absolute_coordinates.reconstruction import (
    DUAL_QUATERNIONS,
    EULER_PARAMETERS,
    angles,
    canonical,
    simulate_in,
)
from studies.examples import examples

SYSTEMS = {e.name: e.system for e in examples()}
TOP = SYSTEMS["heavy_top"]
SINGULAR_FREE = EULER_PARAMETERS, DUAL_QUATERNIONS


def choices(system):
    poses = system.initial().poses
    return [*SINGULAR_FREE, canonical(SEMIDIRECT, poses), canonical(DIRECT, poses), angles("xyz"), angles("zyx")]


def random_poses(rng, n=4):
    return ConfigurationGroup([SEMIDIRECT] * n).exp(rng.normal(size=(n, 6)))


@pytest.mark.parametrize("number", range(6))
def test_rates_are_those_of_the_poses(number):
    """There and back, and q' against the group's g' = g V."""
    rng, h = np.random.default_rng(number), 1e-6
    g, V = random_poses(rng), rng.normal(size=(4, 6))
    poses = random_poses(np.random.default_rng(99))
    coordinates = [*SINGULAR_FREE, canonical(SEMIDIRECT, poses), canonical(DIRECT, poses), angles("xyz"),
                   angles("zxz")][number]
    q = coordinates.of(g)
    assert np.abs(coordinates.poses(q) - g).max() < 1e-14 and (coordinates.regularity(q) > 0.01).all()
    group = ConfigurationGroup([coordinates.group] * 4)
    ahead, behind = (coordinates.poses(q + s * h * coordinates.rates(q, V)) for s in (1, -1))
    found = group.log(group.compose(group.inverse(behind), ahead)) / (2.0 * h)
    assert np.abs(found - V).max() < 1e-8


def test_products_of_quaternions_and_dual_quaternions():
    """(70) to (74): products of poses, from both sides."""
    rng = np.random.default_rng(0)
    g, h = random_poses(rng), random_poses(rng)
    Q, P = of.of_poses(g), of.of_poses(h)
    product = (of.dual_plus(Q) @ P[..., None])[..., 0]
    assert np.abs(of.poses(product) - g @ h).max() < 1e-14
    assert np.abs(product - (of.dual_minus(P) @ Q[..., None])[..., 0]).max() < 1e-15
    assert np.abs((Q[:, :4] * Q[:, 4:]).sum(axis=1)).max() < 1e-15 and np.allclose((Q[:, :4] ** 2).sum(axis=1), 1.0)
    real, dual = Q[:, :4], Q[:, 4:]
    from_74 = 2.0 * (of.minus(real).swapaxes(1, 2) @ dual[..., None])[..., 0]
    assert np.abs(from_74 - np.concatenate((np.zeros((4, 1)), g[:, :3, 3]), axis=1)).max() < 1e-15


def test_misprints_of_76_78_80_and_of_a_4():
    """H and H^m give the velocities of Q' = Q V / 2; as printed, with D in their angular rows and (78) without its 2,
    and 2 I in (80), they do not. (-Q, -Q_eps) is the same pose as (Q, Q_eps); (Q*, Q_eps) is not."""
    rng = np.random.default_rng(1)
    g, V = random_poses(rng), rng.normal(size=(4, 6))
    Q = of.of_poses(g)
    dQ = DUAL_QUATERNIONS.rates(Q, V)[..., None]
    R = g[:, :3, :3]
    mixed = np.concatenate((V[:, :3], np.einsum("bij,bj->bi", R, V[:, 3:])), axis=1)
    assert np.abs((of.H(Q) @ dQ)[..., 0] - V).max() < 1e-14
    assert np.abs((of.H_mixed(Q) @ dQ)[..., 0] - mixed).max() < 1e-14
    real, dual = Q[:, :4], Q[:, 4:]
    printed_76 = 2.0 * np.block([[of.D(real), np.zeros((4, 3, 4))], [-of.D(dual), of.D(real)]])
    printed_78 = np.block([[of.D(real), np.zeros((4, 3, 4))],
                           [-of.E(real) @ of.D(real).swapaxes(1, 2) @ of.D(dual), of.E(real)]])
    found = (printed_76 @ dQ)[..., 0]
    assert np.abs(found - mixed)[:, :3].max() > 0.1 and np.abs(found - mixed)[:, 3:].max() < 1e-14
    assert np.abs(found[:, :3] - np.einsum("bij,bj->bi", R, V[:, :3])).max() < 1e-14        # D: in the inertial frame
    found = (printed_78 @ dQ)[..., 0]
    assert np.abs(found - V)[:, :3].max() > 0.1 and np.abs(2.0 * found - V)[:, 3:].max() < 1e-14
    dq = EULER_PARAMETERS.rates(EULER_PARAMETERS.of(g), mixed)
    assert np.abs(2.0 * dq[:, 4:] - mixed[:, 3:]).max() > 0.1                               # 2 I_3 of (80)
    assert np.abs(of.poses(-Q) - g).max() < 1e-14
    conjugate = Q * (1, -1, -1, -1, 1, 1, 1, 1)
    assert np.abs(of.poses(conjugate) - g).max() > 0.1


@pytest.fixture(scope="module")
def expected():
    return simulate(TOP, 0.2, 5e-4).poses[-1]


@pytest.mark.parametrize("number", range(6))
def test_the_same_motion_in_all_coordinates(number, expected):
    coordinates = choices(TOP)[number]
    errors = [np.abs(simulate_in(coordinates, TOP, 0.2, dt).poses[-1] - expected).max() for dt in (8e-3, 4e-3)]
    assert errors[1] < 1e-5 and 3.4 < np.log2(errors[0] / errors[1]) < 5.5


def test_coordinates_of_se3_keep_the_subgroup():
    """The pivot of the top: screw coordinates and dual quaternions of SE(3) keep it exactly, those of SO(3) x R^3
    do not."""
    for coordinates in choices(TOP):
        motion = simulate_in(coordinates, TOP, 0.2, 1e-2)
        error = max(np.abs(TOP.residuals(g)).max() for g in motion.poses)
        assert (error < 1e-13) == (coordinates.group == SEMIDIRECT), coordinates.name


def test_canonical_coordinates_from_the_start_are_munthe_kaas_as_long_as_they_last():
    """Remark 9: for one step they are the same."""
    coordinates = canonical(SEMIDIRECT, TOP.initial().poses)
    one, other = simulate(TOP, 1e-2, 1e-2), simulate_in(coordinates, TOP, 1e-2, 1e-2)
    assert np.abs(one.poses[-1] - other.poses[-1]).max() < 1e-15


def test_singularities_are_told():
    turning = SYSTEMS["free_body_gliding"]                 # at 2 pi rad/s about z
    with pytest.raises(ArithmeticError, match=r"canonical coordinates of SE\(3\) are singular at t = 1 s"):
        simulate_in(canonical(SEMIDIRECT, turning.initial().poses), turning, 1.1, 1e-2)
    with pytest.raises(ArithmeticError, match="angles zxz are singular at t = 0 s"):
        simulate_in(angles("zxz"), turning, 0.1, 1e-2)
    motion = simulate_in(angles("xzy"), SYSTEMS["heavy_top"], 0.1, 1e-2)
    assert (motion.recorded["regularity"] > 0.5).all() and motion.recorded["coordinates"].shape == (11, 1, 6)
    with pytest.raises(ValueError, match="axes must be three of x, y, z, no two in turn the same, not 'zzx'"):
        angles("zzx")
    with pytest.raises(ValueError, match="the method 'rk45' must be one of euler, heun, rk4"):
        simulate_in(EULER_PARAMETERS, TOP, 1.0, 1e-2, "rk45")


def test_remark_8_increments_of_each_step_have_no_singularity():
    """A turn and a half about z, of which canonical coordinates from the start do not reach the first."""
    turning = SYSTEMS["free_body_gliding"]
    found, expected = simulate(turning, 1.5, 1e-2), simulate_in(DUAL_QUATERNIONS, turning, 1.5, 1e-2)
    assert np.abs(found.poses - expected.poses).max() < 1e-5
    turned = np.unwrap(np.arctan2(found.poses[:, 0, 1, 0], found.poses[:, 0, 0, 0]))
    assert abs(turned[-1] - turned[0]) > 2.5 * np.pi
