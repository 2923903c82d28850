"""An iteration of differential dynamic programming by itself: which part of a change is taken, and what becomes of gaps
and shifts. Motions and costs are stand-ins, whose numbers are known."""
from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.planning.optimal import ddp
from screw_dynamics.planning.optimal.ddp import SHIFTS, Bounds, Iterate
from screw_dynamics.rollout.feedback import Motion
from screw_dynamics.rollout.recursions.riccati_memory import Feedback

N = 3


def iterated(monkeypatch, values, expected, gap=0.0, shift=0.0):
    """The Iterate and Outcome of motions of value 10, whose values are values[p](a) behind a part a of their change;
    gap: the sum of sizes of the gaps of each."""
    P = len(values)
    expected, gaps = np.broadcast_to(expected, P).astype(float), np.zeros((P, N + 1, 2))
    gaps[:, 1:] = np.broadcast_to(gap, P)[:, None, None] / (2.0 * N) * np.array([1.0, -1.0])
    feedback = Feedback(*(np.zeros((P, 2)) for _ in Feedback._fields))
    K, side = np.zeros((2, P, 2))
    at = Iterate(Motion(np.zeros((P, N + 1, 1)), np.zeros((P, N + 1, 1)), np.zeros((P, N, 1))), gaps, np.full(P, 10.0),
                 np.full(P, 10.0), np.broadcast_to(shift, P).astype(float), K, side, {})

    def follow(motion, lower, upper, gaps, d, K, a):
        return Motion(*(np.full(x.shape, a) for x in motion))

    def take(motion, which, last):
        found = np.array([values[p](motion.u[k, 0, 0]) for k, p in enumerate(which)])
        return found - 1.0, found, None
    monkeypatch.setattr(ddp, "best_feedback", lambda dynamics, objective, bounds, at, which: (
        feedback, at.shift[which], expected[which]))
    outcome = ddp.iterate(SimpleNamespace(follow=follow, threads=1), SimpleNamespace(take=take), Bounds(None, None), at,
                          np.arange(P))
    return at, outcome


def test_the_largest_part_is_taken_that_lessens_the_cost_by_a_share_of_what_is_expected(monkeypatch):
    """By a quarter of 4 a: the third does not before a = 1/4, the fourth never, and the last is not finite at first."""
    at, found = iterated(monkeypatch, [
        lambda a: 10.0 - 4.0 * a, lambda a: 10.0 - 1.01 * a, lambda a: 10.0 - 1.01 * a if a < 0.3 else 10.0 - 0.99 * a,
        lambda a: 10.0 - 0.9 * a, lambda a: np.nan if a > 0.5 else 9.0], 4.0)
    assert found.part.tolist() == [1.0, 1.0, 0.25, 0.0, 0.5] and not found.held.any()
    np.testing.assert_allclose(at.value, [6.0, 8.99, 9.7475, 10.0, 9.0])
    np.testing.assert_allclose(at.cost, [5.0, 7.99, 8.7475, 10.0, 8.0])
    assert at.motion.u[:, 0, 0].tolist() == [1.0, 1.0, 0.25, 0.0, 0.5]


def test_a_cost_may_grow_as_gaps_become_less_by_half_their_price(monkeypatch):
    """Expected are +2 for gaps of 4, whose price is 1 each: 2 in all remain, of which a quarter must be reached."""
    at, found = iterated(monkeypatch, [lambda a: 10.0 + 2.0 * a, lambda a: 10.0 + 3.4 * a, lambda a: 10.0 + 3.6 * a,
                                       lambda a: 10.0 + 3.4 * a if a < 0.6 else 14.0], -2.0, gap=4.0)
    assert found.part.tolist() == [1.0, 1.0, 0.0, 0.5]
    np.testing.assert_allclose(np.abs(at.gaps).sum(axis=(1, 2)), [0.0, 0.0, 4.0, 2.0], atol=1e-15)


@pytest.mark.parametrize("shift, after", [(0.0, 0.0), (SHIFTS[0], 0.0), (1e-2, 1e-4)])
def test_what_holds_a_change_back_becomes_less_where_all_of_it_is_taken(monkeypatch, shift, after):
    at, found = iterated(monkeypatch, [lambda a: 9.0, lambda a: 9.0 if a < 0.6 else 11.0, lambda a: 11.0], 1.0,
                         shift=shift)
    assert found.part.tolist() == [1.0, 0.5, 0.0] and (found.held == (shift > 0.0)).all()
    np.testing.assert_allclose(at.shift, [after, shift, max(SHIFTS[0], 100.0 * shift)])
