"""Batches by size, by threads, after a pause, beyond the caches, in single precision: inverse dynamics of a Panda,
general and specialized, all of a table in one run.

python -m benchmarks.batches, from the root of the repository. A time is the lower quartile of many calls, one by one,
those of a line in turn; others on the machine spoil the upper half."""
import argparse
import statistics
import time
from functools import partial

import numpy as np

from screw_dynamics import Robot

from . import machine, robots

FEW, SHARED, PAUSED = (1, 4, 8, 16), (64, 512, 2048, 4096, 8192), 4096        # states
PAUSES = 1e-3, 1e-2, 1e-1   # s
FAR = 1 << 19               # states: 117 MB
SECONDS, QUICK = 0.6, 0.02  # of measuring, for a line


class Batch:
    """So many states of a robot, and calls on them."""

    def __init__(self, robot, count):
        self.robot, self.count = robot, count
        self.states = np.random.default_rng(count).uniform(-1.5, 1.5, (3, count, robot.n))
        self.out = np.empty((count, robot.n))

    def call(self, threads=None, dtype=float, method="inverse_dynamics"):
        """The call on all of them, of this precision."""
        states, out = self.states.astype(dtype, copy=False), self.out.astype(dtype, copy=False)
        return partial(getattr(self.robot, method), *states, out=out, threads=threads)

    def one_by_one(self):
        """Calls on one after the other."""
        states, method = list(self.states.swapaxes(0, 1).copy()), self.robot.inverse_dynamics

        def loop():
            for q, qd, qdd in states:
                method(q, qd, qdd)
        return loop


def elapsed(call):
    """The seconds of a call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def lower_quartiles(calls, seconds, before=lambda call: call(), repeats=1):
    """The lower quartile of the seconds of each of some calls, which take turns; before(call): what is done before it
    is timed; repeats: calls timed together."""
    found, end = [[] for _ in calls], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found[0]) < 3:
        for call, times in zip(calls, found, strict=True):
            before(call)
            begin = time.perf_counter()
            for _ in range(repeats):
                call()
            times.append((time.perf_counter() - begin) / repeats)
    return [statistics.quantiles(times, n=4)[0] for times in found]


def few(robot, seconds):
    """Batches of a few states, against calls on one state each."""
    for count in FEW:
        batch = Batch(robot, count)
        ours, loop = lower_quartiles([batch.call(), batch.one_by_one()], seconds, repeats=100)
        yield f"{count} states", {"batch": 1e6 * ours, "one by one": 1e6 * loop, "times faster": loop / ours}


def shared(robot, seconds):
    """What the default brings over one thread, and two threads."""
    for count in SHARED:
        batch = Batch(robot, count)
        one, default, two = lower_quartiles([batch.call(threads) for threads in (1, None, 2)], seconds, settle)
        yield f"{count} states", {"one thread": 1e6 * one, "default, times faster": one / default,
                                  "two threads, times faster": one / two}


def settle(call):
    """Call something, for caches and workers."""
    for _ in range(19):
        call()


def paused(robot, seconds):
    """The first batch after a pause, and the twentieth."""
    batch = Batch(robot, PAUSED)
    for threads in (1, None):
        call, name = batch.call(threads), "one thread" if threads else "default"
        for pause in PAUSES:
            def rest(call, pause=pause):
                settle(call)
                time.sleep(pause)
            first, = lower_quartiles([call], max(seconds, 10 * pause), rest)
            again, = lower_quartiles([call], seconds, settle)
            yield f"{name}, after {1e3 * pause:g} ms", {
                "first": 1e6 * first, "twentieth": 1e6 * again, "ratio": first / again}


def far(robot, seconds):
    """States that no cache holds, in pieces of PAUSED: nanoseconds a state, beside copying as many bytes."""
    batch, near = Batch(robot, FAR), Batch(robot, PAUSED)
    pieces = [slice(k, k + PAUSED) for k in range(0, FAR, PAUSED)]
    q, qd, qdd = batch.states
    copies = [partial(np.copyto, x, y) for x, y in ((batch.out, q), (qd, qdd))]     # as many bytes
    for threads in (1, 2):
        def sweep(threads=threads):
            return [elapsed(partial(robot.inverse_dynamics, q[k], qd[k], qdd[k], out=batch.out[k], threads=threads))
                    for k in pieces]
        times = [x for _ in range(max(1, int(seconds * 20))) for x in sweep()]
        inside, = lower_quartiles([near.call(threads)], seconds, settle)
        copied = sum(lower_quartiles(copies, seconds / 4, lambda call: None))
        yield f"{FAR} states, {threads} thread{'s' * (threads > 1)}", {
            "beyond the caches": 1e9 * statistics.quantiles(times, n=4)[0] / PAUSED,
            "in them": 1e9 * inside / PAUSED, "copying": 1e9 * copied / FAR}


def single(robot, seconds):
    """Single precision over double, on one thread."""
    batch = Batch(robot, PAUSED)
    for method in ("inverse_dynamics", "forward_dynamics"):
        double, half = (batch.call(1, dtype, method) for dtype in (float, np.float32))
        slow, fast = lower_quartiles([double, half], seconds, settle)
        error = np.abs(half() - double()).max(initial=0.0) / np.abs(double()).max(initial=1e-300)
        yield f"{method} of {PAUSED} states", {"float64": 1e6 * slow, "float32": 1e6 * fast,
                                               "times faster": slow / fast, "error, 1e-7": 1e7 * error}


TABLES = {"A few states, microseconds": few, "Threads, microseconds": shared,
          f"A batch of {PAUSED} after a pause, microseconds": paused, "Beyond the caches, nanoseconds a state": far,
          "Single precision, microseconds": single}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    seconds = QUICK if parser.parse_args().quick else SECONDS
    print(", ".join(f"{fact} {value}" for fact, value in machine.describe().items()), flush=True)
    general = Robot.from_urdf(robots.real("Panda").urdf)
    special = general.specialize()
    for title, table in TABLES.items():
        print(f"\n{title}", flush=True)
        for name, robot in (("general", general), ("specialized", special)):
            for line, cells in table(robot, seconds):
                figures = ", ".join(f"{what} {x:.2f}" if x < 10.0 else f"{what} {x:.0f}" for what, x in cells.items())
                print(f"  {name}, {line}: {figures}", flush=True)


if __name__ == "__main__":
    main()
