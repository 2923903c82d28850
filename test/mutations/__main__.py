"""Changes copies of the package, one expression at a time, and tells which changes no everyday test notices.

    python -m mutations [-n N] [--seed SEED] [NAME ...]

from the repository's root, as `make planted N=200 SEED=1` does. NAME: part of the path of the only files to change.

Outcomes are kept in build/planted, so that an interrupted run goes on where it was unless a file has changed since;
build/planted/report.txt has all of the last run. The exit code is 1 if fewer than 95 of 100 are noticed. A mutation
that changes nothing (the order of two equal things, a limit that nothing reaches) is among those that are not noticed:
look at each."""
import argparse
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from screw_dynamics.jit.kernel_cache import store
from screw_dynamics.utils.atomic_write import write_atomically

from .coverage_map import PACKAGE, CoverageMap
from .draw import draw
from .trees import BEING_MADE, Tree, groups

ASKED = 0.95            # the share of mutations that tests must notice


class Outcomes:
    """What came out of mutations and the seconds that it took, in a file, by their places."""

    def __init__(self, file: Path):
        self._file, self._lock = file, Lock()
        self._known = json.loads(file.read_text()) if file.exists() else {}

    def of(self, place: tuple, find: Callable[[], str]) -> tuple[str, float]:
        """Return the outcome, by find() if it is not known."""
        key = repr(place)
        if key not in self._known:
            begin = time.monotonic()
            outcome = find(), time.monotonic() - begin
            with self._lock:
                self._known[key] = outcome
                write_atomically(self._file, json.dumps(self._known))
        return self._known[key]


def made_for(folder: Path, tree: Path) -> Path:
    """Return a folder whose contents are of a copy as it is, and of these versions: it is emptied if they change."""
    files = sorted(file for file in tree.rglob("*") if file.is_file())
    state = hashlib.sha256(repr([(str(file.relative_to(tree)), file.read_bytes()) for file in files]
                                + [version(name) for name in ("numba", "numpy", "coverage")]).encode()).hexdigest()
    if not (folder / "state").exists() or (folder / "state").read_text() != state:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "state").write_text(state)
    return folder


def at_least_one(text: str) -> int:
    """A number on the command line."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} must be >= 1")
    return int(text)


def main() -> int:
    """Draw mutations, and try each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-n", type=at_least_one, default=200, help="how many mutations, at least 1")
    parser.add_argument("--seed", type=int, default=1, help="of the places")
    parser.add_argument("--jobs", type=at_least_one, default=os.cpu_count(), help="how many at a time, at least 1")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="another repository")
    options, begin = parser.parse_args(), time.monotonic()
    root = options.root.resolve()
    folder = root / "build" / "planted"
    kernels = folder / "kernels"
    shutil.rmtree(kernels, ignore_errors=True)
    kernels.mkdir(parents=True)
    if store.own().path.is_dir():
        shutil.copytree(store.own().path, kernels, ignore=BEING_MADE, dirs_exist_ok=True)
    trees = [Tree(root, folder / f"tree_{k}", kernels) for k in range(options.jobs)]     # as the repository is now
    first = trees[0].path
    texts = {str(file.relative_to(first)): file.read_text() for file in (first / PACKAGE).rglob("*.py")
             if not options.names or any(name in str(file.relative_to(first)) for name in options.names)}
    places = draw(texts, options.n, options.seed)
    if not places:
        parser.error(f"no file of {PACKAGE} with {' or '.join(options.names)} in its path has anything to change")
    measured = made_for(folder / "measured", first)
    reached, outcomes = CoverageMap(first, measured, options.jobs), Outcomes(measured / "outcomes.json")
    idle: SimpleQueue = SimpleQueue()
    for tree in trees:
        idle.put(tree)

    def attempt(place):
        file, mutation = place
        tests = reached.tests_of(file, texts[file], mutation.line)

        def find():
            tree = idle.get()
            try:
                return tree.noticed(file, texts[file], mutation, tests)
            finally:
                idle.put(tree)
        return *outcomes.of(place, find), sum(map(len, groups(tests)))

    lines, missed = [], []
    with ThreadPoolExecutor(options.jobs) as pool:
        for (file, mutation), (by, seconds, count) in zip(places, pool.map(attempt, places), strict=True):
            lines.append(f"{file}:{mutation.line}  {mutation.kind}, {seconds:.0f} s  "
                         f"{by or f'NOT NOTICED in {count} runs of tests'}\n    - {mutation.old}\n    + {mutation.new}")
            if not by:
                missed.append(lines[-1])
            print(f"{len(lines)}/{len(places)} {lines[-1]}", flush=True)
    share = 1.0 - len(missed) / len(places)
    summary = (f"{len(places)} mutations with seed {options.seed}, {len(missed)} not noticed: {share:.1%} noticed; "
               f"{(time.monotonic() - begin) / 60.0:.0f} minutes")
    print("", *missed, summary, sep="\n")
    write_atomically(folder / "report.txt", "\n".join([summary, "", *missed, "", *lines, ""]))
    return 0 if share >= ASKED else 1


if __name__ == "__main__":
    sys.exit(main())
