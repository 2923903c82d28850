"""docs/comparison.md and docs/comparison_tables.md: the texts of the templates with tables and numbers filled in."""
import re
import statistics
from pathlib import Path

import screw_dynamics as sd
from benchmarks import robots
from screw_dynamics.algorithms.matrix_rows import DEEP
from screw_dynamics.compiled.counting import straight_line_operations

from . import algorithms, counts, targets
from .counts import COLUMNS, GENERAL_LOOPS, LOOPS, TREE_COLUMNS
from .recursions import printed as recursions_as_printed
from .structures import ALIGNED, DENAVIT_HARTENBERG, JOINTS, KINDS, REVOLUTE, shape, tree
from .structures import rows as rows_of
from .times import BATCH, ELSEWHERE, ONE, SPECIALIZED, lowest_tenth, ratio, typical

TEMPLATES = {name: Path(__file__).with_name(f"{name}.md") for name in ("comparison", "comparison_tables")}
TYPICAL = 7             # joints of the chain by which the fewest operations are told
LONG = 200              # joints up to which the point is looked for from which on one form takes fewer than another
FACTS = ("date", "processor", "vector instructions", "cores", "load", "Python", "NumPy", "Numba")


class Tables:
    """All that is counted: of chains, of their kinds of joints, of trees, of floating bases, and as printed."""

    def __init__(self):
        self.chains, self.joints, self.trees = counts.table(), counts.of_joints(), counts.tree_table()
        self.floating, (self.printed, self.calls) = counts.floating_table(), counts.of_printed()

    def total(self, quantity, form, column):
        """The Polynomial of a chain of revolute joints."""
        return counts.total(self.chains[quantity, form, column])

    def fewest(self, quantity, column, n=TYPICAL):
        """The form that takes the fewest operations of a chain of n joints."""
        return min(algorithms.ALL[quantity], key=lambda form: self.total(quantity, form, column)(n))


def texts(tables, results):
    """{name: the whole page}; results: as the measurements leave them."""
    measured, facts = results.times, {name: results.facts[name] for name in FACTS if name in results.facts}
    parts = {
        "facts": ", ".join(f"{name} {value}" for name, value in facts.items()),
        "first": counts.FIRST, "typical": TYPICAL, "rounds": targets.ROUNDS,
        "answers": answers(tables, measured),
        "dynamics": totals(tables, algorithms.DYNAMICS),
        "matrices": totals(tables, algorithms.MATRICES),
        "motions": totals(tables, ("twists", *algorithms.MOTIONS, "Jacobians")),
        "last": totals(tables, algorithms.LAST),
        "joints": of_joints(tables, algorithms.DYNAMICS, (DENAVIT_HARTENBERG,)),
        "all_joints": of_joints(tables, algorithms.ALL, KINDS),
        "trees": on_trees(tables, (ALIGNED,)), "all_trees": on_trees(tables, TREE_COLUMNS),
        "hands": hands(tables), "floating": floating(tables),
        "regrouped": regrouped(tables), "deep": DEEP, "book": counts.book_on_trees(), "tallies": tallies(tables),
        "as_printed": as_printed(tables),
        "sy": sy(tables), "published": published(tables), "real_counts": real_counts(), "details": details(tables),
        "summary": summary(measured), "times": times(measured), "targets": on_targets(results.targets),
        "accuracy": accuracy(results.errors, results.distances),
    }
    functions = {
        "span": lambda *case: span(measured, *case),
        "count": lambda *case: str(tables.total(*case)),
        "at": lambda n, *case: str(tables.total(*case)(int(n))),
        "more": lambda *case: f"{more(tables, *case):+.0%}",
        "fewest": lambda quantity, column: tables.fewest(quantity, column),
        "from": lambda *case: str(least(tables, *case)),
        "joint": lambda *case: str(tables.joints[case]),
        "tree": lambda *case: str(tables.trees[case]),
        "narrow": lambda *case: narrow(results.targets, *case),
        "by_target": lambda *case: by_target(results.targets, *case),
    }

    def fill(place):
        name, *arguments = place[1].split("; ")
        return functions[name](*arguments) if arguments else str(parts[name])
    return {name: re.sub(r"\{\{(.*?)\}\}", fill, template.read_text()) for name, template in TEMPLATES.items()}


def markdown(header, rows):
    """A table."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


# ------------------------------------------------------------------------------------------------- the answer
def answers(tables, measured):
    """A row for each quantity: who does least, who is fastest."""
    rows = [[quantity, *(tables.fewest(quantity, column) for column in COLUMNS if column != GENERAL_LOOPS),
             fastest_of(measured, quantity, ONE), fastest_of(measured, quantity, BATCH)]
            for quantity in algorithms.ALL if len(algorithms.ALL[quantity]) > 1]
    columns = [column for column in COLUMNS if column != GENERAL_LOOPS]
    return markdown(["", *(f"fewest, {column}" for column in columns), "fastest, one call", "fastest, batch"], rows)


def more(tables, quantity, form, column):
    """By which part a form takes more operations for each joint of a long chain than the body-fixed one."""
    theirs, ours = (tables.total(quantity, f, column).coefficients[-1] for f in (form, algorithms.BODY))
    return float(theirs / ours) - 1.0


def least(tables, quantity, form, other, column):
    """The number of joints from which on a form takes fewer operations than another one; ArithmeticError if none."""
    fewer = [tables.total(quantity, form, column)(n) < tables.total(quantity, other, column)(n)
             for n in range(counts.FIRST, LONG)]
    if not fewer[-1]:
        raise ArithmeticError(f"{quantity}, {column}: {form} does not take fewer operations than {other}")
    return counts.FIRST + len(fewer) - (fewer[::-1].index(False) if False in fewer else len(fewer))


def of_robots(measured, quantity, way, specialized=False):
    """The Measurements of a quantity: over the real robots, or over all where they are few."""
    chosen = [m for m in measured if m.subject["quantity"] == quantity and m.subject["way"] == way
              and m.subject["specialized"] == specialized]
    return [m for m in chosen if quantity in ELSEWHERE or m.subject["robot"] in robots.REAL]


def averages(measured, quantity, way, specialized=False):
    """{form: the geometric mean of its ratios to the body-fixed one}."""
    chosen = of_robots(measured, quantity, way, specialized)
    forms = set(algorithms.ALL[quantity]).intersection(*(m.seconds for m in chosen)) if chosen else ()
    return {form: statistics.geometric_mean(ratio(m, form) for m in chosen) for form in algorithms.ALL[quantity]
            if form in forms}


def fastest_of(measured, quantity, way, specialized=False):
    """The form whose average ratio is least, and that ratio."""
    average = averages(measured, quantity, way, specialized)
    best = min(average, key=average.get, default=None)
    return f"{best} ({average[best]:.2f})" if best else ""


def span(measured, quantity, form, way):
    """The least and the greatest ratio of a form to the body-fixed one."""
    ratios = [ratio(m, form) for m in of_robots(measured, quantity, way)]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


# ------------------------------------------------------------------------------------------------- operations of chains
def totals(tables, quantities):
    """Additions, multiplications and divisions together, for each algorithm and kind of count."""
    rows = [[quantity, form, *(tables.total(quantity, form, column) for column in COLUMNS)]
            for quantity in quantities for form in algorithms.ALL[quantity]]
    return markdown(["quantity", "twists", *COLUMNS], rows)


def details(tables):
    """Each kind of operation apart."""
    rows = [[quantity, form, column, *tables.chains[quantity, form, column][:4]]
            for quantity, forms in algorithms.ALL.items() for form in forms for column in COLUMNS]
    return markdown(["quantity", "twists", "count", "additions", "multiplications", "divisions", "sincos"], rows)


def of_joints(tables, quantities, kinds):
    """Totals of straight lines by the joints of a chain."""
    header = [f"{joints}, {kind}" if len(kinds) > 1 else joints for joints in JOINTS for kind in kinds
              if joints != REVOLUTE or len(kinds) == 1]
    rows = [[quantity, form, *(tables.total(quantity, form, kind) if joints == REVOLUTE
                               else tables.joints[quantity, form, joints, kind] for joints in JOINTS for kind in kinds
                               if joints != REVOLUTE or len(kinds) == 1)]
            for quantity in quantities for form in algorithms.ALL[quantity]]
    return markdown(["quantity", "twists", *header], rows)


# ------------------------------------------------------------------------------------------------- other structures
def on_trees(tables, columns):
    """Formulas of trees."""
    rows = [[quantity, form, *(tables.trees.get((quantity, form, column), "") for column in columns)]
            for quantity, forms in algorithms.ON_TREES.items() for form in forms
            if any((quantity, form, column) in tables.trees for column in columns)]
    return markdown(["quantity", "twists", *columns], rows)


HANDS = {"a chain of 24": (1, 24), "four legs of 6": (4, 6), "an arm of 4 and five fingers of 4": (1, 4, 5, 4)}


def hands(tables):
    """Operations of trees of 24 bodies, and who takes the fewest."""
    rows = []
    for quantity in ("inverse dynamics", "forward dynamics", "mass matrix", "Coriolis matrix"):
        forms = algorithms.ON_TREES[quantity]
        cells = []
        for parts in HANDS.values():
            found = {form: tables.trees[quantity, form, ALIGNED](shape(tree(*parts))) for form in forms}
            order = sorted(found, key=found.get)[:2]
            cells.append(", ".join(f"{form} {found[form]}" for form in order))
        rows.append([quantity, *cells])
    return markdown(["fewest, and the next", *HANDS], rows)


def floating(tables):
    """Polynomials of chains on floating bases."""
    rows = [[quantity, form, *(tables.floating[quantity, form, column] for column in (LOOPS, ALIGNED))]
            for quantity in algorithms.DYNAMICS for form in algorithms.ALL[quantity]]
    return markdown(["quantity", "twists", LOOPS, ALIGNED], rows)


# ------------------------------------------------------------------------------------------------- others' counts
def tallies(tables):
    """How often the printed recursions change frames and form brackets."""
    rows = [[form, *(tables.calls[form, kind] for kind in recursions_as_printed.KINDS)]
            for form in recursions_as_printed.PRINTED_IN]
    return markdown(["twists", *recursions_as_printed.KINDS], rows)


def as_printed(tables):
    """Operations of inverse dynamics as printed, beside ours."""
    columns = GENERAL_LOOPS, LOOPS, ALIGNED, DENAVIT_HARTENBERG
    rows = [[f"{form}, {which}", *(count(form, column) for column in columns)]
            for form in recursions_as_printed.PRINTED_IN
            for which, count in (("as printed", lambda form, column: tables.printed[form, column]),
                                 ("here", lambda form, column: tables.total("inverse dynamics", form, column)))]
    return markdown(["inverse dynamics", *columns], rows)


def sy(tables):
    """[SY] table 1 as printed, and our forward dynamics beside it."""
    rows = [[f"{name}, as printed", polynomial, *(f"{value} (formula: {float(polynomial(n)):.0f})"
             if polynomial(n) != value else value for n, value in zip(counts.PRINTED_AT, counts.PRINTED_VALUES[name],
                                                                      strict=True))]
            for name, polynomial in counts.PRINTED.items()]
    for column in COLUMNS:
        for form in algorithms.IN_EACH["forward dynamics"]:
            polynomial = tables.total("forward dynamics", form, column)
            rows.append([f"{form}, {column}", polynomial, *(polynomial(n) for n in counts.PRINTED_AT)])
    return markdown(["forward dynamics", "operations", *(f"n = {n}" for n in counts.PRINTED_AT)], rows)


def published(tables):
    """What others count, and ours for the same kind of chain: the forms that take the fewest at these lengths."""
    rows = []
    for quantity in dict.fromkeys(p.quantity for p in counts.PUBLISHED):
        for p in (p for p in counts.PUBLISHED if p.quantity == quantity):
            rows.append([quantity, p.source, p.total, *(p.total(n) for n in counts.BESIDE), p.assumes, p.seen])
        forms = {form: tables.total(quantity, form, DENAVIT_HARTENBERG) for form in algorithms.ALL[quantity]}
        for form in dict.fromkeys(min(forms, key=lambda form, n=n: forms[form](n)) for n in counts.BESIDE):
            rows.append([quantity, f"**{form}**, here", forms[form], *(forms[form](n) for n in counts.BESIDE),
                         "", ""])
    return markdown(["quantity", "algorithm", "operations", *(f"n = {n}" for n in counts.BESIDE), "besides", "seen in"],
                    rows)


def regrouped(tables):
    """The longest chain for which the published inverse dynamics with regrouped inertias takes no more operations than
    ours."""
    theirs = next(p.total for p in counts.PUBLISHED if "base parameters" in p.assumes)
    ours = tables.total("inverse dynamics", algorithms.CLASSICAL, DENAVIT_HARTENBERG)
    return max(n for n in range(counts.FIRST, LONG) if theirs(n) <= ours(n))


def real_counts():
    """Operations of the straight-line kernels of real robots."""
    models = {name: sd.Robot.from_urdf(robots.real(name).urdf).model for name in robots.REAL}
    found = {f"{name} ({model.n})": rows_of(model) for name, model in models.items()}
    rows = [[quantity, form, *(straight_line_operations(entry, *read).total for read in found.values())]
            for quantity, forms in algorithms.ALL.items() if quantity not in algorithms.LAST
            for form, entry in (forms | algorithms.ON_TREES.get(quantity, {})).items()]
    return markdown(["quantity", "twists", *found], rows)


# ------------------------------------------------------------------------------------------------- times and errors
def summary(measured):
    """Average ratios to the body-fixed form."""
    rows = []
    for quantity in dict.fromkeys(m.subject["quantity"] for m in measured):
        for way, specialized in ((ONE, False), (BATCH, False), (ONE, True), (BATCH, True)):
            found = averages(measured, quantity, way, specialized)
            others = ", ".join(f"{form} {value:.2f}" for form, value in sorted(found.items(), key=lambda x: x[1]))
            if found:
                rows.append([quantity, way + f", {SPECIALIZED} specialized" * specialized, others])
    return markdown(["quantity", "way", "time over that of the body-fixed form"], rows).replace("--: |\n", "--- |\n")


def times(measured):
    """Microseconds in body-fixed twists, and the ratios of the others to it."""
    rows = []
    for m in measured:
        subject = m.subject
        name = subject["robot"] + ", specialized" * subject["specialized"]
        ratios = ", ".join(f"{form} {ratio(m, form):.2f}" for form in m.seconds if form != algorithms.BODY)
        rows.append([subject["quantity"], subject["way"], f"{name} ({subject['joints']})",
                     f"{typical(m, algorithms.BODY) * 1e6:.3f}", ratios])
    rows.sort(key=lambda row: (list(algorithms.ALL).index(row[0]), row[1] == BATCH))
    return markdown(["quantity", "way", "robot (joints)", "body, µs", "ratios"], rows)


def narrow(found, quantity, way):
    """The least and the greatest time for the narrow target over that for the wide one, loops of all forms."""
    ratios = [lowest_tenth(seconds[targets.NARROW][form]) / lowest_tenth(seconds[targets.WIDE][form])
              for subject, seconds in found if (subject["quantity"], subject["way"]) == (quantity, way)
              and not subject["specialized"] for form in seconds[targets.WIDE]]
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "not measured"


def by_target(found, target, quantity, form, way):
    """The least and the greatest ratio of a form to the body-fixed one for a target, in loops."""
    ratios = [lowest_tenth(seconds[target][form]) / lowest_tenth(seconds[target][algorithms.BODY])
              for subject, seconds in found if (subject["quantity"], subject["way"]) == (quantity, way)
              and not subject["specialized"]]
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "not measured"


def on_targets(found):
    """Ratios to the body-fixed form for each target, and of one target to the other."""
    rows = []
    for subject, seconds in found:
        name = subject["robot"] + ", specialized" * subject["specialized"]
        typically = {target: {form: lowest_tenth(values) for form, values in of.items()}
                     for target, of in seconds.items()}
        wide, thin = typically[targets.WIDE], typically[targets.NARROW]
        ratios = (", ".join(f"{form} {of[form] / of[algorithms.BODY]:.2f}" for form in of if form != algorithms.BODY)
                  for of in (wide, thin))
        rows.append([subject["quantity"], subject["way"], name, *ratios,
                     f"{statistics.geometric_mean(thin[form] / wide[form] for form in wide):.2f}"])
    return markdown(["quantity", "way", "robot", *(f"{target}: over body" for target in (targets.WIDE, targets.NARROW)),
                     f"{targets.NARROW} over {targets.WIDE}"], rows)


def accuracy(errors, distances):
    """Relative errors by distance."""
    rows = [[quantity, form, *(f"{error:.0e}" for error in found)] for (quantity, form), found in errors.items()]
    return markdown(["quantity", "twists", *(f"{x:g} m" for x in distances)], rows)
