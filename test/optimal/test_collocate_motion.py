"""The best motions on splines: closed forms, the minima of other methods, motions that the robot makes, refusals."""
import numpy as np
import pytest
from scipy.special import ellipk

import screw_dynamics as sd
from screw_dynamics.planning.optimal import (
    Acceleration,
    Configuration,
    Cost,
    CustomQuantity,
    Duration,
    Effort,
    Jerk,
    JointPosition,
    Limit,
    LinkPosition,
    LinkVelocity,
    Power,
    Velocity,
    collocate_motion,
    optimize_motion,
)
from screw_dynamics.planning.optimal.collocation.curvature import hessian
from screw_dynamics.planning.optimal.collocation.program import Ends, Program
from screw_dynamics.planning.optimal.collocation.spline import Spline
from screw_dynamics.planning.optimal.terms import bound
from support.pendulums import pendulum, reaching, rod
from support.sliders import slider


@pytest.fixture(name="pendulum", scope="module")
def _pendulum():
    return pendulum()


@pytest.fixture(scope="module")
def cart():
    """A pole that hangs on a cart, which alone has a motor."""
    builder = sd.ModelBuilder("rail")
    builder.add_joint("slide", "cart", "rail", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0),
                      inertia=sd.inertia_matrix(1.0, np.zeros(3), np.eye(3)),
                      limits=sd.Limits(lower=-2.0, upper=2.0, effort=20.0))
    builder.add_joint("pole", "rod", "cart", (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), inertia=rod(0.3, 0.5))
    return sd.Robot(builder.build())


# ------------------------------------------------------------------------------------------------- closed forms
D, T = 3.0, 2.0


@pytest.mark.slow
@pytest.mark.parametrize("terms, shape, cost", [
    ([Cost(Acceleration())], lambda s: 3.0 * s**2 - 2.0 * s**3, 0.5 * 12.0 * D**2 / T**3),
    ([Cost(Effort())], lambda s: 3.0 * s**2 - 2.0 * s**3, 4.0 * 0.5 * 12.0 * D**2 / T**3),
    ([Cost(Jerk()), Limit(Acceleration(), 0.0, 0.0, [0]), Limit(Acceleration(), 0.0, 0.0, "final")],
     lambda s: 10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5, 0.5 * 720.0 * D**2 / T**5)])
def test_a_mass_moves_on_the_polynomials_of_least_acceleration_effort_and_jerk(terms, shape, cost):
    """From rest to rest, and rest of accelerations: the polynomials of Euler's and Lagrange's equation."""
    found = collocate_motion(slider(), terms, 0.0, 0.0, D, 0.0, duration=T, intervals=4)
    assert found.converged and found.cost == pytest.approx(cost, rel=1e-7)
    assert np.abs(found.q[:, 0] - D * shape(found.t / T)).max() < 1e-8
    assert np.abs(found.tau - 2.0 * found.qdd).max() < 1e-12


@pytest.mark.slow
def test_it_does_not_matter_what_costs_are_measured_in(pendulum):
    """Weights of 1e-10 of others: it had converged at once, at a cost that was a third more."""
    costs = [collocate_motion(pendulum, Cost(Effort(), 0.02 * unit), 0.0, q1=[0.8, -0.5], duration=1.5, intervals=4
                              ).cost / unit for unit in (1.0, 1e-10)]
    assert costs[1] == pytest.approx(costs[0], rel=1e-5)


@pytest.mark.slow
def test_least_acceleration_below_a_largest_velocity():
    """Parabolas of the velocity up to V and down from it, of t1 = 3 (V T - D) / 2 V each: cubic splines have these."""
    V, t1 = 1.8, 0.5
    terms = [Cost(Acceleration()), Limit(Velocity(), -V, V, scale=4.0),
             Limit(Velocity(lambda t: 8.0 * t[:, None]), -17.0, 0.1)]               # does not bind
    arguments = dict(q0=0.0, qd0=0.0, q1=D, qd1=0.0, duration=T)
    found = collocate_motion(slider(), terms, intervals=8, degree=3, **arguments)
    assert found.converged and found.cost == pytest.approx(4.0 * V**2 / (3.0 * t1), rel=1e-7)
    assert found.stationarity < 1e-7 and list(found.binding) == ["Velocity slide"] and found.between < 1e-7
    assert (found.binding["Velocity slide"] == (abs(found.t - 1.0) < 0.5 + 1e-9)).all()
    again = collocate_motion(slider(), terms, intervals=8, degree=3, guess=found, **arguments)
    assert again.history[0] == pytest.approx(found.cost, rel=1e-6)
    smooth = collocate_motion(slider(), terms, intervals=5, **arguments)            # which has to overshoot a little
    fine = smooth.evaluate(np.linspace(0.0, T, 5001)).qd
    assert smooth.between == pytest.approx((fine.max() - V) / 4.0, rel=0.05) and smooth.between > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("shortest, guess, cost", [(1e-6, None, 1e14), (1e-3, [[0.0], [1e4], [-1e4], [1.0]], 1e8)])
def test_effort_against_time_from_a_hasty_guess_on(shortest, guess, cost):
    """24 / T^3 of the cubic, and T itself: the least is at T^4 = 72, with three quarters of the cost. The search begins
    at 32 microseconds, or far away, at a cost beside whose gradient any other is small: costs are scaled anew then."""
    found = collocate_motion(slider(), [Cost(Effort()), Cost(Duration())], 0.0, 0.0, 1.0, 0.0, guess=guess,
                             duration=(shortest, 1.0 / shortest), intervals=4)
    assert found.converged and found.history[0] > cost
    assert found.cost == pytest.approx(4.0 / 3.0 * 72.0**0.25, rel=1e-9) and found.stationarity < 1e-6


@pytest.mark.slow
def test_least_time_within_bounds_of_effort():
    """2 sqrt(m d / F), by full effort to and fro, which jumps at a knot; smooth splines take longer, and less so the
    finer they are."""
    most, exact = 3.0, 2.0 * np.sqrt(2.0 * 4.0 / 3.0)
    arguments = dict(q0=0.0, qd0=0.0, q1=4.0, qd1=0.0, duration=(0.5, 10.0))
    found = collocate_motion(slider(effort=most), [Cost(Duration())], degree=3, smoothness=1, **arguments)
    assert found.converged and found.duration == pytest.approx(exact, rel=1e-6) == found.cost
    assert np.abs(np.abs(found.tau) - most).max() < 1e-4 and found.binding["Effort slide"].all()
    smooth = [collocate_motion(slider(effort=most), [Cost(Duration())], intervals=k, **arguments).duration - exact
              for k in (5, 10, 20)]
    assert smooth[0] > 1.8 * smooth[1] > 1.8**2 * smooth[2] > 0.0


@pytest.mark.slow
def test_least_time_is_that_along_a_path():
    """Of a pendulum's shoulder alone, whose only path is its circle."""
    builder = sd.ModelBuilder("base")
    builder.add_joint("shoulder", "upper", "base", (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), np.eye(4), rod(1.0),
                      limits=sd.Limits(effort=6.0, velocity=4.0))
    one = sd.Robot(builder.build())
    path = sd.time_optimal(one, sd.paths.straight(one, [[0.0], [1.5]], 0.1), effort=6.0, velocity=4.0, points=2000)
    found = collocate_motion(one, [Cost(Duration())], 0.0, 0.0, 1.5, 0.0, duration=(0.1, 3.0), degree=3, smoothness=1,
                             intervals=60)
    assert found.converged and found.duration == pytest.approx(path.duration, rel=1e-3)


@pytest.mark.slow
def test_what_repeats_itself_without_effort_swings_as_a_pendulum_does():
    """With the period 4 K(sin^2(a / 2)) / w of the amplitude a, by Legendre's integral; and goes on so."""
    builder = sd.ModelBuilder("base")
    builder.add_joint("hinge", "rod", "base", (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), np.eye(4), rod(1.0))
    one, amplitude = sd.Robot(builder.build()), 1.2
    w = np.sqrt(9.81 * 0.25 / (0.01 + 0.25**2))
    period = 4.0 * ellipk(np.sin(amplitude / 2.0)**2) / w
    found = collocate_motion(one, [Cost(Effort())], amplitude, duration=(0.7 * period, 1.2 * period), periodic=True,
                             guess=amplitude * np.cos(np.linspace(0.0, 2.0 * np.pi, 40))[:, None], intervals=30)
    assert found.converged and found.cost < 1e-8 and found.duration == pytest.approx(period, rel=1e-5)
    for before, after in zip(found.evaluate(0.1), found.evaluate(0.1 + 3.0 * found.duration), strict=True):
        assert np.abs(before - after).max() < 1e-8
    ends = found.evaluate([0.0, found.duration])
    assert max(np.abs(x[0] - x[1]).max() for x in ends) < 1e-6


@pytest.mark.slow
def test_what_goes_on_takes_no_effort():
    found = collocate_motion(slider(), Cost(Effort()), 0.0, periodic=1.0, duration=2.0, intervals=4)
    t = np.array([[-1.0, 0.5], [5.0, 8.2]])
    assert found.converged and np.abs(found.evaluate(t).q[..., 0] - 0.5 * t).max() < 1e-7


# ------------------------------------------------------------------------------------------------- other methods
@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [1, 2, 4])
def test_derivatives_are_those_of_differences(pendulum, smoothness):
    """Of cost, constraints, and the gradient of the Lagrangian, with forces, a joint without motor and a free
    duration; and patterns are the same everywhere."""
    forces = [sd.forces.Spring({"shoulder": 1.0, "elbow": -1.0}, 3.0), sd.forces.Drag("lower", quadratic=0.4)]
    spline, driven = Spline(5, smoothness, 2), np.array([1])
    terms = [Cost(Effort(), 0.1), Cost(Velocity(), 0.2, "final"), Cost(LinkPosition("lower"), 1.0), Cost(Power(), 0.1),
             Cost(Acceleration(), 0.1), Cost(Duration()), Limit(Effort(), -1.0, 1.0), Limit(Velocity(), -1.0, 1.0),
             Limit(LinkVelocity("lower"), -1.0, 1.0, scale=2.0), Limit(JointPosition(["elbow"]), -1.0, 1.0),
             *[Cost(Jerk(), 0.01)][:smoothness > 1]]
    found = [(term, bound(term, pendulum, driven, len(spline.s) - 1, 1.0, smoothness)) for term in terms]
    ends = Ends(np.array([[0.0, np.nan], [1.0, 1.0]]), np.array([[0.1, np.nan], [1.0, 1.0]]), np.zeros(2), (0.5, 2.0))
    program = Program(pendulum, spline, found, ends, driven, pendulum._rollouts.smooth(forces, False))
    rng = np.random.default_rng(0)
    x, y, h = 0.5 * rng.normal(size=program.size), rng.normal(size=len(program.lower)), 1e-6
    x[-1] = 1.3

    def differences(f):
        return np.array([(f(x + e) - f(x - e)) / (2.0 * h) for e in h * np.eye(program.size)]).T
    for exact, by_differences in (
            (program.gradient(x), differences(program.cost)),
            (program.jacobian(x).toarray(), differences(program.constraints)),
            (hessian(program, x, y).toarray(),
             differences(lambda x: program.gradient(x) + program.jacobian(x).T @ y))):
        assert np.abs(exact - by_differences).max() < 2e-9 * np.abs(exact).max()
    one, other = program.jacobian(x), program.jacobian(0.0 * x + 1.0)
    assert (one.indices == other.indices).all() and (one.indptr == other.indptr).all()


@pytest.mark.slow
def test_the_minimum_is_that_of_dynamic_programming_with_short_steps(pendulum):
    """Whose sums over steps are off by their length squared, which two of them tell."""
    found = collocate_motion(pendulum, reaching(), 0.0, duration=0.9, intervals=30)
    coarse, fine = (optimize_motion(pendulum, reaching(), np.zeros(2), dt=0.9 / N, steps=N, integrator="rk4").cost
                    for N in (60, 120))
    assert found.converged and found.cost == pytest.approx((4.0 * fine - coarse) / 3.0, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [None, 1])
def test_ipopt_finds_the_same_motion(pendulum, cart, smoothness):
    pytest.importorskip("casadi", reason="CasADi is not installed: pip install screw_dynamics[casadi]")
    for robot, terms, arguments in (
            (cart, [Cost(Effort())], dict(q0=0.0, q1=[1.0, np.pi], duration=2.0, driven=["slide"])),
            (pendulum, [Cost(Effort(), 0.1), Cost(Duration())], dict(q0=0.0, q1=[0.9, 0.5], duration=(0.2, 3.0)))):
        one, other = (collocate_motion(robot, terms, degree=4, smoothness=smoothness, intervals=10, solver=solver,
                                       **arguments) for solver in ("interior_point", "ipopt"))
        assert one.converged and other.converged and one.cost == pytest.approx(other.cost, rel=1e-6)
        assert one.duration == pytest.approx(other.duration, rel=1e-5) and np.abs(one.q - other.q).max() < 1e-3


# ------------------------------------------------------------------------------------------------- motions
@pytest.mark.slow
def test_a_pole_swings_up_as_the_robot_does_under_these_efforts(cart):
    """Replayed by steps of rk4, it ends upright: the better the finer the spline, by its order; so does the effort
    that the hinge would take between nodes."""
    missed, residuals = [], []
    for intervals in (20, 40):
        found = collocate_motion(cart, [Cost(Effort())], 0.0, 0.0, [1.0, np.pi], 0.0, duration=2.0, driven=["slide"],
                                 intervals=intervals)
        tau = found.evaluate(1e-3 * (np.arange(2000) + 0.5)).tau
        _, q, _ = cart.rollout(np.zeros(2), np.zeros(2), tau, 1e-3, 2000, integrator="rk4", limits=False)
        assert found.converged and (found.tau[:, 1] == 0.0).all()
        missed.append(np.abs(q[-1] - [1.0, np.pi]).max())
        residuals.append(found.residual)
    assert missed[1] < missed[0] / 2.0**4 and residuals[1] < residuals[0] / 2.0**3 and missed[1] < 5e-3


@pytest.mark.slow
def test_orthogonal_collocation_has_no_effort_at_gauss_points(cart):
    found = collocate_motion(cart, [Cost(Effort())], 0.0, 0.0, [1.0, np.pi], 0.0, duration=2.0, driven=["slide"],
                             degree=4, smoothness=1)
    weights = found.program.spline.weights
    tau = cart.inverse_dynamics(found.q, found.qd, found.qdd)[:, 1]
    assert np.abs(tau[weights > 0.0]).max() < 1e-8 < 1e-3 < found.residual


@pytest.mark.slow
def test_power_is_what_energy_grows_by(pendulum):
    found = collocate_motion(pendulum, [Cost(Power()), Cost(Effort(), 1e-3)], 0.0, 0.0, [0.8, -0.3], [0.5, 0.0],
                             duration=1.0)
    work = found.duration * found.program.spline.weights @ (found.tau * found.qd).sum(axis=1)
    energy = pendulum.kinetic_energy(found.q, found.qd) + pendulum.potential_energy(found.q)
    assert np.abs(found.qd[[0, -1]] - [[0.0, 0.0], [0.5, 0.0]]).max() < 1e-8
    assert work == pytest.approx(energy[-1] - energy[0], rel=1e-5)


@pytest.mark.slow
def test_limits_of_paths_and_of_the_model_are_kept(pendulum):
    """A hand that must not sink below a height, and velocities that must not be exceeded."""
    tip = dict(point=(0.0, 0.0, -0.5))
    terms = [Cost(Acceleration(), 0.1), Limit(Velocity(), -2.5, 2.5),
             Limit(LinkPosition("lower", **tip), lower=[-np.inf, -np.inf, -0.9])]
    found = collocate_motion(pendulum, terms, [-1.0, 0.4], 0.0, [1.0, -0.4], 0.0, duration=1.6, effort_limits=False)
    height = pendulum.forward_kinematics(found.q, "lower", **tip)[:, 2, 3]
    assert found.converged and height.min() > -0.9 - 1e-7 and np.abs(found.qd).max() < 2.5 + 1e-7
    assert list(found.binding) == ["LinkPosition lower z"] and found.violation < 1e-7 and 0.0 < found.between < 0.05
    free = collocate_motion(pendulum, terms[:1], [-1.0, 0.4], 0.0, [1.0, -0.4], 0.0, duration=1.6, effort_limits=False)
    assert free.cost < found.cost and not free.binding
    assert pendulum.forward_kinematics(free.q, "lower", **tip)[:, 2, 3].min() < -0.91


@pytest.mark.slow
def test_ends_can_be_free_joint_by_joint(cart):
    found = collocate_motion(cart, [Cost(Effort())], 0.0, 0.0, [np.nan, np.pi], 0.0, duration=2.0, driven=["slide"])
    given = collocate_motion(cart, [Cost(Effort())], 0.0, 0.0, [found.q[-1, 0], np.pi], 0.0, duration=2.0,
                             driven=["slide"], guess=found)
    assert found.converged and given.cost == pytest.approx(found.cost, rel=1e-6)
    elsewhere = collocate_motion(cart, [Cost(Effort())], 0.0, 0.0, [found.q[-1, 0] + 0.2, np.pi], 0.0, duration=2.0,
                                 driven=["slide"], guess=found)
    assert elsewhere.cost > found.cost


@pytest.mark.slow
@pytest.mark.parametrize("free", [None, np.nan, [np.nan]])
def test_a_free_end_does_not_rest(free):
    """A mass that shall be quick at the end: a constant acceleration a of 1 s, with least (2 a)^2 + (a - 3)^2."""
    found = collocate_motion(slider(), [Cost(Effort()), Cost(Velocity(3.0), 1.0, "final")], 0.0, q1=free, duration=1.0,
                             intervals=2)
    assert found.qd[:, 0] == pytest.approx(0.6 * found.t, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("periodic", [True, np.True_])
def test_what_repeats_itself_comes_back(periodic):
    found = collocate_motion(slider(), Cost(Effort()), 0.5, periodic=periodic, duration=1.0, intervals=3)
    assert found.converged and np.abs(found.q - 0.5).max() < 1e-9


@pytest.mark.slow
def test_report_and_progress(cart, capsys):
    seen = []
    arguments = dict(q0=0.0, q1=[1.0, np.pi], duration=2.0, driven=["slide"], intervals=15)
    found = collocate_motion(cart, Cost(Effort()), effort_limits=(-12.0, 12.0),
                             progress=lambda *x: seen.append(x), **arguments)
    assert [number for number, _ in seen] == list(range(1, found.iterations + 1)) and seen[-1][1] == found.cost
    assert (found.binding["Effort slide"] == (np.abs(found.tau[:, 0]) > 12.0 - 1e-5)).all()
    text = found.report()
    for part in ("2 s on a spline of degree 5 and smoothness 4, 15 intervals, 40 unknowns: converged",
                 f"cost {found.cost:.6g}", "joints without motors would take", "binds: Effort slide, from t = "):
        assert part in text
    few = collocate_motion(cart, Cost(Effort()), iterations=2, progress=True, **arguments)
    assert found and not few and not few.converged and few.stopped == "all iterations are done"
    assert capsys.readouterr().err.startswith("iteration 1: cost ")


@pytest.mark.slow
def test_plot(cart):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = collocate_motion(cart, Cost(Effort()), 0.0, q1=[1.0, np.pi], duration=2.0, driven=["slide"], intervals=5)
    first, second, third, fourth = found.plot().axes
    assert np.abs(first.lines[1].get_ydata()[[0, -1]] - [0.0, np.pi]).max() < 1e-6 and len(second.lines) == 2
    assert not third.lines[1].get_ydata().any() and third.lines[0].get_drawstyle() == "default"
    assert fourth.get_ylabel() == "cost" and len(fourth.lines[0].get_ydata()) == found.iterations + 1


@pytest.mark.slow
def test_ctrl_c_ends_it(cart):
    def stop(number, cost):
        raise KeyboardInterrupt
    solvers = ["interior_point"]
    try:
        import casadi  # noqa: F401
        solvers.append("ipopt")
    except ImportError:
        pass
    for solver in solvers:
        with pytest.raises(KeyboardInterrupt):
            collocate_motion(cart, Cost(Effort()), 0.0, q1=[1.0, np.pi], duration=2.0, driven=["slide"], intervals=5,
                             solver=solver, progress=stop)


@pytest.mark.slow
def test_what_cannot_be_is_stuck_or_exhausted():
    found = collocate_motion(slider(effort=1.0), Cost(Effort()), 0.0, 0.0, 3.0, 0.0, duration=1.0, iterations=60)
    assert not found.converged and found.stopped != "converged" and found.violation > 1e-3


# ------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize("changed, says", [
    (dict(duration=-1.0), "duration -1.0 must be finite and > 0"),
    (dict(duration=(3.0, 2.0)), r"duration must be \(least, largest\), not 3 and 2"),
    (dict(degree=2), "degree"), (dict(smoothness=5), r"smoothness must be 1 ... 4 for degree 5, not 5"),
    (dict(intervals=0), "intervals"), (dict(solver="snopt"), "solver"), (dict(driven=["wheel"]), "wheel"),
    (dict(terms=[]), "terms must contain a Cost"), (dict(terms=[3.0]), "terms must contain a Cost"),
    (dict(terms=[Cost(Jerk())], smoothness=1), "Jerk is a derivative of order 3, which requires smoothness >= 2"),
    (dict(terms=[Cost(Velocity(lambda t: t[:, None]))], duration=(1.0, 2.0)),
     "Velocity.qd is a function of time, which a free duration does not allow"),
    (dict(q0=[0.0, 1.0, 2.0]), "q0"), (dict(qd1=np.inf), "q0, qd0, q1 and qd1 must be finite"),
    (dict(periodic=True), "periodic: the end follows"), (dict(guess=np.zeros((1, 1))), "guess must be configurations"),
    (dict(terms=[Cost(Effort()), Cost(Configuration(np.zeros((3, 101, 1))))]),
     r"Configuration.q has leading axes \(3,\), which do not broadcast to those of the problems, \(\)"),
    (dict(progress=3), "progress must be True, False or a function, not 3"),
    (dict(effort_limits=(1.0, -1.0)), "effort_limits of '.*' must have lower <= upper"),
    (dict(terms=[Limit(Effort(), 0.0, 1.0), Cost(Effort(), at=[999])]), "at must list nodes 0 ... 100")])
def test_refusals(changed, says):
    arguments = dict(terms=[Cost(Effort())], q0=0.0, q1=1.0, duration=1.0) | changed
    with pytest.raises(ValueError, match=says):
        collocate_motion(slider(), **arguments)


@pytest.mark.slow
def test_what_depends_on_the_time_is_refused_where_that_is_to_be_found():
    """Users' functions, of which the derivatives by the duration know nothing; of other states they may be."""
    def of_time(t, q, qd, p, tau):
        tau[0] = 3.0 * t * qd[0]

    def of_place(t, q, qd, p, tau):
        tau[0] = q[0] * qd[0]
    arguments = dict(q0=0.0, qd0=0.0, q1=1.0, qd1=0.0, intervals=2, iterations=1)
    height, late = (CustomQuantity(lambda t, q, qd, tau, k=k: (q + k * t[:, None], {"q": np.ones((*q.shape, 1))}),
                                   ["height"]) for k in (0.0, 0.1))
    for forces, more, said in (([sd.forces.Custom(of_time)], Duration(), "forces: one depends on time"),
                               (None, late, "CustomQuantity height depends on time, which a free dur")):
        terms = [Cost(Effort()), Cost(more)]
        with pytest.raises(ValueError, match=said):
            collocate_motion(slider(), terms, duration=(1.0, 2.0), forces=forces, **arguments)
        assert collocate_motion(slider(), terms, duration=1.5, forces=forces, **arguments).duration == 1.5
    found = collocate_motion(slider(), [Cost(Effort()), Cost(height)], duration=(1.0, 2.0),
                             forces=[sd.forces.Custom(of_place)], **arguments)
    assert 1.0 <= found.duration <= 2.0


@pytest.mark.slow
def test_other_robots_and_times_are_refused(pendulum):
    ball = sd.ModelBuilder("base")
    ball.add_group_joint("spherical", "socket", "ball", "base", None, rod(1.0))
    with pytest.raises(ValueError, match="joint 'socket' is"):
        collocate_motion(sd.Robot(ball.build()), Cost(Effort()), duration=1.0)
    with pytest.raises(ValueError, match="robot must be a Robot, not"):
        collocate_motion(sd.Scene(pendulum), Cost(Effort()), duration=1.0)
    with pytest.raises(ValueError, match="which only sd.collocate_motion supports"):
        optimize_motion(slider(), Cost(Acceleration()), [0.0], steps=2)
    rusty = sd.ModelBuilder("rail")
    rusty.add_joint("slide", "sled", "rail", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), inertia=rod(1.0), friction=0.4)
    with pytest.raises(ValueError, match="joint 'slide' has dry friction of 0.4"):
        collocate_motion(sd.Robot(rusty.build()), Cost(Effort()), duration=1.0, friction=True)
    found = collocate_motion(slider(), Cost(Effort()), 0.0, q1=1.0, duration=1.0, intervals=2)
    with pytest.raises(ValueError, match=r"guess must be configurations \(k, 2\), .* not of shape \(11, 1\)"):
        collocate_motion(pendulum, Cost(Effort()), 0.0, q1=1.0, duration=1.0, intervals=2, guess=found)
    with pytest.raises(ValueError, match=r"t must be 0 ... 1 s, not 0 ... 1.5"):
        found.evaluate([0.0, 1.5])
