"""docs/comparison.md: the text of template.md with its tables and numbers filled in."""
import re
import statistics
from pathlib import Path

import screw_dynamics as sd
from benchmarks import robots
from screw_dynamics.compiled.counting import straight_line_operations

from . import algorithms, counts
from .chains import DENAVIT_HARTENBERG
from .chains import rows as rows_of
from .counts import COLUMNS
from .times import BATCH, ONE, SPECIALIZED, ratio, typical

TEMPLATE = Path(__file__).with_name("template.md")
TYPICAL = 7             # joints of the chain by which the fewest operations are told


def text(polynomials, measurements, errors, distances, facts):
    """The whole page."""
    filled = {
        "facts": ", ".join(f"{name} {value}" for name, value in facts.items()),
        "first": counts.FIRST,
        "typical": TYPICAL,
        "answers": answers(polynomials, measurements),
        "totals": totals(polynomials),
        "printed": printed(polynomials),
        "published": published(polynomials),
        "real_counts": real_counts(),
        "details": details(polynomials),
        "times": times(measurements),
        "accuracy": accuracy(errors, distances),
    }

    functions = {
        "span": lambda *case: span(measurements, *case),
        "count": lambda *case: str(counts.total(polynomials[case])),
        "more": lambda *case: f"{more(polynomials, *case):+.0%}",
    }

    def fill(place):
        name, *arguments = place[1].split("; ")
        return functions[name](*arguments) if arguments else str(filled[name])
    return re.sub(r"\{\{(.*?)\}\}", fill, TEMPLATE.read_text())


def markdown(header, rows):
    """A table."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


# ------------------------------------------------------------------------------------------------- the answer
def answers(polynomials, measurements):
    """A column for each quantity: who does least, who is fastest."""
    columns = []
    for quantity, forms in algorithms.IN_EACH.items():
        fewest = [min(forms, key=lambda form, column=column: counts.total(polynomials[quantity, form, column])(TYPICAL))
                  for column in COLUMNS]
        fastest = [fastest_of(measurements, quantity, *how) for how in ((ONE, False), (BATCH, False), (ONE, True))]
        columns.append([quantity, *fewest, *fastest])
    names = ["", *(f"fewest operations, {column}" for column in COLUMNS), "fastest, one call", "fastest, batch",
             f"fastest, {SPECIALIZED} specialized"]
    header, *rows = zip(names, *columns, strict=True)
    return markdown(header, rows)


def more(polynomials, quantity, form, column):
    """By which part a form takes more operations for each joint of a long chain than the body-fixed one."""
    theirs, ours = (counts.total(polynomials[quantity, f, column]).coefficients[-1] for f in (form, algorithms.BODY))
    return float(theirs / ours) - 1.0


def fastest_of(measurements, quantity, way, specialized):
    """The form whose ratio to the body-fixed one is least on average over the real robots, and that ratio."""
    chosen = [m for m in measurements if m.subject["quantity"] == quantity and m.subject["way"] == way
              and m.subject["specialized"] == specialized and m.subject["robot"] in robots.REAL]
    forms = set(algorithms.IN_EACH[quantity]).intersection(*(m.seconds for m in chosen)) if chosen else ()
    average = {form: statistics.geometric_mean(ratio(m, form) for m in chosen) for form in forms}
    best = min(average, key=average.get, default=None)
    return f"{best} ({average[best]:.2f})" if best else "not measured"


def span(measurements, quantity, form, way):
    """The least and the greatest ratio of a form to the body-fixed one over the real robots."""
    ratios = [ratio(m, form) for m in measurements if m.subject["robot"] in robots.REAL
              and (m.subject["quantity"], m.subject["way"], m.subject["specialized"]) == (quantity, way, False)]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


# ------------------------------------------------------------------------------------------------- operations
def totals(polynomials):
    """Additions, multiplications and divisions together, for each algorithm and kind of count."""
    rows = [[quantity, form, *(counts.total(polynomials[quantity, form, column]) for column in COLUMNS)]
            for quantity, forms in algorithms.ALL.items() for form in forms]
    return markdown(["quantity", "twists", *COLUMNS], rows)


def details(polynomials):
    """Each kind of operation apart."""
    rows = [[quantity, form, column, *polynomials[quantity, form, column][:4]]
            for quantity, forms in algorithms.ALL.items() for form in forms for column in COLUMNS]
    return markdown(["quantity", "twists", "count", "additions", "multiplications", "divisions", "sincos"], rows)


def printed(polynomials):
    """[SY] table 1 as printed, and our forward dynamics beside it."""
    rows = [[f"{name}, as printed", polynomial, *(f"{value} (formula: {float(polynomial(n)):.0f})"
             if polynomial(n) != value else value for n, value in zip(counts.PRINTED_AT, counts.PRINTED_VALUES[name],
                                                                      strict=True))]
            for name, polynomial in counts.PRINTED.items()]
    for column in COLUMNS:
        for form in algorithms.IN_EACH["forward dynamics"]:
            polynomial = counts.total(polynomials["forward dynamics", form, column])
            rows.append([f"{form}, {column}", polynomial, *(polynomial(n) for n in counts.PRINTED_AT)])
    return markdown(["forward dynamics", "operations", *(f"n = {n}" for n in counts.PRINTED_AT)], rows)


def published(polynomials):
    """What others count, and ours for the same kind of chain: the forms that take the fewest at these lengths."""
    rows = []
    for quantity in dict.fromkeys(p.quantity for p in counts.PUBLISHED):
        for p in (p for p in counts.PUBLISHED if p.quantity == quantity):
            rows.append([quantity, p.source, p.total, *(p.total(n) for n in counts.BESIDE), p.assumes, p.seen])
        forms = {form: counts.total(polynomials[quantity, form, DENAVIT_HARTENBERG])
                 for form in algorithms.ALL[quantity]}
        for form in dict.fromkeys(min(forms, key=lambda form, n=n: forms[form](n)) for n in counts.BESIDE):
            rows.append([quantity, f"**{form}**, here", forms[form], *(forms[form](n) for n in counts.BESIDE),
                         "", ""])
    return markdown(["quantity", "algorithm", "operations", *(f"n = {n}" for n in counts.BESIDE), "besides", "seen in"],
                    rows)


def real_counts():
    """Operations of the straight-line kernels of real robots."""
    models = {name: sd.Robot.from_urdf(robots.real(name).urdf).model for name in robots.REAL}
    found = {f"{name} ({model.n})": rows_of(model) for name, model in models.items()}
    rows = [[quantity, form, *(straight_line_operations(entry, *read).total for read in found.values())]
            for quantity, forms in algorithms.ALL.items() for form, entry in forms.items()]
    return markdown(["quantity", "twists", *found], rows)


# ------------------------------------------------------------------------------------------------- times and errors
def times(measurements):
    """Microseconds in body-fixed twists, and the ratios of the others to it."""
    rows, others = [], [form for form in algorithms.FORMS if form != algorithms.BODY]
    for m in measurements:
        subject = m.subject
        name = subject["robot"] + ", specialized" * subject["specialized"]
        ratios = (f"{ratio(m, form):.2f}" if form in m.seconds else "" for form in others)
        rows.append([subject["quantity"], subject["way"], f"{name} ({subject['joints']})",
                     f"{typical(m, algorithms.BODY) * 1e6:.3f}", *ratios])
    rows.sort(key=lambda row: (list(algorithms.IN_EACH).index(row[0]), row[1] == BATCH))
    return markdown(["quantity", "way", "robot (joints)", "body, µs", *others], rows)


def accuracy(errors, distances):
    """Relative errors by distance."""
    rows = [[quantity, form, *(f"{error:.0e}" for error in found)] for (quantity, form), found in errors.items()]
    return markdown(["quantity", "twists", *(f"{x:g} m" for x in distances)], rows)
