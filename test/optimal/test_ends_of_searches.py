"""What a search says at its end is so: what is no minimum has not converged, and what is found is the caller's."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.constraints.box_lcp import FREE
from screw_dynamics.planning.optimal import (
    Configuration,
    Cost,
    CustomQuantity,
    Effort,
    JointPosition,
    Limit,
    LinkPosition,
    Solver,
    Velocity,
    ddp,
    optimize_motion,
)
from screw_dynamics.rollout.recursions.matrix_products import padded
from screw_dynamics.rollout.recursions.riccati_memory import Motions
from support.paths import ROOT
from support.pendulums import pendulum, rod
from support.sliders import MASS, slider

pytestmark = pytest.mark.slow


def plotter():
    """Two masses on rails at a right angle, with motors of their own."""
    builder, inertia = sd.ModelBuilder("rail"), sd.inertia_matrix(MASS, np.zeros(3), np.eye(3))
    builder.add_joint("x", "bridge", "rail", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), inertia=inertia)
    builder.add_joint("y", "pen", "bridge", (0.0, 0.0, 0.0, 0.0, 1.0, 0.0), inertia=inertia)
    return sd.Robot(builder.build())


# ------------------------------------------------------------------------------------------------- what is no minimum
def test_a_search_by_wrong_derivatives_has_not_converged():
    """Where no change makes it better, smaller and smaller ones are tried, which are small wherever the motion is."""
    def beside(t, q, qd, tau):
        return q - 1.0, {"q": np.full((*q.shape, 1), -1.0)}
    found = optimize_motion(slider(), [Cost(CustomQuantity(beside, ["x"]), 40.0, "final"), Cost(Effort(), 0.02)], [0.3],
                            dt=0.05, steps=10)
    assert not found.converged and "no change" in found.stopped and found.cost > 1.0


def test_a_search_ends_where_it_does_whatever_costs_are_measured_in():
    """Weights of 1e-14 of others: it ended at a first motion, of ten times the least cost."""
    terms = [Cost(Configuration([1.2, -0.7]), 40.0, "final"), Cost(Velocity(), 4.0, "final"), Cost(Effort(), 0.02)]
    costs = [optimize_motion(pendulum(), [Cost(term.quantity, unit * term.weight, term.at) for term in terms],
                             [0.0, 0.0], dt=0.05, steps=15).cost / unit for unit in (1.0, 1e-14)]
    assert costs[1] == pytest.approx(costs[0], rel=1e-4)


def test_a_derivative_that_is_not_finite_ends_the_search():
    def beside(t, q, qd, tau):
        return q - 1.0, {"q": np.full((*q.shape, 1), np.nan)}
    with pytest.raises(ValueError, match="beside: the derivative by 'q' is not finite"):
        optimize_motion(slider(), [Cost(CustomQuantity(beside, ["x"]), 40.0, "final"), Cost(Effort(), 0.02)], [0.3],
                        dt=0.05, steps=10)


def test_a_stop_that_ends_the_way_is_no_minimum_to_first_order():
    """Behind a stop no effort changes anything, before it each does: the cost has a kink."""
    robot = slider(lower=-1.0, upper=1.0)
    found = optimize_motion(robot, [Cost(Configuration([3.0]), 40.0, "final"), Cost(Effort(), 0.02)], [0.9], dt=0.05,
                            steps=8, limits=False, stops=True)
    assert found.q[-1, 0] == 1.0 and (not found.converged or found.stationarity < 1e-6)


@pytest.mark.parametrize("away", [2.0, 3.9, 3.999, 4.0, 6.0, 20.0])
def test_a_rod_that_cannot_reach_points_at_its_goal(away):
    """The cost curves `away` times as much as squares of what is left tell, as a rod's tip moves on its circle: at 4
    half of each change leads as far to the other side. An angle d off costs 20 away^2 0.25 d^2 by these squares, which
    is tolerance times 20 0.25 (away - 1)^2 at most."""
    builder = sd.ModelBuilder("base")
    builder.add_joint("hinge", "rod", "base", (0.0, 0.0, 1.0, 0.0, 0.0, 0.0), np.eye(4), rod(1.0))
    goal = away * 0.5 * np.array([np.cos(0.7), np.sin(0.7), 0.0])
    found = optimize_motion(sd.Robot(builder.build()), [Cost(LinkPosition("rod", goal, (0.5, 0.0, 0.0)), 40.0, "final"),
                                                        Cost(Effort(), 1e-7)], [0.0], dt=0.05, steps=10,
                            tolerance=1e-11)
    assert found.converged and found.iterations < 60
    assert found.q[-1, 0] == pytest.approx(0.7, abs=np.sqrt(1e-11))
    assert found.cost == pytest.approx(20.0 * 0.25 * (away - 1.0)**2, rel=1e-6)


def test_no_iteration_makes_the_cost_more(monkeypatch):
    """With what limits add for the multipliers that they have, on whichever sides they bind: one of these motions comes
    to where sides do not settle, and the model expects an increase."""
    robot, rises = sd.Robot.from_urdf(str(ROOT / "urdf" / "spherical_arm.urdf")), []
    goal = robot.forward_kinematics(0.4 * np.ones(robot.n), "gripper")[:3, 3]

    def watched(dynamics, objective, bounds, at, which, iterate=ddp.iterate):
        before = at.value.copy()
        outcome = iterate(dynamics, objective, bounds, at, which)
        rises.append((at.value / before).max() - 1.0)
        return outcome
    monkeypatch.setattr(ddp, "iterate", watched)
    found = optimize_motion(robot, [Cost(LinkPosition("gripper", goal), 100.0, "final"), Cost(Effort(), 1e-4)],
                            np.linspace(-0.2, 0.2, 4)[:, None] * np.ones(robot.n), dt=0.02, steps=50)
    assert found.converged.all() and found.iterations.max() < 30 and max(rises) < 1e-12


def test_what_rounding_hides_is_no_reason_to_go_on():
    """A tolerance that no cost of doubles can tell."""
    found = optimize_motion(slider(), [Cost(Configuration([1.0]), 40.0, "final"), Cost(Effort(), 0.02)], [0.3], dt=0.05,
                            steps=10, tolerance=1e-30)
    assert found.converged and found.iterations < 10 and found.stationarity < 1e-12


def test_multipliers_of_limits_that_do_not_bind_are_none():
    """They push away from a limit that is far: the motion is a minimum of another cost."""
    def solver():
        return Solver(slider(), [Cost(Configuration([0.3]), 1e5), Cost(Effort(), 1e-3), Limit(Velocity(), -10.0, 10.0)],
                      [0.0], dt=0.05, steps=10)
    pushed, alone = solver(), solver().solve()
    pushed.objective.y[-1][...] = 1e3
    assert not pushed.motion().binding
    found = pushed.solve()
    assert found.converged and found.cost == pytest.approx(alone.cost, rel=1e-7)
    assert np.abs(pushed.objective.y[-1]).max() < 1e-3 and not found.binding


def test_a_limit_that_binds_has_the_multiplier_of_its_price():
    """How much the cost falls as the limit is moved: dJ/db = -y, by the envelope theorem."""
    def of(fastest):
        solver = Solver(slider(), [Cost(Configuration([2.0]), 10.0, "final"), Cost(Effort(), 1e-2),
                                 Limit(Velocity(), upper=fastest, scale=0.5)], [0.0], dt=0.05, steps=12,
                        tolerance=1e-12, limit_tolerance=1e-10)
        return float(solver.solve().cost), solver
    h = 1e-4
    price, (_, solver) = (of(1.0 + h)[0] - of(1.0 - h)[0]) / (2.0 * h), of(1.0)
    assert price == pytest.approx(-solver.objective.y[-1].sum() / 0.5, rel=1e-6) and price < -1.0


# ------------------------------------------------------------------------------------------------- quantities
def test_the_order_of_joints_does_not_matter():
    costs = [float(optimize_motion(plotter(), [Cost(JointPosition(names), weight, "final"), Cost(Effort(), 0.02),
                                               Limit(JointPosition(names), -np.array(most), most)], [0.8, -0.5],
                                   dt=0.05, steps=10).cost)
             for names, weight, most in ((["x", "y"], [40.0, 1.0], [1.0, 2.0]), (["y", "x"], [1.0, 40.0], [2.0, 1.0]))]
    assert costs[1] == pytest.approx(costs[0], rel=1e-10) and costs[0] < 2.0


@pytest.mark.parametrize("bounds", [True, ([-1.0, -2.0], [1.0, 2.0])])
def test_the_order_of_motors_does_not_matter(bounds):
    """Costs of efforts have that of `driven`, efforts of motions and bounds that of joints, of all joints too."""
    given = dict(dt=0.05, steps=20, effort_limits=bounds)
    found = [optimize_motion(plotter(), [Cost(Configuration([0.0, 0.0]), [3.0, 1.0]), Cost(Effort(), weights)],
                             [1.0, -2.0], [0.3, 0.4], driven=motors, **given)
             for motors, weights in ((["x", "y"], [0.7, 0.1]), (["y", "x"], [0.1, 0.7]))]
    assert found[0].converged and found[1].converged and np.abs(found[0].tau).max() > 0.5
    assert np.abs(found[1].tau - found[0].tau).max() < 1e-9 and np.abs(found[1].gains - found[0].gains).max() < 1e-9
    again = optimize_motion(plotter(), [Cost(Configuration([0.0, 0.0]), [3.0, 1.0]), Cost(Effort(), [0.1, 0.7])],
                            [1.0, -2.0], [0.3, 0.4], driven=["y", "x"], guess=found[0], **given)
    assert again.iterations == 1 and again.gap < 1e-12


def test_an_effort_costs_its_deviation_from_a_target_of_each_node():
    """Without anything else it is the target; running costs are integrals over the time."""
    wanted = np.sin(np.arange(12.0))[:, None]
    found = optimize_motion(slider(), [Cost(Effort(wanted), 3.0), Cost(Velocity(), 0.0)], [0.0], dt=0.05, steps=12)
    assert np.abs(found.tau - wanted).max() < 1e-9
    held = optimize_motion(slider(), [Cost(Effort(wanted), 3.0)], [0.0], dt=0.05, steps=12, effort_limits=(0.0, 0.0))
    assert held.cost == pytest.approx(0.5 * 3.0 * 0.05 * (wanted**2).sum(), rel=1e-12)


def test_costs_and_limits_are_at_the_nodes_that_are_listed():
    """Through two places at two times, in between and after them as it costs least."""
    places = {4: 0.5, 9: -0.2}
    found = optimize_motion(slider(), [Cost(Effort(), 1.0), *[Limit(Configuration([x]), 0.0, 0.0, [k])
                                                            for k, x in places.items()]], [0.0], dt=0.1, steps=12,
                            limit_tolerance=1e-9)
    assert found.converged and all(abs(found.q[k, 0] - x) < 1e-8 for k, x in places.items())
    assert np.abs(found.tau[9:]).max() < 1e-8 and set(found.binding) == {"Configuration slide"}
    assert np.flatnonzero(found.binding["Configuration slide"]).tolist() == [4, 9]
    # Between places a cubic spline (in differences): the fourth differences of q are 0.
    assert np.abs(np.diff(found.tau[:4, 0], 2)).max() < 1e-7


# ------------------------------------------------------------------------------------------------- starts
def test_a_guess_of_none_holds_the_robot_against_its_springs():
    spring = [sd.forces.Spring("slide", 30.0)]
    solver = Solver(slider(), [Cost(Effort())], [0.3], dt=0.05, steps=10, forces=spring)
    assert np.abs(solver.at.motion.q - 0.3).max() < 1e-12 and solver.at.motion.u == pytest.approx(9.0)


def test_motors_behind_springs_have_the_efforts():
    """The effort of the joint is one from outside."""
    robot = slider(effort=20.0).with_drives({"slide": sd.Drive(0.1, stiffness=100.0, damping=1.0)})
    found = optimize_motion(robot, [Cost(JointPosition(["slide"]), 10.0), Cost(Effort(), 0.01)], [0.3, 0.3], dt=0.05,
                            steps=12)
    assert robot.joint_names == ("slide", "slide_motor")
    assert (found.tau[:, 0] == 0.0).all() and np.abs(found.tau[:, 1]).max() > 0.1 and found.converged


def test_windings_have_voltages_and_joints_before_them_nothing():
    robot = slider().with_drives({"slide": sd.Drive(1e-4, 20.0, stiffness=500.0, electric=sd.drive.Electric(
        0.4, 2e-3, 0.05, voltage=48.0))})
    solver = Solver(robot, [Cost(Effort())], np.zeros(robot.nq), dt=0.001, steps=2)
    assert [robot.joint_names[k] for k in solver.dynamics.driven] == ["slide_current"]


def test_guesses_on_groups_are_normalized_and_bounds_have_all_their_names():
    builder, inertia = sd.ModelBuilder("world"), sd.inertia_matrix(1.3, (0.1, 0.05, 0.0), np.diag([0.02, 0.03, 0.04]))
    builder.add_group_joint("spherical", "ball", "link", "world", inertia=inertia)
    robot = sd.Robot(builder.build()).with_gravity((0.0, 0.0, 0.0))
    q1 = robot.integrate(robot.neutral(), [0.6, 0.3, -0.5])
    terms = [Cost(Configuration(q1), 40.0, "final"), Cost(Effort(), 0.02)]
    line = robot.integrate(np.repeat(robot.neutral()[None], 9, 0), np.linspace(0.0, 1.0, 9)[:, None] * [0.6, 0.3, -0.5])
    found = [optimize_motion(robot, terms, robot.neutral(), dt=0.05, steps=8, effort_limits=(-0.2, 0.2),
                             guess=(size * line, np.zeros((9, 3)), np.zeros((8, 3)))) for size in (1.0, 2.0)]
    assert np.abs(np.linalg.norm(found[1].q, axis=-1) - 1.0).max() < 1e-12
    assert found[1].cost == pytest.approx(found[0].cost, rel=1e-9)
    held = np.abs(found[0].tau) >= 0.2
    assert held.any(axis=0).sum() > 1               # several of its velocities, each with its name
    assert {name: where[:-1].tolist() for name, where in found[0].binding.items()} == {
        f"Effort ball_{axis}": held[:, k].tolist() for k, axis in enumerate(("rx", "ry", "rz")) if held[:, k].any()}


# ------------------------------------------------------------------------------------------------- steps
def test_predictive_control_learns_its_limits():
    """A sled as fast as it may go: without multipliers it was 7 % faster."""
    robot = slider(velocity=1.0, effort=50.0)
    solver = Solver(robot, [Cost(Configuration([3.0]), 10.0), Cost(Effort(), 1e-3)], [0.0], dt=0.05, steps=15)
    solver.solve()
    q, qd, fastest = np.zeros(1), np.zeros(1), []
    for k in range(40):
        found = solver.step(q, qd, moved=min(k, 1))
        q, qd = robot.step(q, qd, found.tau[0], 0.05, limits=False)
        fastest.append(float(qd[0]))
    assert max(fastest) < 1.01 and fastest[20] > 0.99 and found.iterations == 1 and len(found.history) == 2


def test_a_measured_state_from_which_nothing_is_finite_is_refused_and_the_next_one_is_not():
    solver = Solver(slider(), [Cost(Configuration([0.8]), 40.0, "final"), Cost(Effort(), 0.02)], [0.0], dt=0.05,
                    steps=8)
    before = solver.solve()
    for state in ([0.0], [1e200]), ([1e308], [1e308]):
        with np.errstate(over="ignore"), pytest.raises(ValueError, match="finite"):
            solver.step(*state)
    with pytest.raises(ValueError, match=r"q must be finite, but q\[0\] is nan"):
        solver.step([np.nan], [0.0])
    with pytest.raises(ValueError, match=r"q has shape \(2, 1\), but must have \(1,\)"):
        solver.step(np.zeros((2, 1)), [0.0])
    assert solver.step([0.0], [0.0]).cost == pytest.approx(before.cost, rel=1e-6)


def test_a_step_that_is_refused_moves_nothing_on():
    """Neither the motion nor the time, to which targets are."""
    solver = Solver(slider(velocity=1.0), [Cost(Configuration(lambda t: 3.0 * t[:, None]), 40.0), Cost(Effort(), 0.02)],
                    [0.0], dt=0.05, steps=8)
    before, multipliers = solver.solve(), solver.objective.y[-1].copy()
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="finite"):
        solver.step([0.0], [1e200], moved=3)
    after = solver.motion()
    assert after.t[0] == 0.0 and after.cost == before.cost and (after.tau == before.tau).all()
    assert np.ptp(multipliers) > 0.0 and (solver.objective.y[-1] == multipliers).all()
    assert solver.step([0.0], [0.0], moved=3).t[0] == pytest.approx(0.15)


@pytest.mark.parametrize("moved", [1, 2, 8])
def test_the_last_effort_lasts_where_a_motion_is_moved_on(moved, monkeypatch):
    """All efforts of the steps that follow, however far it is moved; here there is no feedback."""
    solver = Solver(slider(), [Cost(Effort(np.r_[3.0, 2.0, np.ones(5), 0.5][:, None]), 1.0)], [0.0], dt=0.05, steps=8)
    before = solver.solve()
    nothing = ddp.Outcome(np.zeros(1), np.zeros(1), np.zeros(1, dtype=bool))
    monkeypatch.setattr(ddp, "iterate", lambda *arguments: nothing)
    found = solver.step(before.q[moved], before.qd[moved], moved=moved)
    assert found.tau[:, 0] == pytest.approx(np.r_[before.tau[moved:, 0], np.full(moved, 0.5)], rel=1e-12)


def test_what_was_found_stays_as_it_was():
    solver = Solver(slider(), [Cost(Configuration([0.8]), 40.0, "final"), Cost(Effort(), 0.02)], [0.0], dt=0.05,
                    steps=8)
    first = solver.solve(1)
    kept = [np.array(x, copy=True) for x in (*first[1:5], *first.history)]
    solver.solve(3), solver.step([0.1], [0.0], moved=2)
    assert len(first.history) == 2 and all((x == y).all() for x, y in zip(kept, (*first[1:5], *first.history),
                                                                         strict=True))


# ------------------------------------------------------------------------------------------------- many problems
def test_gains_are_those_of_each_problem_alone():
    """The second one ends before the others, which are no longer beside each other then; the first one ends next."""
    terms = [Cost(Configuration([0.0, 0.0]), 40.0, "final"), Cost(Velocity(), 4.0, "final"), Cost(Effort(), 0.02)]
    starts = np.array([[0.9, -0.5], [0.0, 0.0], [0.7, 0.4]])
    found, alone = (optimize_motion(pendulum(), terms, x, dt=0.05, steps=10) for x in (starts, starts[0]))
    assert found.converged.all() and found.iterations[1] < found.iterations[0] < found.iterations[2]
    assert found.iterations[0] == alone.iterations
    assert np.abs(found.gains[0] - alone.gains).max() < 1e-9 * np.abs(alone.gains).max()


def test_what_is_added_to_the_cost_of_efforts_is_what_each_motion_needs():
    """Of two motions the second has efforts that cost nothing and move nothing."""
    rng, N, x = np.random.default_rng(3), 3, 2
    F, S, D, g = (np.zeros((2, *shape)) for shape in (
        (N, x, padded(x + 1)), (N + 1, 1, padded(x + 2)), (N + 1, padded(x + 1)), (N + 1, padded(x + 1))))
    F[..., :x + 1], D[..., :x + 1], g[..., :x + 1] = rng.normal(size=(N, x, x + 1)), 1.0, rng.normal(size=x + 1)
    F[1, :, :, x], D[1, :, x], g[1, :, x] = 0.0, 0.0, 0.0
    given = Motions(F, S, D, g, np.zeros((2, N + 1, x)), *(np.full((2, N, 1), end) for end in (-np.inf, np.inf)),
                    np.zeros(2))

    def determined(which):
        some, (P, wide) = Motions(*(part[which].copy() for part in given[:-1])), (len(which), padded(x))
        found = ddp._determined(some, np.full((P, N, 1), FREE), 1, True, np.zeros((P, N, 1, wide)))
        return found, some.shift
    (both, shift), (first, none), (second, added) = map(determined, ([0, 1], [0], [1]))
    assert shift[0] == none[0] == 0.0 < shift[1] == added[0]
    for k, alone in enumerate((first, second)):
        for whole, part in zip(both, alone, strict=True):
            assert np.abs(whole[k] - part[0]).max() < 1e-12
