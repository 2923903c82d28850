"""Sweeps as machine code that Python calls with arrays."""
from collections.abc import Callable
from functools import cache

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.kernel_cache.cache import Form, compiled, prepare

from .costates import costates
from .matrix_products import padded
from .riccati import TOLD, Feedback, Motions, sweep, work_numbers


def form_of_riccati() -> Form:
    """What is compiled of the recursion of Riccati."""
    @compiled("riccati", nogil=True)
    def entry(F, H, g, gap, lower, upper, shift, K, d, told, memory):
        sweep(Motions(F, H, g, gap, lower, upper, shift), Feedback(K, d, told), memory)
    four, three, two, one = (ws.numbers_type(k) for k in (4, 3, 2, 1))
    return Form(entry, (four, four, three, three, three, three, one, four, three, two, one))


@cache
def entry_of_riccati() -> Callable:
    """The entry point of form_of_riccati."""
    return prepare(*form_of_riccati()).entry_point


def riccati(given: Motions, threads: int | None = None) -> Feedback:
    """The Feedback of Motions in contiguous arrays."""
    P, N, m = given.lower.shape
    x = given.gap.shape[2]
    found = Feedback(np.zeros((P, N, m, padded(x))), np.empty((P, N, m)), np.empty((P, TOLD)))
    run = entry_of_riccati()

    def work(motions):
        memory = np.zeros(work_numbers(x, m))
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
    """The derivatives (P, N + 1, padded(w)) of costs by states and efforts: see costates.py."""
    found, run = np.empty(g.shape), entry_of_costates()

    def work(motions):
        memory = np.zeros(F.shape[3] + F.shape[2])
        for p in motions:
            run(F[p:p + 1], g[p:p + 1], found[p:p + 1], memory)
    on_threads(work, range(len(F)), min(thread_count(threads), max(1, len(F))))
    return found
