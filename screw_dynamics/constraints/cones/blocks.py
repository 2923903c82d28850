"""Factors of the diagonal blocks of G: of each contact, and of each pair of rolling-friction rows. Computed once a
problem."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import absolute, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .tables import Cones

SOFT = 1e-8             # times the weights of impulses: compliance of rows, which makes impulses unique
DEPENDENT = 1e-14       # times a row's inverse inertia: a smaller one is rounding, of a dependent direction


class Own(NamedTuple):
    """Factors of the 3 x 3 block of a contact: axes (c, s), (-s, c) in which G_tt - G_tn G_nt / G_nn is diag(l1, l2);
    inverses w1, w2, wn of l1, l2, G_nn, 0 for immobile directions; k = G_tn / G_nn in these axes."""

    c: Scalar
    s: Scalar
    l1: Scalar
    l2: Scalar
    w1: Scalar
    w2: Scalar
    wn: Scalar
    k1: Scalar
    k2: Scalar


@kernel
def put_weights(given: Cones, out: np.ndarray) -> None:
    """Set out to the weights of impulses: the inverse inertia G_ii of the row, or the mean of G_ii over the three rows
    of a contact or the two rows of a roll, which makes weights isotropic."""
    G, u, N = given.G, len(given.lower), len(out)
    for i in range(N):
        out[i] = G[i, i]
    for b in range(len(given.mu)):
        i = u + 3 * b
        out[i] = out[i + 1] = out[i + 2] = (G[i, i] + G[i + 1, i + 1] + G[i + 2, i + 2]) / 3.0
    for i in range(N - 2 * len(given.roll_of), N, 2):
        out[i] = out[i + 1] = 0.5 * (G[i, i] + G[i + 1, i + 1])


@kernel
def put_units(given: Cones) -> None:
    """Set free to the units of impulses: the inverse square roots of their weights."""
    unit, one = given.free, null(given.found[0]) + 1.0
    put_weights(given, unit)
    for i in range(len(unit)):
        unit[i] = 1.0 / sqrt(where(unit[i] > 0.0, unit[i], one))


@kernel
def inverse_of(g: Scalar, size: Scalar) -> Scalar:
    """Return 1 / g, or 0 if g is rounding."""
    moves = g > DEPENDENT * size
    return where(moves, 1.0 / where(moves, g, null(g) + 1.0), null(g))


@noinline
def axes(given: Cones, b: int, xx: Scalar, xy: Scalar, yy: Scalar, size: Scalar) -> tuple[Scalar, Scalar]:
    """Write the axes (c, s) that diagonalize a symmetric matrix, its diagonal and the inverse of the diagonal to block
    b of own. Return c and s."""
    own, none = given.own[b], null(size)
    one, half = none + 1.0, 0.5 * (xx - yy)
    width = sqrt(half * half + xy * xy)
    turned = width > 1e-15 * size
    double = 2.0 * where(turned, width, one)
    large = sqrt((width + absolute(half)) / double)
    small = xy / (double * where(turned, large, one))
    c = where(turned, where(half >= 0.0, large, absolute(small)), one)
    s = where(turned, where(half >= 0.0, small, where(xy >= 0.0, large, -large)), none)
    l1 = 0.5 * (xx + yy) + width
    l2 = where(l1 > DEPENDENT * size, (xx * yy - xy * xy) / where(l1 > DEPENDENT * size, l1, one), none)
    own[0], own[1] = c, s
    least = DEPENDENT * size
    own[4], own[5] = inverse_of(l1, size), inverse_of(l2, size)
    own[2], own[3] = where(l1 > least, l1, least), where(l2 > least, l2, least)
    return c, s


@kernel
def factorize(given: Cones) -> None:
    """Fill own, and reset the stored sliding directions."""
    G, size, own, u = given.G, given.size, given.own, len(given.lower)
    m, first = len(given.mu), len(given.x) - 2 * len(given.roll_of)
    for b in range(m):
        i = u + 3 * b
        j, n = i + 1, i + 2
        wn = inverse_of(G[n, n], size[n])
        k1, k2 = G[n, i] * wn, G[n, j] * wn
        c, s = axes(given, b, G[i, i] - k1 * G[n, i], G[i, j] - k1 * G[n, j], G[j, j] - k2 * G[n, j],
                    0.5 * (size[i] + size[j]))
        own[b, 6], own[b, 7], own[b, 8] = wn, c * k1 + s * k2, c * k2 - s * k1
        given.rate[b] = null(wn)
    for b in range(m, len(own)):
        i = first + 2 * (b - m)
        none = null(G[i, i])
        axes(given, b, G[i, i], G[i, i + 1], G[i + 1, i + 1], 0.5 * (size[i] + size[i + 1]))
        own[b, 6], own[b, 7], own[b, 8] = none, none, none
        given.rate[b] = none


@kernel
def own_of(given: Cones, b: int) -> Own:
    """Return the factors of block b."""
    o = given.own[b]
    return Own(o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8])
