"""Sweeps as machine code that Python calls with arrays."""
from collections.abc import Callable
from functools import cache

import numpy as np
from numba import types

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.kernel_cache.cache import Form, compiled, prepare

from .costates import costates, euler_costates
from .euler_steps import euler_steps
from .matrix_products import padded
from .riccati import TOLD, Feedback, Motions, sweep, work_numbers


def form_of_riccati() -> Form:
    """What is compiled of the recursion of Riccati."""
    @compiled("riccati", nogil=True)
    def entry(F, H, g, gap, lower, upper, shift, K, d, side, z, told, memory):
        sweep(Motions(F, H, g, gap, lower, upper, shift), Feedback(K, d, side, z, told), memory)
    four, three, two, one = (ws.numbers_type(k) for k in (4, 3, 2, 1))
    return Form(entry, (four, four, three, three, three, three, one, four, three, three, three, two, one))


@cache
def entry_of_riccati() -> Callable:
    """The entry point of form_of_riccati."""
    return prepare(*form_of_riccati()).entry_point


def riccati(given: Motions, side: np.ndarray | None = None, threads: int | None = None) -> Feedback:
    """The Feedback of Motions in contiguous arrays; side (P, N, m): where the efforts are at first, FREE by default."""
    P, N, m = given.lower.shape
    x = given.gap.shape[2]
    found = Feedback(np.zeros((P, N, m, padded(x))), np.empty((P, N, m)),
                     np.zeros((P, N, m)) if side is None else side.copy(), np.zeros(given.g.shape),
                     np.empty((P, TOLD)))
    run = entry_of_riccati()

    def work(motions):
        memory = np.zeros(work_numbers(x, m, N))
        for p in motions:
            run(*(a[p:p + 1] for a in given), *(a[p:p + 1] for a in found), memory)
    on_threads(work, range(P), min(thread_count(threads), P))
    return found


def form_of_costates() -> Form:
    """What is compiled of the costates."""
    @compiled("costates", nogil=True)
    def entry(F, g, found, memory):
        costates(F, g, found, memory)
    return Form(entry, tuple(ws.numbers_type(k) for k in (4, 3, 3, 1)))


@cache
def entry_of_costates() -> Callable:
    """The entry point of form_of_costates."""
    return prepare(*form_of_costates()).entry_point


def costates_of(F: np.ndarray, g: np.ndarray, threads: int | None = None) -> np.ndarray:
    """The derivatives (..., N + 1, padded(w)) of costs by states and efforts, of F (..., N, x, padded(w)) and g as
    these: see costates.py."""
    given, run = (F.reshape(-1, *F.shape[-3:]), g.reshape(-1, *g.shape[-2:])), entry_of_costates()
    found = np.empty(given[1].shape)

    def work(motions):
        memory = np.zeros(F.shape[-1] + F.shape[-2])
        for p in motions:
            run(*(x[p:p + 1] for x in given), found[p:p + 1], memory)
    on_threads(work, range(len(found)), max(1, min(thread_count(threads), len(found))))
    return found.reshape(g.shape)


def form_of_euler_costates() -> Form:
    """What is compiled of the costates of steps by semi-implicit Euler."""
    @compiled("costates of euler steps", nogil=True)
    def entry(by_q, by_qd, by_tau, h, g, found, memory):
        euler_costates(by_q, by_qd, by_tau, h, g, found, memory)
    given = ws.numbers_type(4, "A", readonly=True)
    return Form(entry, (given, given, given, types.float64, *map(ws.numbers_type, (3, 3, 1))))


@cache
def entry_of_euler_costates() -> Callable:
    """The entry point of form_of_euler_costates."""
    return prepare(*form_of_euler_costates()).entry_point


def costates_of_euler_steps(by_q: np.ndarray, by_qd: np.ndarray, by_tau: np.ndarray, h: float, g: np.ndarray,
                            threads: int | None = None) -> np.ndarray:
    """costates_of, of derivatives (..., N, n, n) of accelerations: see euler_costates."""
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


def form_of_euler_steps() -> Form:
    """What is compiled of the derivatives of steps."""
    @compiled("derivatives of steps", nogil=True)
    def entry(by_q, by_qd, by_tau, h, F):
        euler_steps(by_q, by_qd, by_tau, h, F)
    given = ws.numbers_type(3, "A", readonly=True)
    return Form(entry, (given, given, given, types.float64, ws.numbers_type(3)))


@cache
def entry_of_euler_steps() -> Callable:
    """The entry point of form_of_euler_steps."""
    return prepare(*form_of_euler_steps()).entry_point


def derivatives_of_euler_steps(by_q: np.ndarray, by_qd: np.ndarray, by_tau: np.ndarray, h: float) -> np.ndarray:
    """F (..., 2 n, padded(3 n)) of derivatives (..., n, n) of accelerations: see euler_steps.py."""
    lead, n = by_q.shape[:-2], by_q.shape[-1]
    F = np.empty((*lead, 2 * n, padded(3 * n)))
    given = (np.broadcast_to(x, by_q.shape).reshape(-1, n, n) for x in (by_q, by_qd, by_tau))
    entry_of_euler_steps()(*given, h, F.reshape(-1, *F.shape[-2:]))
    return F


def forms() -> tuple[Form, ...]:
    """All that is compiled of sweeps."""
    return form_of_riccati(), form_of_costates(), form_of_euler_costates(), form_of_euler_steps()
