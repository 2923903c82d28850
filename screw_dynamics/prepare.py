"""Compiles kernels before they are needed, in parallel:  python -m screw_dynamics.prepare [name ...]

A kernel is machine code for one algorithm, for a single state or for batches. It is compiled at its first use, which
takes seconds, unless it came with the installed package or is in the user's cache. A line in a Dockerfile, after
`ENV SCREW_DYNAMICS_CACHE_DIR=/opt/screw_dynamics`, compiles those of `core` once for every user of the image, and
those of every part with `--parts all`."""
from __future__ import annotations

import argparse
import logging
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from multiprocessing import get_context, parent_process
from threading import Lock, Thread

from screw_dynamics.algorithms import configurations, hybrid_dynamics
from screw_dynamics.algorithms.centroidal import CENTROIDAL
from screw_dynamics.algorithms.choice import choice
from screw_dynamics.algorithms.derivatives import (
    FORWARD_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS,
)
from screw_dynamics.algorithms.derivatives.second_derivatives import INVERSE_DYNAMICS_SECOND_DERIVATIVES
from screw_dynamics.algorithms.external_wrenches import FORWARD_UNDER_LOAD, UNDER_LOAD
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_IN
from screw_dynamics.algorithms.hessian import HESSIAN
from screw_dynamics.algorithms.hybrid_dynamics import HYBRID_DYNAMICS
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.inverse_kinematics import search
from screw_dynamics.algorithms.kinematics import BODY_POSES, BODY_POSES_SPATIAL
from screw_dynamics.algorithms.momenta import MOMENTA
from screw_dynamics.algorithms.regressor import REGRESSORS
from screw_dynamics.algorithms.time_derivatives import (
    INVERSE_DYNAMICS_TIME_DERIVATIVES_IN,
    JACOBIAN_SECOND_DERIVATIVE,
    LINK_DERIVATIVES,
)
from screw_dynamics.algorithms.twists import BODY_JACOBIANS_IN, BODY_TWISTS_IN
from screw_dynamics.compiled import inputs, tiles
from screw_dynamics.compiled.algorithm import NUMBER, SINGLE, kind_of
from screw_dynamics.compiled.functions import spec_of_words
from screw_dynamics.compiled.native import address_of
from screw_dynamics.compiled.threads import available_threads
from screw_dynamics.constraints import derivatives as loop_derivatives
from screw_dynamics.constraints import dynamics as loops
from screw_dynamics.constraints import hybrid_dynamics as hybrid_dynamics_of_loops
from screw_dynamics.constraints import projection
from screw_dynamics.constraints.contacts import calls as contact_calls
from screw_dynamics.constraints.contacts import touches
from screw_dynamics.constraints.kinematics import KINEMATICS
from screw_dynamics.forces import total as forces
from screw_dynamics.jit.kernel_cache import store
from screw_dynamics.jit.kernel_cache.shared_objects import is_kept
from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec
from screw_dynamics.jit.numba_internals import tested
from screw_dynamics.model.links import Structure
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.rollout import control_along, driven, feedback
from screw_dynamics.rollout.integrators import FIXED_STEPS, INTEGRATORS, LINEARIZED
from screw_dynamics.rollout.linearization import tangent_maps
from screw_dynamics.rollout.recursions import entries as sweeps
from screw_dynamics.rollout.recursions.constraint_responses import spec_of_constraint_responses
from screw_dynamics.rollout.rollout_kernels import spec_of
from screw_dynamics.rollout.step_settings import OTHER_METHODS

# Parts, by use. Every wheel contains all of them; missing kernels are compiled at their first use. core: most methods
# of Robot, rollouts; floating_bases: batches of core's algorithms for robots with Lie-group joints; derivatives: also
# regressors, hybrid dynamics, dynamics in each representation of twists, rates of efforts, implicit integrators;
# single_precision: batches of core's algorithms.
CORE, FLOATING_BASES, DERIVATIVES, LOOPS, CONTACTS, OPTIMAL_MOTIONS, SINGLE_PRECISION = PARTS = (
    "core", "floating_bases", "derivatives", "loops", "contacts", "optimal_motions", "single_precision")


def forms(*parts: str) -> dict[str, KernelSpec]:
    """Return the kernels of these parts, by name. Kernels for a single state come first, then those for batches of each
    kind of base, because similar kernels share code."""
    return {name: spec for name, (part, spec) in _known().items() if part in parts}


@cache
def _known():
    """Return the part and the kernel of each name. If two parts have a kernel, the first part is returned."""
    found: dict = {}
    for part, spec in (*_of_single_states(), *_of_batches(False), *_of_batches(True)):
        found.setdefault(spec.name, (part, spec))
    for spec in (*(entry.spec(SINGLE) for entry in _entries()[CORE][2:]), *_transpositions(True)):
        found[spec.name] = SINGLE_PRECISION, spec
    return found


def _entries():
    """Return the algorithms of each part, for fixed bases."""
    chosen, mimic = choice(None, False), choice(None, True)
    return {
        # Integrators' own algorithms first.
        CORE: (chosen.acceleration, mimic.acceleration, *chosen[:-1], *mimic[:-1], *OTHER_METHODS.values(),
               *UNDER_LOAD.values(), *FORWARD_UNDER_LOAD.values(), *CENTROIDAL, BODY_POSES, BODY_POSES_SPATIAL,
               *BODY_TWISTS_IN.values(), *BODY_JACOBIANS_IN.values()),
        DERIVATIVES: (
            MOMENTA, *INVERSE_DYNAMICS_IN.values(), *FORWARD_DYNAMICS_IN.values(), *HYBRID_DYNAMICS.values(),
            *choice(None, False, deep=True)[:-1], INVERSE_DYNAMICS_DERIVATIVES, *FORWARD_DYNAMICS_DERIVATIVES.values(),
            HESSIAN, *INVERSE_DYNAMICS_TIME_DERIVATIVES_IN.values(), INVERSE_DYNAMICS_SECOND_DERIVATIVES,
            *LINK_DERIVATIVES.values(), JACOBIAN_SECOND_DERIVATIVE, *REGRESSORS),
        LOOPS: [entry for entry, _ in (KINEMATICS, *loops.FORWARD_DYNAMICS.values(), *loops.ACCELERATION.values(),
                                       *loops.ADMISSIBLE_VELOCITIES.values())],
        CONTACTS: [contact_calls.ACCELERATION]}


def _transpositions(single):
    """Return the kernels that move states to lanes and back."""
    return [tiles.spec_of_transposition(to, single) for to in ("lanes", "rows")]


def _forms(on_groups, lanes):
    """Yield (part, kernel) of kernels that exist for a single state and, on lanes, for each kind of base."""
    core, structures = FLOATING_BASES if on_groups else CORE, [Structure(shared, on_groups) for shared in (False, True)]
    for name, integrator in INTEGRATORS.items():
        yield core if integrator.beforehand else DERIVATIVES, spec_of(name, lanes, on_groups)
    for part, entries in _entries().items():
        for entry in entries:
            yield core if part == CORE else part, entry.of(structures[0]).spec(kind_of(lanes))
    yield core, search.spec(lanes, on_groups)
    for structure in structures:
        for part, of in (core, "joints"), (LOOPS, "loops"), (CONTACTS, "contacts"):
            yield part, projection.spec_of_projection(structure, of, lanes)
    yield LOOPS, projection.spec_of_closing(lanes)
    for spec in (touches.spec_of_touches(lanes), *contact_calls.specs(lanes)):
        yield CONTACTS, spec
    for integrator in LINEARIZED:
        yield OPTIMAL_MOTIONS, feedback.spec_of(integrator, lanes, on_groups)
    for beforehand, spec in forces.specs(on_groups, lanes):
        yield core if beforehand else DERIVATIVES, spec


def _of_batches(on_groups):
    """Yield (part, kernel) for batches of robots with fixed bases, or of robots with Lie-group joints."""
    yield from _forms(on_groups, True)
    if not on_groups:
        yield from ((CORE, spec) for spec in _transpositions(False))
        yield OPTIMAL_MOTIONS, sweeps.spec_of_riccati(True)


def _of_single_states():
    """Yield (part, kernel) for single states."""
    yield from _forms(False, False)
    for spec in (inputs.spec_of_gathering(), configurations.spec_of_integrated(), configurations.spec_of_difference()):
        yield CORE, spec
    yield DERIVATIVES, INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS.spec(NUMBER)
    for name in FIXED_STEPS:
        yield CORE if INTEGRATORS[name].beforehand else DERIVATIVES, driven.spec(name)
    for shared in (False, True):
        yield CORE, hybrid_dynamics.spec(shared)
        yield LOOPS, hybrid_dynamics_of_loops.spec(shared)
    for spec in (loop_derivatives.spec_of_derivatives(), spec_of_constraint_responses()):
        yield LOOPS, spec
    yield CONTACTS, projection.spec_of_projection(Structure(False, False), "contacts and loops", False)
    for spec in (sweeps.spec_of_costates(), sweeps.spec_of_euler_costates(), sweeps.spec_of_euler_steps(),
                 tangent_maps.spec_of_displacement(), tangent_maps.spec_of_trivialization()):
        yield DERIVATIVES, spec
    for spec in (control_along.spec(), sweeps.spec_of_riccati(False)):
        yield OPTIMAL_MOTIONS, spec


def select(wanted: Sequence[str], standard: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the standard names that begin with any wanted one, or the known names that do if no standard one does; all
    standard names if `wanted` is empty. Raises ValueError if no known name begins with a wanted one."""
    chosen = set() if wanted else set(standard)
    for start in wanted:
        found = ([name for name in standard if name.startswith(start)]
                 or [name for name in known if name.startswith(start)])
        if not found:
            raise ValueError(f"no kernel is called {start!r}; known are {', '.join(known)}")
        chosen.update(found)
    return [name for name in known if name in chosen]


def prepare(names: Sequence[str], workers: int, report: Callable[[str, float], None]) -> None:
    """Compile kernels in `workers` processes. After each kernel, a thread calls report(name, seconds)."""
    left = deque(names)

    def work(take):
        with ProcessPoolExecutor(1, get_context("spawn"), _end_with_parent) as process:
            while left:
                with suppress(IndexError):              # another worker took the last one
                    name = take()
                    report(name, process.submit(_prepare_one, name).result())
    with ThreadPoolExecutor(workers) as threads:        # from both ends, so that similar kernels share a process
        for done in [threads.submit(work, left.pop if k % 2 else left.popleft) for k in range(workers)]:
            done.result()


def _end_with_parent():
    """End this worker when its parent process is gone, for example killed. Otherwise the worker would wait for work
    forever and keep the command's output pipe open."""
    def watch():
        parent_process().join()
        os._exit(1)
    Thread(target=watch, daemon=True).start()


def _prepare_one(name):
    logging.getLogger("screw_dynamics").setLevel(logging.ERROR)     # the progress output already shows the compilation
    started = time.monotonic()
    address_of(spec_of_words(_known()[name][1]))
    return time.monotonic() - started


class _Bar:
    """A progress bar on a terminal; elsewhere one line for each kernel."""

    def __init__(self, total):
        self._total, self._done, self._lock, self._started = total, 0, Lock(), time.monotonic()
        self._terminal = sys.stdout.isatty()

    def __call__(self, name, seconds):
        with self._lock:
            self._done += 1
            count, elapsed = f"{self._done:{len(str(self._total))}}/{self._total}", time.monotonic() - self._started
            if not self._terminal:
                print(f"{count}  {elapsed:5.1f} s  {name}", flush=True)
                return
            filled = 24 * self._done // self._total
            line = f"[{'#' * filled}{'.' * (24 - filled)}] {count}  {elapsed:5.1f} s  {name}"
            print(f"\r\033[K{line[:shutil.get_terminal_size().columns - 1]}", end="", flush=True)

    def close(self):
        """End the line."""
        if self._terminal:
            print("\r\033[K", end="")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 0 when all kernels are ready, 1 when they cannot be stored, 2 for a wrong name."""
    parser = argparse.ArgumentParser(prog="python -m screw_dynamics.prepare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="what to compile: gravity_torque, rollout.rk45, ...; "
                        "all that begins with a name; by default all of the parts")
    parser.add_argument("-j", "--jobs", type=int, default=available_threads(), help="how many processes to use")
    parser.add_argument("--parts", default=CORE, help="the parts to compile, or from which names are taken first, "
                        f"with commas between: {', '.join(PARTS)}; or all")
    parser.add_argument("--single", action="store_true", help="only what is for a single state, and "
                        "batches whose whole name is given: 'gravity_torque, batches'")
    parser.add_argument("--list", action="store_true", help="only list the names, and which are there")
    parser.add_argument("--clear", action="store_true", help="only remove what is in the user's cache")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs} must be >= 1")
    if PLAIN and not options.clear:
        print("NUMBA_DISABLE_JIT is set: there is nothing to compile")
        return 0
    folder = store.own()
    if options.clear:
        print(f"kernels removed from {folder.path}: {folder.clear()}")
        return 0
    if not tested.in_use():
        print(f"with this Numba kernels cannot be kept: every process compiles those that it calls; screw_dynamics is "
              f"tested with Numba {tested.span()}", file=sys.stderr)
        return 1
    known, parts = forms(*PARTS), PARTS if options.parts == "all" else options.parts.split(",")
    if wrong := [part for part in parts if part not in PARTS]:
        parser.error(f"there is no part {wrong[0]!r}; parts are {', '.join(PARTS)}; or all")
    try:
        names = select(options.names, list(forms(*parts)), list(known))
    except ValueError as error:
        parser.error(str(error))
    if options.single:
        names = [name for name in names if not name.endswith(BATCHES) or name in options.names]
    missing = [name for name in names if not is_kept(spec_of_words(known[name]))]
    if options.list:
        print(*(f"{'-' if name in missing else '+'} {name}" for name in names), sep="\n")
        return 0
    if missing:
        bar = _Bar(len(missing))
        prepare(missing, min(options.jobs, len(missing)), bar)
        bar.close()
    lost = [name for name in missing if not is_kept(spec_of_words(known[name]))]
    if lost:
        print(f"kernels that could not be kept in {folder.path}: {len(lost)}", file=sys.stderr)
        return 1
    print(f"kernels ready: {len(names)}" + f", compiled now, in {folder.path}: {len(missing)}" * bool(missing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
