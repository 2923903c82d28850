"""Write docs/comparison.md, its tables and its pictures: python -m comparison, from the root of the repository."""
import argparse
import json
import time
from pathlib import Path

from benchmarks import machine

from . import accuracy, page, pictures, targets, timed, times
from .exact import DIGITS

DOCS, BUILD = Path("docs"), Path("build") / "comparison"
MEASURED = Path(__file__).with_name("measured.json")    # what the page tells of times, and all errors
QUIET = 0.5                 # load of a machine on which times mean something


def text_of(told, errors):
    """Times and Errors as JSON."""
    values = [[*key, [float(f"{x:.3g}") for x in found]] for key, found in errors.values.items()]
    return json.dumps({"times": told._asdict(), "errors": {**errors._asdict(), "values": values}}, indent=1,
                      ensure_ascii=False) + "\n"


def read(text):
    """The Times and Errors of such a text."""
    kept = json.loads(text)
    values = {(quantity, form): found for quantity, form, found in kept["errors"].pop("values")}
    return page.Times(**kept["times"]), page.Errors(values=values, **kept["errors"])


def measured_times(quick):
    """Times, and the Measurements that they tell of."""
    facts = machine.describe()
    print("==> Measuring; what is not compiled yet is compiled first, some minutes", flush=True)
    if facts["load"] > QUIET:
        print(f"==> Other processes keep this machine busy, load {facts['load']}: the times will scatter", flush=True)
    found, started = [], time.monotonic()
    for m in times.measurements(quick):
        found.append(m)
        ratios = "  ".join(f"{form} {times.ratio(m, form):.2f}" for form in m.seconds)
        print(f"[{time.monotonic() - started:4.0f} s] {m.subject['quantity']}, {m.subject['robot']}, "
              f"{m.subject['way']}{', specialized' * m.subject['specialized']}: {ratios}", flush=True)
    print(f"[{time.monotonic() - started:4.0f} s] the same for other processors", flush=True)
    return page.Times(facts, timed.texts(page.places(), found, targets.measurements(quick))), found


def measured_errors(quick):
    """Errors; the load of the machine does not matter."""
    print(f"==> Errors against {DIGITS} digits", flush=True)
    distances = accuracy.FEW_DISTANCES if quick else accuracy.DISTANCES
    return page.Errors(machine.describe(), accuracy.errors(quick), list(distances))


def main():
    """Count, measure, draw and write."""
    parser = argparse.ArgumentParser(prog="python -m comparison", description="Compare the representations of twists.")
    parser.add_argument("--quick", action="store_true", help=f"see that it works; writes into {BUILD}")
    parser.add_argument("--keep-times", action="store_true", help=f"take times from {MEASURED.name}, as last measured")
    parser.add_argument("--keep-errors", action="store_true", help="take errors from there too")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    kept = BUILD / "quick.json" if options.quick else MEASURED
    told, errors = read(kept.read_text()) if options.keep_times or options.keep_errors else (None, None)
    told, found = (told, None) if options.keep_times else measured_times(options.quick)
    errors = errors if options.keep_errors else measured_errors(options.quick)
    kept.write_text(text_of(told, errors))
    print("==> Counting operations, a minute", flush=True)
    tables = page.Tables()
    folder, images = (BUILD, BUILD) if options.quick else (DOCS, DOCS / "images")
    source = ", ".join(str(told.facts[name]) for name in ("processor", "vector instructions", "date"))
    pictures.draw(tables.chains, found, errors.values, errors.distances, source, images)
    for name, text in page.texts(tables, told, errors).items():
        (folder / f"{name}.md").write_text(text)
    print(f"==> comparison.md and comparison_tables.md in {folder} and their pictures in {images} are written")


if __name__ == "__main__":
    main()
