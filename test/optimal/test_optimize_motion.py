"""The best motions: closed forms, SciPy's minimum of the same cost, what no other motion does better, and refusals."""
import numpy as np
import pytest
from scipy.optimize import minimize

import screw_dynamics as sd
from screw_dynamics.planning.optimal import (
    CenterOfMass,
    Configuration,
    Cost,
    CustomQuantity,
    Distance,
    Duration,
    Effort,
    JointPosition,
    Limit,
    LinkOrientation,
    LinkPose,
    LinkPosition,
    LinkVelocity,
    Power,
    Solver,
    Velocity,
    optimize_motion,
)
from screw_dynamics.planning.optimal.quantities import Nodes
from support.pendulums import pendulum, reaching
from support.real_robots import real_robot
from support.sliders import slider

REST = np.zeros(2)


@pytest.fixture(name="pendulum", scope="module")
def _pendulum():
    return pendulum()


def total_cost(robot, terms, q, qd, tau, dt):
    """The sum of costs as their definition has it, written anew."""
    N, cost = len(tau), 0.0
    t = dt * np.arange(N + 1)
    for term in terms:
        last = term.at == "final"
        some = slice(N, N + 1) if last else slice(0, N)
        r = term.quantity.at(robot, Nodes(t[some], q[some], qd[some], None if last else tau, np.arange(N + 1)[some],
                                          np.arange(robot.n), 1), False).r
        cost += 0.5 * (np.asarray(term.weight) * r**2).sum() * (1.0 if last else dt)
    return cost


# ------------------------------------------------------------------------------------------------- minima
@pytest.mark.slow
def test_a_mass_is_moved_with_the_least_effort():
    """From rest to rest: accelerations fall linearly from one end to the other, of which the sums over steps of length
    h, h sum u = 0 and h^2 sum (N - k) u_k = d, with least sum u^2, are a_k = c (N + 1 - 2 k - 1)."""
    N, h, d = 40, 0.05, 3.0
    found = optimize_motion(slider(), [Cost(Effort()), Limit(Configuration([d]), 0.0, 0.0, "final"),
                                     Limit(Velocity(), 0.0, 0.0, "final")], [0.0], dt=h, steps=N, limit_tolerance=1e-10)
    shape = (N - 1.0) - 2.0 * np.arange(N)
    shape *= d / (h * h * ((N - np.arange(N)) * shape).sum())
    assert found and found.converged and np.abs(found.tau[:, 0] / 2.0 - shape).max() < 1e-6 * shape.max()
    assert np.abs(found.q[-1] - d).max() < 1e-9 and np.abs(found.qd[-1]).max() < 1e-9


@pytest.mark.slow
def test_a_mass_is_moved_by_weak_motors_as_late_as_they_can():
    """The quadratic program of a mass within bounds, by SciPy."""
    N, h, d, most = 30, 0.1, 4.0, 3.0
    found = optimize_motion(slider(), [Cost(Effort(), 0.1), Cost(Configuration([d]), 1e3, "final"),
                                     Cost(Velocity(), 1e3, "final")], [0.0], dt=h, steps=N,
                            effort_limits=([-most], [most]), tolerance=1e-12)
    A = np.vstack([h * h / 2.0 * (N - np.arange(N)), h / 2.0 * np.ones(N), np.sqrt(1e-4 * h) * np.eye(N)])
    best = minimize(lambda u: (0.5e3 * ((A @ u - np.r_[d, np.zeros(N + 1)])**2).sum(),
                               1e3 * A.T @ (A @ u - np.r_[d, np.zeros(N + 1)])), np.zeros(N), jac=True,
                    bounds=[(-most, most)] * N, method="L-BFGS-B", options=dict(ftol=1e-15, gtol=1e-11, maxiter=5000))
    assert found.cost == pytest.approx(best.fun, rel=1e-7) and np.abs(found.tau[:, 0]).max() <= most
    assert found.binding["Effort slide"].sum() >= 2 and np.abs(found.tau[:, 0] - best.x).max() < 1e-3


@pytest.mark.slow
def test_scipy_finds_the_same_minimum(pendulum):
    """By exact gradients of rollouts, from the same start, within the same bounds of efforts."""
    N, dt, bound = 30, 0.03, np.array([6.0, 3.0])
    found = optimize_motion(pendulum, reaching(), REST, dt=dt, steps=N, tolerance=1e-12)

    def cost(u):
        def of_motion(t, q, qd, tau):
            h = 1e-6
            value, by = total_cost(pendulum, reaching(), q, qd, tau, dt), []
            for x in (q, qd, tau):
                by.append(np.zeros(x.shape))
                for at in np.ndindex(x.shape):
                    ends = []
                    for sign in (1.0, -1.0):
                        moved = x.copy()
                        moved[at] += sign * h
                        motion = (moved if y is x else y for y in (q, qd, tau))
                        ends.append(total_cost(pendulum, reaching(), *motion, dt))
                    by[-1][at] = (ends[0] - ends[1]) / (2.0 * h)
            return value, *by
        value, gradient = pendulum.rollout_gradient(of_motion, REST, REST, u.reshape(N, 2), dt, N)
        return float(value), gradient.by_effort.ravel()
    best = minimize(cost, found.tau.ravel() + 0.05 * np.sin(np.arange(2 * N)), jac=True, method="L-BFGS-B",
                    bounds=np.c_[-np.tile(bound, N), np.tile(bound, N)], options=dict(maxiter=400, ftol=1e-14))
    assert found.converged and found.cost == pytest.approx(best.fun, rel=1e-6)


@pytest.mark.slow
def test_its_cost_is_that_of_its_motion_which_the_robot_makes(pendulum):
    found = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30)
    _, q, qd = pendulum.rollout(REST, REST, found.tau, 0.03, 30, limits=False)
    assert np.abs(q - found.q).max() < 1e-12 and np.abs(qd - found.qd).max() < 1e-11
    assert found.cost == pytest.approx(total_cost(pendulum, reaching(), q, qd, found.tau, 0.03), rel=1e-12)


@pytest.mark.slow
def test_no_motion_near_it_costs_less(pendulum):
    rng = np.random.default_rng(0)
    found = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30, tolerance=1e-12)
    for tau in np.clip(found.tau + 0.1 * rng.normal(size=(100, 30, 2)), -np.array([6.0, 3.0]), [6.0, 3.0]):
        _, q, qd = pendulum.rollout(REST, REST, tau, 0.03, 30, limits=False)
        assert total_cost(pendulum, reaching(), q, qd, tau, 0.03) > found.cost
    assert found.stationarity < 1e-5 * np.abs(found.tau).max()


@pytest.mark.slow
def test_feedback_is_worth_it(pendulum):
    """Beside its start, efforts with gains cost less than without."""
    found, N, dt = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30), 30, 0.03
    costs = {}
    for gain in (0.0, 1.0):
        q, qd, tau = [np.array([0.05, -0.08])], [np.array([0.1, 0.0])], []
        for k in range(N):
            dx = np.r_[q[-1] - found.q[k], qd[-1] - found.qd[k]]
            tau.append(found.tau[k] + gain * found.gains[k] @ dx)
            x, v = pendulum.step(q[-1], qd[-1], tau[-1], dt, limits=False)
            q.append(x), qd.append(v)
        costs[gain] = total_cost(pendulum, reaching(), *map(np.array, (q, qd, tau)), dt)
    assert found.cost < costs[1.0] < 0.8 * costs[0.0]


# ------------------------------------------------------------------------------------------------- limits
@pytest.mark.slow
def test_limits_are_kept_and_cost_something(pendulum):
    free = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30, effort_limits=False)
    limit = 0.8 * np.abs(free.qd).max()
    held = optimize_motion(pendulum, [*reaching(), Limit(Velocity(), -limit, limit),
                                      Limit(LinkPosition("lower"), lower=[-np.inf, -np.inf, -0.52])], REST, dt=0.03,
                           steps=30, effort_limits=False)
    assert held.converged and held.cost > free.cost and held.violation < 1e-6
    assert np.abs(held.qd).max() == pytest.approx(limit, abs=1e-6)
    assert any(name.startswith("Velocity") for name in held.binding) and "binds: Velocity" in held.report()


@pytest.mark.slow
def test_a_wider_limit_never_costs_more(pendulum):
    costs = [optimize_motion(pendulum, [*reaching(), Limit(Velocity(), -v, v)], REST, dt=0.03, steps=30,
                             effort_limits=False).cost for v in (2.0, 2.5, 3.0, 20.0)]
    assert costs == sorted(costs, reverse=True) and costs[0] > 1.001 * costs[-1]


@pytest.mark.slow
def test_what_cannot_be_kept_ends_with_that_word(pendulum):
    found = optimize_motion(pendulum, [*reaching(), Limit(Configuration([3.0, 0.0]), 0.0, 0.0, [1])], REST, dt=0.03,
                            steps=10, iterations=200)
    assert not found and not found.converged and found.violation > 0.1
    assert "cannot be kept" in found.stopped or "iterations" in found.stopped


# ------------------------------------------------------------------------------------------------- starts
@pytest.mark.slow
def test_states_that_do_not_fit_each_other_are_a_start_too(pendulum):
    """Gaps between them close; the minimum is the same."""
    line = np.linspace(REST, [1.2, -0.7], 31)
    found = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30, effort_limits=False,
                            guess=(line, np.zeros((31, 2)), np.zeros((30, 2))))
    other = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30, effort_limits=False)
    assert found.converged and found.gap < 1e-9 and found.cost == pytest.approx(other.cost, rel=1e-6)


@pytest.mark.slow
def test_what_was_found_is_the_best_start(pendulum):
    first = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30)
    again = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30, guess=first)
    assert again.iterations <= 2 < first.iterations and again.cost == pytest.approx(first.cost, rel=1e-7)


@pytest.mark.slow
def test_steps_of_predictive_control_go_on_from_what_was_measured(pendulum):
    """A target that moves: the hand follows it, on a robot that is pushed on the way."""
    def target(t):
        return np.stack([0.3 * np.sin(t), np.zeros_like(t), -0.9 + 0.1 * np.cos(t)], axis=-1)
    terms = [Cost(LinkPosition("lower", target, point=(0.0, 0.0, -0.5)), 200.0), Cost(Velocity(), 0.1),
             Cost(Effort(), 1e-3)]
    solver = Solver(pendulum, terms, REST, dt=0.02, steps=20)
    solver.solve()
    q, qd, off = REST, REST, []
    for k in range(80):
        found = solver.step(q, qd, moved=min(k, 1))
        assert found.t[0] == pytest.approx(0.02 * k)
        q, qd = pendulum.step(q, qd + (0.5 if k == 30 else 0.0), found.tau[0], 0.02, limits=False)
        tip = pendulum.forward_kinematics(q, "lower", point=(0.0, 0.0, -0.5))[:3, 3]
        off.append(np.linalg.norm(tip - target(np.array(0.02 * (k + 1)))))
    assert off[29] < 0.02 and off[32] > 0.02 and off[-1] < 0.02


# ------------------------------------------------------------------------------------------------- quantities
ARM = real_robot("ur_description/urdf/ur5_robot.urdf")
TURNED = sd.se3.exp(np.array([0.7, -0.4, 0.9, 0.2, 0.1, 0.4]))


@pytest.mark.parametrize("quantity", [
    Configuration(np.linspace(-1.0, 1.0, 6)), JointPosition(["elbow_joint", "wrist_1_joint"]), Velocity(0.3),
    JointPosition(ARM.joint_names[::-1]), JointPosition(),
    LinkPosition("tool0", (0.1, 0.2, 0.3), (0.0, 0.05, 0.1)), LinkOrientation("tool0", TURNED[:3, :3]),
    LinkPose("tool0", TURNED),
    pytest.param(LinkVelocity("tool0", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)), marks=pytest.mark.slow),
    pytest.param(LinkVelocity("tool0", representation="body"), marks=pytest.mark.slow),
    pytest.param(CenterOfMass((0.1, 0.0, 0.2)), marks=pytest.mark.slow), Effort(1.0), Power()],
    ids=lambda x: type(x).__name__)
def test_derivatives_are_difference_quotients(quantity):
    rng, h, n = np.random.default_rng(3), 1e-6, 6
    x = {"q": rng.normal(size=(2, 4, n)), "qd": rng.normal(size=(2, 4, n)), "tau": rng.normal(size=(2, 4, n))}

    def at(**moved):
        given = x | moved
        return quantity.at(ARM, Nodes(np.zeros(4), *given.values(), np.arange(4), np.arange(n), 1), True)
    found = at()
    assert found.r.shape == (2, 4, len(quantity.labels(ARM, np.arange(n))))
    for name, value in x.items():
        expected = np.stack([(at(**{name: value + h * e}).r - at(**{name: value - h * e}).r) / (2.0 * h)
                             for e in np.eye(n)], axis=-1)
        J = found.by.get(name, np.zeros_like(expected))
        assert np.abs((np.eye(n) if J is None else J) - expected).max() < 1e-8


@pytest.mark.slow
def test_a_quantity_of_the_user_is_as_good(pendulum):
    def above(t, q, qd, tau):
        z = -0.5 * np.cos(q[..., 0]) - 0.5 * np.cos(q[..., 0] + q[..., 1])
        a, b = 0.5 * np.sin(q[..., 0]), 0.5 * np.sin(q[..., 0] + q[..., 1])
        return (z + 0.8)[..., None], {"q": np.stack([a + b, b], axis=-1)[..., None, :]}
    options = dict(dt=0.05, steps=30, effort_limits=False)
    built_in = LinkPosition("lower", (0, 0, -0.8), (0, 0, -0.5))
    mine, theirs = (optimize_motion(pendulum, [Cost(quantity, weight, "final"), Cost(Effort(), 0.02)], [0.1, 0.0],
                                    **options)
                    for quantity, weight in ((CustomQuantity(above, ["height"]), 50.0), (built_in, [0.0, 0.0, 50.0])))
    assert mine.cost == pytest.approx(theirs.cost, rel=1e-6)


# ------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(("changes", "words"), [
    (dict(terms=[]), "must contain a Cost"), (dict(terms=[Limit(Velocity(), -1.0, 1.0)]), "must contain a Cost"),
    (dict(terms=[Velocity()]), "Cost or Limit"), (dict(terms=[Cost(LinkPosition("nose"))]), "nose"),
    (dict(terms=[Cost(Velocity(), -1.0)]), "-1.0"), (dict(terms=[Cost(Velocity(), [1.0, np.nan])]), "weight"),
    (dict(terms=[Cost(Velocity(), [1.0] * 3)]), "shoulder, elbow"),
    (dict(terms=[Cost(Effort(), at="final")]), "Effort has no value at the last node"),
    (dict(terms=[Cost(Velocity(), at=[31])]), r"0 ... 30, not \[31\]"),
    (dict(terms=[Cost(Velocity(), at="all")]), "all"), (dict(terms=[Cost(Velocity(), at=True)]), "at must be .* True"),
    (dict(terms=None), "terms must be"), (dict(terms=[Cost(Velocity(), "heavy")]), "weight must be made of real"),
    (dict(terms=[Cost(JointPosition([]))]), "JointPosition is empty"),
    (dict(terms=[Cost(LinkPosition("lower", np.array([np.nan, 0.0, 0.0])))]), r"LinkPosition.position\[0\] is nan"),
    (dict(terms=[Cost(CenterOfMass(np.array([0.0, np.inf, 0.0])))]), r"CenterOfMass.position\[1\] is inf"),
    (dict(terms=[Cost(LinkOrientation("lower", np.zeros((3, 3))))]), "LinkOrientation.rotation must be rotations"),
    (dict(terms=[Cost(LinkPose("lower", np.diag([1.0, 1.0, -1.0, 1.0])))]), "LinkPose.pose must be poses"),
    (dict(terms=[Cost(LinkPose("lower", np.eye(4) + np.eye(4, k=-3)))]), "LinkPose.pose must be poses"),
    (dict(terms=[Cost(CustomQuantity(lambda *x: 0.0, "ab"))]), "sequence of names"),
    (dict(terms=[Cost(Effort()), Limit(Velocity(), np.inf, np.inf)]), "'shoulder' must have .* not inf and inf"),
    (dict(effort_limits=(np.inf, np.inf)), "'shoulder' must have lower <= upper, .* not inf and inf"),
    (dict(effort_limits=(0.0, 1.0, 2.0)), "effort_limits must be"),
    (dict(q0=np.zeros((0, 2))), "at least one problem is required"),
    (dict(q0=np.zeros((3, 2)), guess=np.zeros((2, 30, 2))), r"guess has shape \(2, 30, 2\), but must have \(30, 2\)"),
    (dict(phases=[5]), "pairs"),
    (dict(terms=[Cost(Effort()), Limit(Velocity(), 2.0, 1.0)]), "'shoulder' must have lower <= .* not 2.0 and 1.0"),
    (dict(terms=[Cost(JointPosition(["knee"]))]), "knee"), (dict(q0=[0.0, np.nan]), "q0"), (dict(q0=[0.0]), "q0"),
    (dict(dt=0.0), "dt"), (dict(steps=0), "steps"), (dict(driven=["knee"]), "knee"), (dict(driven=[]), "no joint"),
    (dict(integrator="rk45"), "rk45"), (dict(guess=np.zeros((3, 2))), "guess"), (dict(tolerance=-1.0), "tolerance"),
    (dict(effort_limits=([1.0, 0.0], [0.0, 0.0])), "must have lower <= upper"), (dict(limits=1), "limits"),
    (dict(robot="arm"), "Robot"), (dict(phases=[(0, None)]), "first step"),
    (dict(terms=[Cost(CustomQuantity(lambda *x: 0.0, 5))]), "sequence of names, not .* and 5"),
    (dict(terms=[Cost(Velocity(), 1.0, [10**30])]), r"at must list nodes 0 ... 30, not \[1000"),
    (dict(terms=[Cost(JointPosition([["elbow"]]))]), r"JointPosition: joint \['elbow'\] is not among"),
    (dict(terms=[Cost(JointPosition("shoulder"))]), "JointPosition.joints must be names, not 'shoulder'"),
    (dict(terms=[Cost(JointPosition(5))]), "JointPosition.joints must be names, not 5"),
    (dict(terms=[Cost(JointPosition(["elbow", "elbow"]))]), "JointPosition: joint 'elbow' is named twice"),
    (dict(terms=[Cost(Distance(None))]), "Distance.scene must be a Scene, not None"),
    (dict(driven=5), "driven must name joints .* not 5"), (dict(driven="elbow"), "driven must .* not 'elbow'"),
    (dict(driven=[["elbow"]]), r"driven must name joints of the robot, each once, not \[\['elbow'\]\]"),
    (dict(effort_limits=(-1.0, np.ones((3, 2)))), r"effort_limits upper .* must be one number, or one for each of 2"),
    (dict(phases=[(7.5, None)]), "first step of a phase 7.5 must be a whole number"),
    (dict(phases=5), "phases must be pairs .* not 5"),
    (dict(terms=[Cost(Duration()), Cost(Effort())]), "Duration is .* sd.collocate_motion"),
    *((dict(terms=[Cost(quantity(np.zeros((rows, 2))))]), rf"shape \({rows}, 2\), but must be \(2,\), or have one for "
       "each of the nodes 0 ... 30") for quantity in (Configuration, Velocity, Effort) for rows in (0, 29, 32, 60)),
    (dict(terms=[Cost(LinkPosition("lower", np.zeros((29, 3))))]), r"LinkPosition.position has shape \(29, 3\), but"),
    (dict(terms=[Cost(Configuration(np.zeros((30, 2))), 1.0, "final")]), r"shape \(30, 2\), but must be"),
])
def test_what_cannot_be_is_refused_with_its_name(pendulum, changes, words):
    given = dict(robot=pendulum, terms=reaching(), q0=REST, dt=0.03, steps=30) | changes
    with pytest.raises(ValueError, match=words):
        optimize_motion(**given)


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "words"), [
    (dict(terms=[Cost(LinkOrientation("lower", lambda t: 2.0 * np.eye(3)))]), "must be rotations"),
    (dict(terms=[Cost(CustomQuantity(lambda t, q, *x: (np.nan * q, {}), ["a", "b"]))]),
     "finite, but these terms are not: CustomQuantity"),
    (dict(progress=3), "progress"),
    (dict(guess=np.full((30, 2), 1e308), effort_limits=False), "not finite"),
    (dict(terms=[Cost(CustomQuantity(lambda *x: 0.0, ["a"]))]), "must return"),
    (dict(terms=[Cost(CustomQuantity(lambda t, q, *x: (q, {}), ["a"]))]), "shape"),
    (dict(terms=[Cost(CustomQuantity(lambda t, q, *x: (q, {"q": np.full((*q.shape, 2), np.nan)}), ["a", "b"]))]),
     "the derivative by 'q' is not finite"),
    (dict(terms=[Cost(CustomQuantity(lambda t, q, *x: (q, {"tau": np.ones((*q.shape, 2))}), ["a", "b"]), 1.0,
                     "final")]),
     "has a derivative by 'tau', but the function does not take tau: set effort=True"),
    (dict(terms=[Cost(CustomQuantity(lambda t, q, *x: (1j * q, {}), ["a", "b"]))]),
     "r of CustomQuantity .* made of real numbers"),
    (dict(terms=[Cost(CustomQuantity(lambda t, q, *x: (np.subtract(q, 1.0, q), {}), ["a", "b"]))]), "read-only"),
    (dict(terms=[Cost(Velocity(lambda t: np.multiply(t, 2.0, t)[:, None] * [1.0, 1.0]))]), "read-only"),
    (dict(terms=[Cost(Configuration(lambda t: np.zeros((29, 2))))]), r"shape \(29, 2\) at 30 times, but must have one"),
])
def test_what_cannot_be_in_a_search_is_refused_with_its_name(pendulum, changes, words):
    test_what_cannot_be_is_refused_with_its_name(pendulum, changes, words)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 30, 31])
def test_a_target_for_each_node_is_the_same_as_one_for_all(pendulum, rows):
    """The last of 31 does not count along the motion."""
    qd, tau = np.array([0.2, -0.1]), np.array([1.0, 2.0])
    one, each = (optimize_motion(pendulum, [Cost(Velocity(x)), Cost(Effort(y), 0.02)], REST, dt=0.03, steps=30).cost
                 for x, y in ((qd, tau), (np.tile(qd, (rows, 1)), np.tile(tau, (rows, 1)))))
    assert each == pytest.approx(one, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("nodes, moving", [(1, False), (21, False), (21, True)])
def test_each_problem_has_its_own_target(nodes, moving):
    """Problems end after some iterations each, so that others go on without them."""
    rng, robot = np.random.default_rng(0), slider()
    starts, goals = rng.uniform(-1.0, 3.0, (2, 3, 1)), rng.uniform(-3.0, 3.0, (2, 3, nodes, 1))

    def terms(goals):
        target = (lambda t: goals[..., np.rint(t / 0.05).astype(int), :]) if moving else goals
        return [Cost(Configuration(target), 40.0), Cost(Effort(), 0.02), Limit(Velocity(), -3.0, 3.0)]
    together = optimize_motion(robot, terms(goals), starts, dt=0.05, steps=20)
    assert together.converged.all() and len(np.unique(together.iterations)) > 1
    for at in np.ndindex(2, 3):
        alone = optimize_motion(robot, terms(goals[at]), starts[at], dt=0.05, steps=20)
        assert together.cost[at] == pytest.approx(alone.cost, rel=1e-12)
    with pytest.raises(ValueError, match=r"axes \(2, 3\), which do not broadcast to those of the problems, \(3,\)"):
        optimize_motion(robot, terms(goals), starts[0], dt=0.05, steps=20)


@pytest.mark.slow
def test_a_phase_of_the_same_robot_changes_nothing(pendulum):
    given = dict(dt=0.03, steps=10, iterations=2)
    one, two = (optimize_motion(pendulum, reaching(), REST, phases=phases, **given).cost
                for phases in ((), [(7.0, pendulum)]))
    assert two == pytest.approx(one, rel=1e-12)


@pytest.mark.slow
def test_nodes_of_a_cost_may_be_an_array(pendulum):
    listed, array = (optimize_motion(pendulum, [Cost(Configuration([1.0, 0.0]), 9.0, at), Cost(Effort(), 0.02)], REST,
                                     dt=0.03, steps=30).cost for at in ([10, 30], np.array([10, 30])))
    assert array == listed


@pytest.mark.slow
def test_more_or_fewer_iterations_are_told(pendulum):
    costs = []
    found = optimize_motion(pendulum, reaching(), REST, dt=0.03, steps=30, iterations=3,
                            progress=lambda number, cost: costs.append((number, float(cost))))
    assert [number for number, _ in costs] == [1, 2, 3] and not found.converged
    assert found.stopped == "all iterations are done" and "0 of 1 converged" in found.report()


# ------------------------------------------------------------------------------------------------- others
@pytest.mark.slow
def test_many_problems_are_each_as_alone(pendulum):
    starts = np.random.default_rng(1).uniform(-0.3, 0.3, (3, 4, 2))
    together = optimize_motion(pendulum, reaching(), starts, dt=0.03, steps=30)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(together)
    assert together.converged.shape == (3, 4) and together.converged.all() and together.gains.shape == (3, 4, 30, 2, 4)
    for at in np.ndindex(3, 4):
        alone = optimize_motion(pendulum, reaching(), starts[at], dt=0.03, steps=30)
        assert together.cost[at] == pytest.approx(alone.cost, rel=1e-7)
        assert np.abs(together.q[at] - alone.q).max() < 1e-3


@pytest.mark.slow
def test_a_floating_robot_turns_over_without_touching_anything():
    """The whole turns by what its joints do, whose momentum is conserved: by steps of order 1 to that order."""
    robot = real_robot("anymal_b_simple_description/robots/anymal.urdf", floating_base=True).with_gravity((0, 0, 0))
    wanted = robot.integrate(robot.neutral(), np.r_[0.3, np.zeros(robot.n - 1)])
    where = robot.model.q_slices["floating_base"]
    terms = [Cost(Configuration(wanted), np.r_[1e3, np.full(robot.n - 1, 1e-3)], "final"), Cost(Velocity(), 1e-2),
             Cost(Velocity(), 0.1, "final"), Cost(Effort(), 1e-4)]
    momenta = []
    for dt in 0.02, 0.01:
        found = optimize_motion(robot, terms, robot.neutral(), dt=dt, steps=round(1.0 / dt), iterations=200)
        turned = robot.difference(robot.neutral(), found.q[-1])[0]
        assert found.converged and turned > 0.29 and where.start == 0 and (found.tau[:, :6] == 0.0).all()
        momenta.append(np.abs(robot.centroidal_momentum(found.q, found.qd)).max())
    alone = np.abs(robot.centroidal_momentum(found.q, found.qd * (np.arange(robot.n) >= 6))).max()      # joints'
    assert 1.8 < momenta[0] / momenta[1] < 2.2 and momenta[0] < 0.02 * alone


@pytest.mark.slow
def test_given_contacts_are_kept_and_open_and_close():
    """A four-bar linkage whose loop is closed for some of the time alone."""
    from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint

    builder, rod = sd.ModelBuilder("base"), sd.inertia_matrix(1.0, (0.2, 0.0, 0.0), np.diag([0.001, 0.02, 0.02]))
    along = np.eye(4)
    along[0, 3] = 0.4
    for k in range(3):
        builder.add_joint(f"joint_{k}", f"rod_{k}", f"rod_{k - 1}" if k else "base", (0, 1, 0, 0, 0, 0),
                          along if k else np.eye(4), rod)
    free = sd.Robot(builder.build())
    q = np.array([-1.2, 1.2, 1.0])
    held = ClosedLoopRobot(free, [LoopJoint("end", "revolute", "rod_2", frame=np.array(
        [[1, 0, 0, 0.4], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]]))], q=q)
    terms = [Cost(Configuration(q + 0.4), 10.0, "final"), Cost(Effort(), 1e-3), Cost(Velocity(), 1e-2)]
    found = optimize_motion(held, terms, q, dt=0.01, steps=60, iterations=200, phases=[(30, free)])
    residual = np.abs(held.residual(found.q)).max(axis=-1)
    assert residual[:31].max() < 1e-9 and residual[-1] > 1e-2
    rng, problem = np.random.default_rng(0), dict(dt=0.01, steps=60, phases=[(30, free)])
    solver = Solver(held, terms, q, **problem, guess=found.tau)
    assert solver.at.cost[0] == pytest.approx(found.cost, rel=1e-9)
    for _ in range(20):
        other = Solver(held, terms, q, **problem, guess=found.tau + 0.05 * rng.normal(size=found.tau.shape))
        assert other.at.cost[0] > found.cost
