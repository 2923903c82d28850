"""The results: on the screen, as JSON, and as Markdown for the README."""
import json
import statistics
from itertools import groupby

from .contestants import OURS


def as_json(machine, contestants, measurements, rows):
    """All of a run as JSON: times in seconds per call, state or step, with quartiles; ratios with their targets."""
    return json.dumps({
        "machine": machine,
        "versions": contestants.versions,
        "absent": contestants.absent,
        "measurements": [{**m.subject, "times": [times(m, who) for who in m.seconds]} for m in measurements],
        "ratios": [{**row._asdict(), "met": {column: row.met(column) for column in row.cells}} for row in rows],
    }, indent=1) + "\n"


def times(measurement, who):
    """The times of one contestant."""
    low, middle, high = statistics.quantiles(measurement.seconds[who], n=4, method="inclusive")
    return {**who._asdict(), "median": middle, "quartiles": [low, high], "repeats": len(measurement.seconds[who])}


def line(measurement):
    """One measurement in one line."""
    subject = measurement.subject
    seconds = "  ".join(f"{who} {microseconds(measurement.median(who))}" for who in measurement.seconds)
    return f"{subject['work']}, {subject.get('robot', 'chains')}, {subject['quantity']}: {seconds}"


def microseconds(seconds):
    """A time in microseconds to three digits."""
    return f"{significant(seconds * 1e6)} us"


def significant(x):
    """A number to three digits, or whole from 100 up."""
    return f"{x:.0f}" if x >= 99.5 else f"{x:.1f}" if x >= 9.95 else f"{x:.2f}" if x >= 0.995 else f"{x:.3f}"


def ratio(row, column):
    """A cell: its ratio, with a mark where it misses the target."""
    if column not in row.cells:
        return ""
    return f"{row.cells[column]:.1f}x" + ("" if row.met(column) is not False else " !")


def target(row):
    """What a row has to reach."""
    return "" if row.target is None else f"{'at most ' if row.at_most else ''}{row.target:g}x"


def tables(rows):
    """The sections: title, columns, rows."""
    for section, found in groupby(rows, key=lambda row: row.section):
        found = list(found)
        yield section, list(dict.fromkeys(column for row in found for column in row.cells)), found


def as_text(machine, contestants, rows):
    """The report for the screen."""
    lines = ["", *facts(machine, contestants)]
    for section, columns, found in tables(rows):
        width = max(len(row.label) for row in found) + 2
        head = "".join(f"{column:>11}" for column in columns)
        lines += ["", section, " " * width + f"{'target':>12}" + head]
        for row in found:
            lines.append(f"{row.label:<{width}}{target(row):>12}" + "".join(f"{ratio(row, c):>11}" for c in columns))
    return "\n".join([*lines, "", verdict(rows)])


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
    """The table of the README: a column for each robot; of calls on one state both ways in one cell."""
    into_out = {row.label: row for row in rows if row.section.startswith("One state, through")}
    lines = []
    for row in rows:
        if row.section.startswith("One state, checked"):
            lines.append((f"{row.label}, one state, as it is / into `out=`", "Pinocchio", [row, into_out[row.label]]))
        elif row.section.startswith("Batch"):
            lines.append((f"{row.label}, batch of 4096", "Pinocchio", [row]))
        elif row.section.startswith("Simulation"):
            lines.append((f"simulation, {row.label}", "MuJoCo", [row]))
        elif row.section.startswith("Two threads") and row.target:
            lines.append((f"two threads, {row.label.removesuffix(', ' + OURS)}", "one thread", [row]))
    columns = list(dict.fromkeys(column for _, _, found in lines for row in found for column in row.cells))
    text = [f"| times faster | than | aim | {' | '.join(columns)} |", "|---" * (3 + len(columns)) + "|"]
    for work, than, found in lines:
        aim = " / ".join(f"{row.target:g}" for row in found if row.target)
        cells = (" / ".join(f"{row.cells[column]:.1f}" for row in found if column in row.cells) for column in columns)
        text.append(f"| {work} | {than} | {aim} | {' | '.join(cells)} |")
    versions = ", ".join(f"{name} {version}" for name, version in contestants.versions.items())
    place = f"{machine['processor']}, {machine['cores']} cores, {machine['vector instructions']}, {machine['date']}"
    return "\n".join([*text, "", f"{place}; {versions}, Python {machine['Python']}."])
