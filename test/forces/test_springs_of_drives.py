"""Springs between motors and joints: textbook laws in NumPy, exact energies and derivatives, and motions under them."""
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.analysis.spring_laws import deflection, law
from screw_dynamics.forces import gear_loss, nonlinear_spring, variable_spring
from screw_dynamics.model.drive import Antagonistic, Electric, Hardening, LeverArm, Table

HARD, TABLE = Hardening((300.0, 2e4, 5e5)), Table((0.01, 0.03, 0.05), (2.0, 9.0, 20.0))


def torque(spring, x):
    """Of a spring by its definition."""
    if isinstance(spring, Hardening):
        return sum(k * x**(2 * i + 1) for i, k in enumerate(spring.coefficients))
    knots, torques = np.array([0.0, *spring.deflections]), np.array([0.0, *spring.torques])
    beyond = torques[-1] + (torques[-1] - torques[-2]) / (knots[-1] - knots[-2]) * (abs(x) - knots[-1])
    return np.sign(x) * (beyond if abs(x) > knots[-1] else np.interp(abs(x), knots, torques))


@pytest.mark.parametrize("spring", [HARD, TABLE])
@pytest.mark.parametrize("play", [0.0, 0.01])
def test_a_spring_gives_the_torque_of_its_law_and_stores_the_work(spring, play, rng):
    D, rest = 0.7, 0.02
    p = np.array(nonlinear_spring.numbers_of(spring, D, rest, play))
    for x in (*rng.uniform(-0.08, 0.12, 20), rest, rest + 0.49 * play, rest - 0.49 * play):
        away = np.sign(x - rest) * max(abs(x - rest) - 0.5 * play, 0.0)
        touches = abs(x - rest) >= 0.5 * play
        found = nonlinear_spring.impedance(p, 0, 0.0, x, 1.3)
        assert found.effort == pytest.approx(-torque(spring, away) - D * 1.3 * touches, rel=1e-12, abs=1e-13)
        assert found.damping == D * touches
        kinks = sorted(abs(away) * u for u in (0.1, 0.2, 0.6)) if isinstance(spring, Hardening) else [
            y for y in spring.deflections if y < abs(away)]
        work = quad(lambda y: torque(spring, y), 0.0, abs(away), points=kinks or None, epsabs=0.0, epsrel=1e-12)[0]
        assert nonlinear_spring.energy(p, 0, x) == pytest.approx(work, rel=1e-10, abs=1e-14)
        if touches and away:
            h = 1e-6
            slope = (torque(spring, away + h) - torque(spring, away - h)) / (2.0 * h)
            if min((abs(abs(away) - y) for y in getattr(spring, "deflections", [1.0])), default=1.0) > h:
                assert found.stiffness == pytest.approx(slope, rel=1e-6)


def test_a_lever_changes_the_stiffness_and_feels_it(rng):
    p = np.array([40.0, 5.0, 300.0, 0.4])
    for x, v, y in rng.normal(size=(10, 3)):
        K = 40.0 + 5.0 * y + 300.0 * y * y
        found = variable_spring.pair(p, 0, 0.0, x, v, y, 0.7)
        assert found.of_x == pytest.approx(-K * x - 0.4 * v, rel=1e-13)
        assert variable_spring.energy(p, 0, x, y) == pytest.approx(0.5 * K * x * x, rel=1e-13)
        by_y = (variable_spring.energy(p, 0, x, y + 1e-20j)).imag / 1e-20
        assert found.of_y == pytest.approx(-by_y, rel=1e-12) and found.lost == pytest.approx(0.4 * v * v)


def test_a_gear_loses_a_share_of_the_torque_against_the_motors_turning():
    p = np.array([*nonlinear_spring.numbers_of(HARD, 0.0, 0.0, 0.0), 0.15])
    for x, w in ((0.04, 2.0), (-0.04, 2.0), (0.04, -2.0)):
        found = gear_loss.pair(p, 0, 0.0, x, 0.0, 0.0, w)
        assert found.of_y == pytest.approx(-0.15 * torque(HARD, 0.04) * np.sign(w), rel=1e-13) and found.of_x == 0.0
        assert found.lost == pytest.approx(-found.of_y * w)


@pytest.mark.parametrize("ahead, passes", [(0.004, 0.0), (-0.009, 0.0), (0.03, 40.0), (-0.02, -20.0)])
def test_a_gear_with_backlash_loses_a_share_of_what_passes_beyond_it(ahead, passes):
    """2000 N m/rad beyond 0.01 rad on either side, and a fifth of that more for the motor, which turns forwards."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("lift", "arm", "base", (0, 1, 0), mass=2.0, com=(0.3, 0.0, 0.0), inertia=0.05 * np.eye(3))
    drive = sd.Drive(1e-4, 80.0, 2000.0, backlash=0.02, gear_loss=0.2)
    found = sd.Robot(builder.build()).with_drives({"lift": drive}).drive_torque([0.1, 0.1 + ahead], [0.0, 1.0])
    assert found == pytest.approx([passes, -passes - 0.2 * abs(passes)], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("drive, setting", [
    (sd.Drive(1.0, stiffness=50.0), 0.0), (sd.Drive(1.0, stiffness=HARD), 0.0), (sd.Drive(1.0, stiffness=TABLE), 0.0),
    (sd.Drive(1.0, stiffness=Antagonistic(HARD)), 0.05), (sd.Drive(1.0, stiffness=Antagonistic(TABLE)), 0.04),
    (sd.Drive(1.0, stiffness=LeverArm((10.0, 0.0, 700.0), 1.0, 0.0, 0.1)), 0.05)])
def test_deflections_have_the_torques_that_they_are_found_for(drive, setting, rng):
    """And slopes are those of the torque, by differences."""
    of = law(drive, np.asarray(setting))
    wanted = np.r_[rng.normal(size=30) * 40.0, 0.0, 1e5, -1e-12]
    x = deflection(of, wanted)
    assert abs(of(x)[0] - wanted).max() <= 1e-13 * 1e5 and abs(of(x)[0] - wanted)[:30].max() <= 1e-12
    h = 1e-7
    assert np.allclose((of(x + h)[0] - of(x - h)[0]) / (2.0 * h), of(x)[1], rtol=0.1 if drive.stiffness in (
        TABLE, Antagonistic(TABLE)) else 1e-5)


def pendulum(drive, friction=0.0):
    """A rod on a drive, against gravity."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("hip", "rod", "base", (0.0, 1.0, 0.0), mass=2.0, com=(0.3, 0.0, 0.0),
                      inertia=np.diag([0.0, 0.06, 0.06]))
    return sd.Robot(builder.build()).with_drives({"hip": drive})


M, WEIGHT = 2.0 * 0.3**2 + 0.06, 2.0 * 0.3 * 9.81       # the rod's inertia about its joint, and m g l


def integrated(drive, spring, end, start=(0.0, 0.0, 0.0, 0.0), tau=0.0):
    """The pendulum's q and theta by SciPy, from the equations of Spong (1987)."""
    def rates(t, x):
        q, theta, qd, thetad = x
        f = spring(theta - q) + drive.damping * (thetad - qd)
        return [qd, thetad, (f + WEIGHT * np.cos(q)) / M, (tau - f) / drive.inertia]
    return solve_ivp(rates, (0.0, end), start, "DOP853", rtol=1e-11, atol=1e-13, max_step=1e-3).y[:, -1]


@pytest.mark.slow
@pytest.mark.parametrize("spring, integrator, steps, bound", [
    (400.0, "rk4", 2000, 1e-9), (HARD, "rk4", 2000, 1e-9), (HARD, "semi_implicit_euler", 20_000, 1e-3),
    (HARD, "rk45", 200, 1e-6), (HARD, "variational", 4000, 1e-4), (HARD, "implicit_midpoint", 4000, 1e-4),
    (HARD, "sdirk2", 4000, 1e-4)])
def test_a_pendulum_on_a_spring_moves_as_its_equations_say(spring, integrator, steps, bound):
    drive = sd.Drive(1e-4, 50.0, spring, 0.2)
    robot, end = pendulum(drive), 0.2
    of = (lambda x: 400.0 * x) if spring == 400.0 else lambda x: torque(HARD, x)
    expected = integrated(drive, of, end, tau=-3.0)
    _, q, qd = robot.rollout(np.zeros(2), np.zeros(2), np.array([0.0, -3.0]), end / steps, steps, integrator)
    assert abs(np.r_[q[-1], qd[-1]] - expected).max() < bound * abs(expected).max()


ALL = {"linear": sd.Drive(1e-4, 50.0, 400.0, 0.2), "hardening": sd.Drive(1e-4, 50.0, HARD),
       "backlash": sd.Drive(1e-4, 50.0, HARD, backlash=0.01),
       "antagonistic": sd.Drive(1e-4, 50.0, Antagonistic(HARD), 0.1),
       "lever": sd.Drive(1e-4, 50.0, LeverArm((300.0, 0.0, 4e4), 0.5, -0.1, 0.2), 0.2),
       "loss": sd.Drive(1e-4, 50.0, HARD, gear_loss=0.2),
       "electric": sd.Drive(1e-4, 50.0, HARD, electric=Electric(0.4, 1e-3, 0.05)),
       "rigid electric": sd.Drive(1e-4, 50.0, electric=Electric(0.4, 1e-3, 0.05))}


@pytest.mark.slow
@pytest.mark.parametrize("drive", ALL.values(), ids=ALL)
def test_energies_of_drives_close_in_motions_on_lanes_and_of_one_state(drive, rng):
    robot = pendulum(drive)
    q0, tau = 0.02 * rng.normal(size=(3, robot.nq)), rng.normal(size=robot.n)
    t, q, qd = robot.rollout(q0, np.zeros((3, robot.n)), tau, 5e-5, 4000)
    for i in range(3):
        one = robot.rollout(q0[i], np.zeros(robot.n), tau, 5e-5, 4000)
        assert abs(one[1] - q[i]).max() < 1e-9
    fine = robot.energy_balance(t, q, qd, tau)
    t, q, qd = robot.rollout(q0, np.zeros((3, robot.n)), tau, 1e-4, 2000)
    coarse = robot.energy_balance(t, q, qd, tau)
    scale = abs(coarse.kinetic).max()
    assert abs(fine.residual).max() < 0.02 * scale
    assert abs(fine.residual[:, -1]).max() < 0.7 * abs(coarse.residual[:, -1]).max()     # of order 1


@pytest.mark.slow
@pytest.mark.parametrize("drive", [ALL[name] for name in ("hardening", "antagonistic", "lever", "electric")])
def test_derivatives_of_motions_are_those_of_the_springs(drive, rng):
    robot = pendulum(drive)
    q, qd, tau = 0.02 * rng.normal(size=robot.nq), rng.normal(size=robot.n), rng.normal(size=robot.n)
    found, h = robot.linearize(q, qd, tau), 1e-6

    def accelerations(x):
        return robot.forward_dynamics(x[:robot.n], x[robot.n:], tau + robot.drive_torque(x[:robot.n], x[robot.n:]))
    x = np.r_[q, qd]
    columns = [(accelerations(x + h * e) - accelerations(x - h * e)) / (2.0 * h) for e in np.eye(len(x))]
    assert abs(found.A[robot.n:] - np.stack(columns, axis=-1)).max() < 1e-7 * abs(found.A).max()
    assert abs(found.qdd - accelerations(x)).max() <= 1e-12 * abs(found.qdd).max()


@pytest.mark.slow
def test_a_stiffer_spring_is_nearer_to_the_rigid_robot_as_one_over_its_stiffness():
    """From the equilibrium, released by the motor's torque: the oscillation of the spring has that amplitude, too."""
    rigid, errors = pendulum(sd.Drive(1e-4, 50.0)), []
    _, expected, _ = rigid.rollout(np.zeros(1), np.zeros(1), np.array([-2.0]), 1e-5, 30_000, "rk4", every=30_000)
    for K in (1e4, 4e4, 16e4):
        robot = pendulum(sd.Drive(1e-4, 50.0, K, 2e-3 * K))
        x = (0.25 * -2.0 - 0.24 * WEIGHT) / (0.24 + 0.25) / K                # of the spring that moves both alike
        theta = np.array([0.0, x])
        _, q, _ = robot.rollout(theta, np.zeros(2), np.array([0.0, -2.0]), 1e-5, 30_000, "rk4", every=30_000)
        errors.append(abs(q[-1, 0] - expected[-1, 0]))
    assert 3.5 < errors[0] / errors[1] < 4.5 and 3.5 < errors[1] / errors[2] < 4.5


@pytest.mark.parametrize("element, message", [
    (forces.NonlinearSpring("hip", 3.0), "spring of .* must be Hardening or Table"),
    (forces.NonlinearSpring("hip", HARD, play=-1.0), "play of .* is -1.0, must be a finite number >= 0"),
    (forces.NonlinearSpring((("hip", 1.0), ("hip", -1.0)), HARD), "names a joint twice"),
    (forces.GearLoss("hip", "hip", HARD, 0.1), "GearLoss.* names a joint twice"),
    (forces.GearLoss("hip", "hip_motor", HARD, 1.0), "loss of .* must be < 1"),
    (forces.VariableSpring("hip", "hip_motor", "hip", (1.0, 0.0, 0.0)), "joint, motor and lever of .* must be three"),
    (forces.VariableSpring("hip", "hip_motor", "knee", (1.0, 0.0, 0.0)), "joint 'knee' does not exist")])
def test_springs_that_cannot_be_are_refused(element, message):
    with pytest.raises(ValueError, match=message):
        pendulum(ALL["linear"]).total_force([element])


@pytest.mark.slow
@pytest.mark.parametrize("spring", [HARD, TABLE])
def test_a_spring_at_rest_has_its_first_slope(spring):
    robot = pendulum(sd.Drive(1e-4, 50.0, spring))
    slope = robot.total_force(()).derivatives(np.zeros(2), np.zeros(2)).by_q[0]
    K = (torque(spring, 1e-9) / 1e-9) * np.array([[-1.0, 1.0], [1.0, -1.0]])
    assert abs(slope - K).max() < 1e-6


@pytest.mark.slow
def test_an_electric_motor_has_the_torque_of_its_speed_and_the_lag_of_its_winding():
    """A wheel without weight on a geared motor, at a voltage and under a load: its final speed is V / k less load R /
    k^2, and what it does before is SciPy's."""
    R, L, k, ratio, J, B, V, load = 0.4, 2e-3, 0.05, 20.0, 0.03, 1e-4, 24.0, -1.5
    builder = sd.ModelBuilder("base")
    builder.add_screw("hub", "wheel", "base", (0.0, 0.0, 1.0), mass=1.0, inertia=np.diag([1.0, 1.0, J]))
    robot = sd.Robot(builder.build()).with_drives({"hub": sd.Drive(B, ratio, electric=Electric(R, L, k, 48.0))})
    assert robot.joint_names == ("hub", "hub_current") and robot.model.effort_limit[1] == 48.0

    def rates(t, x):
        speed, current = x
        return [(ratio * k * current + load) / (J + ratio**2 * B), (V - R * current - k * ratio * speed) / L]
    expected = solve_ivp(rates, (0.0, 0.05), (0.0, 0.0), "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    _, _, qd = robot.rollout(np.zeros(2), np.zeros(2), np.array([load, V]), 1e-5, 5000, "rk4")
    assert abs(qd[-1] - expected).max() < 1e-9 * abs(expected).max()
    _, _, qd = robot.rollout(np.zeros(2), qd[-1], np.array([load, V]), 1e-4, 40_000, "rk4")
    assert ratio * qd[-1, 0] == pytest.approx(V / k + load / ratio * R / k**2, rel=1e-9)
    assert qd[-1, 1] == pytest.approx(-load / (ratio * k), rel=1e-9)


def test_what_a_winding_takes_is_heat():
    robot = pendulum(ALL["rigid electric"])
    account = robot.total_force(()).account(np.zeros(2), np.array([0.7, 3.0]))
    assert account.lost == pytest.approx(0.4 * 3.0**2) and account.stored == 0.0 and abs(account.given) < 1e-13


@pytest.mark.slow
def test_springs_act_in_scenes_and_in_derivatives_of_rollouts():
    """In a scene without contacts as alone; derivatives by differences."""
    robot, start, tau = pendulum(ALL["hardening"]), np.array([0.1, 0.12, 0.0, 0.0]), np.array([0.0, -3.0])

    def end(x, **options):
        _, q, qd = robot.rollout(x[:2], x[2:], tau, 1e-3, 50, **options)
        return np.r_[q[-1], qd[-1]]
    scene = sd.Scene(robot, shapes={}).rollout(start[:2], start[2:], tau, dt=1e-3, steps=50)
    assert abs(np.r_[scene.q[-1], scene.qd[-1]] - end(start)).max() < 1e-12
    h = 1e-6
    for integrator in ("semi_implicit_euler", "rk4"):
        columns = [(end(start + h * e, integrator=integrator) - end(start - h * e, integrator=integrator)) / (2.0 * h)
                   for e in np.eye(4)]
        found = robot.rollout_derivatives(start[:2], start[2:], tau, 1e-3, 50, integrator).final().by_state
        assert abs(found - np.stack(columns, axis=-1)).max() < 1e-6 * abs(found).max()
