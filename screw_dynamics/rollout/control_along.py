"""Efforts of a controller along a given motion."""
from collections.abc import Callable
from functools import cache

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.interrupt import begin, failed, finish
from screw_dynamics.compiled.native import at, attempt
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled

from .step_data import CONTROLLER


@cache
def spec() -> KernelSpec:
    """Return the KernelSpec that evaluates a controller along a motion, for all robots and controllers."""
    @compiled("efforts of a controller")
    def along(memory, calls, t, q, qd, tau):
        interrupt = ws.interrupt_at(at(memory))
        begin(interrupt, False)
        now, x, v, effort = np.empty(1), np.empty(q.shape[1]), np.empty(qd.shape[1]), np.empty(qd.shape[1])
        for i in range(len(t)):
            now[0] = t[i]
            for k in range(len(x)):
                x[k] = q[i, k]
            for k in range(len(v)):
                v[k], effort[k] = qd[i, k], 0.0
            attempt(calls[CONTROLLER], (at(memory), at(calls), at(now), at(x), at(v), at(effort)),
                    interrupt.failure)
            if failed(interrupt):
                break
            for k in range(len(effort)):
                tau[i, k] = effort[k]
        finish(interrupt)
    rows = ws.read_type(2)
    return KernelSpec(along, (ws.numbers_type(1), ws.read_type(1, dtype="int64"), ws.read_type(1), rows, rows,
                              ws.numbers_type(2)))


def entry_point() -> Callable:
    """Return the compiled along(memory, calls, t, q, qd, tau). It sets the rows of tau (k, n) to the efforts of the
    controller among `calls`, compiled for one state, at the times t (k,) and states q (k, nq), qd (k, n)."""
    return function(spec())
