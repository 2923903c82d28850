"""One source for all modes: the algebra compiled, in plain Python and in 50 digits; and kinds that do not mix."""
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from screw_dynamics.jit.numba_internals.compiler import FLAGS, start
from screw_dynamics.numbers.tables import Screws, Square, columns, packed, size, table, width
from screw_dynamics.numbers.values import build, kernel, numbers
from screw_dynamics.screws import se3
from screw_dynamics.screws.arrays import twist
from screw_dynamics.screws.inertia import Articulated, Inertia, articulated, moved, shifted_articulated, square
from screw_dynamics.screws.se3 import Pose, Twist, Wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import AlongZ, InPlaneXY, Matrix3, Symmetric3, Vec3, cross
from support.matrices import error
from support.scalar_kinds import lifted
from support.screw_samples import BELOW_PI, SMALL, random_values, screws

start()         # functions of these tests are njit's


class Given(NamedTuple):
    """Columns of what the algebra is tried on."""

    X: Twist
    Y: Twist
    W: Wrench
    M: Inertia


class Found(NamedTuple):
    """Columns of what comes out."""

    C: Pose
    log: Twist
    Ad: Twist
    Ad_inv: Twist
    Ad_dual: Wrench
    Ad_dual_inv: Wrench
    ad: Twist
    ad_dual: Wrench
    dexp: Twist
    dexp_inv: Twist
    moved: Inertia
    momentum: Wrench
    articulated: Articulated


@kernel
def evaluate(given, found):
    """The whole algebra, row by row."""
    for i in range(len(given.X)):
        X, Y, W, M = given.X[i], given.Y[i], given.W[i], given.M[i]
        C = se3.exp(X)
        found.C[i], found.log[i] = C, se3.log(C)
        found.Ad[i], found.Ad_inv[i] = se3.Ad(C, Y), se3.Ad_inv(C, Y)
        found.Ad_dual[i], found.Ad_dual_inv[i] = se3.Ad_dual(C, W), se3.Ad_dual_inv(C, W)
        found.ad[i], found.ad_dual[i] = se3.ad(X, Y), se3.ad_dual(X, W)
        found.dexp[i], found.dexp_inv[i] = se3.dexp(X, Y), se3.dexp_inv(X, Y)
        found.moved[i], found.momentum[i] = moved(C, M), M @ Y
        found.articulated[i] = shifted_articulated(C.p, articulated(M) - square(W, W.torque.x))


@njit(**FLAGS)
def evaluate_compiled(given, found):
    evaluate(table(Given, 0.0, len(given), given, 0), table(Found, 0.0, len(given), found, 0))


def given_rows(rng, angles):
    """Values to try the algebra on, one screw of each angle about each axis."""
    return [Given(twist(X), *random_values(rng, Twist, Wrench, Inertia))
            for angle in angles for X in screws(rng, angle)]


def evaluated(rows):
    """The algebra in plain Python, on whatever numbers the rows are made of: one Found a row."""
    found = table(Found, None, len(rows))
    evaluate(columns(Given, rows), found)
    return list(map(Found._make, zip(*found, strict=True)))


def assert_close(found, expected, bound):
    """Each value within a bound, relative to its largest number."""
    for name, a, b in zip(Found._fields, found, expected, strict=True):
        assert error(numbers(a), numbers(b)) < bound, name


@pytest.mark.slow
def test_compiled_and_plain_give_the_same(rng):
    rows = given_rows(rng, SMALL + BELOW_PI + [4.0, 6.0])
    given, found = packed(rows), np.empty((len(rows), width(Found)))
    evaluate_compiled(given, found)
    for row, expected in zip(found, evaluated(rows), strict=True):
        assert_close(build(Found, row), expected, 1e-14)


class Sparse(NamedTuple):
    """Columns of values with numbers that are always 0."""

    a: AlongZ
    b: InPlaneXY
    v: Vec3


class Sums(NamedTuple):
    """Columns of what is made of them."""

    a_v: Vec3
    v_a: Vec3
    a_b: Vec3
    b_a: Vec3
    of_all: Vec3
    moved: Vec3
    powers: Vec3


@kernel
def combine(given, found):
    """All sums and differences, and products."""
    for i in range(len(given.a)):
        a, b, v = given.a[i], given.b[i], given.v[i]
        found.a_v[i], found.v_a[i], found.a_b[i], found.b_a[i] = a - v, v - a, a - b, b - a
        found.of_all[i] = -(-a - b) + (b + v)
        found.moved[i], found.powers[i] = v - cross(a, v), Vec3(a @ v, v @ b, a.z / v.z)


@njit(**FLAGS)
def combine_compiled(given, found):
    combine(table(Sparse, 0.0, len(given), given, 0), table(Sums, 0.0, len(given), found, 0))


def test_numbers_that_are_always_zero_are_omitted_without_a_difference(rng):
    rows = [Sparse(Vec3(0.0, 0.0, z), Vec3(x, y, 0.0), Vec3(*v)) for x, y, z, *v in rng.normal(size=(5, 6))]
    given, found, expected = packed(rows), np.empty((5, width(Sums))), table(Sums, None, 5)
    combine_compiled(given, found)
    combine(columns(Sparse, rows), expected)
    assert given.shape == (5, 6)
    for row, values in zip(found, zip(*expected, strict=True), strict=True):
        np.testing.assert_allclose(row, numbers(values), rtol=1e-15)


class Mixed(NamedTuple):
    """Columns of every kind."""

    X: Twist
    H: Square
    J: Screws
    a: AlongZ
    G: Screws


@njit(**FLAGS)
def count_through(memory, start, n):
    """Number all that a table holds, from 0 on; how many they are."""
    body, count = table(Mixed, 0.0, n, memory, start), 0.0
    for i in range(n):
        body.X[i] = Twist(Vec3(count, count + 1.0, count + 2.0), Vec3(count + 3.0, count + 4.0, count + 5.0))
        body.a[i] = Vec3(body.a[i].x, body.a[i].y, count + 6.0)
        count += 7.0
        for j in range(n):
            body.H[i, j] = count
            count += 1.0
        for k in range(6):
            body.J[k, i], body.G[k, i] = count, count + 1.0
            count += 2.0
    return count


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_table_is_as_large_as_is_said(n):
    """Each number has a place of its own in the memory of that size, and nothing around it is touched."""
    memory = np.full(size(Mixed, n) + 16, -1.0)
    count = count_through(memory, 7, n)
    assert sorted(memory[7:-9]) == list(range(int(count))) and {*memory[:7], *memory[-9:]} == {-1.0}


@pytest.mark.slow
def test_floats_are_as_good_as_50_digits(rng):
    rows = given_rows(rng, SMALL + BELOW_PI + [4.0])
    with mpmath.workdps(50):
        exact = evaluated(lifted(mpmath.mpf, rows))
    for found, expected in zip(evaluated(rows), exact, strict=True):
        assert_close(found, expected, 5e-14)


@pytest.mark.parametrize("angle", [1e-20, 1e-3, 2.5, 3.0, 3.14])
def test_50_digits_are_50_digits(rng, angle):
    """No constant of the algebra is a rounded one: log undoes exp, and dexp_inv dexp, to the last digits.

    Between 0.01 and 2.5 rad the series ends where float64 does, with an error below 1e-21."""
    with mpmath.workdps(50):
        for X, Y, *_ in lifted(mpmath.mpf, given_rows(rng, [angle])):
            for found, expected in ((se3.log(se3.exp(X)), X), (se3.dexp_inv(X, se3.dexp(X, Y)), Y)):
                assert max(abs(a - b) for a, b in zip(numbers(found), numbers(expected), strict=True)) < 1e-45


# ------------------------------------------------------------------------------------------------- kinds
KINDS = dict(a=Vec3, A=Matrix3, R=Rotation, S=Symmetric3, C=Pose, V=Twist, W=Wrench, M=Inertia, N=Articulated)
VALUES = dict(zip(KINDS, random_values(np.random.default_rng(1), *KINDS.values()), strict=True), x=2.0)


@pytest.mark.parametrize("expression", [
    "V + W", "W - V", "V * V", "V + x", "C + C", "2 * C", "R * x", "V @ W", "V @ V", "W @ V", "M @ W", "V @ M", "M + N",
    "N + M", "a + V", "a * a", "a + (1.0, 2.0, 3.0)", "A + S", "R + R", "R @ V", "C @ V", "A @ R", "M @ a", "a + x",
    "-V + -W"])
def test_kinds_do_not_mix(expression):
    """What has no meaning is refused in plain Python and by the compiler, not answered with a tuple."""
    names = sorted(set(expression) & set(VALUES))
    function = eval(f"lambda {', '.join(names)}: {expression}")
    arguments = [VALUES[name] for name in names]
    with pytest.raises(TypeError):
        function(*arguments)
    with pytest.raises(TypingError):
        njit(function)(*arguments)
