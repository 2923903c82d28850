"""Columns of contacts are cleared, multiplied and combined where bodies can move; nothing else in memory is read."""
from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.constraints import min_norm
from screw_dynamics.constraints.cones.tables import cones, numbers
from screw_dynamics.constraints.contacts.columns import (
    clear_spans,
    combine_all,
    coordinates_of,
    put_operator,
    put_spans,
)


def forest(rng, trees, most):
    """Parents of bodies from 1 on, body 0 being the root: trees of up to `most` bodies, one joint each."""
    parent = [-1]
    for _ in range(trees):
        root = len(parent)
        parent.append(0)
        for _ in range(rng.integers(0, most)):
            parent.append(int(rng.integers(root, len(parent))))
    return parent


def path(parent, i):
    """The coordinates of the joints between the root and a body: body k has coordinate k - 1."""
    found = set()
    while i > 0:
        found.add(i - 1)
        i = parent[i]
    return found


@pytest.mark.parametrize("trees, most, whole", [(1, 8, False), (6, 1, False), (8, 4, False), (8, 4, True)])
def test_products_of_columns_are_those_of_all_entries(rng, trees, most, whole):
    for _ in range(20):
        parent = forest(rng, trees, most)
        n, m = len(parent) - 1, int(rng.integers(1, 12))
        of = np.sort(rng.choice(np.arange(1, n + 1), size=min(n, int(rng.integers(0, 4))), replace=False))
        u, pairs = len(of), rng.integers(0, n + 1, size=(m, 2))
        pairs[:, 0] = np.maximum(pairs[:, 0], 1)
        links = SimpleNamespace(parent=parent, coordinate=[-1, *range(n)])
        body = SimpleNamespace(q=[0.0] * (n + 1))
        pair = SimpleNamespace(first=2 * np.arange(m), second=2 * np.arange(m) + 1)
        given = SimpleNamespace(spans=np.full((u + m, 4), -9), rows=np.full((n, 2), -9),
                                contact=SimpleNamespace(pair=np.arange(m)),
                                geometry=SimpleNamespace(pair=pair, collider=SimpleNamespace(body=pairs.ravel())))
        N = u + 3 * m
        problem = min_norm.problem(0.0, n, N, np.full(min_norm.numbers(n, N), np.nan), 0)
        found = cones(0.0, u, m, np.full(numbers(u, m), np.nan), 0)
        problem.b[0], out, coordinates = 0.0, np.zeros(n), np.arange(n)
        put_spans(links, body, given, of, coordinates, found, whole)
        if whole:
            problem.Y[:] = 0.0
        else:
            clear_spans(given, coordinates, u, found, problem.Y, 0)
        Y = np.zeros((n, N))
        for row in range(N):
            bodies = of[row:row + 1] if row < u else pairs[(row - u) // 3]
            for k in set().union(*(path(parent, i) for i in bodies)):
                Y[k, row] = rng.normal()
                problem.Y[k, row] += Y[k, row]
        put_operator(given, problem, 0, found)
        G, ends = Y.T @ Y, found.ends.astype(int)
        assert (np.diff(ends) >= 0).all() and (ends > np.arange(N)).all()
        for i in range(N):
            np.testing.assert_allclose(found.G[i, i:ends[i]], G[i, i:ends[i]], rtol=1e-13, atol=1e-14)
            np.testing.assert_array_equal(found.G[i:ends[i], i], found.G[i, i:ends[i]])
            assert not G[i, ends[i]:].any()
        x = rng.normal(size=N)
        combine_all(given, coordinates, problem, 0, u, x, out)
        np.testing.assert_allclose(out, Y @ x, rtol=1e-12, atol=1e-13)


def test_separate_bodies_are_not_coupled():
    """Six motions each: the columns of a body's contacts end before those of the next."""
    links = SimpleNamespace(parent=[-1, *(k if k % 6 else 0 for k in range(18))], coordinate=[-1, *range(18)])
    assert [coordinates_of(links, 6 * k) for k in (1, 2, 3)] == [(0, 6), (6, 12), (12, 18)]
    assert coordinates_of(links, 0)[0] >= coordinates_of(links, 0)[1]
