"""Write docs/comparison.md, its tables and its pictures: python -m comparison, from the root of the repository."""
import argparse
import json
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks import machine
from benchmarks.timing import Measurement

from . import accuracy, page, pictures, targets, times
from .exact import DIGITS

DOCS, BUILD = Path("docs"), Path("build") / "comparison"
QUIET = 0.5                 # load of a machine on which times mean something


class Results(NamedTuple):
    """What is measured: facts of the machine, Measurements, those by target, errors by distance."""

    facts: dict
    times: list
    targets: list
    errors: dict
    distances: list

    def text(self) -> str:
        """These as JSON."""
        return json.dumps([self.facts, [[m.subject, m.seconds] for m in self.times], self.targets,
                           [[*key, values] for key, values in self.errors.items()], self.distances])

    @classmethod
    def read(cls, text: str) -> "Results":
        """The Results of such a text."""
        facts, found, by_target, errors, distances = json.loads(text)
        return cls(facts, [Measurement(*m) for m in found], by_target,
                   {(quantity, form): values for quantity, form, values in errors}, distances)


def measured(quick):
    """Measure times and errors."""
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
    by_target = targets.measurements(quick)
    print(f"[{time.monotonic() - started:4.0f} s] errors against {DIGITS} digits", flush=True)
    distances = accuracy.FEW_DISTANCES if quick else accuracy.DISTANCES
    return Results(facts, found, by_target, accuracy.errors(quick), distances)


def main():
    """Count, measure, draw and write."""
    parser = argparse.ArgumentParser(prog="python -m comparison", description="Compare the representations of twists.")
    parser.add_argument("--quick", action="store_true", help=f"see that it works; writes into {BUILD}")
    parser.add_argument("--keep-times", action="store_true", help="take times and errors from the last run")
    options = parser.parse_args()
    kept = BUILD / ("quick.json" if options.quick else "results.json")
    BUILD.mkdir(parents=True, exist_ok=True)
    if not options.keep_times:
        kept.write_text(measured(options.quick).text())
    results = Results.read(kept.read_text())
    print("==> Counting operations, a minute", flush=True)
    tables = page.Tables()
    folder, images = (BUILD, BUILD) if options.quick else (DOCS, DOCS / "images")
    facts = results.facts
    source = f"{facts['processor']}, {facts['vector instructions']}, {facts['date']}"
    pictures.draw(tables.chains, results.times, results.errors, results.distances, source, images)
    for name, text in page.texts(tables, results).items():
        (folder / f"{name}.md").write_text(text)
    print(f"==> comparison.md and comparison_tables.md in {folder} and their pictures in {images} are written")


if __name__ == "__main__":
    main()
