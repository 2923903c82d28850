"""Costs of which most is known before: as many terms as one likes, of what one likes, cost what their definition says,
node by node, and have the derivatives of that."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.planning.optimal import (
    Configuration,
    Cost,
    Effort,
    JointPosition,
    LinkPosition,
    Quantity,
    Solver,
    Velocity,
)
from screw_dynamics.planning.optimal.quantities import Value
from screw_dynamics.planning.optimal.terms import gradient
from screw_dynamics.rollout.feedback import Motion
from support.floating_robots import hopper

pytestmark = pytest.mark.slow
N, H = 4, 0.1
ALL, RUN = range(N + 1), range(N)


def arm():
    """Two links on hinges, of which the second one has a point at its end."""
    builder, inertia = sd.ModelBuilder("base"), sd.inertia_matrix(1.0, np.zeros(3), np.eye(3))
    builder.add_joint("shoulder", "upper", "base", (0.0, 0.0, 1.0, 0.0, 0.0, 0.0), inertia=inertia)
    builder.add_joint("elbow", "lower", "upper", (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), inertia=inertia)
    return sd.Robot(builder.build())


def at_times(values):
    """A function of the time that has a row of `values` at each node."""
    return lambda t: values[np.rint(np.asarray(t) / H).astype(int)]


def terms_and_costs(robot, rng, P):
    """Terms, and what each costs at a node k, as a function of problem, q, qd and u: (term, nodes, factor, function).
    """
    n, m = robot.n, robot.n - 6 * robot.model.on_groups             # a base that floats has no motors
    link, joint = robot.link_names[-1], robot.joint_names[-1]
    a, b, c = *(robot.integrate(robot.neutral(), x) for x in rng.normal(size=(2, n))), rng.normal(size=(P, N + 1, n))
    d, e, weights, p = rng.normal(size=(N + 1, n)), rng.normal(size=n), rng.uniform(0.5, 2.0, n), rng.normal(size=3)
    place, moving = robot.q_slices[joint], at_times(d)

    def square(w, r):
        return 0.5 * np.sum(w * r * r)

    def of_link(i, k, q, qd, u):
        return square(1.0, robot.forward_kinematics(q, link)[:3, 3] - p)
    return [
        (Cost(Configuration(a), weights), RUN, H, lambda i, k, q, qd, u: square(weights, robot.difference(a, q))),
        (Cost(Configuration(b), 3.0, "final"), [N], 1.0, lambda i, k, q, qd, u: square(3.0, robot.difference(b, q))),
        (Cost(Velocity(c), 2.0, [0, 2, N]), [0, 2, N], 1.0, lambda i, k, q, qd, u: square(2.0, qd - c[i, k])),
        (Cost(Velocity(moving), 0.7), RUN, H, lambda i, k, q, qd, u: square(0.7, qd - d[k])),
        (Cost(Velocity(), 0.5, "final"), [N], 1.0, lambda i, k, q, qd, u: square(0.5, qd)),
        (Cost(JointPosition([joint]), 5.0, [1, 2]), [1, 2], 1.0, lambda i, k, q, qd, u: square(5.0, q[place])),
        (Cost(Effort(e), 0.3), RUN, H, lambda i, k, q, qd, u: square(0.3, u - e[-m:])),
        (Cost(LinkPosition(link, p)), RUN, H, of_link),
        (Cost(LinkPosition(link, list(p)), 40.0, "final"), [N], 40.0, of_link),
        (Cost(LinkPosition(link, p), 2.0, [1, 3]), [1, 3], 2.0, of_link)]


def described(robot, P, rng):
    """A Solver of P problems, random motions, and their costs by the definition, as a function of motions."""
    given = terms_and_costs(robot, rng, P)
    solver = Solver(robot, [term for term, *_ in given], np.tile(robot.neutral(), (P, 1)), dt=H, steps=N, limits=False,
                    effort_limits=False)
    m = len(solver.dynamics.driven)
    dq, qd = rng.normal(size=(2, P, N + 1, robot.n))
    motion = Motion(robot.integrate(robot.neutral(), dq), qd, rng.normal(size=(P, N, m)))

    def costs(motion):
        return np.array([sum(factor * cost(i, k, motion.q[i, k], motion.qd[i, k], motion.u[i, min(k, N - 1)])
                             for _, nodes, factor, cost in given for k in nodes) for i in range(P)])
    return solver, motion, costs


@pytest.mark.parametrize("make", [arm, lambda: sd.Robot.from_urdf(hopper(), floating_base=True)], ids=["arm", "hopper"])
@pytest.mark.parametrize("P", [1, 3])
def test_costs_and_their_gradient_are_those_of_the_definition(make, P, rng):
    robot = make()
    solver, motion, costs = described(robot, P, rng)
    n, m, which = robot.n, motion.u.shape[-1], np.arange(P)
    taken = solver.objective.take(motion, which, True)
    np.testing.assert_allclose(taken.cost, costs(motion), rtol=1e-13)
    _, S, D, g = solver.objective.derivatives(taken.values, which, [])
    slope, h = gradient(S, g, 2 * n + m)[..., :2 * n + m], 1e-5
    for _ in range(6):                                              # directions of all entries at all nodes
        dz, ends = rng.normal(size=slope.shape), []
        dz[:, N, 2 * n:] = 0.0
        for step in (h * dz, -h * dz):
            moved = Motion(robot.integrate(motion.q, step[..., :n]), motion.qd + step[..., n:2 * n],
                           motion.u + step[:, :N, 2 * n:])
            ends.append(costs(moved))
        np.testing.assert_allclose((slope * dz).sum(axis=(1, 2)), (ends[0] - ends[1]) / (2.0 * h), rtol=1e-7)


def test_some_of_many_problems_have_their_own_targets(rng):
    """Of those that are still sought, whatever their numbers."""
    solver, motion, costs = described(arm(), 3, rng)
    for which in ([1], [0, 2]):
        some = Motion(*(x[which] for x in motion))
        np.testing.assert_allclose(solver.objective.take(some, np.array(which)).cost, costs(motion)[which], rtol=1e-13)


def test_equal_quantities_are_evaluated_once(rng):
    """Three costs of one place are one; what is known of entries is none."""
    solver, *_ = described(arm(), 2, rng)
    assert [type(term.quantity).__name__ for term in solver.objective.costs] == ["Velocity", "LinkPosition"]
    assert solver.objective.costs[-1].which.tolist() == [*ALL]


def test_targets_are_those_of_the_beginning():
    """Whatever becomes of the array that was given."""
    target = np.array([0.5, 0.2])
    solver = Solver(arm(), [Cost(Configuration(target), 1.0), Cost(Effort(), 1e-3)], [0.0, 0.0], dt=H, steps=N)
    target[:] = np.nan
    assert solver.solve().converged


def test_a_quantity_with_other_numbers_than_its_entries_is_refused():
    """A class of a user's that makes something else of velocities, and does not say so."""
    class Squared(Velocity):
        def at(self, robot, nodes, derivatives):
            r = super().at(robot, nodes, derivatives).r
            return Value(r * r, {"qd": 2.0 * r[..., None] * np.eye(robot.n)})
    with pytest.raises(ValueError, match=r"Squared.entries returns entries .* override it"):
        Solver(arm(), [Cost(Squared(0.3), 1.0)], [0.0, 0.0], dt=H, steps=N)
    Squared.entries = Quantity.entries
    assert Solver(arm(), [Cost(Squared(0.5), 8.0, "final")], [0.0, 0.0], dt=H, steps=N).at.cost == pytest.approx(0.5)


def test_targets_out_of_reach_are_not_taken_for_others():
    """Beside 1e20 a change of 1 is rounding; costs are those of the definition."""
    solver = Solver(arm(), [Cost(Velocity(1e20), 3.0)], [0.0, 0.0], dt=H, steps=N)
    assert solver.at.cost == pytest.approx(N * H * 3.0 * 1e40)
