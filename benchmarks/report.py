"""The results: on the screen, as JSON, and as Markdown for docs/benchmarks.md."""
import json
import statistics
from itertools import groupby

from .contestants import OURS

TITLES = {
    ("one state", ""): "One state, checked public method, against Pinocchio's binding",
    ("one state", "out="): "One state, through out=, against Pinocchio's binding",
    ("one state", "specialized"): "One state, through out= of a specialized robot, against Pinocchio's binding",
    ("batch", ""): "Batch of 4096 states, against Pinocchio's parallel functions",
    ("batch", "specialized"): "Batch of 4096 states of a specialized robot, against Pinocchio's parallel functions",
    ("floating base, one state", ""): "Floating base, one state, checked public method, against Pinocchio's binding",
    ("floating base, one state", "out="): "Floating base, one state, through out=, against Pinocchio's binding",
    ("floating base, batch", ""): "Floating base, batch of 4096 states, against Pinocchio's parallel functions",
    ("two threads", ""): "Two threads over one",
    ("simulation", ""): "Simulation, against MuJoCo without contact",
    ("simulation", "specialized"): "Simulation of a specialized robot, against MuJoCo without contact",
    ("chains", ""): "Chains by number of joints, one state, checked public method, against Pinocchio's binding",
    ("growth", ""): "Our time at 1000 joints over that at 100; less is better",
}
CALLS = {"": "plain", "out=": "`out=`", "specialized": "specialized"}       # variants, in Markdown


def as_json(machine, contestants, measurements, rows, begins):
    """All of a run as JSON: times in seconds per call, state or step, with quartiles; ratios with their targets;
    start-up in seconds, with kernels and without."""
    return json.dumps({
        "machine": machine,
        "versions": contestants.versions,
        "absent": contestants.absent,
        "measurements": [{**m.subject, "times": [times(m, who) for who in m.seconds]} for m in measurements],
        "ratios": [{**row._asdict(), "met": {column: row.met(column) for column in row.cells}} for row in rows],
        "start-up": begins,
    }, indent=1) + "\n"


def times(measurement, who):
    """The times of one contestant."""
    low, middle, high = statistics.quantiles(measurement.seconds[who], n=4, method="inclusive")
    return {**who._asdict(), "median": middle, "quartiles": [low, high], "repeats": len(measurement.seconds[who])}


def line(measurement):
    """One measurement in one line."""
    subject = measurement.subject
    seconds = "  ".join(f"{who} {significant(measurement.median(who) * 1e6)} us" for who in measurement.seconds)
    return f"{subject['work']}, {subject.get('robot', 'chains')}, {subject['quantity']}: {seconds}"


def significant(x):
    """A number to three digits, or whole from 100 up."""
    return f"{x:.0f}" if x >= 99.5 else f"{x:.1f}" if x >= 9.95 else f"{x:.2f}" if x >= 0.995 else f"{x:.3f}"


def as_text(machine, contestants, rows):
    """The report for the screen."""
    lines = ["", *facts(machine, contestants)]
    for section, found in groupby(rows, key=lambda row: (row.work, row.variant)):
        found = list(found)
        columns, width = columns_of(found), max(len(row.label) for row in found) + 2
        lines += ["", TITLES[section], " " * width + f"{'target':>12}" + "".join(f"{column:>11}" for column in columns)]
        for row in found:
            target = "" if row.target is None else f"{'at most ' if row.work == 'growth' else ''}{row.target:g}x"
            cells = "".join(f"{cell(row, column):>11}" for column in columns)
            lines.append(f"{row.label:<{width}}{target:>12}{cells}")
    return "\n".join([*lines, "", verdict(rows)])


def columns_of(rows):
    """The columns of rows, in the order in which they come."""
    return list(dict.fromkeys(column for row in rows for column in row.cells))


def cell(row, column):
    """A ratio, with a mark where it misses the target."""
    return f"{row.cells[column]:.1f}x" + " !" * (row.met(column) is False) if column in row.cells else ""


def facts(machine, contestants):
    """Machine, versions, and who is absent and why."""
    yield ", ".join(f"{name} {value}" for name, value in machine.items())
    yield ", ".join(f"{name} {value}" for name, value in contestants.versions.items())
    for who, reason in contestants.absent.items():
        yield f"Without {who}: {reason}"


def verdict(rows):
    """How many targets are met."""
    met = [row.met(column) for row in rows for column in row.cells if row.met(column) is not None]
    return f"Ratios above 1: we are faster. {sum(met)} of {len(met)} ratios reach their target; the others are marked !"


# ------------------------------------------------------------------------------------------------- Markdown
def as_markdown(machine, contestants, rows):
    """The table of docs/benchmarks.md: a row for each variant of a call, a column for each robot, one number a cell."""
    lines = {"one state": ("{}, one state", "Pinocchio"), "batch": ("{}, batch of 4096", "Pinocchio"),
             "floating base, one state": ("floating base: {}, one state", "Pinocchio"),
             "floating base, batch": ("floating base: {}, batch of 4096", "Pinocchio"),
             "simulation": ("simulation, {}", "MuJoCo"), "two threads": ("two threads, {}", "one thread")}
    groups = {}
    for row in rows:
        if row.work in lines and not (row.work == "two threads" and row.target is None):
            groups.setdefault((row.work, row.label), []).append(row)
    columns = columns_of(row for group in groups.values() for row in group)
    text = [f"| times faster | than | call | target | {' | '.join(columns)} |", "|---" * (4 + len(columns)) + "|"]
    for (work, label), group in groups.items():
        what, than = lines[work]
        first = what.format(label.removesuffix(", " + OURS)), than          # said once, above its variants
        for row in group:
            target = f"{row.target:g}" if row.target else ""
            cells = (f"{row.cells[column]:.1f}" if column in row.cells else "" for column in columns)
            text.append(f"| {' | '.join((*first, CALLS[row.variant], target, *cells))} |")
            first = "", ""
    versions = ", ".join(f"{name} {version}" for name, version in contestants.versions.items())
    place = f"{machine['processor']}, {machine['cores']} cores, {machine['vector instructions']}, {machine['date']}"
    calls = "Calls: plain, as it is; with `out=`; of a specialized robot, for one state with `out=` too."
    return "\n".join([*text, "", calls, f"{place}; {versions}, Python {machine['Python']}."])
