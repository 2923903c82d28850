"""Batches of a Panda on two threads: by the package's own workers, and by Numba's parallel loops over the same kernel.

NUMBA_THREADING_LAYER=omp python -m benchmarks.thread_pools, from the root of the repository; or workqueue, or tbb where
that is installed. Times are the median and the mean of calls in a row; then the same while another process has each
core, where a layer waits at its barrier for threads that do not run."""
import argparse
import multiprocessing
import os
import statistics
import time

import numpy as np
from numba import njit, prange, set_num_threads, threading_layer

from screw_dynamics import Robot
from screw_dynamics.compiled.native import address, call
from screw_dynamics.compiled.workspace import memory_at

from . import machine, robots

COUNTS, METHODS = (8, 64, 256, 1024, 4096, 65536), ("inverse_dynamics", "forward_dynamics")
BLOCK, BLOCKS = 0.05, 10        # s of calls in a row, the first half to warm up; blocks of each


@njit(parallel=True, nogil=True)
def parallel(many, memories, inputs, out, counter):
    """Call an entry point for many states once a thread, which share the tiles by a counter."""
    counter[0] = 0
    for k in prange(len(memories)):
        call(many, (memory_at(memories[k]), (), inputs, out, counter))


def contestants(robot, method, count):
    """Calls on so many states, by name, and the array that all of them fill."""
    states = tuple(np.random.default_rng(count).uniform(-1.5, 1.5, (3, count, robot.n)))
    out, function = np.empty((count, robot.n)), getattr(robot, method)
    many, counter = address(getattr(robot, f"_{method}")._for_many[1]), np.zeros(1, dtype=np.int64)
    workspaces = [robot._on_lanes.take() for _ in range(2)]
    memories = np.array([memory.ctypes.data for memory in workspaces])

    def layer(workspaces=workspaces):
        parallel(many, memories, states, out, counter)
    return {"one thread": lambda: function(*states, out=out, threads=1),
            "our workers": lambda: function(*states, out=out, threads=2), "Numba": layer}, out


def measured(calls, blocks):
    """The median and the mean time of each call, in microseconds, in blocks that take turns."""
    times = {name: [] for name in calls}
    for _ in range(blocks):
        for name, made in calls.items():
            time.sleep(0.01)                            # the threads of the last one have ceased to look out for work
            begin = now = time.perf_counter()
            while now < begin + BLOCK or not times[name]:
                made()
                now, before = time.perf_counter(), now
                if before > begin + BLOCK / 2:
                    times[name].append(1e6 * (now - before))
    return {name: (statistics.median(found), statistics.fmean(found)) for name, found in times.items()}


def spin():
    """Keep a core busy."""
    while True:
        pass


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.thread_pools", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    blocks = 2 if parser.parse_args().quick else BLOCKS
    set_num_threads(2)
    robot = Robot.from_urdf(robots.real("Panda").urdf)
    for busy in (0, os.cpu_count()):
        others = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(busy)]
        for other in others:
            other.start()
        for method in METHODS:
            for count in COUNTS:
                found = measured(contestants(robot, method, count)[0], blocks)
                if count == COUNTS[0] and method == METHODS[0] and not busy:
                    print(f"{', '.join(f'{k} {v}' for k, v in machine.describe().items())}, "
                          f"{threading_layer()}; median (mean)")
                times = ", ".join(f"{name} {median:.0f} ({mean:.0f})" for name, (median, mean) in found.items())
                print(f"{method} of {count} states{', cores busy' * bool(busy)}, us: {times}", flush=True)
        for other in others:
            other.terminate()


if __name__ == "__main__":
    main()
