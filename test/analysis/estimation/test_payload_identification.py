"""What a link carries, from motions of a robot that carries it: estimates, their uncertainty, and what is not shown."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.estimation.payload_identification import identify_payload, regressor
from screw_dynamics.model.configuration_space import velocities
from support.real_robots import real_robot

LINK = "panda_link8"
MASS, COM = 1.8, np.array([0.02, -0.03, 0.07])
INERTIA = np.array([[0.008, 0.001, 0.0], [0.001, 0.01, 0.0005], [0.0, 0.0005, 0.006]])
ORIGIN = INERTIA + MASS * (COM @ COM * np.eye(3) - np.outer(COM, COM))
PHI = np.array([MASS, *(MASS * COM), *ORIGIN[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])      # as Pinocchio has them
SLOW, FAST = 0.02, 0.3      # Hz


@pytest.fixture(scope="module")
def panda():
    return real_robot("panda_description/urdf/panda.urdf", tip_link=LINK)


@pytest.fixture(scope="module")
def carrying(panda):
    return panda.with_payload(LINK, MASS, COM, INERTIA)


def motion(frequency, seconds=20.0, rate=250.0):
    """Sines about a bent position: t, q, q', q''."""
    t = np.arange(0.0, seconds, 1.0 / rate)
    w = 2.0 * np.pi * frequency * np.array([1.0, 0.83, 1.21, 0.67, 1.37, 0.9, 1.6])
    phase = t[:, None] * w + np.arange(7)
    q = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.6, 0.5]) + 0.5 * np.sin(phase)
    return t, q, 0.5 * w * np.cos(phase), -0.5 * w**2 * np.sin(phase)


def measured(robot, frequency, rng, effort_noise=0.1, position_noise=1e-5, **options):
    """A recording t, q, tau of the motion, with noise; friction as the model has it."""
    t, q, qd, qdd = motion(frequency, **options)
    tau = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
    noise = rng.standard_normal((2, *q.shape))
    return t, q + position_noise * noise[0], tau + effort_noise * noise[1]


def test_a_body_s_efforts_are_linear_in_its_parameters(panda, carrying, rng):
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 20, 7))
    J = panda.jacobian(q, LINK)
    twist, gravity = (np.einsum(form, *pair) for form, pair in (
        ("kij,kj->ki", (J, qd)), ("kji,j->ki", (panda.forward_kinematics(q, LINK)[:, :3, :3], panda.gravity))))
    acceleration = np.einsum("kij,kj->ki", J, qdd) + np.einsum(
        "kij,kj->ki", panda.jacobian_derivative(q, qd, LINK), qd)
    load = np.einsum("kij,kip,p->kj", J, regressor(twist, acceleration, gravity), PHI)
    difference = carrying.inverse_dynamics(q, qd, qdd) - panda.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(load, difference, atol=1e-12)


def test_the_regressor_is_pinocchio_s(rng):
    pin = pytest.importorskip("pinocchio")
    twist, acceleration = rng.standard_normal((2, 6))
    gravity = rng.standard_normal(3)
    still = acceleration - np.r_[np.zeros(3), gravity]
    theirs = pin.bodyRegressor(pin.Motion(twist[3:], twist[:3]), pin.Motion(still[3:], still[:3]))
    np.testing.assert_allclose(regressor(twist, acceleration, gravity), theirs[[3, 4, 5, 0, 1, 2]], atol=1e-12)


def test_armature_is_none_of_the_payload(panda):
    """It is the robot's own inertia: what accelerates it is no load's effort. Smoothing leaves half a percent of it."""
    geared = panda.with_armature(dict.fromkeys(panda.joint_names, 0.1))
    carrying = geared.with_payload(LINK, MASS, COM, INERTIA)
    found = identify_payload(geared, LINK, *measured(carrying, FAST, np.random.default_rng(3)))
    assert np.abs(found.parameters - PHI).max() < 2e-3
    without = identify_payload(panda, LINK, *measured(carrying, FAST, np.random.default_rng(3)))
    assert np.abs(without.parameters - PHI).max() > 1e-2


def test_everything_is_found_from_a_lively_motion_within_its_uncertainty(panda, carrying):
    scores = []
    for seed in range(12):
        found = identify_payload(panda, LINK, *measured(carrying, FAST, np.random.default_rng(seed)))
        assert found.observable.all() and found.samples == 4999
        found.require_physical()
        scores.append((found.parameters - PHI) / found.standard_deviations)
        assert found.mass == pytest.approx(MASS, abs=3.0 * found.standard_deviations[0])
    assert np.abs(scores).max() < 4.5 and 0.7 < np.sqrt(np.mean(np.square(scores))) < 1.5
    np.testing.assert_allclose(found.com, COM, atol=5e-4)
    np.testing.assert_allclose(found.inertia, INERTIA, atol=3e-3)
    assert 0.01 < found.residual < 0.1, "the noise, smoothed"


def test_a_slow_motion_shows_mass_and_center_alone(panda, carrying, rng):
    found = identify_payload(panda, LINK, *measured(carrying, SLOW, rng))
    assert found.observable.tolist() == [True] * 4 + [False] * 6
    assert (np.abs(found.parameters - PHI)[:4] < 3.0 * found.standard_deviations[:4]).all()
    assert found.standard_deviations[0] < 2e-3 and np.isinf(found.standard_deviations[4:]).all()
    assert not found.inertia.any() and not found.parameters[4:].any()
    found.require_physical()


def test_noise_of_the_accelerations_does_not_make_inertias_look_smaller(panda, carrying, rng):
    found = identify_payload(panda, LINK, *measured(carrying, FAST, rng, position_noise=1e-3))
    assert found.observable.all()
    assert (np.abs(found.parameters - PHI) < 4.0 * found.standard_deviations).all()
    slow = identify_payload(panda, LINK, *measured(carrying, SLOW, rng, position_noise=1e-3))
    assert slow.observable.tolist() == [True] * 4 + [False] * 6, "noise is no excitation"


def test_one_joint_about_the_vertical_shows_neither_mass_nor_height(panda, carrying, rng):
    t, q, qd, qdd = motion(SLOW)
    for x, base in ((q, q[0].copy()), (qd, np.zeros(7)), (qdd, np.zeros(7))):
        x[:, 1:] = base[1:]
    tau = carrying.inverse_dynamics(q, qd, qdd) + 0.1 * rng.standard_normal(q.shape)
    found = identify_payload(panda, LINK, t, q, tau, friction="none")
    # Nothing turns against gravity: the wrists give three torques, for four unknowns.
    assert not found.observable[4:].any() and not found.observable[:4].all()
    with pytest.raises(ValueError, match="not observable: turn the link"):
        found.require_physical()


@pytest.mark.slow
def test_a_simulated_robot_under_a_controller(panda, carrying, rng):
    goal, stiffness, damping = motion(SLOW)[1][0], 60.0, 15.0

    def controller(robot, t, q, qd, tau):
        tau[:] = stiffness * (goal + 0.5 * np.sin(1.2 * t) - q) - damping * qd + robot.gravity_torque(q)

    t, q, qd = carrying.rollout(goal, np.zeros(7), controller, dt=1e-3, steps=12_000, every=4, integrator="rk4")
    tau = np.zeros_like(q)
    for k in range(len(t)):
        controller(carrying, t[k], q[k], qd[k], tau[k])
    noise = rng.standard_normal((2, *q.shape))
    found = identify_payload(panda, LINK, t, q + 1e-5 * noise[0], tau + 0.2 * noise[1], friction="none")
    assert found.mass == pytest.approx(MASS, abs=3.0 * found.standard_deviations[0])
    assert found.observable[:4].all() and found.standard_deviations[0] < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("friction", ["model", "estimate"])
def test_a_payload_of_a_robot_whose_base_moves(friction, rng):
    """The base tumbles and sways: its quaternion is measured with either sign, its efforts by a sensor below it."""
    floating = real_robot("panda_description/urdf/panda.urdf", tip_link=LINK, floating_base=True)
    carrying, (t, arm, arm_d, arm_dd) = floating.with_payload(LINK, MASS, COM, INERTIA), motion(FAST / 2.0)
    w = 2.0 * np.pi * FAST / 3.0 * np.array([0.7, 0.9, 1.1, 0.8, 1.0, 1.2, 0.6])
    phase, size = t[:, None] * w + np.arange(7), np.array([0.2, 0.2, 0.2, 0.3, 0.3, 0.3, 0.1])
    base = size * np.sin(phase) + np.array([0, 0, 1, 0, 0, 0, 1])
    curve = [np.hstack(parts) for parts in (
        (base, arm), (size * w * np.cos(phase), arm_d), (-size * w**2 * np.sin(phase), arm_dd))]
    tau = carrying.inverse_dynamics(curve[0], *velocities(carrying.model, *curve))
    q, noise = carrying.normalize(curve[0]) + 1e-5 * rng.standard_normal(curve[0].shape), rng.standard_normal(tau.shape)
    q[rng.random(len(q)) < 0.5, 3:7] *= -1.0
    found = identify_payload(floating, LINK, t, q, tau + 0.1 * noise, friction=friction)
    assert found.observable.all() and (np.abs(found.parameters - PHI) < 4.0 * found.standard_deviations).all()
    np.testing.assert_allclose(found.com, COM, atol=1e-3)
    assert 0.01 < found.residual < 0.1


def test_friction_is_taken_off_or_estimated_along(panda, rng):
    rough = sd.Robot(replace(panda.model, damping=np.full(7, 1.5), friction=np.full(7, 0.8)))
    carrying = rough.with_payload(LINK, MASS, COM, INERTIA)
    recording = measured(carrying, 0.1, rng, seconds=40.0)
    without = identify_payload(rough, LINK, *recording, friction="none")
    known, estimated = (identify_payload(rough, LINK, *recording, friction=kind) for kind in ("model", "estimate"))
    assert without.residual > 10.0 * known.residual
    for found in (known, estimated):
        assert (np.abs(found.parameters - PHI)[:4] < 3.0 * found.standard_deviations[:4]).all()
        assert found.standard_deviations[0] < 0.02


def test_joints_at_rest_with_friction_tell_nothing(panda):
    rough = sd.Robot(replace(panda.model, friction=np.full(7, 0.8)))
    t, q, *_ = motion(FAST, seconds=2.0)
    with pytest.raises(ValueError, match="at rest nearly all the time"):
        identify_payload(rough, LINK, t, np.broadcast_to(q[0], q.shape), np.zeros_like(q))


def test_gaps_and_missing_efforts_are_left_out(panda, carrying, rng):
    t, q, tau = measured(carrying, FAST, rng)
    tau[1000:1500, 2] = np.nan
    tau[:, 6] = np.nan
    t[3000:] += 5.0          # a gap, and then time runs backwards
    t[4000:] -= 100.0
    found = identify_payload(panda, LINK, t, q, tau)
    assert (np.abs(found.parameters - PHI) < 4.0 * found.standard_deviations).all() and 4900 < found.samples < 5000


def test_efforts_that_are_infinite_are_refused_by_name_and_those_missing_counted(panda, carrying, rng):
    t, q, tau = measured(carrying, SLOW, rng, seconds=2.0)
    tau[17, 2] = -np.inf
    with pytest.raises(ValueError, match="^tau is -inf at sample 17 of panda_joint3: must be finite, or NaN"):
        identify_payload(panda, LINK, t, q, tau)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="efforts are missing: 0 equations"):
        warnings.simplefilter("error")
        identify_payload(panda, LINK, t, q, np.full(q.shape, np.nan))


@pytest.mark.parametrize("change, says", [
    ({"t": np.arange(20) * 0.004}, "no piece without gaps"),
    ({"t": np.arange(20) * 0.1}, "at least 5"),
    ({"t": np.zeros(20)}, "no piece without gaps .* t must ascend, but is 0 at sample 0 and then 0$"),
    ({"link": "panda_link0"}, "no joint moves link 'panda_link0'"),
    ({"link": "nose"}, "'nose' does not exist"),
    ({"friction": "some"}, "must be one of model, estimate, none"),
])
def test_what_cannot_be_used_is_named(panda, change, says):
    arguments = {"link": LINK, "t": np.arange(2000) * 0.004, "friction": "model"} | change
    q = np.zeros((len(arguments["t"]), 7))
    with pytest.raises(ValueError, match=says):
        identify_payload(panda, q=q, tau=q, **arguments)


def test_forces_that_are_known_change_nothing(panda, carrying, rng):
    """A spring at a joint that the recording was made beside."""
    t, q, tau = measured(carrying, FAST, rng)
    free = identify_payload(panda, LINK, t, q, tau)
    pulled = np.zeros(7)
    pulled[3] = 20.0
    sprung = [sd.forces.Spring(panda.joint_names[3], 20.0, rest=-1.0)]
    found = identify_payload(panda, LINK, t, q, tau + pulled * (q + 1.0), forces=sprung)
    np.testing.assert_allclose(found.parameters, free.parameters, atol=1e-4)
    assert identify_payload(panda, LINK, t, q, tau + pulled * (q + 1.0)).residual > 100.0 * found.residual


def test_what_is_no_body_is_refused(panda, rng):
    light = panda.with_payload(LINK, 0.5)
    found = identify_payload(light, LINK, *measured(panda, SLOW, rng))
    with pytest.raises(ValueError, match=r"mass is -0\.\d+ kg, \+- .*must be > 0"):
        found.require_physical()
    whole = found._replace(mass=1.0, observable=np.ones(10, dtype=bool), inertia=np.diag([1.0, 1.0, 3.0]))
    with pytest.raises(ValueError, match="no rigid body can have the principal moments 1, 1, 3"):
        whole.require_physical()


def test_efforts_that_no_load_explains_are_refused_with_the_numbers(panda, carrying, rng):
    """Of joints in another order, and of another sign."""
    t, q, tau = measured(carrying, SLOW, rng)
    identify_payload(panda, LINK, t, q, tau).require_plausible()
    identify_payload(panda, LINK, *measured(panda, SLOW, rng)).require_plausible()      # no load
    with pytest.raises(ValueError, match=r"the residual is \d+\S* N m, must be at most 50% of the efforts"):
        identify_payload(panda, LINK, t, q, tau[:, ::-1]).require_plausible()
    with pytest.raises(ValueError, match=r"mass is -1\d\.\d* kg"):
        identify_payload(panda, LINK, t, q, -tau).require_plausible()


def test_a_mass_below_zero_is_refused_with_the_numbers(panda, rng):
    found = identify_payload(panda.with_payload(LINK, 1.8), LINK, *measured(panda, SLOW, rng))
    with pytest.raises(ValueError, match=r"mass is -1\.8\d* kg, \+- .*must be >= 0; the residual is"):
        found.require_plausible()
