"""Write docs/comparison.md and its pictures: python -m comparison, from the root of the repository."""
import argparse
import json
import time
from pathlib import Path

from benchmarks import machine
from benchmarks.timing import Measurement

from . import accuracy, counts, page, pictures, times

PAGE, IMAGES, BUILD = Path("docs") / "comparison.md", Path("docs") / "images", Path("build") / "comparison"
QUIET = 0.5                 # load of a machine on which times mean something


def measured(quick):
    """Measure times and errors: what results.json holds."""
    facts = machine.describe()
    print("==> Measuring; what is not compiled yet is compiled first, some minutes", flush=True)
    if facts["load"] > QUIET:
        print(f"==> Other processes keep this machine busy, load {facts['load']}: the times will scatter", flush=True)
    found, started = [], time.monotonic()
    for m in times.measurements(quick):
        found.append({"subject": m.subject, "seconds": m.seconds})
        ratios = "  ".join(f"{form} {times.ratio(m, form):.2f}" for form in m.seconds)
        print(f"[{time.monotonic() - started:4.0f} s] {m.subject['quantity']}, {m.subject['robot']}, "
              f"{m.subject['way']}{', specialized' * m.subject['specialized']}: {ratios}", flush=True)
    distances = accuracy.FEW_DISTANCES if quick else accuracy.DISTANCES
    errors = [[*key, values] for key, values in accuracy.errors(quick).items()]
    return {"facts": facts, "times": found, "errors": errors, "distances": distances}


def main():
    """Count, measure, draw and write."""
    parser = argparse.ArgumentParser(prog="python -m comparison", description="Compare the representations of twists.")
    parser.add_argument("--quick", action="store_true", help=f"see that it works; writes into {BUILD}")
    parser.add_argument("--keep-times", action="store_true", help="take times and errors from the last run")
    options = parser.parse_args()
    results = BUILD / ("quick.json" if options.quick else "results.json")
    BUILD.mkdir(parents=True, exist_ok=True)
    if not options.keep_times:
        results.write_text(json.dumps(measured(options.quick)))
    kept = json.loads(results.read_text())
    found = [Measurement(m["subject"], m["seconds"]) for m in kept["times"]]
    errors = {(quantity, form): values for quantity, form, values in kept["errors"]}
    print("==> Counting operations", flush=True)
    polynomials = counts.table()
    target, images = (BUILD / PAGE.name, BUILD) if options.quick else (PAGE, IMAGES)
    source = f"{kept['facts']['processor']}, {kept['facts']['vector instructions']}, {kept['facts']['date']}"
    pictures.draw(polynomials, found, errors, kept["distances"], source, images)
    target.write_text(page.text(polynomials, found, errors, kept["distances"], kept["facts"]))
    print(f"==> {target} and its pictures in {images} are written")


if __name__ == "__main__":
    main()
