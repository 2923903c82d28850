"""Times of machine code for other processors than this one: for one without AVX-512, measured in the same run.

A process for each target compiles for it, all else being equal, and measures when it is told to, in turn with the
others: python -m comparison.targets, which reads a line for each measurement and answers in a line of JSON."""
import json
import os
import subprocess
import sys

import llvmlite.binding as llvm

from benchmarks.timing import Effort, Measurement

WIDE, NARROW = "AVX-512", "AVX2"
ROUNDS = 3              # measurements of each case for each target, in turn
EFFORT, QUICK = Effort(repeats=31, seconds=0.4, least=5), Effort(repeats=3, seconds=0.02, least=3)
ROBOTS, FEW_ROBOTS = ("UR5", "Panda", "Talos"), ("UR5",)


def environments():
    """{target: the environment of a process that compiles for it}; just this processor's if it has no AVX-512."""
    features = llvm.get_host_cpu_features()
    if not features.get("avx512f"):
        return {}
    without = ",".join(("+" if there and not name.startswith("avx512") else "-") + name
                       for name, there in features.items())
    return {WIDE: {}, NARROW: {"NUMBA_CPU_NAME": llvm.get_host_cpu_name(), "NUMBA_CPU_FEATURES": without}}


def measurements(quick=False):
    """[(subject, {target: {form: [seconds]}})] of all cases; none where there is one target alone."""
    workers = {target: subprocess.Popen([sys.executable, "-m", "comparison.targets"], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env={**os.environ, **added})
               for target, added in environments().items()}
    found = []
    try:
        for case in cases(quick) if workers else ():
            seconds = {target: {} for target in workers}
            for worker in workers.values():                         # at once: what is not compiled yet takes seconds
                ask(worker, case, True)
            for worker in workers.values():
                subject, _ = answer(worker)
            for _ in range(1 if quick else ROUNDS):
                for target, worker in workers.items():
                    ask(worker, case, quick)
                    for form, values in answer(worker)[1].items():
                        seconds[target].setdefault(form, []).extend(values)
            found.append((subject, seconds))
    finally:
        for worker in workers.values():
            worker.stdin.close()
            worker.wait()
    return found


def ask(worker, case, quick):
    """Tell a process to measure a case."""
    print(json.dumps([*case, quick]), file=worker.stdin, flush=True)


def answer(worker):
    """What a process has measured: the subject, and {form: [seconds]}."""
    line = worker.stdout.readline()
    if not line:
        raise RuntimeError(f"the process of a target ended with status {worker.wait()} before it answered")
    return json.loads(line)


def cases(quick=False):
    """What is measured: (quantity, robot, way, specialized)."""
    from . import algorithms, times
    return [(quantity, name, way, specialized) for quantity in algorithms.DYNAMICS
            for name in (FEW_ROBOTS if quick else ROBOTS) for way in (times.ONE, times.BATCH)
            for specialized in (False, True) if not specialized or name == times.SPECIALIZED and not quick]


def main():
    """Measure what lines ask for."""
    from . import times
    for line in sys.stdin:
        *case, quick = json.loads(line)
        m: Measurement = times.of_case(*case, QUICK if quick else EFFORT)
        print(json.dumps([m.subject, m.seconds]), flush=True)


if __name__ == "__main__":
    main()
