"""Identification of a robot from recordings of another one: exact without noise, within its intervals with noise, and
of possible bodies in any case."""
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import screw_dynamics as sd
from screw_dynamics.analysis.estimation.friction import smooth_friction
from screw_dynamics.analysis.identification import physical, posterior
from screw_dynamics.analysis.identification.base_fit import base_fit, of_equations
from screw_dynamics.analysis.identification.equations import equations
from screw_dynamics.analysis.identification.unknowns import unknowns
from support.episodes import excitation as motion
from support.paths import URDF
from support.real_robots import real_robot

TIP = "wrist_3_link"


@pytest.fixture(scope="module")
def drawn():
    return real_robot("ur_description/urdf/ur5_robot.urdf", tip_link=TIP)


@pytest.fixture(scope="module")
def built(drawn):
    """The robot with other links and joints that rub."""
    rng = np.random.default_rng(3)
    theta = physical.log_cholesky(physical.nearest_physical(drawn.inertial_parameters.reshape(-1, 10)))
    change = rng.uniform(-0.3, 0.3, theta.shape)
    change[:, 4:] *= np.exp(theta[:, 1:4].mean(axis=1, keepdims=True))
    model = drawn.model.with_inertial_parameters(physical.of_log_cholesky(theta + change).ravel())
    return sd.Robot(replace(model, damping=rng.uniform(0.2, 1.0, drawn.n), friction=rng.uniform(0.1, 0.5, drawn.n)))


def record(robot, rng=None, **options):
    """Times, positions and efforts of the motion; with noise if there is a generator."""
    t, q, qd, qdd = motion(robot.n, **options)
    tau = robot.inverse_dynamics(q, qd, qdd) + smooth_friction(robot, qd)
    noise = rng.standard_normal((2, *q.shape)) if rng else np.zeros((2, *q.shape))
    return t, q + 1e-5 * noise[0], tau + 0.1 * noise[1]


def truth(found, robot):
    """The base parameters of a robot."""
    return found.base.of(np.append(robot.inertial_parameters, robot.friction_parameters)[found.estimated])


def links(robot):
    return robot.inertial_parameters.reshape(-1, 10)


@pytest.mark.slow
def test_without_noise_it_is_exact(drawn, built):
    t, q, qd, qdd = motion(drawn.n, rate=25.0)
    tau = built.inverse_dynamics(q, qd, qdd) + built.friction_torque(qd)
    found = sd.identify(drawn, t, q, tau, qd, qdd)
    np.testing.assert_allclose(found.base_parameters, truth(found, built), atol=1e-7)
    np.testing.assert_allclose(found.robot.model.friction, built.model.friction, atol=1e-7)
    assert physical.is_physical(links(found.robot)).all() and found.notes == ()
    assert (found.residual() < 1e-7).all() and (found.residual(found.prior_parameters) > 0.1).all()


@pytest.mark.slow
@pytest.mark.parametrize("every", [2, 100])
def test_the_fit_ends_in_few_steps_where_joints_do_not_rub(every, monkeypatch):
    """Of a heavier Panda, whose friction is at its bound."""
    monkeypatch.setattr(posterior, "STEPS", 10)
    arm = real_robot("panda_description/urdf/panda.urdf")
    rubs = np.arange(arm.n) % every == 1
    loaded = arm.with_payload("panda_hand", 0.5, (0.0, 0.0, 0.1)).model
    built = sd.Robot(replace(loaded, damping=0.5 * rubs, friction=0.3 * rubs))
    t, q, qd, qdd = motion(arm.n, rate=25.0)
    found = sd.identify(arm, t, q, built.inverse_dynamics(q, qd, qdd) + built.friction_torque(qd), qd, qdd)
    np.testing.assert_allclose(found.base_parameters, truth(found, built), atol=1e-7)
    assert (found.residual() < 1e-7).all() and (found.robot.model.friction >= 0.0).all() and found.notes == ()
    monkeypatch.setattr(posterior, "STEPS", 2)
    early = sd.identify(arm, t, q, built.inverse_dynamics(q, qd, qdd) + built.friction_torque(qd), qd, qdd)
    assert early.notes == ("the fit of the links did not converge in 2 steps: the best of them is given",)
    assert early.residual().sum() < 0.5 * early.residual(early.prior_parameters).sum()


@pytest.mark.slow
@pytest.mark.parametrize("given", [True, False])
def test_forces_that_are_known_change_nothing(drawn, built, given):
    """A spring at a joint, and a force on the tip that turns with it, by the formulas of both."""
    t, q, qd, qdd = motion(drawn.n, rate=100.0)
    tau = built.inverse_dynamics(q, qd, qdd) + built.friction_torque(qd)
    pulled = np.einsum("kji,j->ki", drawn.jacobian(q, TIP)[:, 3:], (4.0, -2.0, 3.0))
    pulled[:, 1] -= 9.0 * (q[:, 1] - 0.2)
    acting = [sd.forces.Spring(drawn.joint_names[1], 9.0, rest=0.2),
              sd.forces.LinkWrench(TIP, (0.0, 0.0, 0.0, 4.0, -2.0, 3.0))]
    derivatives = (qd, qdd) if given else (None, None)
    free = sd.identify(drawn, t, q, tau, *derivatives)
    found = sd.identify(drawn, t, q, tau - pulled, *derivatives, forces=acting)
    np.testing.assert_allclose(found.base_parameters, free.base_parameters, atol=1e-7)
    np.testing.assert_allclose(found.residual(), free.residual(), atol=1e-7)
    unaware = sd.identify(drawn, t, q, tau - pulled, *derivatives)
    assert unaware.residual().max() > 0.5 and abs(unaware.base_parameters - free.base_parameters).max() > 0.1


@pytest.mark.slow
def test_of_a_noisy_recording_intervals_hold_the_truth(drawn, built):
    outside, total = 0, 0
    for seed in range(4):
        found = sd.identify(drawn, *record(built, np.random.default_rng(seed)))
        error = found.base_parameters - truth(found, built)
        assert (np.abs(error) < 5.0 * found.base_deviations).all()
        outside, total = outside + np.sum(np.abs(error) > 1.96 * found.base_deviations), total + len(error)
        assert physical.is_physical(links(found.robot)).all()
        np.testing.assert_allclose(found.intervals.mean(axis=1), found.base_parameters)
    assert outside < 0.12 * total                                           # 0.05, and its scatter
    t, q, qd, qdd = motion(drawn.n, rate=25.0, seed=9)                      # another motion than that of the recording

    def wrong(robot):
        return np.sqrt(np.mean((robot.inverse_dynamics(q, qd, qdd) - built.inverse_dynamics(q, qd, qdd)) ** 2))
    assert wrong(found.robot) < 0.01 * wrong(drawn)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_are_those_of_a_normal_distribution(drawn, built, rng, level):
    """SciPy's, that hold a share of `level` of it."""
    found = sd.identify(drawn, *record(built, rng, seconds=5.0), level=level)
    expected = scipy.stats.norm.interval(level, found.base_parameters, found.base_deviations)
    shown = np.isfinite(found.base_deviations)
    assert shown.any()
    np.testing.assert_allclose(found.intervals[shown], np.stack(expected, axis=1)[shown], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 10])
def test_errors_are_as_large_as_is_said_also_where_noise_lasts(drawn, built, samples):
    """Noise that stays the same for some samples, as ripple does: squares of standardized errors are 1 in the mean."""
    squares = []
    for seed in range(2):
        t, q, qd, qdd = motion(drawn.n, rate=50.0)
        noise = np.random.default_rng(seed).standard_normal((len(t) // samples, drawn.n)).repeat(samples, axis=0)
        tau = built.inverse_dynamics(q, qd, qdd) + built.friction_torque(qd) + 0.1 * noise
        found = sd.identify(drawn, t, q, tau, qd, qdd)
        squares.append(((found.base_parameters - truth(found, built)) / found.base_deviations) ** 2)
    assert 0.3 < np.mean(squares) < 3.0


@pytest.mark.slow
def test_no_joint_counts_while_one_that_rubs_turns_back(drawn):
    """Then the accelerations of all jump. In the middle of the recording the elbow turns back, and no other joint."""
    t = np.arange(400) / 200.0
    q = np.outer(t, np.linspace(0.5, 1.0, drawn.n))
    q[:, 2] = -np.cos(2.0 * (t - 1.0))
    found = {}
    for friction in ("estimate", "none"):
        rows = sd.identify(drawn, t, q, drawn.gravity_torque(q), friction=friction, window=0.2).equations
        found[friction] = {float(time): valid for time, valid in zip(rows.t, rows.valid, strict=True)}
    inside = [valid for time, valid in found["estimate"].items() if abs(time - 1.0) < 0.09]
    outside = [valid for time, valid in found["estimate"].items() if abs(time - 1.0) > 0.12]
    assert inside and not np.any(inside) and outside and np.all(outside)
    assert np.all(list(found["none"].values()))


@pytest.mark.slow
def test_what_a_motion_does_not_show_stays_as_it_was(drawn, built, rng):
    found = sd.identify(drawn, *record(built, rng, joints=[0, 1]))
    hidden = np.isinf(found.base_deviations)
    assert 0 < hidden.sum() < len(hidden) and physical.is_physical(links(found.robot)).all()
    error = np.abs(found.base_parameters - truth(found, built))
    assert (error[~hidden] < 5.0 * found.base_deviations[~hidden]).all()
    names = dict(zip(found.base.combinations, hidden, strict=True))
    assert names["wrist_3_joint.damping"] and not names["shoulder_pan_joint.damping"]
    assert found.robot.model.damping[5] == pytest.approx(drawn.model.damping[5], abs=1e-5)
    assert "not shown by this motion" in str(found)


@pytest.mark.slow
def test_some_links_alone(drawn, rng):
    carrying = drawn.with_payload(TIP, 1.0, (0.02, 0.0, 0.05), 2e-3 * np.eye(3))
    t, q, tau = record(carrying, rng)
    found = sd.identify(drawn, t, q, tau, links=TIP, friction="model")
    assert np.array_equal(links(found.robot)[:-1], links(drawn)[:-1])
    heavier = links(carrying)[-1] - links(found.robot)[-1]
    assert np.abs(heavier[0]) < 5.0 * found.standard_deviations[found.estimated][0] < 0.1
    assert found.estimated.sum() == 10 and not found.robot.model.friction.any()


@pytest.mark.slow
def test_armature_and_efforts_that_are_missing(drawn, built, rng):
    t, q, qd, qdd = motion(drawn.n, rate=25.0)
    tau = built.inverse_dynamics(q, qd, qdd) + built.friction_torque(qd) + 0.2 * qdd
    tau[::7, 2] = np.nan
    found = sd.identify(drawn, t, q, tau, qd, qdd, armature=True)
    np.testing.assert_allclose(found.base.columns(found.equations.Y[..., found.estimated]) @ found.base_parameters,
                               found.equations.b, atol=1e-6)
    armature = found.parameters[-3 * drawn.n:].reshape(-1, 3)[:, 2]
    np.testing.assert_allclose(armature[2:], 0.2, atol=1e-5)            # of the first two that of links looks the same
    assert np.array_equal(found.robot.armature, armature)
    assert not found.equations.valid[::7, 2].any()


@pytest.mark.slow
def test_noise_that_a_window_does_not_take_off_is_noted(drawn, built, rng):
    t, q, tau = record(built, rng)
    found = sd.identify(drawn, t, q + 3e-4 * rng.standard_normal(q.shape), tau)
    assert len(found.notes) == drawn.n
    assert all(name in note and "% of its accelerations" in note for name, note in
               zip(drawn.joint_names, found.notes, strict=True))


@pytest.mark.slow
def test_positions_that_are_held_between_samples_are_left_out_with_a_note(drawn, built):
    """Positions of 125 Hz in a recording of efforts at 250 Hz: held they lag by 4 ms in every other row."""
    t, q, tau = record(built, seconds=8.0)
    found = sd.identify(drawn, t, q[np.arange(len(t)) // 2 * 2], tau)
    exact = truth(found, built)
    assert np.abs(found.base_parameters - exact).max() < 1e-3 * np.abs(exact).max()
    assert found.notes == tuple(f"joint {name}: 50% of its positions repeat the one before, held between those of a "
                                "slower source, and are left out" for name in drawn.joint_names)


@pytest.mark.slow
def test_a_mimic_joint(rng):
    """One finger of the hand mimics the other; friction as the recording has none."""
    drawn = real_robot("panda_description/urdf/panda.urdf")
    t, q, qd, qdd = motion(drawn.n, rate=10.0)
    heavier = drawn.with_payload("panda_leftfinger", 0.1).with_payload("panda_hand", 0.5, (0.0, 0.02, 0.05))
    found = sd.identify(drawn, t, q, heavier.inverse_dynamics(q, qd, qdd), qd, qdd, friction="none")
    np.testing.assert_allclose(found.base_parameters, truth(found, heavier), atol=1e-6)
    assert np.array_equal(found.robot.model.damping, drawn.model.damping)


@pytest.mark.slow
def test_a_model_that_no_body_could_be_is_replaced_and_named(drawn, built, rng):
    p = links(drawn).copy()
    p[2, 4:] = 0.0                                                          # a mass without inertia
    odd = drawn.with_inertial_parameters(p.ravel())
    found = sd.identify(odd, *record(built, rng))
    assert found.notes == ("link forearm_link: no rigid body can have the model's parameters; began with the nearest "
                           "that one can have",)
    assert physical.is_physical(links(found.robot)).all() and found.notes[0] in str(found)


@pytest.mark.slow
def test_wrong_arguments_are_named(drawn, built):
    t, q, tau = record(built, seconds=4.0)
    for change, says in (
            ({"friction": "some"}, "friction 'some' must be one of model, estimate, none"),
            ({"links": ["hand"]}, "links: link 'hand' must be one of"),
    ({"links": []}, "links: no link to estimate moves"),
            ({"links": ["base_link"]}, "links: link 'base_link' must be one of"),
            ({"qdd": q}, "qdd is given, but not qd: give both, qd alone, or neither"),
            ({"window": 3.0}, "no piece without gaps"), ({"window": 1e308}, "no piece without gaps"),
            ({"window": 0.01}, "must have at least 7"), ({"window": -1.0}, "window -1.0 must be finite and > 0"),
            ({"level": 95}, "level 95 must be between 0 and 1")):
        with pytest.raises(ValueError, match=says):
            sd.identify(drawn, **{"t": t, "q": q, "tau": tau} | change)
    gap = q.copy()
    gap[17, 2] = np.nan
    for arrays, says in (
            ((t, gap, tau), r"^q is \[.*nan.*\] at sample 17: must be finite, and at most 1e\+12 in magnitude$"),
            ((t, q, tau, np.where(np.isnan(gap), 1e20, gap)), r"^qd is \[.*1e\+20.*\] at sample 17: must be finite"),
            ((1e9 * 1.7e9 + t, q, tau), "^t is 1.7e\\+18 at sample 0"),
            ((t, q, tau[:-1]), r"^tau has shape \(999, 6\), but must have \(1000, 6\): a row for each time of t$")):
        with pytest.raises(ValueError, match=says):
            sd.identify(drawn, *arrays)
    for qd in None, np.zeros_like(q):
        with pytest.raises(ValueError, match="t must ascend, but is 3.996 at sample 0 and then 3.992$"):
            sd.identify(drawn, t[::-1], q, tau, qd)
    with pytest.raises(ValueError, match="equations for .* base parameters: the recording is too short"):
        sd.identify(drawn, t[:60], q[:60], tau[:60])
    with pytest.raises(ValueError, match="^tau has shape .* but must end in 6$"):
        sd.identify(drawn, t, q, tau[:, :3])


@pytest.mark.slow
def test_a_robot_at_rest_shows_its_weight_alone():
    arm, q, t = sd.Robot.from_urdf(URDF / "spherical_arm.urdf"), np.array([0.1, 0.2, 0.1]), 0.005 * np.arange(4001)
    tau = arm.with_payload("gripper", 0.5).gravity_torque(q)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sd.identify(arm, t, *np.stack([q, tau, 0.0 * q])[:, None].repeat(len(t), axis=1), friction="none")
    assert abs(found.robot.gravity_torque(q) - tau).max() < 1e-6
    assert np.isinf(found.base_deviations).sum() > len(found.base_deviations) // 2


@pytest.mark.slow
def test_the_report_shows_what_was_found(drawn, built, rng, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra [plot]").use("Agg")
    found = sd.identify(drawn, *record(built, rng))
    text = str(found)
    assert text.startswith("5000 samples, ") and "95 % interval" in text
    for name in (*drawn.joint_names, *drawn.model.body_names):
        assert f"\n{name}" in text
    shown = re.search(rf"\n{drawn.model.body_names[1]} .*?\[([^]]*)\] +\[([^]]*)\]", text)
    for robot, numbers in zip((drawn, found.robot), shown.groups(), strict=True):         # mass centers, m
        M = robot.model.inertias[1]
        np.testing.assert_allclose(np.array(numbers.split(), dtype=float), M[[2, 0, 1], [4, 5, 3]] / M[5, 5], atol=5e-5)
    figure = found.plot()
    joint = figure.subfigs[0].axes[0]
    assert joint.get_title(loc="left") == drawn.joint_names[0]
    lines = {line.get_label(): line.get_ydata() for line in joint.lines}
    shown = found.equations.valid[:, 0]
    np.testing.assert_allclose(lines["measured"][shown], found.equations.b[shown, 0])
    np.testing.assert_allclose(lines["model now"][shown], (found.equations.Y[:, 0] @ found.parameters)[shown])
    found.plot(tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 50_000


@pytest.mark.slow       # compiles kernels for batches of Lie-group joints
def test_a_floating_base(rng):
    """Nothing touches it, and its base shows what its joints do not."""
    drawn = real_robot("bolt_description/robots/bolt.urdf", floating_base=True)
    theta = physical.log_cholesky(links(drawn)[drawn.model.is_link])
    p = np.zeros_like(links(drawn))
    p[drawn.model.is_link] = physical.of_log_cholesky(theta + rng.uniform(-0.2, 0.2, theta.shape) * 0.1)
    built = drawn.with_inertial_parameters(p.ravel())
    q, (qd, qdd) = drawn.random_configuration(80, rng), rng.standard_normal((2, 80, drawn.n))
    tau = built.inverse_dynamics(q, qd, qdd)
    found = sd.identify(drawn, np.arange(80.0), q, tau, qd, qdd, friction="none")
    np.testing.assert_allclose(found.base_parameters, truth(found, built), atol=1e-6)
    assert physical.is_physical(links(found.robot)[drawn.model.is_link]).all()
    assert found.robot.total_mass == pytest.approx(built.total_mass, abs=1e-6)
    rubs = sd.identify(drawn, np.arange(80.0), q, tau, qd, qdd, friction="stribeck")
    assert not rubs.falling_deviations[:6].any() and rubs.falling_deviations[6:].all()
    np.testing.assert_allclose(rubs.falling[:, 0], 0.0, atol=1e-6)
    np.testing.assert_allclose(rubs.efforts(q[0], qd[0], qdd[0]), tau[0], atol=1e-3)


def floating_motion(robot, seconds=20.0, rate=250.0):
    """Times, states and accelerations of a robot that floats without gravity, whose legs swing: its base moves as
    nothing pushes it, by fourth-order steps."""
    t, n = np.arange(round(seconds * rate)) / rate, robot.n - 6
    w, (a, b) = 2.0 * np.pi * 0.25 * np.arange(1, 6), np.random.default_rng(0).normal(size=(2, 5, n)) * 0.15

    def state(at, base, twist):
        s, c = np.sin(w * at), np.cos(w * at)
        q, qd = np.r_[base, s @ a + c @ b], np.r_[twist, (c * w) @ a - (s * w) @ b]
        qdd = np.r_[np.zeros(6), -(s * w**2) @ a - (c * w**2) @ b]
        qdd[:6] = -np.linalg.solve(robot.mass_matrix(q)[:6, :6], robot.inverse_dynamics(q, qd, qdd)[:6])
        return q, qd, qdd

    def moved(base, twist, dt):
        return robot.integrate(np.r_[base, np.zeros(n)], dt * np.r_[twist, np.zeros(n)])[:7]
    base, twist, states, h = robot.neutral()[:7], np.zeros(6), [], 1.0 / rate / 4
    for at in t:
        states.append(state(at, base, twist))
        for k in range(4):
            middle = twist + 0.5 * h * state(at + k * h, base, twist)[2][:6]
            rate_ = state(at + (k + 0.5) * h, moved(base, twist, 0.5 * h), middle)[2][:6]
            base, twist = moved(base, middle, h), twist + h * rate_
    return t, *map(np.array, zip(*states, strict=True))


@pytest.fixture(scope="module")
def floating():
    """A robot as it is drawn and as it is built, and the motion of the latter, in which nothing touches its base."""
    drawn = real_robot("anymal_b_simple_description/robots/anymal.urdf", floating_base=True).with_gravity(np.zeros(3))
    built = drawn.with_payload("base", 2.0, (0.1, 0.0, 0.05), 0.02 * np.eye(3)).with_payload("LF_SHANK", 0.2)
    t, q, qd, qdd = floating_motion(built)
    tau = built.inverse_dynamics(q, qd, qdd)
    tau[:, :6] = 0.0
    return drawn, built, t, q, tau


def errors_of_fits(drawn, built, t, q, tau, noise, drawings, rng):
    """The errors of drawings of noise of positions and efforts, in standard deviations of them; NaN of what is not
    observable."""
    what, errors = unknowns(drawn, "none"), []
    expected = what.base.of(np.append(built.inertial_parameters, built.friction_parameters)[what.estimated])
    for _ in range(drawings):
        seen = q + noise * rng.standard_normal(q.shape) * np.r_[np.ones(3), np.full(4, 0.5), np.ones(drawn.n - 6)]
        given = {"t": t, "q": seen, "tau": tau + 0.05 * rng.standard_normal(tau.shape) * (np.arange(drawn.n) >= 6)}
        fit = base_fit(of_equations(equations(drawn, given, what.rubs)[0], what, len(t)), what)
        errors.append(np.where(np.isfinite(fit.deviations), (fit.x - expected) / fit.deviations, np.nan))
    return np.array(errors)


@pytest.mark.slow       # compiles kernels for batches of Lie-group joints
@pytest.mark.parametrize("noise", [1e-5, 3e-5])
def test_intervals_of_a_floating_base_hold_the_truth(floating, rng, noise):
    """Noise of positions, which is nearly all of what its base's equations have, and 20 drawings of it."""
    errors = errors_of_fits(*floating, noise, 20, rng)
    assert np.mean(np.abs(errors) < 1.96) == pytest.approx(0.95, abs=0.025)


@pytest.mark.slow       # compiles kernels for batches of Lie-group joints
def test_intervals_of_a_light_floating_base_hold_the_truth(rng):
    """Noise hides most of its directions: the bias that it leaves in the others is in their intervals."""
    drawn = real_robot("bolt_description/robots/bolt.urdf", floating_base=True).with_gravity(np.zeros(3))
    built = drawn.with_payload("base_link", 0.3, (0.02, 0.0, 0.02), 0.002 * np.eye(3))
    t, q, qd, qdd = floating_motion(built)
    errors = errors_of_fits(drawn, built, t, q, built.inverse_dynamics(q, qd, qdd), 3e-5, 10, rng)
    inside = np.abs(errors[~np.isnan(errors)]) < 1.96
    assert len(inside) > 80 and np.mean(inside) > 0.93


@pytest.mark.slow
@pytest.mark.parametrize("armature", [0.0, 4.0])
def test_noise_of_positions_does_not_make_inertias_look_smaller(rng, armature):
    """A wheel, and a rotor that is known: the least squares of NumPy are less by the share of noise in the
    accelerations, the result is not."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("spin", "wheel", "base", (0, 0, 1), mass=1.0, inertia=np.diag([0.6, 0.6, 1.0]), armature=armature)
    robot = sd.Robot(builder.build())
    t = np.arange(20000) / 250.0
    q, qdd = np.sin(3.0 * t)[:, None], -9.0 * np.sin(3.0 * t)[:, None]
    seen = q + 1.5e-3 * rng.standard_normal(q.shape)
    found = sd.identify(robot, t, seen, (2.0 + armature) * qdd + 0.01 * rng.standard_normal(q.shape), friction="none")
    rows, (k,) = found.equations, found.base.independent
    column = rows.Y[:, 0, found.estimated][:, k]
    plain = np.linalg.lstsq(column[:, None], rows.b[:, 0], rcond=None)[0][0]
    variance = np.mean((column - np.interp(rows.t, t, qdd[:, 0])) ** 2)
    assert 0.1 < variance / np.mean(column**2) < 0.3
    assert plain == pytest.approx((2.0 + armature) * (1.0 - variance / np.mean(column**2)), rel=0.02)
    assert found.base_parameters[0] == pytest.approx(2.0, abs=4.0 * found.base_deviations[0])
    assert found.base_deviations[0] < 0.025 * (2.0 + armature)


LAWS = {"Stribeck": lambda qd, tau: np.sign(qd) * (3.0 + 3.0 / (1.0 + (qd / 0.05) ** 2)),
        "by load": lambda qd, tau: 0.1 * np.sign(qd) * np.abs(tau), "quadratic": lambda qd, tau: 3.0 * qd * np.abs(qd),
        "saturating": lambda qd, tau: 5.0 * np.tanh(qd / 0.3), "one way": lambda qd, tau: np.where(qd > 0.0, 3.0, -1.0)}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_friction_that_the_model_does_not_have_is_noted_and_intervals_hold_the_truth(drawn, rng, law):
    """Those of the links, which friction of any law leaves as they are."""
    heavier = drawn.with_payload(TIP, 3.5, (0.0, 0.0, 0.1))
    t, q, qd, qdd = motion(drawn.n)
    tau = heavier.inverse_dynamics(q, qd, qdd)
    tau += LAWS[law](qd, tau) + 0.1 * rng.standard_normal(q.shape)
    found = sd.identify(drawn, t, q, tau, qd, qdd)
    of_links = np.array([not re.search("damping|friction", name) for name in found.base.combinations])
    error = (found.base_parameters - truth(found, heavier))[of_links] / found.base_deviations[of_links]
    assert np.abs(error).max() < 4.0 and np.mean(np.abs(error) > 1.96) < 0.12
    assert any("friction of another law than the model's" in note for note in found.notes)
    assert found.notes[0] in str(found)


@pytest.mark.slow
def test_efforts_that_are_infinite_are_refused_by_name(drawn, built):
    t, q, tau = record(built, seconds=4.0)
    tau[17, 2] = np.inf
    with pytest.raises(ValueError, match="^tau is inf at sample 17 of elbow_joint: must be finite, or NaN"):
        sd.identify(drawn, t, q, tau)
