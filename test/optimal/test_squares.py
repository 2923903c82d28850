"""Terms as numbers: at which nodes they are, and what they add to the model of second order of a whole cost, by sums
over all nodes written once more."""
import numpy as np
import pytest

from screw_dynamics.planning.optimal import Cost, Effort, Limit, LinkPosition, Velocity, optimize_motion
from screw_dynamics.planning.optimal.quantities import Value
from screw_dynamics.planning.optimal.terms import Square, expanded, gradient, nodes_of, run
from screw_dynamics.rollout.recursions.matrix_products import padded
from support.sliders import plotter

P, N, DOF, M = 2, 4, 2, 1               # motions, steps, velocities, efforts
W = 2 * DOF + M


@pytest.mark.parametrize("term, spline, nodes", [
    (Cost(Velocity()), False, [0, 1, 2, 3]), (Cost(Effort()), False, [0, 1, 2, 3]),
    (Cost(Velocity(), at="final"), False, [4]), (Limit(Velocity()), False, [1, 2, 3, 4]),
    (Limit(Effort()), False, [0, 1, 2, 3]), (Limit(Velocity(), at="final"), False, [4]),
    (Limit(Velocity()), True, [0, 1, 2, 3, 4]), (Limit(Effort()), True, [0, 1, 2, 3, 4]),
    (Cost(Effort(), at="final"), True, [4]), (Cost(Velocity(), at=[4, 1, 1]), False, [1, 4]),
    (Cost(Effort(), at=[0, 3]), False, [0, 3]), (Cost(Effort(), at=[4]), True, [4])])
def test_nodes_of_terms(term, spline, nodes):
    assert nodes_of(term, N, spline).tolist() == nodes


@pytest.mark.parametrize("term, says", [
    (Cost(Effort(), at=[4]), r"nodes 0 ... 3, not \[4\]"), (Limit(Velocity(), at=[5]), r"nodes 0 ... 4, not \[5\]"),
    (Cost(Velocity(), at=[]), "nodes 0 ... 4"), (Cost(Velocity(), at=[-1]), "-1"),
    (Cost(Effort(), at="final"), "no value"), (Cost(Velocity(), at="all"), "all"),
    (Limit(Velocity(), at="running"), "running"), (Cost(Velocity(), at=3), "not 3")])
def test_nodes_that_do_not_exist_are_refused(term, says):
    with pytest.raises(ValueError, match=says):
        nodes_of(term, N)


def square(rng, size, which, by):
    """A Square with the derivatives of these names at nodes, {name: its columns, or None where it is the state}."""
    k = len(which)
    J = {name: None if columns is None else rng.normal(size=(P, k, size, columns)) for name, columns in by.items()}
    return Square(Value(None, J), rng.uniform(0.5, 2.0, (k, size)), rng.normal(size=(P, k, size)), run(np.array(which)))


def test_squares_are_one_model_of_second_order(rng):
    """Of terms with derivatives by anything, some of them at the same nodes, in any order: the change of their sum."""
    given = [square(rng, 3, [0, 1, 2, 3, 4], {"q": DOF, "qd": DOF}), square(rng, 2, [1, 3], {"qd": DOF}),
             square(rng, 1, [0, 1, 2, 3], {"q": DOF, "tau": M}), square(rng, DOF, [2, 3, 4], {"q": None}),
             square(rng, DOF, [4], {"q": None}), square(rng, M, [0, 2, 3], {"tau": None}),
             square(rng, DOF, [0, 4], {"qd": None, "q": DOF})]
    S, D, g = expanded(given, np.zeros((1, N + 1, padded(W))), np.zeros((P, N + 1, padded(W))), DOF, M)
    places = {"q": slice(0, DOF), "qd": slice(DOF, 2 * DOF), "tau": slice(2 * DOF, W)}
    z = rng.normal(size=(P, N + 1, W))
    z[:, N, 2 * DOF:] = 0.0
    change = np.zeros((P, N + 1))
    slope = np.zeros((P, N + 1, W))
    for value, weight, e, some in given:
        moved = e.copy()
        for name, J in value.by.items():
            dx = z[:, some, places[name]]
            moved += dx if J is None else np.einsum("pkij,pkj->pki", J, dx)
            of = weight * e
            slope[:, some, places[name]] += of if J is None else np.einsum("pkij,pki->pkj", J, of)
        change[:, some] += 0.5 * (weight * (moved**2 - e**2)).sum(axis=-1)
    dense = np.einsum("pksj,pkj->pks", S[..., 1:1 + W], z)
    found = (0.5 * ((dense + S[..., 0])**2 - S[..., 0]**2).sum(axis=-1) + (g[..., :W] * z).sum(axis=-1)
             + 0.5 * (D[..., :W] * z**2).sum(axis=-1))
    np.testing.assert_allclose(found, change, atol=1e-12)
    np.testing.assert_allclose(gradient(S, g, W)[..., :W], slope, atol=1e-12)


@pytest.mark.slow
def test_a_point_is_led_past_others_at_nodes_that_are_listed():
    """A mass on rails: efforts cost next to nothing."""
    robot = plotter()
    found = optimize_motion(robot, [Cost(LinkPosition("pen", [0.3, 0.2, 0.0]), 50.0, at=[3, 6]), Cost(Effort(), 1e-9)],
                            [0.0, 0.0], dt=0.05, steps=6)
    assert found.converged and np.abs(found.q[[3, 6]] - [0.3, 0.2]).max() < 1e-4


@pytest.mark.parametrize("which", [[2], [1, 2, 3], [0, 2], [0, 2, 3], [3, 4]])
def test_nodes_that_follow_each_other_are_a_slice_of_the_same(which):
    found = run(np.array(which))
    assert isinstance(found, slice) == (np.diff(which) == 1).all()
    assert np.arange(9)[found].tolist() == which
