"""Sliding of one contact: the tangential impulse y (2) of length p - k . y that opposes the resulting velocity, (A + s
I) y = -a for some s > 0, in axes where A = diag(l).

A contact whose normal is held has the tangential velocity a + A y, which is -s y: opposed to y. Its normal impulse is n
- K . y: |y| = mu (n - K . y), p = mu n, k = mu K. This is a conic with a focus at 0. As s grows from 0 (sticking), y
shrinks from outside the conic to 0: a solution exists for any k. 1 / (|y| + k . y) is linear in s if both l are equal,
and nearly linear otherwise: Newton's method on it, in a bracket. Bonnefon and Daviet (2011) solve a quartic for the
same s."""
from typing import NamedTuple

from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

CLOSE = 1e-9            # relative to s + l: a smaller step of Newton's method leaves an error of its square
MOST = 60               # steps; bisection halves 1000 bits in these


class Plane(NamedTuple):
    """Two directions: inverse inertias l1 >= l2 > 0 of each alone, and the coupling k to the allowed length."""

    l1: Scalar
    l2: Scalar
    k1: Scalar
    k2: Scalar


class Slip(NamedTuple):
    """A tangential impulse, and the factor s: its sliding velocity is -s times the impulse."""

    y1: Scalar
    y2: Scalar
    s: Scalar


@kernel
def bracket(of: Plane, a1: Scalar, a2: Scalar, p: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Return lower and upper bounds of s, and an estimate: the solution if both l were the value of A along a."""
    size, none = sqrt(a1 * a1 + a2 * a2), null(p)
    k = absolute(of.k1) + absolute(of.k2)
    least, most = (1.0 - k) * size / p - of.l1, (1.0 + k) * size / p - of.l2
    along = (a1 * a1 * of.l1 + a2 * a2 * of.l2) / (size * size)
    guess = (size - of.k1 * a1 - of.k2 * a2) / p - along
    least = where(least > 0.0, least, none)
    most = where(most > least, most, least)
    return least, most, where((guess > least) & (guess < most), guess, where(guess >= most, most, least))


@noinline
def slide(of: Plane, a1: Scalar, a2: Scalar, p: Scalar, start: Scalar, wanted: Scalar) -> Slip:
    """Return the impulse of length p - k . y, p > 0, and its rate s, starting at `start` if > 0. For lanes with wanted
    > 0 whose impulse at s = 0 is longer."""
    none = null(p)
    one = none + 1.0
    a1, p = where(wanted > 0.0, a1, one), where(wanted > 0.0, p, one)
    low, high, s = bracket(of, a1, a2, p)
    s = where((start > low) & (start < high), start, s)
    live = wanted
    for _ in range(MOST):
        t1, t2 = 1.0 / (of.l1 + s), 1.0 / (of.l2 + s)
        y1, y2 = -a1 * t1, -a2 * t2
        size = sqrt(y1 * y1 + y2 * y2)
        length = size + of.k1 * y1 + of.k2 * y2
        fall = y1 * y1 * t1 + y2 * y2 * t2 + size * (of.k1 * y1 * t1 + of.k2 * y2 * t2)      # -size d length / d s
        low, high = where(length > p, s, low), where(length > p, high, s)
        sound = (length > 0.0) & (fall > 0.0)
        after = s + where(sound, length * (length - p) * size, none) / where(sound, p * fall, one)
        middle = sqrt((of.l1 + low) * (of.l1 + high)) - of.l1
        after = where(sound & (after >= low) & (after <= high), after, middle)
        going = live > 0.0
        live = where(going & (absolute(after - s) > CLOSE * (s + of.l2)), one, none)
        s = where(going, after, s)
        if not some(live > 0.0):
            break
    return Slip(-a1 / (of.l1 + s), -a2 / (of.l2 + s), s)
