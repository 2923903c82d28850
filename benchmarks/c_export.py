"""Exported C beside CasADi's C of adam's expressions: python -m benchmarks.c_export.

Each is compiled with the same options and called from the same loop in C, in which each call waits for the one before.
CasADi's code is compiled where adam is installed; its results agree with ours, or there is no time. Last, what the
prototype took on a quiet core of another processor, znver5."""
import argparse
import ctypes
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import screw_dynamics as sd

from . import machine, robots
from .contacts import in_turns
from .contestants import Cannot, Contestants

PROTOTYPE = {"UR5": (75, 31, 150, 64), "ANYmal": (184, 115, 210, 99)}         # ns, in the order of QUANTITIES
QUANTITIES = {"inverse_dynamics": "q, qd, x", "gravity_torque": "q", "forward_dynamics": "q, qd, x", "mass_matrix": "q"}
ROBOTS = "UR5", "Panda", "ANYmal"
CALLS = 1000                            # of a turn
TURNS, QUICK = 501, 21
ALIKE = 1e-10
FAST = "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno"
SAME_BITS = "-std=c99", "-O3", "-fno-math-errno"

LOOP = """
double loop(const double *q, const double *qd, const double *x, double *out, long count);
double loop(const double *q, const double *qd, const double *x, double *out, long count) {{
  double moved[{n}], sum = 0;
  for (int k = 0; k < {n}; k++) moved[k] = q[k];
  for (long i = 0; i < count; i++) {{
    call(moved, qd, x, out);
    moved[0] += 1e-13 * out[0];
    sum += out[{n} - 1];
  }}
  return sum;
}}
"""
CASADI = """
static double work[{work} + 1];
static casadi_int counts[{counts} + 1];
static void call(const double *q, const double *qd, const double *x, double *out) {{
  const double *arguments[{arguments}] = {{{given}}};
  double *results[{results}] = {{out}};
  f(arguments, results, counts, work, 0);
}}
"""


class Loop:
    """A loop of calls in a shared library."""

    def __init__(self, folder, flags, text):
        folder.mkdir(parents=True)
        source, library = folder / "loop.c", folder / "loop.so"
        source.write_text(text)
        subprocess.run(["gcc", *flags, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.loop.restype = ctypes.c_double

    def __call__(self, arrays, count=CALLS):
        """Call so many times with arrays q, qd, x, which writes the last of them."""
        self.library.loop(*(ctypes.c_void_p(x.ctypes.data) for x in arrays), ctypes.c_long(count))


def ours(robot, quantity, folder, flags):
    """The loop of an exported function."""
    robot.export_c(folder / "export", "robot", [quantity])
    text = (folder / "export" / "src" / "robot.c").read_text()
    call = f"""
static void call(const double *q, const double *qd, const double *x, double *out) {{
  (void)qd;
  (void)x;
  robot_{quantity}({QUANTITIES[quantity]}, out);
}}"""
    include = str(folder / "export" / "include")
    return Loop(folder / "loop", (*flags, "-I", include), text + call + LOOP.format(n=robot.n))


def casadi_of_adam(contestants, case, quantity, folder):
    """The loop of the C that CasADi prints of adam's expressions."""
    if "adam" not in contestants.modules:
        raise Cannot(contestants.absent.get("adam", "not installed"))
    import casadi
    names = {"inverse_dynamics": "inverse dynamics", "gravity_torque": "gravity", "mass_matrix": "mass matrix"}
    if quantity not in names:
        raise Cannot("adam has no expression of it")
    calls = contestants.modules["adam"].Peer(case).calls(_States(case.joints))
    f = calls[names[quantity]][""].names["f"]
    folder.mkdir(parents=True)
    generator = casadi.CodeGenerator("adam.c", {"with_header": False})
    generator.add(f)
    text = Path(generator.generate(f"{folder}/")).read_text()
    sizes = {"arguments": f.sz_arg(), "results": f.sz_res(), "counts": f.sz_iw(), "work": f.sz_w()}
    given = QUANTITIES[quantity]
    glue = CASADI.format(given=given, **sizes)
    return Loop(folder / "loop", FAST, text + glue + LOOP.format(n=case.joints))


class _States:
    """What adam's calls are made with: they are not called."""

    def __init__(self, n):
        self.one = {name: np.zeros(n) for name in ("q", "qd", "qdd")}


def compared(name, quantity, contestants, folder, turns):
    """The ns of a call by who makes it; and who is absent, {who: why}."""
    case = robots.real(name)
    robot, absent = sd.Robot.from_urdf(case.urdf), {}
    makers = {
        "exported": lambda to: ours(robot, quantity, to, FAST),
        "exported, the same bits everywhere": lambda to: ours(robot, quantity, to, SAME_BITS),
        "CasADi's C of adam": lambda to: casadi_of_adam(contestants, case, quantity, to)}
    rng = np.random.default_rng(1)
    arrays = [*rng.uniform(-1.0, 1.0, (3, robot.n)), np.zeros(robot.n ** 2)]
    loops, expected = {}, None
    for k, (who, make) in enumerate(makers.items()):
        try:
            loop = make(folder / f"{name}_{quantity}_{k}")
        except Cannot as reason:
            absent[who] = str(reason)
            continue
        loop(arrays, 1)
        found = arrays[3].copy()
        expected = found if expected is None else expected
        assert np.abs(found - expected).max() <= ALIKE * max(1.0, np.abs(expected).max()), f"{who}: other results"
        loops[who] = partial(loop, arrays)
    taken = in_turns(loops, turns, time.thread_time)
    return {who: 1e9 * seconds / CALLS for who, seconds in taken.items()}, absent


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.c_export", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    parser.add_argument("--no-install", action="store_true", help="only with libraries that are there")
    given = parser.parse_args()
    turns = QUICK if given.quick else TURNS
    print(", ".join(f"{fact} {value}" for fact, value in machine.describe().items()), flush=True)
    contestants, missing = Contestants(may_install=not given.no_install), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ROBOTS:
            for k, quantity in enumerate(QUANTITIES):
                found, absent = compared(name, quantity, contestants, Path(folder), turns)
                missing.update(absent)
                times = [f"{who} {ns:.0f} ns ({ns / found['exported']:.2f} times)" for who, ns in found.items()]
                before = f"; prototype {PROTOTYPE[name][k]} ns, elsewhere" if name in PROTOTYPE else ""
                print(f"{name}: {quantity}: {', '.join(times)}{before}", flush=True)
    for who, why in missing.items():
        print(f"without {who}: {why}")


if __name__ == "__main__":
    main()
