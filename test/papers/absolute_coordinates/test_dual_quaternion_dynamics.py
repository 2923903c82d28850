"""Motion in dependent coordinates, [MT] 3.2: the normalization and the Pluecker condition, (15) with (76) and (78), and
the equations of motion in dual quaternions."""
from functools import partial

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import (
    DIRECT,
    DUAL_QUATERNIONS,
    DUAL_QUATERNIONS_OF_MIXED_VELOCITIES,
    EULER_PARAMETERS,
    SEMIDIRECT,
    Body,
    ConfigurationGroup,
    Joint,
    MultibodySystem,
    Spring,
    angles,
    canonical,
    dual_quaternion_accelerations,
    mixed_velocity_matrix,
    second_kind,
    simulate,
    simulate_dual_quaternions,
    simulate_in,
)
from screw_dynamics.papers.absolute_coordinates import quaternions as of
from studies.examples import examples
from support import matrices
from support.random_trees import random_body, random_pose

SYSTEMS = {e.name: e.system for e in examples()}
TOP = SYSTEMS["heavy_top"]
GROUP = ConfigurationGroup([SEMIDIRECT] * 4)


def random_state(seed=0):
    """Poses (4, 4, 4), dual quaternions of them, body-fixed twists and mixed velocities."""
    rng = np.random.default_rng(seed)
    g, V = GROUP.exp(rng.normal(size=(4, 6))), rng.normal(size=(4, 6))
    return g, of.of_poses(g), V, np.concatenate((V[:, :3], np.einsum("bij,bj->bi", g[:, :3, :3], V[:, 3:])), axis=1)


def on_a_joint(kind, seed=2):
    """A body on the ground by a joint of a kind, off its frame, and weight; velocities are closed at the start."""
    rng = np.random.default_rng(seed)
    body = Body("b", sd.inertia_matrix(*random_body(rng)), random_pose(rng), 3.0 * rng.normal(size=6))
    return MultibodySystem([body], [Joint("j", kind, "b", random_pose(rng), **({"pitch": 0.3} if kind == "helical" else
                                                                               {}))])


def largest_error(system, motion):
    return max(np.abs(system.residuals(g)).max() for g in motion.poses)


@pytest.mark.parametrize("coordinates, matrix", [(DUAL_QUATERNIONS, of.H),
                                                 (DUAL_QUATERNIONS_OF_MIXED_VELOCITIES, of.H_mixed)])
def test_15b_is_h_with_the_rows_of_both_conditions_inverted(coordinates, matrix):
    """(15b): q' = H^-1 V, with H of (78) or (76) corrected, and the normalization and Pluecker rows of 3.2, which make
    the (6, 8) matrices square; and the pose's own velocity, by differences."""
    g, Q, V, mixed = random_state()
    given = V if coordinates.group == SEMIDIRECT else mixed
    square = np.concatenate((matrix(Q), of.condition_rows(Q)), axis=1)
    rates = np.linalg.solve(square, np.concatenate((given, np.zeros((4, 2))), axis=1)[..., None])[..., 0]
    assert np.abs(coordinates.rates(Q, given) - rates).max() < 1e-14
    group, h = ConfigurationGroup([coordinates.group] * 4), 1e-6
    ahead, behind = (coordinates.poses(Q + s * h * rates) for s in (1, -1))
    found = group.log(group.compose(group.inverse(behind), ahead)) / (2.0 * h)
    assert np.abs(found - given).max() < 1e-8
    assert np.abs(of.conditions(Q)).max() < 1e-15


def test_conditions_and_their_rows():
    """By complex step off the conditions; the rows are those of the derivatives of |Q|^2 / 2 and Q . Q_eps."""
    rng = np.random.default_rng(3)
    Q, dQ, ddQ = rng.normal(size=(3, 8))
    assert np.abs(of.conditions(Q) - (0.5 * (Q[:4] @ Q[:4] - 1.0), Q[:4] @ Q[4:])).max() < 1e-15
    first = np.imag(of.conditions(Q + 1e-30j * dQ)) / 1e-30
    assert np.abs(of.condition_rows(Q) @ dQ - first).max() < 1e-14
    h, at = 1e-3, [of.conditions(Q + t * dQ + 0.5 * t * t * ddQ) for t in (-1e-3, 0.0, 1e-3)]
    second = (at[0] - 2.0 * at[1] + at[2]) / (h * h)
    assert np.abs(of.condition_rows(Q) @ ddQ + of.condition_rows(dQ) @ dQ - second).max() < 1e-5


def test_twist_matrix_is_h_on_rates_that_keep_the_conditions_and_its_rate_does_nothing():
    g, Q, V, _ = random_state()
    dQ = DUAL_QUATERNIONS.rates(Q, V)
    assert np.abs(of.condition_rows(Q) @ dQ[..., None]).max() < 1e-15
    assert np.abs((of.twist_matrix(Q) @ dQ[..., None])[..., 0] - (of.H(Q) @ dQ[..., None])[..., 0]).max() < 1e-14
    any_rate = np.random.default_rng(4).normal(size=(4, 8))
    assert np.abs(of.twist_matrix(any_rate) @ any_rate[..., None]).max() < 1e-15        # B is linear in Q
    assert np.abs(of.twist_matrix(Q) @ Q[..., None]).max() < 1e-15                      # both directions that Phi holds
    turned = np.concatenate((np.zeros((4, 4)), Q[:, :4]), axis=1)
    assert np.abs(of.twist_matrix(Q) @ turned[..., None]).max() < 1e-15


@pytest.mark.parametrize("X", [np.array((0.4, -1.2, 0.8, 0.3, 0.5, -0.7)), np.array((2.0, 1.5, -1.0, -0.6, 0.1, 0.9))])
def test_69_as_printed(X):
    """A(X) = diag(I, R) dexp_-X = [[dexp_-xi, 0], [R P(-X), dexp_xi]], P of (55) corrected, with dexp by its series;
    and the mixed velocity of exp X."""
    xi, eta = X[:3], X[3:]
    R, dexp = matrices.exp(X)[:3, :3], matrices.dexp
    n, h, skew_xi, skew_eta = np.linalg.norm(xi), xi @ eta / (xi @ xi), matrices.skew(-xi), matrices.skew(-eta)
    alpha, beta = np.sin(n) / n, (2.0 * np.sin(n / 2.0) / n) ** 2
    P = (beta / 2 * skew_eta + (1 - alpha) / n**2 * (skew_eta @ skew_xi + skew_xi @ skew_eta)
         + h * (alpha - beta) * skew_xi + h * (beta / 2 - 3 * (1 - alpha) / n**2) * skew_xi @ skew_xi)
    printed = np.block([[dexp(matrices.skew(-xi)), np.zeros((3, 3))], [R @ P, dexp(matrices.skew(xi))]])
    A = mixed_velocity_matrix(X)
    assert np.abs(A - printed).max() < 1e-14
    assert np.abs(R @ dexp(matrices.skew(-xi)) - dexp(matrices.skew(xi))).max() < 1e-14         # remark 5
    step, dX = 1e-6, np.random.default_rng(0).normal(size=6)
    ahead, behind = matrices.exp(X + step * dX), matrices.exp(X - step * dX)
    rate = (ahead - behind) / (2.0 * step)
    omega = R.T @ rate[:3, :3]
    assert np.abs(A @ dX - np.r_[omega[2, 1], omega[0, 2], omega[1, 0], rate[:3, 3]]).max() < 1e-8


def test_69_gives_the_rates_of_screw_coordinates_from_mixed_velocities():
    """Also from poses g_0 that are turned."""
    g, _, V, mixed = random_state()
    initial = random_state(5)[0]
    twists, same = canonical(SEMIDIRECT, initial), canonical(SEMIDIRECT, initial, "mixed")
    q = twists.of(g)
    assert same.group == DIRECT and twists.group == SEMIDIRECT
    assert np.abs(same.rates(q, mixed) - twists.rates(q, V)).max() < 1e-13
    with pytest.raises(ValueError, match="velocity 'body-fixed' must be one of mixed"):
        canonical(DIRECT, initial, "body-fixed")


def test_se3_keeps_a_joint_closed_with_body_fixed_velocities_alone():
    """The pivot of the top: with mixed velocities in the SE(3) formulation, as 3.2 offers them with (76), and by (69),
    twists of a step's stages leave the subalgebra, and the pivot opens with order 4."""
    start = TOP.initial().poses
    for coordinates in (DUAL_QUATERNIONS_OF_MIXED_VELOCITIES, canonical(SEMIDIRECT, start, "mixed")):
        errors = [largest_error(TOP, simulate_in(coordinates, TOP, 0.2, dt)) for dt in (1e-2, 5e-3)]
        assert errors[1] > 1e-8 and 3.5 < np.log2(errors[0] / errors[1]) < 5.2, coordinates.name
    for coordinates in (DUAL_QUATERNIONS, canonical(SEMIDIRECT, start)):
        assert largest_error(TOP, simulate_in(coordinates, TOP, 0.2, 1e-2)) < 1e-13, coordinates.name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "spherical", "planar", "helical"])
def test_which_joints_to_the_ground_stay_closed(kind):
    """The table of docs/integration.md. In SE(3), by Munthe-Kaas methods and in screw coordinates, all lower pairs. The
    dual quaternions of five of the subgroups, but for their norm, fill a linear space, which no Runge-Kutta method
    leaves; those of a helical joint do not. Prismatic and planar motions are subgroups of SO(3) x R^3 too."""
    system, dt, duration = on_a_joint(kind), 1e-2, 0.1
    start, direct = system.initial().poses, system.with_groups(DIRECT)

    def within(coordinates):
        return simulate_in(coordinates, system, duration, dt)
    linear = {"revolute", "prismatic", "cylindrical", "spherical", "planar"}
    motions = [(linear | {"helical"}, simulate(system, duration, dt), within(canonical(SEMIDIRECT, start))),
               (linear, within(DUAL_QUATERNIONS), simulate_dual_quaternions(system, duration, dt)),
               ({"prismatic", "planar"}, simulate(direct, duration, dt), within(canonical(DIRECT, start)),
                within(EULER_PARAMETERS), within(canonical(SEMIDIRECT, start, "mixed")),
                within(DUAL_QUATERNIONS_OF_MIXED_VELOCITIES)),
               ({"prismatic"}, within(angles("xyz")), within(second_kind(np.eye(6), start)))]
    for closed, *of_them in motions:
        for motion in of_them:
            error = largest_error(system, motion)
            assert error < 1e-14 if kind in closed else error > 1e-13, (error, closed)


def test_helical_joints_open_with_order_4_in_dual_quaternions():
    system = on_a_joint("helical")
    for simulated in (partial(simulate_in, DUAL_QUATERNIONS), simulate_dual_quaternions):
        errors = [largest_error(system, simulated(system, 0.2, dt)) for dt in (1e-2, 5e-3)]
        assert 1e-9 < errors[0] < 1e-6 and 3.8 < np.log2(errors[0] / errors[1]) < 4.3


@pytest.mark.parametrize("name", ["free_body_off_center_turning", "heavy_top", "double_pendulum", "four_bar",
                                  "revolute_prismatic", "cardan"])
def test_equations_in_dual_quaternions_are_those_of_twists(name):
    """V' = B Q'', redundant constraints or not; the joints' multipliers give the constraint wrenches, and normalization
    and Pluecker condition, which do hold, need no force."""
    system = SYSTEMS[name]
    poses, V = system.initial(closed=True)
    Q = of.of_poses(poses)
    dQ = DUAL_QUATERNIONS.rates(Q, V)
    found = dual_quaternion_accelerations(system, 0.0, Q, dQ)
    expected = system.accelerations(0.0, poses, V)
    assert matrices.error((of.twist_matrix(Q) @ found.accelerations[..., None])[..., 0], expected) < 1e-11
    assert np.abs(of.condition_rows(Q) @ found.accelerations[..., None]
                  + of.condition_rows(dQ) @ dQ[..., None]).max() < 1e-12 * np.abs(found.accelerations).max()
    scale = 1.0 + np.abs(system.constraint_wrenches(0.0, poses, V)).max()
    assert np.abs(found.conditions).max() < 1e-12 * scale
    assert found.joints.shape == (system.constraints.m,)


def test_baumgarte_acts_in_dual_quaternions_too():
    """On poses that are open and velocities that open them further: the accelerations of twists."""
    top = MultibodySystem(TOP.bodies, TOP.joints, TOP.springs, baumgarte=(20.0, 30.0))
    poses, V = top.initial().poses.copy(), np.random.default_rng(8).normal(size=(1, 6))
    poses[0, :3, 3] += 0.1, 0.2, -0.1
    Q = of.of_poses(poses)
    found = dual_quaternion_accelerations(top, 0.0, Q, DUAL_QUATERNIONS.rates(Q, V)).accelerations
    for system, same in ((top, True), (TOP, False)):
        expected = system.accelerations(0.0, poses, V)
        assert (matrices.error((of.twist_matrix(Q) @ found[..., None])[..., 0], expected) < 1e-11) == same


def test_multipliers_are_the_forces_of_the_joints():
    """Of a body that hangs at rest on a spherical joint: lambda is its weight, as (35) has lambda on its left side."""
    pose, frame = np.eye(4), np.eye(4)
    pose[2, 3], frame[2, 3] = -0.5, 0.5
    system = MultibodySystem([Body("b", sd.inertia_matrix(2.0, np.zeros(3), np.eye(3)), pose)],
                             [Joint("j", "spherical", "b", frame)])
    Q = of.of_poses(pose[None])
    found = dual_quaternion_accelerations(system, 0.0, Q, np.zeros_like(Q))
    assert np.abs(found.accelerations).max() < 1e-14
    assert np.abs(found.joints - (0.0, 0.0, -2.0 * 9.81)).max() < 1e-13


@pytest.mark.slow
def test_motion_in_dual_quaternions():
    """Of two bodies with a spring: order 4 to the motion of the Munthe-Kaas method, both conditions drift with it, and
    what is recorded is of the motion."""
    rng = np.random.default_rng(7)
    bodies = [Body(name, sd.inertia_matrix(*random_body(rng)), random_pose(rng), rng.normal(size=6)) for name in "ab"]
    system = MultibodySystem(bodies, [Joint("j", "universal", "b", random_pose(rng), on="a")],
                             [Spring("a", (0.1, 0.2, 0.0), None, (0.0, 0.0, 0.3), stiffness=30.0, damping=0.5)])
    expected, errors, drifts = simulate(system, 0.4, 1e-3), [], []
    for dt in (1e-2, 5e-3):
        motion = simulate_dual_quaternions(system, 0.4, dt, record={"E": system.energy})
        errors.append(np.abs(motion.poses[-1] - expected.poses[-1]).max())
        drifts.append(np.abs(of.conditions(motion.recorded["coordinates"])).max())
        assert abs(motion.recorded["E"][-1] - system.energy(expected.poses[-1], expected.velocities[-1])) < 1e-5
        assert np.abs(motion.velocities[-1] - expected.velocities[-1]).max() < 1e-5
    assert 3.4 < np.log2(errors[0] / errors[1]) < 5.5 and 3.4 < np.log2(drifts[0] / drifts[1]) < 5.5
    assert motion.recorded["regularity"].min() > 0.999
    with pytest.raises(ValueError, match=r"dual quaternions require SE\(3\), not <\(SO\(3\) x R\^3\)\^2>"):
        dual_quaternion_accelerations(system.with_groups(DIRECT), 0.0, np.ones((2, 8)), np.zeros((2, 8)))
    with pytest.raises(ValueError, match=r"dQ has shape \(1, 8\)"):
        dual_quaternion_accelerations(system, 0.0, np.ones((2, 8)), np.zeros((1, 8)))
    with pytest.raises(ValueError, match="the method 'rk45' must be one of euler, heun, rk4"):
        simulate_dual_quaternions(system, 0.1, 1e-2, "rk45")
