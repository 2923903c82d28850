"""Force elements as kernels: a law on coordinates, or on links; and the loops over all elements of a law.

The numbers of an element are a row of an array `p`, from position `s` on: first where it acts, then its own. A law is
written once, for numbers, for lanes and for dual numbers, by which it is differentiated."""
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from screw_dynamics.compiled.native import read_only, zeros_like
from screw_dynamics.numba_internals.compiler import overload
from screw_dynamics.numbers.lanes import WIDTH, extract, insert
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dot


class Impedance(NamedTuple):
    """The effort of an element along x, and how it changes as a step goes on: by -stiffness dx - damping dx', both >= 0
    and secants, of which implicit integrators make use. damping x'^2 is the power that the element takes away."""

    effort: Scalar
    stiffness: Scalar
    damping: Scalar


class Push(NamedTuple):
    """The wrench of an element on its second link, about the origin of the root link's frame and in its axes; the first
    link gets the opposite. lost: the power, W, that the element takes away for good."""

    wrench: Wrench
    lost: Scalar


class CoordinateLaw(NamedTuple):
    """impedance(p, s, t, x, v) -> Impedance, of x = sum c_i q_i, a sum of coordinates, and its rate v.

    energy(p, s, x) -> J: what is stored; None of a law that stores nothing. width: how many numbers it has."""

    width: int
    impedance: Callable
    energy: Callable | None = None


class Pair(NamedTuple):
    """The efforts of an element on x and on y, and the power, W, that it takes away for good."""

    of_x: Scalar
    of_y: Scalar
    lost: Scalar


class PairLaw(NamedTuple):
    """pair(p, s, t, x, v, y, w) -> Pair, of x = sum c_i q_i and its rate v, and of one coordinate more, y, and its
    rate w.

    energy(p, s, x, y) -> J: what is stored; None of a law that stores nothing. width: how many numbers it has."""

    width: int
    pair: Callable
    energy: Callable | None = None


class LinkLaw(NamedTuple):
    """push(p, s, t, A, U, B, V) -> Push, of the poses A, B and twists U, V of two links in the root link's frame.

    energy(p, s, A, B) -> J, or None; width: how many numbers it has."""

    width: int
    push: Callable
    energy: Callable | None = None


class CustomLaw(NamedTuple):
    """set_efforts(t, q, qd, p, tau), a function of one state: it sets efforts tau (n), which are 0, from the time, q
    (nq), qd (n) and its own numbers p (width,). Of its power nothing is known to be stored or lost."""

    width: int
    set_efforts: Callable


Law: TypeAlias = CoordinateLaw | PairLaw | LinkLaw | CustomLaw


class Bodies(NamedTuple):
    """Data of each body: joint coordinate and rate; pose and twist in the root link's frame; the wrench on it there."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist
    W: Wrench


class State(NamedTuple):
    """The state on which elements act: the time, the configuration (nq) and velocities (n), and how far ahead of q
    along qd the coordinate of an element at one joint is. It is > 0 in steps that take stiffness and damping as added
    inertia, of which those of an element on several coordinates have no part: it would resist what moves both alike."""

    t: Any
    ahead: Any
    q: Any
    qd: Any


# Rows of what elements add up to, (TERMS, n).
EFFORT, STIFFNESS, DAMPING = range(3)
TERMS = 3
# Of an account of energy and power: what is stored, J; what is lost, W; what elements that store nothing give, W.
STORED, LOST, GIVEN = range(3)
ACCOUNT = 3
# Of all numbers p: how many there are, how many elements act on links; then of each law see range_of.
LENGTH, ON_LINKS = 0, 1
HEADER = 2
COORDINATE = 3          # of where a law on coordinates acts, behind how many: of each, velocity, place in q, factor
OF_Y = 2                # besides, of a law on x and y: velocity of y, and its place in q
LINK = 2                # of where a law on links acts: the slots of two bodies


@kernel
def range_of(p: np.ndarray, number: int) -> tuple[int, int]:
    """Return the number of elements that a law of a sum has, and the position in p of the first one."""
    return int(p[HEADER + 2 * number]), int(p[HEADER + 1 + 2 * number])


@kernel
def coordinate(q: list, qd: list, ahead: Any, k: int, m: int) -> Scalar:
    """Return the coordinate at place m of q, ahead along velocity k; 0 of a velocity that has none."""
    return q[m] + ahead * qd[k] if m >= 0 else null(qd[k])


@kernel
def sum_of(p: np.ndarray, s: int, q: list, qd: list, ahead: Any) -> tuple:
    """x = sum c_i q_i and its rate, of the element at s, and where its own numbers begin; ahead if it acts on one
    coordinate alone."""
    own = s + 1 + COORDINATE * int(p[s])
    x = v = null(qd[0])
    for i in range(s + 1, own, COORDINATE):
        k, c = int(p[i]), p[i + 2]
        x += c * coordinate(q, qd, ahead if p[s] == 1.0 else 0.0, k, int(p[i + 1]))
        v += c * qd[k]
    return x, v, own


@kernel
def put_efforts(p: np.ndarray, s: int, own: int, effort: Scalar, out: Any) -> None:
    """Add the effort of the element at s on x to those of its coordinates."""
    for i in range(s + 1, own, COORDINATE):
        out[EFFORT, int(p[i])] += p[i + 2] * effort


def loops_on_coordinates(law: CoordinateLaw, number: int) -> tuple[Callable, Callable]:
    """add(p, state, bodies, out (TERMS, n)) and account(p, state, bodies, out (ACCOUNT,)) of all elements of a law, the
    `number`-th of a sum."""
    impedance, energy, stores, width = law.impedance, law.energy or nothing, law.energy is not None, law.width

    @kernel
    def add(p, state, bodies, out):
        count, s = range_of(p, number)
        for _ in range(count):
            x, v, own = sum_of(p, s, state.q, state.qd, state.ahead)
            found = impedance(p, own, state.t, x, v)
            put_efforts(p, s, own, found.effort, out)
            if p[s] == 1.0 or state.ahead == 0.0:
                for i in range(s + 1, own, COORDINATE):
                    k, c = int(p[i]), p[i + 2]
                    out[STIFFNESS, k] += (c * c) * found.stiffness
                    out[DAMPING, k] += (c * c) * found.damping
            s = own + width

    @kernel
    def account(p, state, bodies, out):
        count, s = range_of(p, number)
        for _ in range(count):
            x, v, own = sum_of(p, s, state.q, state.qd, 0.0)
            found = impedance(p, own, state.t, x, v)
            lost = found.damping * v * v
            out[LOST] += lost
            if stores:
                out[STORED] += energy(p, own, x)
            else:
                out[GIVEN] += found.effort * v + lost
            s = own + width
    return add, account


def loops_on_pairs(law: PairLaw, number: int) -> tuple[Callable, Callable]:
    """Return add and account of `loops_on_coordinates` for a law on x and y."""
    pair, energy, stores, width = law.pair, law.energy or nothing, law.energy is not None, law.width

    @kernel
    def add(p, state, bodies, out):
        count, s = range_of(p, number)
        for _ in range(count):
            x, v, of_y = sum_of(p, s, state.q, state.qd, 0.0)
            k, own = int(p[of_y]), of_y + OF_Y
            y = coordinate(state.q, state.qd, 0.0, k, int(p[of_y + 1]))
            found = pair(p, own, state.t, x, v, y, state.qd[k])
            put_efforts(p, s, of_y, found.of_x, out)
            out[EFFORT, k] += found.of_y
            s = own + width

    @kernel
    def account(p, state, bodies, out):
        count, s = range_of(p, number)
        for _ in range(count):
            x, v, of_y = sum_of(p, s, state.q, state.qd, 0.0)
            k, own = int(p[of_y]), of_y + OF_Y
            y, w = coordinate(state.q, state.qd, 0.0, k, int(p[of_y + 1])), state.qd[k]
            found = pair(p, own, state.t, x, v, y, w)
            out[LOST] += found.lost
            if stores:
                out[STORED] += energy(p, own, x, y)
            else:
                out[GIVEN] += found.of_x * v + found.of_y * w + found.lost
            s = own + width
    return add, account


def loops_on_links(law: LinkLaw, number: int) -> tuple[Callable, Callable]:
    """Return add and account of `loops_on_coordinates` for a law on links; `add` adds wrenches to bodies.W."""
    push, energy, stores, width = law.push, law.energy or nothing, law.energy is not None, law.width

    @kernel
    def add(p, state, bodies, out):
        count, first = range_of(p, number)
        C, V, W = bodies.C, bodies.V, bodies.W
        for s in range(first, first + count * (LINK + width), LINK + width):
            i, j = int(p[s]), int(p[s + 1])
            wrench = push(p, s + LINK, state.t, C[i], V[i], C[j], V[j]).wrench
            W[j] += wrench
            W[i] -= wrench

    @kernel
    def account(p, state, bodies, out):
        count, first = range_of(p, number)
        C, V = bodies.C, bodies.V
        for s in range(first, first + count * (LINK + width), LINK + width):
            i, j = int(p[s]), int(p[s + 1])
            found = push(p, s + LINK, state.t, C[i], V[i], C[j], V[j])
            out[LOST] += found.lost
            if stores:
                out[STORED] += energy(p, s + LINK, C[i], C[j])
            else:
                out[GIVEN] += dot(found.wrench, V[j]) - dot(found.wrench, V[i]) + found.lost
    return add, account


def place_by_place(set_efforts: Callable, t: Any, q: Any, qd: Any, p: np.ndarray, tau: Any) -> None:
    """Call a function of one state, which may write tau alone, on each state of lanes; on others directly."""
    set_efforts(t, read_only(q), read_only(qd), read_only(p), tau)


@overload(place_by_place)
def _place_by_place(set_efforts, t, q, qd, p, tau):
    if tau.dtype is not numba_types.LANE:
        return lambda set_efforts, t, q, qd, p, tau: set_efforts(t, read_only(q), read_only(qd), read_only(p), tau)

    def each(set_efforts, t, q, qd, p, tau):
        x, v, u = np.empty(len(q)), np.empty(len(qd)), np.empty(len(qd))
        for place in range(WIDTH):
            for k in range(len(q)):
                x[k] = extract(q[k], place)
            for k in range(len(qd)):
                v[k], u[k] = extract(qd[k], place), 0.0
            set_efforts(extract(t, place), read_only(x), read_only(v), read_only(p), u)
            for k in range(len(qd)):
                tau[k] = insert(tau[k], place, u[k])
    return each


def loops_on_all(law: CustomLaw, number: int) -> tuple[Callable, Callable]:
    """Return add and account of `loops_on_coordinates` for a user's law, of which each element may act on all
    joints."""
    width, set_efforts = law

    def loop(take):
        @kernel
        def over_all(p, state, bodies, out):
            count, first = range_of(p, number)
            for s in range(first, first + count * width, width):
                tau = zeros_like(state.qd)
                place_by_place(set_efforts, state.t, state.q, state.qd, p[s:s + width], tau)
                for k in range(len(tau)):
                    take(out, k, tau[k], state.qd[k])
        return over_all
    return loop(take_effort), loop(take_power)


@kernel
def take_effort(out: Any, k: int, tau: Scalar, v: Scalar) -> None:
    """Add the effort of a joint to a sum (TERMS, n)."""
    out[EFFORT, k] += tau


@kernel
def take_power(out: Any, k: int, tau: Scalar, v: Scalar) -> None:
    """Add the power of a joint to an account (ACCOUNT,)."""
    out[GIVEN] += tau * v


@kernel
def nothing(*arguments: Any) -> float:
    """Return the energy of a law that stores none."""
    return 0.0


@kernel
def none_of_them(p: np.ndarray, state: State, bodies: Bodies, out: Any) -> None:
    """A sum over no law."""


def one_after_the_other(first: Callable, then: Callable) -> Callable:
    """Both of two loops."""
    @kernel
    def both(p, state, bodies, out):
        first(p, state, bodies, out)
        then(p, state, bodies, out)
    return both
