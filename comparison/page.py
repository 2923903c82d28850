"""docs/comparison.md and docs/comparison_tables.md: the texts of the templates with tables and numbers filled in."""
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import screw_dynamics as sd
from benchmarks import robots
from screw_dynamics.algorithms.matrix_rows import DEEP
from screw_dynamics.compiled.counting import straight_line_operations

from . import algorithms, counts, targets
from .counts import COLUMNS, GENERAL_LOOPS, LOOPS, TREE_COLUMNS
from .recursions import closed_forms
from .recursions import printed as recursions_as_printed
from .structures import ALIGNED, DENAVIT_HARTENBERG, JOINTS, KINDS, PRISMATIC, REVOLUTE, shape, tree
from .structures import rows as rows_of
from .tables import markdown
from .times import BATCH, ONE

TEMPLATES = {name: Path(__file__).with_name(f"{name}.md") for name in ("comparison", "comparison_tables")}
TYPICAL = 7             # joints of the chain by which the fewest operations are told
LONG = 200              # joints up to which the point is looked for from which on one form takes fewer than another
PLACE = re.compile(r"\{\{(.*?)\}\}")
FACTS = ("date", "processor", "vector instructions", "cores", "load", "Python", "NumPy", "Numba")
OF_ERRORS = ("date", "processor", "NumPy", "Numba")


class Tables:
    """All that is counted: of chains, of their kinds of joints, of trees, of floating bases, as printed, and of closed
    forms."""

    def __init__(self):
        self.chains, self.joints, self.trees = counts.table(), counts.of_joints(), counts.tree_table()
        self.floating, (self.printed, self.calls) = counts.floating_table(), counts.of_printed()
        self.closed = counts.of_closed_forms()

    def total(self, quantity, form, column):
        """The Polynomial of a chain of revolute joints."""
        return counts.total(self.chains[quantity, form, column])

    def fewest(self, quantity, column, n=TYPICAL):
        """The form that takes the fewest operations of a chain of n joints."""
        return min(algorithms.ALL[quantity], key=lambda form: self.total(quantity, form, column)(n))


class Times(NamedTuple):
    """What is told of times: the facts of the machine, and `timed.texts`."""

    facts: dict
    texts: dict


class Errors(NamedTuple):
    """The facts of the machine, {(quantity, form): an error for each distance}, and the distances in m."""

    facts: dict
    values: dict
    distances: list

    def at(self, quantity, form, distance):
        """The error at a distance."""
        return self.values[quantity, form][self.distances.index(float(distance))]


def places():
    """The places of the templates that are filled in, and those of the table of answers."""
    found = {place for template in TEMPLATES.values() for place in PLACE.findall(template.read_text())}
    return sorted(found | {f"fastest; {quantity}; {way}" for quantity in algorithms.ALL for way in (ONE, BATCH)})


def stated(facts, names=FACTS):
    """Facts of a machine in words."""
    return ", ".join(f"{name} {facts[name]}" for name in names if name in facts)


def texts(tables, times, errors):
    """{name: the whole page} of Tables, Times and Errors."""
    parts = {
        "facts": stated(times.facts), "facts_of_errors": stated(errors.facts, OF_ERRORS),
        "first": counts.FIRST, "typical": TYPICAL, "rounds": targets.ROUNDS,
        "answers": answers(tables, times.texts),
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
        "closed": closed(tables), "accuracy": accuracy(errors.values, errors.distances),
        **times.texts,
    }
    functions = {
        "count": lambda *case: str(tables.total(*case)),
        "at": lambda n, *case: str(tables.total(*case)(int(n))),
        "more": lambda *case: f"{more(tables, *case):+.0%}",
        "fewest": lambda quantity, column: tables.fewest(quantity, column),
        "from": lambda *case: str(least(tables, *case)),
        "joint": lambda *case: str(tables.joints[case]),
        "tree": lambda *case: str(tables.trees[case]),
        "error": lambda *case: f"{errors.at(*case):.0e}",
        "closed_at": lambda n, *case: str(tables.closed[case](int(n))),
        "closed_from": lambda quantity, form, other, column: str(first_fewer(
            f"closed {quantity}, {column}", form, other, *(tables.closed[quantity, f, column] for f in (form, other)))),
        "joint_at": lambda n, *case: str(tables.joints[case](int(n))),
        "fewest_from": lambda quantity, form, column: str(fewest_from(
            quantity, form, lambda f: tables.total(quantity, f, column))),
        "prismatic": lambda quantity, form, kind: str(fewest_from(
            quantity, form, lambda f: tables.joints[quantity, f, PRISMATIC, kind])),
    }

    def fill(place):
        name, *arguments = place[1].split("; ")
        return str(parts[place[1]]) if place[1] in parts else functions[name](*arguments)
    return {name: PLACE.sub(fill, template.read_text()) for name, template in TEMPLATES.items()}


# ------------------------------------------------------------------------------------------------- the answer
def answers(tables, told):
    """A row for each quantity: who does least, who is fastest."""
    rows = [[quantity, *(tables.fewest(quantity, column) for column in COLUMNS if column != GENERAL_LOOPS),
             *(told[f"fastest; {quantity}; {way}"] for way in (ONE, BATCH))]
            for quantity in algorithms.ALL if len(algorithms.ALL[quantity]) > 1]
    columns = [column for column in COLUMNS if column != GENERAL_LOOPS]
    return markdown(["", *(f"fewest, {column}" for column in columns), "fastest, one call", "fastest, batch"], rows)


def more(tables, quantity, form, column):
    """By which part a form takes more operations for each joint of a long chain than the body-fixed one."""
    theirs, ours = (tables.total(quantity, f, column).coefficients[-1] for f in (form, algorithms.BODY))
    return float(theirs / ours) - 1.0


def least(tables, quantity, form, other, column):
    """The number of joints from which on a form takes fewer operations than another one; ArithmeticError if none."""
    return first_fewer(f"{quantity}, {column}", form, other,
                       *(tables.total(quantity, f, column) for f in (form, other)))


def fewest_from(quantity, form, polynomial):
    """The number of joints from which on a form takes the fewest operations, by polynomial(form)."""
    return max(first_fewer(quantity, form, other, polynomial(form), polynomial(other))
               for other in algorithms.ALL[quantity] if other != form)


def first_fewer(what, form, other, polynomial, polynomial_of_other):
    """The number of joints from which on a polynomial is less than another; ArithmeticError, by the names, if none."""
    fewer = [polynomial(n) < polynomial_of_other(n) for n in range(counts.FIRST, LONG)]
    if not fewer[-1]:
        raise ArithmeticError(f"{what}: {form} does not take fewer operations than {other}")
    return counts.FIRST + len(fewer) - (fewer[::-1].index(False) if False in fewer else len(fewer))


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


def closed(tables):
    """Operations of the closed forms as matrices."""
    rows = [[quantity, form, *(tables.closed[quantity, form, column] for column in COLUMNS)]
            for quantity, forms in closed_forms.CLOSED_FORMS.items() for form in forms]
    return markdown(["closed form", "twists", *COLUMNS], rows)


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


@cache
def real_counts():
    """Operations of the straight-line kernels of real robots."""
    models = {name: sd.Robot.from_urdf(robots.real(name).urdf).model for name in robots.REAL}
    found = {f"{name} ({model.n})": rows_of(model) for name, model in models.items()}
    rows = [[quantity, form, *(straight_line_operations(entry, *read).total for read in found.values())]
            for quantity, forms in algorithms.ALL.items() if quantity not in algorithms.LAST
            for form, entry in (forms | algorithms.ON_TREES.get(quantity, {})).items()]
    return markdown(["quantity", "twists", *found], rows)


# ------------------------------------------------------------------------------------------------- errors
def accuracy(errors, distances):
    """Relative errors by distance."""
    rows = [[quantity, form, *(f"{error:.0e}" for error in found)] for (quantity, form), found in errors.items()]
    return markdown(["quantity", "twists", *(f"{x:g} m" for x in distances)], rows)
