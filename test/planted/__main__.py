"""Plants faults in copies of the package, one at a time, and tells which of them no test notices.

    python -m planted [NAME ...]: from the repository's root, as `make planted` does; NAME is part of a file or a fault

Outcomes are kept in build/planted, by a hash of the file, the fault and the tests, and build/planted.txt has all of
them. The exit code is 1 if fewer than 95 of 100 are noticed, or if a test fails without a fault."""
import argparse
import json
import os
import queue
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from screw_dynamics.compiled import store

from .table import Stage, place, read, sources
from .trees import PACKAGE, Tree

ASKED = 0.95            # the share of faults that tests must notice
FOLDER = Path("build", "planted")


class Work:
    """Copies of the repository, one for each of `jobs` threads, and the outcomes that are kept."""

    def __init__(self, root: Path, jobs: int):
        self._folder, self._jobs, self._trees = root / FOLDER, jobs, queue.SimpleQueue()
        self.kernels, self._kept = self._folder / "machine_code", self._folder / "outcomes.json"
        shutil.rmtree(self.kernels, ignore_errors=True)
        self.kernels.mkdir(parents=True)
        if store.own().path.is_dir():
            shutil.copytree(store.own().path, self.kernels, dirs_exist_ok=True)
        for k in range(jobs):
            self._trees.put(Tree(root, self._folder / f"tree_{k}", self.kernels))
        self._outcomes = json.loads(self._kept.read_text()) if self._kept.exists() else {}

    def each(self, do, things):
        """do(tree, thing) for each thing, side by side; yields (thing, result) in order."""
        def one(thing):
            tree = self._trees.get()
            try:
                return do(tree, thing)
            finally:
                self._trees.put(tree)
        with ThreadPoolExecutor(self._jobs) as pool:
            yield from zip(things, pool.map(one, things), strict=True)

    def noticed(self, tree, fault):
        """The test that notices a fault, "" for none, and the seconds that it took."""
        key = tree.key(fault)
        if key not in self._outcomes:
            begin = time.monotonic()
            by = tree.plant(fault).by
            self._outcomes[key] = by, round(time.monotonic() - begin, 1)
            new = self._kept.with_suffix(".new")
            new.write_text(json.dumps(self._outcomes, indent=0))
            os.replace(new, self._kept)
        return self._outcomes[key]

    def sound(self, faults):
        """Run all the tests without a fault, which leaves their kernels for all; the tests that fail."""
        files = sorted({(stage.plain, name) for fault in faults for stage in fault.stages for name in stage.tests})
        stages = [Stage(plain, (name,)) for plain, name in files]
        return [outcome.by for _, outcome in self.each(lambda tree, stage: tree.run(stage, self.kernels), stages)
                if outcome.by]


def main():
    """Plant the faults that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--table", type=Path, default=Path(__file__).with_name("faults"), help="another folder of it")
    parser.add_argument("--skip-sound", action="store_true", help="do not try first that the tests pass without a fault")
    options, root, begin = parser.parse_args(), Path.cwd(), time.monotonic()
    texts, places = sources(root / PACKAGE), {}
    for fault in read(sorted(options.table.glob("*.txt"))):
        file, line = place(fault, texts)
        where = f"{file.relative_to(root / PACKAGE)}:{line}"
        if not options.names or any(name in where or name in fault.old for name in options.names):
            places[fault] = where
    work = Work(root, options.jobs)
    broken = [] if options.skip_sound else work.sound(places)
    if broken:
        print("tests fail without a fault:", *broken, sep="\n  ")
        return 1
    lines, missed = [], []
    for k, (fault, (by, seconds)) in enumerate(work.each(work.noticed, places), 1):
        lines.append(f"{places[fault]:<48} {seconds:6.1f} s  {by or 'NOT NOTICED'}\n    - {fault.old}\n    + {fault.new}")
        print(f"{k}/{len(places)} {lines[-1]}", flush=True)
        missed += [lines[-1]] * (not by)
    share = 1.0 - len(missed) / max(1, len(places))
    lines.append(f"{len(places)} faults, {len(missed)} not noticed: {share:.1%} noticed, "
                 f"in {(time.monotonic() - begin) / 60.0:.0f} minutes by {options.jobs} processes")
    print("", "not noticed:" * bool(missed), *missed, lines[-1], sep="\n")
    (root / "build" / "planted.txt").write_text("\n".join([*missed, "", *lines]) + "\n")
    return 0 if share >= ASKED else 1


if __name__ == "__main__":
    sys.exit(main())
