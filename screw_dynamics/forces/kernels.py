"""Sum of force elements, compiled for a combination of laws: efforts, their derivatives, energy and power."""
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.space import groups, vary
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import ending, lane, number
from screw_dynamics.compiled.inputs import gather_coordinates, gather_placements
from screw_dynamics.compiled.native import array_at
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.dual import along, no_derivatives, value_of
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, null, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad, Ad_dual_inv, Pose, Twist, Wrench, dot, inverse

from .laws import (
    HEADER,
    LENGTH,
    ON_LINKS,
    TERMS,
    Bodies,
    CoordinateLaw,
    CustomLaw,
    Law,
    LinkLaw,
    PairLaw,
    State,
    loops_on_all,
    loops_on_coordinates,
    loops_on_links,
    loops_on_pairs,
    none_of_them,
    one_after_the_other,
)

ws.reserve(Bodies, kernel(lambda n, b: (TERMS, n)))

WORK = 4 + TERMS        # vectors (nq) of dual numbers: see work_of


# ------------------------------------------------------------------------------------------------- bodies
@kernel
def move_bodies(links: Link, frame: Pose, bodies: Bodies) -> None:
    """Compute poses and twists of all bodies in the root link's frame, whose pose in slot 0 is `frame`; set wrenches to
    0."""
    parent, X, E = links.parent, links.X, links.E
    q, qd, C, V, W = bodies
    C[0], V[0], W[0] = over(inverse(frame), q[0]), zero(Twist, q[0]), zero(Wrench, q[0])
    for i in range(1, len(parent)):
        p = parent[i]
        C[i] = C[p] @ pose(E[i], q[i])
        V[i] = V[p] + qd[i] * Ad(C[i], X[i])
        W[i] = zero(Wrench, q[0])


@kernel
def add_efforts(links: Link, bodies: Bodies, efforts: Any) -> None:
    """Add the joint efforts of the wrenches on bodies to efforts (n): J^T W, from the leaves to the root."""
    parent, k, X = links.parent, links.coordinate, links.X
    C, W = bodies.C, bodies.W
    for i in range(len(parent) - 1, 0, -1):
        efforts[k[i]] += dot(W[i], Ad(C[i], X[i]))
        W[parent[i]] += W[i]


@kernel
def put_wrench(W: Wrench, out: Any) -> None:
    """Write the six numbers of a wrench."""
    a, f = W
    out[0], out[1], out[2], out[3], out[4], out[5] = a.x, a.y, a.z, f.x, f.y, f.z


# ------------------------------------------------------------------------------------------------- the sum
LOOPS = {CoordinateLaw: loops_on_coordinates, PairLaw: loops_on_pairs, LinkLaw: loops_on_links, CustomLaw: loops_on_all}


class Kernels(NamedTuple):
    """Kernels of a combination of laws, for robots of a structure.

    terms(memory, p, like, state, out) computes the sums out (TERMS, n) of the elements at a State, of numbers like
    `like`; accounts(...) their energy and power out (ACCOUNT,), and wrenches(...) the wrenches on bodies out (slots,
    6), in the frames of their links; on_groups: True if they also serve robots with Lie-group joints."""

    terms: Callable
    accounts: Callable
    wrenches: Callable
    on_groups: bool


def loops_on(laws: Iterable[Law]) -> tuple[Callable, Callable]:
    """Return both loops of laws.py over all elements of some laws, in the order of the laws."""
    add = account = none_of_them
    for i, law in enumerate(laws):
        loops = LOOPS[type(law)](law, i)
        add, account = (one_after_the_other(*pair) for pair in zip((add, account), loops, strict=True))
    return add, account


@lru_cache(64)
def kernels_of(laws: tuple[Law, ...], on_groups: bool) -> Kernels:
    """Return the sum over all elements of some laws."""
    add, account = loops_on(laws)
    take, Body = (gather_placements, ws.placed(Bodies)) if on_groups else (gather_coordinates, Bodies)

    @kernel
    def bodies_at(memory, p, like, state):
        links = ws.links_in(memory)
        bodies = ws.body_on_lanes(Body, memory, like)
        take(links, memory, state.q, bodies.q)
        gather(links.coordinate, state.qd, bodies.qd)
        if p[ON_LINKS] > 0.0:
            move_bodies(links, ws.frames_in(memory).C[0], bodies)
        return links, bodies

    @kernel
    def terms(memory, p, like, state, out):
        for k in range(out.shape[1]):
            out[0, k] = out[1, k] = out[2, k] = null(like)
        links, bodies = bodies_at(memory, p, like, state)
        add(p, state, bodies, out)
        if p[ON_LINKS] > 0.0:
            add_efforts(links, bodies, out[0])

    @kernel
    def accounts(memory, p, like, state, out):
        for k in range(len(out)):
            out[k] = null(like)
        links, bodies = bodies_at(memory, p, like, state)
        account(p, state, bodies, out)

    @kernel
    def wrenches(memory, p, like, state, out):
        links, bodies = bodies_at(memory, p, like, state)
        frames, C, W, found = ws.frames_in(memory), bodies.C, bodies.W, np.zeros((TERMS, len(state.qd)))
        out[...] = 0.0
        if p[ON_LINKS] > 0.0:
            add(p, state, bodies, found)
            for i in range(1, len(links.parent)):
                put_wrench(Ad_dual_inv(C[i] @ frames.C[i], W[i]), out[i])
    return Kernels(terms, accounts, wrenches, on_groups)


# ------------------------------------------------------------------------------------------------- entry points
def spec_of_native(kernels: Kernels, lanes: bool) -> KernelSpec:
    """Return the KernelSpec for integrators: native(workspace, p, t, ahead, q, qd, out), all addresses except `ahead`,
    of the numbers of one state or of lanes. At the address p is the count of numbers, and then the numbers."""
    terms, like = kernels.terms, lane if lanes else number

    @compiled(f"forces{ending(lanes, kernels.on_groups)}")
    def native(memory, p, t, ahead, q, qd, out):
        memory, zero_ = ws.memory_at(memory), like()
        head = ws.header(memory)
        n, nq = head.coordinates, head.configuration
        state = State(array_at(zero_, t, (1,))[0], ahead, array_at(zero_, q, (nq,)), array_at(zero_, qd, (n,)))
        terms(memory, numbers_at(p), zero_, state, array_at(zero_, out, (TERMS, n)))
    return KernelSpec(native, ("intp", "intp", "intp", "float64", "intp", "intp", "intp"))


@kernel
def numbers_at(p: int) -> np.ndarray:
    """Return the numbers of all elements at an address. The first is their count."""
    p = int(p)
    return array_at(0.0, p, (int(array_at(0.0, p, (HEADER,))[LENGTH]),))


STATES = ws.numbers_type(1), ws.read_type(1), ws.read_type(1), "float64", ws.read_type(2), ws.read_type(2)


AXES = {"terms": 3, "accounts": 2, "wrenches": 3}      # number of array axes of the kernels' results for many states


def spec_of_states(kernels: Kernels, what: str) -> KernelSpec:
    """Return the KernelSpec for N states, many(workspace, p, t (N,), ahead, q (N, nq), qd (N, n), out).

    what: field of Kernels, for terms (N, TERMS, n), accounts (N, ACCOUNT) or wrenches (N, slots, 6)."""
    one = getattr(kernels, what)

    @compiled(f"forces, {what}")
    def many(memory, p, t, ahead, q, qd, out):
        for i in range(len(t)):
            one(memory, p, 0.0, State(t[i], ahead, q[i], qd[i]), out[i])
    return KernelSpec(many, (*STATES, ws.numbers_type(AXES[what])))


def spec_of_derivatives(kernels: Kernels) -> KernelSpec:
    """Return the KernelSpec for terms and their derivatives by displacements of q along the joint twists and by qd.

    derivatives(workspace, p, t, ahead, q, qd, work, out), with out (N, TERMS, n, 1 + 2n), and memory `work` for WORK nq
    dual numbers."""
    terms = kernels.terms

    @compiled("forces, derivatives")
    def many(memory, p, t, ahead, q, qd, work, out):
        zero_, n, nq = no_derivatives(), qd.shape[1], q.shape[1]
        here, x, u, v, found = work_of(zero_, work, n, nq)
        for i in range(len(t)):
            for first in range(0, 2 * n, WIDTH):
                vary(groups(memory), zero_, q[i], qd[i], first, here, u, x, v)
                terms(memory, p, zero_, State(t[i], ahead, x, v), found)
                for row in range(TERMS):
                    for k in range(n):
                        out[i, row, k, 0] = value_of(found[row, k])
                        for j in range(min(WIDTH, 2 * n - first)):
                            out[i, row, k, 1 + first + j] = along(found[row, k], j)
    return KernelSpec(many, (*STATES, ws.numbers_type(1), ws.numbers_type(4)))


@kernel
def work_of(like: Any, work: np.ndarray, n: int, nq: int) -> tuple:
    """Return vectors of dual numbers: two configurations (nq), a displacement and velocities (n), and terms (TERMS,
    n)."""
    rows = block(like, (WORK, nq), work, 0)
    return rows[0], rows[1], rows[2, :n], rows[3, :n], rows[4:, :n]
