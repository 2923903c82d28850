"""Force laws as kernels: laws on coordinates or on links, and the loops over all elements of a law.

The numbers of an element are a row of an array `p`, beginning at `s`: first its location, then its own numbers. A law
has a single implementation for numbers, lanes and dual numbers, which differentiate it."""
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from screw_dynamics.compiled.native import at, call_and_raise, function_at, read_only, zeros_like
from screw_dynamics.jit.numba_internals.compiler import overload
from screw_dynamics.numbers.lanes import WIDTH, extract, insert
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dot


class Impedance(NamedTuple):
    """Effort of an element along x, and its change during a step, -stiffness dx - damping dx'.

    stiffness and damping are secants >= 0, for implicit integrators. damping x'^2 is the dissipated power."""

    effort: Scalar
    stiffness: Scalar
    damping: Scalar


class Push(NamedTuple):
    """Wrench of an element on its second link, about the origin of the root link's frame and in its axes. The first
    link gets the opposite. lost: the dissipated power, W."""

    wrench: Wrench
    lost: Scalar


class CoordinateLaw(NamedTuple):
    """impedance(p, s, t, x, v) -> Impedance, for x = sum c_i q_i, a sum of coordinates, and its rate v.

    energy(p, s, x) -> J: stored energy; None if the law stores none. width: count of its numbers."""

    width: int
    impedance: Callable
    energy: Callable | None = None


class Pair(NamedTuple):
    """Efforts of an element on x and y, and its dissipated power, W."""

    of_x: Scalar
    of_y: Scalar
    lost: Scalar


class PairLaw(NamedTuple):
    """pair(p, s, t, x, v, y, w) -> Pair, for x = sum c_i q_i with its rate v, and another coordinate y with its rate w.

    energy(p, s, x, y) -> J: stored energy; None if the law stores none. width: count of its numbers."""

    width: int
    pair: Callable
    energy: Callable | None = None


class LinkLaw(NamedTuple):
    """push(p, s, t, A, U, B, V) -> Push, for the poses A, B and twists U, V of two links in the root link's frame.

    energy(p, s, A, B) -> J, or None; width: count of its numbers."""

    width: int
    push: Callable
    energy: Callable | None = None


class CustomLaw(NamedTuple):
    """A user-defined function(t, q, qd, p, tau) of one state that sets efforts tau (n), which are 0 before.

    Arguments are time, q (nq), qd (n) and parameters p. The function is compiled alone: elements contain its address.
    Its power is neither stored nor lost. width: 0, as elements have different counts of parameters."""

    width: int = 0


Law: TypeAlias = CoordinateLaw | PairLaw | LinkLaw | CustomLaw


class Bodies(NamedTuple):
    """Data of each body: joint coordinate and rate; pose and twist in the root link's frame; the wrench on the body
    there."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist
    W: Wrench


class State(NamedTuple):
    """State for the elements: time, configuration (nq), velocities (n), and the time `ahead`.

    Coordinates of elements at one joint are taken `ahead` of q along qd. It is > 0 in steps that treat stiffness and
    damping as added inertia. Elements on several coordinates are excluded, as that inertia would resist a common motion
    of both."""

    t: Any
    ahead: Any
    q: Any
    qd: Any


# Rows of the sums over elements, (TERMS, n).
EFFORT, STIFFNESS, DAMPING = range(3)
TERMS = 3
# Entries of an account of energy and power: stored, J; lost, W; power of elements without storage, W.
STORED, LOST, GIVEN = range(3)
ACCOUNT = 3
# Header of the numbers p: their count, the count of elements on links; then for each law see range_of.
LENGTH, ON_LINKS = 0, 1
HEADER = 2
COORDINATE = 3          # numbers per coordinate of a law, after their count: velocity index, q index, factor
OF_Y = 2                # numbers for y of a law on x and y: its velocity index and q index
LINK = 2                # numbers for a law on links: the slots of two bodies
# Numbers of an element with a function, before its parameters: the addresses of the function for numbers and for dual
# numbers, and the count of the parameters.
OF_NUMBERS, OF_DUALS, COUNT = range(3)
FUNCTION = 3


@kernel
def range_of(p: np.ndarray, number: int) -> tuple[int, int]:
    """Return the number of elements of a law in a sum, and the position in p of the first one."""
    return int(p[HEADER + 2 * number]), int(p[HEADER + 1 + 2 * number])


@kernel
def coordinate(q: list, qd: list, ahead: Any, k: int, m: int) -> Scalar:
    """Return the coordinate at index m of q, ahead along velocity k; 0 for a velocity without a coordinate."""
    return q[m] + ahead * qd[k] if m >= 0 else null(qd[k])


@kernel
def sum_of(p: np.ndarray, s: int, q: list, qd: list, ahead: Any) -> tuple:
    """Return x = sum c_i q_i and its rate for the element at s, and the position of its own numbers.

    x is taken ahead if the element acts on a single coordinate."""
    own = s + 1 + COORDINATE * int(p[s])
    x = v = null(qd[0])
    for i in range(s + 1, own, COORDINATE):
        k, c = int(p[i]), p[i + 2]
        x += c * coordinate(q, qd, ahead if p[s] == 1.0 else 0.0, k, int(p[i + 1]))
        v += c * qd[k]
    return x, v, own


@kernel
def put_efforts(p: np.ndarray, s: int, own: int, effort: Scalar, out: Any) -> None:
    """Add the effort on x of the element at s to its coordinates."""
    for i in range(s + 1, own, COORDINATE):
        out[EFFORT, int(p[i])] += p[i + 2] * effort


def loops_on_coordinates(law: CoordinateLaw, number: int) -> tuple[Callable, Callable]:
    """Return add(p, state, bodies, out (TERMS, n)) and account(p, state, bodies, out (ACCOUNT,)) over all elements of
    a law, the `number`-th of a sum."""
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


@noinline
def call_function(p: np.ndarray, s: int, which: int, t: float, q: Any, qd: Any, tau: Any) -> None:
    """Call the function of the element at s, OF_NUMBERS or OF_DUALS, for one state. It sets tau, and may raise."""
    call_and_raise(int(p[s + which]), (t, at(q), at(qd), at(p) + 8 * (s + FUNCTION), at(tau), len(q), len(qd),
                                       int(p[s + COUNT])))


def set_efforts(p: np.ndarray, s: int, t: Any, q: Any, qd: Any, tau: Any) -> None:
    """Call the function of the element at s for one state, or for each state on lanes. tau (n) is 0 before."""
    own = s + FUNCTION
    function_at(int(p[s]), 0)(t, read_only(q), read_only(qd), read_only(p[own:own + int(p[s + COUNT])]), tau)


@overload(set_efforts)
def _set_efforts(p, s, t, q, qd, tau):
    if tau.dtype is not numba_types.LANE:
        which = OF_DUALS if tau.dtype is numba_types.DUAL else OF_NUMBERS
        return lambda p, s, t, q, qd, tau: call_function(p, s, which, t, q, qd, tau)

    def each(p, s, t, q, qd, tau):
        n, nq = len(qd), len(q)
        memory = np.empty(nq + 2 * n)
        x, v, u = memory[:nq], memory[nq:nq + n], memory[nq + n:]
        for place in range(WIDTH):
            for k in range(nq):
                x[k] = extract(q[k], place)
            for k in range(n):
                v[k], u[k] = extract(qd[k], place), 0.0
            call_function(p, s, OF_NUMBERS, extract(t, place), x, v, u)
            for k in range(n):
                tau[k] = insert(tau[k], place, u[k])
    return each


def loops_on_all(law: CustomLaw, number: int) -> tuple[Callable, Callable]:
    """Return add and account of `loops_on_coordinates` for user-defined functions, which may act on all joints."""
    def loop(take):
        @kernel
        def over_all(p, state, bodies, out):
            count, s = range_of(p, number)
            for _ in range(count):
                tau = zeros_like(state.qd)
                set_efforts(p, s, state.t, state.q, state.qd, tau)
                for k in range(len(tau)):
                    take(out, k, tau[k], state.qd[k])
                s += FUNCTION + int(p[s + COUNT])
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
    """Do nothing: the sum over no law."""


def one_after_the_other(first: Callable, then: Callable) -> Callable:
    """Return a loop that runs two loops."""
    @kernel
    def both(p, state, bodies, out):
        first(p, state, bodies, out)
        then(p, state, bodies, out)
    return both
