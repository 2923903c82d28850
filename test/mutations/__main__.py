"""Changes copies of the package, one expression at a time, and tells which changes no test notices.

    python -m mutations [-n N] [--seed SEED] [NAME ...]

from the repository's root, as `make planted N=200 SEED=1` does. NAME: part of the path of the only files to change.

Outcomes are kept in build/planted, so that an interrupted run goes on where it was; build/planted/report.txt has all of
the last run. The exit code is 1 if fewer than 95 of 100 are noticed. A mutation that changes nothing (the order of two
equal things, a limit that nothing reaches) is among those that are not noticed: look at each."""
import argparse
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from screw_dynamics.kernel_cache import store

from .coverage_map import PACKAGE, CoverageMap
from .draw import draw
from .trees import Tree, groups

ASKED = 0.95            # the share of mutations that tests must notice
BEING_MADE = shutil.ignore_patterns("*.lock", "*.tmp")      # files of a cache that may be gone before they are copied


class Outcomes:
    """What came out of mutations, in a file, by their places."""

    def __init__(self, file: Path):
        self._file, self._lock = file, Lock()
        self._known = json.loads(file.read_text()) if file.exists() else {}

    def of(self, place: tuple, find: Callable[[], str]) -> str:
        """Return the outcome, by find() if it is not known."""
        key = repr(place)
        if key not in self._known:
            outcome = find()
            with self._lock:
                self._known[key] = outcome
                new = self._file.with_suffix(".new")
                new.write_text(json.dumps(self._known))
                new.replace(self._file)
        return self._known[key]


def made_for(folder: Path, files: Iterable[Path]) -> Path:
    """Return a folder whose contents are of files as they are: it is emptied if they have changed."""
    state = hashlib.sha256(repr([(str(file), file.read_bytes()) for file in sorted(files)]).encode()).hexdigest()
    if not (folder / "state").exists() or (folder / "state").read_text() != state:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "state").write_text(state)
    return folder


def main() -> int:
    """Draw mutations, and try each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-n", type=int, default=200, help="how many mutations")
    parser.add_argument("--seed", type=int, default=1, help="of the places")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="another repository")
    options, begin = parser.parse_args(), time.monotonic()
    root = options.root.resolve()
    texts = {file: file.read_text() for file in sorted((root / PACKAGE).rglob("*.py"))
             if not options.names or any(name in str(file.relative_to(root)) for name in options.names)}
    places = draw(texts, options.n, options.seed)
    if not places:
        parser.error(f"no file of {PACKAGE} with {' or '.join(options.names)} in its path has anything to change")
    folder = made_for(root / "build" / "planted", [*(root / PACKAGE).rglob("*.py"), *(root / "test").rglob("*.py")])
    reached, outcomes = CoverageMap(root, folder, options.jobs), Outcomes(folder / "outcomes.json")
    kernels = folder / "kernels"
    shutil.rmtree(kernels, ignore_errors=True)
    shutil.copytree(store.own().path, kernels, ignore=BEING_MADE, dirs_exist_ok=True)
    trees: SimpleQueue = SimpleQueue()
    for k in range(options.jobs):
        trees.put(Tree(root, folder / f"tree_{k}", kernels))

    def attempt(place):
        file, mutation = place
        tests, started = reached.tests_of(file, texts[file], mutation.line), time.monotonic()

        def find():
            tree = trees.get()
            try:
                return tree.noticed(file, mutation, tests)
            finally:
                trees.put(tree)
        by = outcomes.of((str(file.relative_to(root)), mutation), find)
        return by, sum(map(len, groups(tests))), time.monotonic() - started

    lines, missed = [], []
    with ThreadPoolExecutor(options.jobs) as pool:
        for (file, mutation), (by, count, seconds) in zip(places, pool.map(attempt, places), strict=True):
            lines.append(f"{file.relative_to(root / PACKAGE)}:{mutation.line}  {mutation.kind}, {seconds:.0f} s  "
                         f"{by or f'NOT NOTICED by {count} tests'}\n    - {mutation.old}\n    + {mutation.new}")
            missed += [lines[-1]] * (not by)
            print(f"{len(lines)}/{len(places)} {lines[-1]}", flush=True)
    share = 1.0 - len(missed) / len(places)
    summary = (f"{len(places)} mutations with seed {options.seed}, {len(missed)} not noticed: {share:.1%} noticed; "
               f"{(time.monotonic() - begin) / 60.0:.0f} minutes")
    print("", *missed, summary, sep="\n")
    (folder / "report.txt").write_text("\n".join([summary, "", *missed, "", *lines, ""]))
    return 0 if share >= ASKED else 1


if __name__ == "__main__":
    sys.exit(main())
