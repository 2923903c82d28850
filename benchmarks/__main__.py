"""Run the benchmark: python -m benchmarks, from the root of the repository."""
import argparse
import os
import shutil
import time
from pathlib import Path

from . import machine

# Before NumPy, Pinocchio and their like are loaded: as many threads of OpenMP as there are cores, whatever the
# shell says.
os.environ["OMP_NUM_THREADS"] = str(machine.cores())

from . import pictures, report, robots, startup, targets, timing, work  # noqa: E402
from .contestants import FOLDER, Contestants  # noqa: E402

IMAGES = Path("docs") / "images"
ROLLOUT_CHAIN = 50          # joints
QUIET = 0.5                 # load of a machine on which times mean something


def measurements(options, contestants):
    """All measurements, one by one."""
    effort = timing.QUICK if options.quick else timing.FULL
    cases = [robots.real(name) for name in options.robots]
    threads = [count for count in (1, 2) if count <= machine.cores()]
    if len(threads) < 2:
        contestants.absent["two threads"] = "this process may use one core only"
    for case in cases:
        yield from work.one_state(case, contestants, effort)
        yield from work.batch(case, contestants, effort, threads)
        yield from work.batch(case, contestants, effort, threads, work.LARGE)
    for name in [name for name in options.robots if name in robots.WALKING]:
        case = robots.real(name, floating=True)
        yield from work.one_state(case, contestants, effort)
        yield from work.batch(case, contestants, effort, threads[:1])
    for case in [*cases, robots.chain(ROLLOUT_CHAIN)]:
        yield from work.rollout(case, contestants, effort)
    yield from work.rollouts(robots.real("Panda"), contestants, effort, threads)
    yield from work.growth(contestants, effort)


def main():
    """Measure, print, and write results and pictures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure this library against others.")
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    parser.add_argument("--robots", nargs="+", choices=robots.REAL, default=list(robots.REAL), help="only these robots")
    parser.add_argument("--publish", action="store_true", help=f"pictures to {IMAGES}, table for docs/benchmarks.md")
    parser.add_argument("--no-install", action="store_true", help="only what is installed already")
    options = parser.parse_args()
    started, facts = time.monotonic(), machine.describe()
    contestants, found = Contestants(may_install=not options.no_install), []
    print("==> Checking results and measuring; what is not compiled yet is compiled first, a minute or two", flush=True)
    if facts["load"] > QUIET:
        print(f"==> Other processes keep this machine busy, load {facts['load']}: the times will scatter", flush=True)
    for measurement in measurements(options, contestants):
        found.append(measurement)
        print(f"[{time.monotonic() - started:4.0f} s] {report.line(measurement)}", flush=True)
    print("==> Starting processes, with kernels and without", flush=True)
    rows, begins = targets.rows(found), list(startup.measure(contestants))
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "results.json").write_text(report.as_json(facts, contestants, found, rows, begins))
    drawn = pictures.draw(found, rows, facts, contestants.versions, FOLDER)
    print(f"{report.as_text(facts, contestants, rows)}\n\n{startup.as_text(begins)}")
    print(f"\nResults and pictures are in {FOLDER}, after {time.monotonic() - started:.0f} s.")
    if options.publish:
        IMAGES.mkdir(parents=True, exist_ok=True)
        for picture in drawn:
            shutil.copy(picture, IMAGES)
        table = report.as_markdown(facts, contestants, rows)
        print(f"The pictures are in {IMAGES} too. For docs/benchmarks.md:\n\n{table}")


if __name__ == "__main__":
    main()
