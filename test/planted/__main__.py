"""Plants faults in copies of the package, one at a time, and tells which of them no test notices.

    python -m planted [NAME ...]: from the repository's root, as `make planted` does; NAME is part of a file or a fault

Outcomes are kept in build/planted, by a hash of the file, the fault and the tests, so that an interrupted run goes on
where it was; build/planted.txt has all of the last one. The exit code is 1 if fewer than 95 of 100 are noticed, or if a
test fails without a fault."""
import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

from screw_dynamics.kernel_cache import store

from .table import Fault, Stage, place, read, sources
from .trees import PACKAGE, Tree

ASKED = 0.95            # the share of faults that tests must notice
FOLDER = Path("build", "planted")
BEING_MADE = shutil.ignore_patterns("*.lock", "*.tmp")      # files of a cache that may be gone before they are copied


class Work:
    """Copies of the repository, one for each of `jobs` threads, and the outcomes that are kept."""

    def __init__(self, root: Path, jobs: int):
        self._jobs, self._trees, self._lock = jobs, SimpleQueue(), Lock()
        self._kernels, self._kept = root / FOLDER / "machine_code", root / FOLDER / "outcomes.json"
        shutil.rmtree(self._kernels, ignore_errors=True)
        self._kernels.mkdir(parents=True)
        if store.own().path.is_dir():
            shutil.copytree(store.own().path, self._kernels, ignore=BEING_MADE, dirs_exist_ok=True)
        for k in range(jobs):
            self._trees.put(Tree(root, root / FOLDER / f"tree_{k}", self._kernels))
        self._outcomes = json.loads(self._kept.read_text()) if self._kept.exists() else {}

    def _each(self, do: Callable[[Tree, Any], Any], things: Sequence) -> Iterator[tuple]:
        """(thing, do(tree, thing)) for each thing in order, with every tree at work."""
        def one(thing):
            tree = self._trees.get()
            try:
                return do(tree, thing)
            finally:
                self._trees.put(tree)
        with ThreadPoolExecutor(self._jobs) as pool:
            yield from zip(things, pool.map(one, things), strict=True)

    def sound(self, faults: Sequence[Fault]) -> list[str]:
        """Run all the tests without a fault, which leaves their kernels for later; those that fail."""
        stages = sorted({Stage(stage.plain, (name,)) for fault in faults for stage in fault.stages
                         for name in stage.tests})
        return [outcome for _, outcome in self._each(lambda tree, stage: tree.run(stage, self._kernels), stages)
                if outcome]

    def plant(self, faults: Sequence[Fault]) -> Iterator[tuple[Fault, str, float]]:
        """Each fault, the test that notices it, "" for none, and the seconds that this took."""
        for fault, (by, seconds) in self._each(self._noticed, faults):
            yield fault, by, seconds

    def _noticed(self, tree, fault):
        key = tree.key(fault)
        if key not in self._outcomes:
            begin = time.monotonic()
            outcome = tree.plant(fault), round(time.monotonic() - begin, 1)
            with self._lock:
                self._outcomes[key] = outcome
                new = self._kept.with_suffix(".new")
                new.write_text(json.dumps(self._outcomes, indent=0))
                os.replace(new, self._kept)
        return self._outcomes[key]


def chosen(table: Path, package: Path, names: Sequence[str]) -> dict[Fault, str]:
    """Where the faults of a table are, of those with any of these names in their place or their text."""
    texts, found = sources(package), {}
    for fault in read(sorted(table.glob("*.txt"))):
        file, line = place(fault, texts)
        where = f"{file.relative_to(package)}:{line}"
        if not names or any(name in where or name in fault.old for name in names):
            found[fault] = where
    return found


def main() -> int:
    """Plant the faults that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="another repository")
    parser.add_argument("--table", type=Path, default=Path(__file__).with_name("faults"), help="another folder of it")
    parser.add_argument("--trust", action="store_true", help="do not try first whether the tests pass without a fault")
    options, begin = parser.parse_args(), time.monotonic()
    root = options.root.resolve()
    places, report = chosen(options.table, root / PACKAGE, options.names), root / "build" / "planted.txt"
    work = Work(root, options.jobs)
    if not options.trust and (broken := work.sound(list(places))):
        print("tests fail without a fault:", *broken, sep="\n  ")
        return 1
    lines, missed = [], []
    for fault, by, seconds in work.plant(list(places)):
        both = "".join(f"\n    {sign} {line}" for sign, text in (("-", fault.old), ("+", fault.new))
                       for line in text.split("\n"))
        lines.append(f"{places[fault]:<48} {seconds:6.1f} s  {by or 'NOT NOTICED'}{both}")
        missed += [lines[-1]] * (not by)
        print(f"{len(lines)}/{len(places)} {lines[-1]}", flush=True)
    share = 1.0 - len(missed) / max(1, len(places))
    summary = (f"{len(places)} faults, {len(missed)} not noticed: {share:.1%} noticed; {options.jobs} at a time, "
               f"{(time.monotonic() - begin) / 60.0:.0f} minutes")
    print("", *missed, summary, sep="\n")
    report.write_text("\n".join([summary, "", *missed, "", *lines, ""]))
    return 0 if share >= ASKED else 1


if __name__ == "__main__":
    sys.exit(main())
