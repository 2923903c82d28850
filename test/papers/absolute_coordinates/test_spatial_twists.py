"""Munthe-Kaas methods from the left, in spatial twists and momenta: [MD] (88), (89), (36), (38)."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import Body, Joint, MultibodySystem, simulate
from screw_dynamics.papers.absolute_coordinates.spatial_twists import SpatialSystem, simulate_spatial
from support import matrices
from support.differences import slopes
from support.matrices import error
from support.random_trees import random_pose

HEAVY = sd.inertia_matrix(2.0, (0.1, -0.2, 0.05), np.diag((0.5, 0.6, 0.3)))
LIGHT = sd.inertia_matrix(0.5, (0.0, 0.1, 0.2), np.diag((0.05, 0.04, 0.03)))
TURN = 0.3, 1.0, -0.4, 0.5, 0.2, 0.1


def two_bodies(gravity=(0.0, 0.0, 0.0)):
    """Joined by a ball, free but for their weight, the first at some distance from the origin."""
    rng = np.random.default_rng(3)
    pose = random_pose(rng)
    return MultibodySystem([Body("a", HEAVY, pose=pose, twist=TURN),
                            Body("b", LIGHT, pose=pose @ random_pose(rng), twist=(1.0, -2.0, 0.5, 0.3, 0.2, -0.1))],
                           [Joint("ball", "spherical", "b", np.eye(4), "a")], gravity=gravity)


def body_twist(C, Cd):
    """C^-1 C' as a screw, (88)."""
    V = np.linalg.inv(C) @ Cd
    return np.r_[V[2, 1], V[0, 2], V[1, 0], V[:3, 3]]


def test_88_89_spatial_twists_are_of_increments_from_the_left(rng):
    """And body-fixed ones of increments from the right, which [MD] 7 has for both: with them V^s is not dexp_X X'."""
    C, X, Xd = random_pose(rng), rng.standard_normal(6), rng.standard_normal(6)
    E = matrices.exp(X)
    Ed = slopes(lambda t: matrices.exp(X + t[0] * Xd), 1)[..., 0]
    left, right = (E @ C, Ed @ C), (C @ E, C @ Ed)
    by_X = matrices.dexp(matrices.ad(X)) @ Xd
    assert error(matrices.Ad(left[0]) @ body_twist(*left), by_X) < 1e-11
    assert error(body_twist(*right), matrices.dexp(-matrices.ad(X)) @ Xd) < 1e-11
    assert error(matrices.Ad(right[0]) @ body_twist(*right), by_X) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("momenta", [False, True])
@pytest.mark.parametrize("method", ["euler", "heun", "rk4"])
def test_motion_of_the_same_system_in_body_fixed_twists(method, momenta):
    """Of the order of the method, with joints, weight and wrenches."""
    system = two_bodies((0.5, -1.0, -9.0))
    spatial = SpatialSystem(system, momenta)
    exact = simulate(system, 0.5, 0.1, "rk45", rtol=1e-12, atol=1e-12)
    errors = []
    for steps in (40, 80):
        motion = simulate_spatial(spatial, 0.5, 0.5 / steps, method)
        twists = spatial.twists(motion.poses[-1], motion.velocities[-1])
        errors.append(max(np.abs(motion.poses[-1] - exact.poses[-1]).max(),
                          np.abs(twists - exact.velocities[-1]).max()))
    assert abs(np.log2(errors[0] / errors[1]) - {"euler": 1, "heun": 2, "rk4": 4}[method]) < 0.35


def test_rates_are_those_of_spatial_twists_and_momenta():
    """By differences along the motion, and the momentum balance of free bodies: Pi' = Ad_C^-T of the wrenches."""
    system = two_bodies((0.5, -1.0, -9.0))
    for momenta in (False, True):
        spatial = SpatialSystem(system, momenta)
        g, y = spatial.initial(closed=True)
        V = spatial.velocities(g, y)
        Vb, Vbd = spatial.twists(g, y), system.accelerations(0.0, g, spatial.twists(g, y))

        def later(t, g=g, Vb=Vb, Vbd=Vbd, spatial=spatial):
            return spatial.state(g @ sd.se3.exp(t[0] * Vb + t[0] ** 2 / 2 * Vbd), Vb + t[0] * Vbd)
        assert error(spatial.rates(0.0, g, y), slopes(later, 1)[..., 0]) < 1e-10
        assert error(sd.se3.Ad(g, Vb), V) < 1e-13
        energy = system.energy(g, Vb)
        assert abs(spatial.energy(g, y) - energy) < 1e-13 * abs(energy)
    weights = sum(np.r_[np.cross(x, w), w] for x, w in centers_and_weights(system, g))
    assert error(spatial.rates(0.0, g, y).sum(axis=0), weights) < 1e-13


def centers_and_weights(system, g):
    """Of all bodies, in the world."""
    for pose, M in zip(g, system.inertias, strict=True):
        m, moment = M[5, 5], np.array((M[2, 4], M[0, 5], M[1, 3]))
        yield pose[:3, :3] @ moment / m + pose[:3, 3], m * np.asarray(system.gravity)


def test_momenta_of_bodies_keep_the_total_to_rounding_and_twists_do_not():
    totals = {}
    for momenta in (False, True):
        spatial = SpatialSystem(two_bodies(), momenta)
        motion = simulate_spatial(spatial, 2.0, 4e-2, record={"total": spatial.momentum})
        totals[momenta] = np.abs(motion.recorded["total"] - motion.recorded["total"][0]).max()
    assert totals[True] < 1e-13 and totals[False] > 1e-8


def test_spatial_twists_keep_a_body_on_its_hinge():
    """Increments are multiples of its screw, whatever the step; momenta of stages are none of its motion."""
    hinge = MultibodySystem([Body("a", HEAVY, pose=random_pose(np.random.default_rng(1)))],
                            [Joint("hinge", "revolute", "a", random_pose(np.random.default_rng(5)))])
    drift = {}
    for momenta in (False, True):
        spatial = SpatialSystem(hinge, momenta)
        motion = simulate_spatial(spatial, 4.0, 0.1)
        turned = np.abs(motion.poses - motion.poses[0]).max()
        drift[momenta] = max(np.abs(hinge.residuals(pose)).max() for pose in motion.poses)
        assert turned > 0.1
    assert drift[False] < 1e-14 and drift[True] > 1e-9


def test_a_constant_spatial_twist_is_a_screw_motion():
    g0, X = random_pose(np.random.default_rng(2)), np.array(TURN)
    steady = MultibodySystem([Body("b", np.eye(6), pose=g0, twist=X)], gravity=(0.0, 0.0, 0.0),
                             wrenches=lambda t, g, V: -sd.se3.ad_dual(V, V))
    for method in ("euler", "heun", "rk4"):
        motion = simulate_spatial(SpatialSystem(steady), 2.0, 0.5, method)
        assert np.abs(motion.poses[-1, 0] - g0 @ matrices.exp(2.0 * X)).max() < 1e-14


def test_times_and_arguments():
    spatial = SpatialSystem(two_bodies())
    assert np.allclose(simulate_spatial(spatial, 1.0, 0.1, every=4).t, (0.0, 0.4, 0.8, 1.0))
    for options, message in ((dict(method="rk45"), "method 'rk45' must be one of euler, heun, rk4"),
                             (dict(dt=0.0), "dt 0.0 must be"), (dict(every=0), "every 0 must be")):
        with pytest.raises(ValueError, match=message):
            simulate_spatial(spatial, 1.0, **({"dt": 0.1} | options))
