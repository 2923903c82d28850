"""Integrate the examples of [MT], draw their figures, and write the numbers: python -m studies, from the root of the
repository."""
import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count
from pathlib import Path

import numpy as np

from . import page, pictures
from .examples import examples, integrate

PAGE, IMAGES, BUILD = Path("docs") / "integration.md", Path("docs") / "images", Path("build") / "studies"
STEPS, FEW_STEPS = (1e-2, 1e-3, 1e-4), (1e-2, 5e-3)


def run(name, dt, duration):
    """The motion of one example: its name, dt, times and values, as JSON takes them, and the seconds that it took."""
    started = time.monotonic()
    example, = (e for e in examples() if e.name == name)
    t, values = integrate(example, dt, duration)
    return {"example": name, "dt": dt, "t": t.tolist(), "seconds": round(time.monotonic() - started, 1),
            "values": [[*key, x.tolist()] for key, x in values.items()]}


def measured(quick, workers):
    """All motions, the longest first."""
    jobs = sorted(((e.name, dt, 0.5 if quick else e.duration) for e in examples()
                   for dt in (FEW_STEPS if quick else STEPS)), key=lambda job: job[1])
    found = []
    with ProcessPoolExecutor(workers) as pool:
        for motion in pool.map(run, *zip(*jobs, strict=True)):
            print(f"==> {motion['example']}, dt = {motion['dt']:g} s: {motion['seconds']} s", flush=True)
            found.append(motion)
    return found


def main():
    """Integrate, draw and write."""
    parser = argparse.ArgumentParser(prog="python -m studies", description="Redraw figures 2 to 22 of [MT].")
    parser.add_argument("--quick", action="store_true", help=f"see that it works: half a second; writes into {BUILD}")
    parser.add_argument("--keep", action="store_true", help="draw the motions of the last run")
    parser.add_argument("--workers", type=int, default=cpu_count(), help="processes; as many as processors")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    results = BUILD / ("quick.json" if options.quick else "results.json")
    if not options.keep:
        results.write_text(json.dumps(measured(options.quick, options.workers)))
    motions = {(m["example"], m["dt"]): (np.array(m["t"]), {(figure, group): np.array(x) for figure, group, x
                                                            in m["values"]})
               for m in json.loads(results.read_text())}
    images = BUILD if options.quick else IMAGES
    drawn = pictures.draw(motions, images)
    target = BUILD / PAGE.name if options.quick else PAGE
    target.write_text(page.with_numbers(PAGE.read_text(), motions))
    print(f"==> {target} and {len(drawn)} pictures in {images} are written")


if __name__ == "__main__":
    main()
