"""How logs and campaigns grow with workers and with episodes: throughput of one and two workers, what a task costs
besides its work, many episodes end to end with their memory, and what the scheduler has to do for each.

  python -m benchmarks.scale [--quick] [--episodes N] [--json FILE]

Machines with more cores than two are measured with two workers as well: it is the ratio that counts. docs/campaigns.md
has the figures, and projects them to a thousand workers."""
import argparse
import json
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from . import machine, robots

SECONDS = 1.0           # of work of a task whose overhead is measured
CROWD = 50              # workers that are threads of one process; of more its own work is what counts


def sleep(item, seconds):
    """A task of a known length that needs no processor."""
    time.sleep(seconds)
    return {"number": item}


def work(item, seconds):
    """A task that computes for so long, of the time that its process had."""
    begin, count, x = time.process_time(), 0, np.linspace(0.0, 1.0, 2000)
    while time.process_time() - begin < seconds:
        count += 1
        x = np.sin(x)
    return {"number": item, "count": count}


@contextmanager
def cluster(workers, processes=True):
    """A client with workers that have started."""
    import dask
    from distributed import Client, LocalCluster

    from screw_dynamics.recordings.logs.each_item import LOCAL
    with dask.config.set(LOCAL), LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=processes, silence_logs=50, dashboard_address=":0",
            memory_limit="auto" if processes else 0) as local, Client(local) as client:
        client.wait_for_workers(workers)
        yield client


class Memory:
    """The largest memory of this process and all that it started, in bytes, shared pages counted once: sampled."""

    def __enter__(self):
        self.most, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _watch(self):
        own = psutil.Process()
        while not self._over.wait(0.5):
            total = 0
            for process in (own, *own.children(recursive=True)):
                try:
                    total += process.memory_full_info().pss
                except psutil.Error:
                    pass
            self.most = max(self.most, total)


def timed(function, items, options, client, folder):
    """Seconds of a run of each(), which has its results nowhere yet."""
    from screw_dynamics.recordings.logs import each
    begin = time.perf_counter()
    rows = each(function, items, tempfile.mkdtemp(dir=folder), options, scheduler=client, progress=False)
    taken = time.perf_counter() - begin
    assert not any(row["error"] for row in rows), next(row["error"] for row in rows if row["error"])
    return taken


def throughput(folder, quick):
    """Residuals of episodes that are alike, by one worker and by two: seconds, and the ratio."""
    from screw_dynamics.recordings.logs.episode import episodes
    from screw_dynamics.recordings.logs.synthetic import Conditions, Synthetic
    from screw_dynamics.recordings.logs.work import residuals_of
    case = robots.real("UR5")
    count = 8 if quick else 60
    made = Synthetic(case.urdf, count, Conditions(duration=4.0 if quick else 20.0, rate=500.0))
    items = episodes([x.address for x in made.write_all(folder / "logs")])
    found = {"episodes": count, "messages an episode": round(made.conditions.duration * made.conditions.rate) * 2}
    options = {"robot": made.robot, "options": {}, "window": 0.1}
    for workers in (1, 2):
        with cluster(workers) as client:
            timed(residuals_of, items[:2 * workers], options, client, folder)       # imports, kernels
            found[f"{workers} worker{'s' * (workers > 1)}, s"] = timed(residuals_of, items, options, client, folder)
    found["ratio"] = found["1 worker, s"] / found["2 workers, s"]
    return found


def overhead(folder, quick):
    """What one more task of a known length takes more than that, as a share, with one and with two workers: of a call
    with twice as many tasks, less one with as many; and what a call takes to begin and to end."""
    seconds, count = (0.1, 10) if quick else (SECONDS, 15)
    found = {"task, s": seconds, "tasks a worker": f"{count} and {2 * count}"}
    for workers in (1, 2):
        with cluster(workers) as client:
            for function in (sleep, work):
                timed(function, range(20 * workers), {"seconds": 0.0}, client, folder)
                once, twice = (timed(function, range(workers * k), {"seconds": seconds}, client, folder)
                               for k in (count, 2 * count))
                name = f"{workers} worker{'s' * (workers > 1)}, {function.__name__}"
                found[name] = (twice - once) / (count * seconds) - 1.0
                found[f"{name}: a call, s"] = 2.0 * once - twice
    return found


def many(folder, quick, count):
    """Synthetic episodes from files to residuals, their summary and report, and to one model: seconds and memory."""
    from screw_dynamics.recordings.logs.command import main
    from screw_dynamics.recordings.logs.synthetic import Conditions, Synthetic
    case = robots.real("UR5")
    urdf = folder / "robot.urdf"
    made = Synthetic(case.urdf, count, Conditions(duration=2.0, rate=100.0, drift=0.5))
    urdf.write_text(made.description)
    begin = time.perf_counter()
    for number in range(count):
        made.write(number, folder / "many")
    found = {"episodes": count, "messages": count * 400, "written in, s": time.perf_counter() - begin}
    for what in ("residuals", "identify"):
        begin = time.perf_counter()
        with Memory() as memory:
            code = main([what, str(folder / "many"), "--robot", str(urdf), "--out", str(folder / what),
                         "--workers", "2", *["--quiet"] * (not sys.stderr.isatty())])
        assert code == 0, f"{what} ended with {code}"
        found |= {f"{what}, s": time.perf_counter() - begin, f"{what}, GiB": memory.most / 2**30}
    return found


def scheduler(folder, quick):
    """What client and scheduler, in one process, compute for a task that does nothing; and a crowd of workers that
    sleep, all in that process."""
    count = 500 if quick else 5000
    with cluster(2) as client:
        timed(sleep, range(50), {"seconds": 0.0}, client, folder)
        begin = time.process_time()
        taken = timed(sleep, range(count), {"seconds": 0.0}, client, folder)
        own = time.process_time() - begin
    found = {"tasks": count, "tasks a second, 2 workers": count / taken,
             "client and scheduler, ms a task": 1e3 * own / count}
    crowd, each = (20, 3) if quick else (CROWD, 5)
    with cluster(crowd, processes=False) as client:
        timed(sleep, range(crowd), {"seconds": 0.0}, client, folder)
        taken = timed(sleep, range(crowd * each), {"seconds": SECONDS}, client, folder)
    found[f"{crowd} workers, share of time that they work"] = each * SECONDS / taken
    cost = found["client and scheduler, ms a task"] * 1e-3
    found["workers of 1 s tasks that one scheduler serves"] = int(1.0 / cost)
    found["seconds a task must take for 1,000 workers"] = 1000 * cost
    return found


def main():
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small numbers, to see that it works")
    parser.add_argument("--episodes", type=int, help="of the long run: 10,000, with --quick 40")
    parser.add_argument("--only", choices=("throughput", "overhead", "scheduler", "many"), help="one part alone")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    given = parser.parse_args()
    found = {"machine": machine.describe()}
    with tempfile.TemporaryDirectory() as name:
        parts = {"throughput": throughput, "overhead": overhead, "scheduler": scheduler,
                 "many": lambda folder, quick: many(folder, quick, given.episodes or (40 if quick else 10_000))}
        for part, measure in parts.items():
            if given.only in (None, part):
                folder = Path(name, part)
                folder.mkdir()
                found[part] = measure(folder, given.quick)
                print(part)
                for what, value in found[part].items():
                    print(f"  {what:<48} {value:.4g}" if isinstance(value, float) else f"  {what:<48} {value}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
