"""Compiled recursions, called from Python with arrays."""
from collections.abc import Callable
from functools import cache

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import lane, number
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.constraints.box_lcp import FREE
from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec, compiled
from screw_dynamics.numbers.lanes import WIDTH

from .costates import costates, euler_costates
from .euler_steps import euler_steps
from .matrix_products import padded
from .riccati import sweep
from .riccati_memory import TOLD, Feedback, Motions, sizes, work_numbers

FEW = 2                 # motions that take less time sequentially than on lanes


def spec_of_riccati(lanes: bool) -> KernelSpec:
    """Return the KernelSpec of the Riccati recursion: for one motion, or on lanes."""
    like = lane if lanes else number

    @compiled(f"riccati{BATCHES * lanes}", nogil=True)
    def entry(F, S, D, g, gap, lower, upper, shift, h, K, d, side, z, told, first, bounded, memory):
        sweep(like(), Motions(F, S, D, g, gap, lower, upper, shift, h), Feedback(K, d, side, z, told), first, bounded,
              memory)
    rows = ws.numbers_type(3)
    return KernelSpec(entry, (*(ws.read_type(3),) * 8, "float64", *(rows,) * 5, "int64", "boolean",
                              ws.numbers_type(1)))


@cache
def entry_of_riccati(lanes: bool) -> Callable:
    """Return the compiled function of spec_of_riccati."""
    return function(spec_of_riccati(lanes))


def riccati(given: Motions, side: np.ndarray | None = None, threads: int | None = None, change: bool = True,
            K: np.ndarray | None = None) -> Feedback:
    """Return the Feedback of Motions in contiguous arrays. D (1, ...) is common to all motions.

    side (P, N, m): initial sides of the efforts, FREE by default; change: True to compute z; K: output array for that
    of the Feedback, with zeros in its padding."""
    P, N, m = given.lower.shape
    x = given.gap.shape[2]
    side = np.full((P, N, m), FREE) if side is None else side.copy()
    bounded = bool(given.lower.max() > -np.inf or given.upper.min() < np.inf or (side != FREE).any())
    K = np.zeros((P, N, m, padded(x))) if K is None else K
    found = Feedback(K.reshape(P, N * m, -1), np.empty((P, N, m)), side,
                     np.zeros((P, (N + 1) * change, padded(x + m))), np.empty((P, 1, TOLD)))
    F, S, shift = given.F, given.S, given.shift.reshape(P, 1, 1)
    given = given._replace(F=F.reshape(P, N * F.shape[2], -1), S=S.reshape(P, (N + 1) * S.shape[2], S.shape[3]),
                           shift=shift)
    rest = P % WIDTH if P % WIDTH <= FEW else 0
    pieces = [(first, True) for first in range(0, P - rest, WIDTH)] + [(first, False) for first in range(P - rest, P)]

    def work(pieces):
        memory = {}
        for first, lanes in pieces:
            if lanes not in memory:
                memory[lanes] = ws.aligned(work_numbers(WIDTH if lanes else 1, sizes(given, bounded)))
            entry_of_riccati(lanes)(*given, *found, first, bounded, memory[lanes])
    on_threads(work, pieces, min(thread_count(threads), len(pieces)))
    return found._replace(K=K, told=found.told[:, 0])


def spec_of_costates() -> KernelSpec:
    """Return the KernelSpec of the adjoint recursion, `costates`."""
    @compiled("costates", nogil=True)
    def entry(F, g, found, memory):
        costates(F, g, found, memory)
    return KernelSpec(entry, (ws.read_type(4), ws.read_type(3), ws.numbers_type(3), ws.numbers_type(1)))


@cache
def entry_of_costates() -> Callable:
    """Return the compiled function of spec_of_costates."""
    return function(spec_of_costates())


def costates_of(F: np.ndarray, g: np.ndarray, threads: int | None = None) -> np.ndarray:
    """Return the derivatives (..., N + 1, padded(w)) of costs by states and efforts, for F (..., N, x, padded(w)) and g
    of the shape of the result: see costates.py."""
    given, run = (F.reshape(-1, *F.shape[-3:]), g.reshape(-1, *g.shape[-2:])), entry_of_costates()
    found = np.empty(given[1].shape)

    def work(motions):
        memory = np.zeros(F.shape[-1] + F.shape[-2])
        for p in motions:
            run(*(x[p:p + 1] for x in given), found[p:p + 1], memory)
    on_threads(work, range(len(found)), max(1, min(thread_count(threads), len(found))))
    return found.reshape(g.shape)


def spec_of_euler_costates() -> KernelSpec:
    """Return the KernelSpec of the adjoint recursion for semi-implicit Euler steps, `euler_costates`."""
    @compiled("costates of euler steps", nogil=True)
    def entry(by_q, by_qd, by_tau, h, g, found, memory):
        euler_costates(by_q, by_qd, by_tau, h, g, found, memory)
    given = ws.read_type(4, "A")
    return KernelSpec(entry, (given, given, given, "float64", ws.read_type(3), ws.numbers_type(3), ws.numbers_type(1)))


@cache
def entry_of_euler_costates() -> Callable:
    """Return the compiled function of spec_of_euler_costates."""
    return function(spec_of_euler_costates())


def costates_of_euler_steps(by_q: np.ndarray, by_qd: np.ndarray, by_tau: np.ndarray, h: float, g: np.ndarray,
                            threads: int | None = None) -> np.ndarray:
    """Return costates_of for derivatives (..., N, n, n) of accelerations: see euler_costates."""
    N, n = g.shape[-2] - 1, by_q.shape[-1]
    given = [np.broadcast_to(x, by_q.shape).reshape(-1, N, n, n) for x in (by_q, by_qd, by_tau)]
    g, run = np.ascontiguousarray(g), entry_of_euler_costates()
    costs = g.reshape(-1, *g.shape[-2:])
    found = np.empty(costs.shape)

    def work(motions):
        memory = np.zeros(n)
        for p in motions:
            run(*(x[p:p + 1] for x in given), h, costs[p:p + 1], found[p:p + 1], memory)
    on_threads(work, range(len(found)), max(1, min(thread_count(threads), len(found))))
    return found.reshape(g.shape)


def spec_of_euler_steps() -> KernelSpec:
    """Return the KernelSpec of the derivatives of semi-implicit Euler steps, `euler_steps`."""
    @compiled("derivatives of steps", nogil=True)
    def entry(by_q, by_qd, by_tau, h, F):
        euler_steps(by_q, by_qd, by_tau, h, F)
    given = ws.read_type(3, "A")
    return KernelSpec(entry, (given, given, given, "float64", ws.numbers_type(3)))


@cache
def entry_of_euler_steps() -> Callable:
    """Return the compiled function of spec_of_euler_steps."""
    return function(spec_of_euler_steps())


def derivatives_of_euler_steps(by_q: np.ndarray, by_qd: np.ndarray, by_tau: np.ndarray, h: float, whole: bool = True
                               ) -> np.ndarray:
    """Return F (..., 2 n, padded(3 n)), or its last n rows, for derivatives (..., n, n) of accelerations: see
    euler_steps.py."""
    lead, n = by_q.shape[:-2], by_q.shape[-1]
    F = np.empty((*lead, (1 + whole) * n, padded(3 * n)))
    given = ((x if x.shape == by_q.shape else np.broadcast_to(x, by_q.shape)).reshape(-1, n, n)
             for x in (by_q, by_qd, by_tau))
    entry_of_euler_steps()(*given, h, F.reshape(-1, *F.shape[-2:]))
    return F
