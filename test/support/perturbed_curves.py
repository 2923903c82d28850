"""Costs of curves on groups that are moved aside between their ends: X(t) exp(e f(t) w)."""
import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
PIECES = 8              # of each segment
ZERO = np.polynomial.Polynomial([0.0])


def with_zeros(*times):
    """A polynomial f(t) of a size near 1 that is zero at some times, at each as often as it is given."""
    f = np.polynomial.Polynomial.fromroots(times)
    return f / np.abs(f(np.linspace(min(times), max(times), 50))).max()


def cost_aside(curve, Q, w, size=0.0, f=ZERO, of="velocity"):
    """The integral of half the squared velocity, or of the acceleration's "components" or "covariant" derivative.

    Along w the displacement has the velocity e f' w and the acceleration e f'' w."""
    group, times, total = curve.group, curve.times, 0.0
    for start, stop in zip(times[:-1], times[1:], strict=True):
        edges = np.linspace(start, stop, PIECES + 1)
        for a, b in zip(edges[:-1], edges[1:], strict=True):
            t = a + 0.5 * (b - a) * (1.0 + NODES)
            _, V, Vd = curve.motion(t)
            back = group.Ad(group.exp(-size * f(t)[:, None] * w))
            u, ud = (size * f.deriv(k)(t)[:, None] * w for k in (1, 2))
            V, Vd = (np.einsum("tij,tj->ti", back, x) for x in (V, Vd))
            Vd = Vd - group.bracket(u, V) + ud
            V = V + u
            if of == "covariant":
                Vd = Vd - np.linalg.solve(Q, np.einsum("tji,tj->it", group.ad(V), V @ Q)).T
            x = V if of == "velocity" else Vd
            total += 0.5 * (b - a) * WEIGHTS @ (0.5 * np.einsum("ti,ij,tj->t", x, Q, x))
    return total


def excess(curve, Q, w, f, of, sizes=(0.02, 0.01)):
    """By how much curves aside cost more than one, at two distances."""
    least = cost_aside(curve, Q, w, 0.0, f, of)
    return [cost_aside(curve, Q, w, size, f, of) - least for size in sizes]
