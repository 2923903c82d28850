"""Operation counts as polynomials, of the joints of chains and of what counts of trees: exact, and proved at more
robots than those fitted to."""
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from screw_dynamics.compiled.counting import Operations, operations, straight_line_operations

from . import algorithms
from .recursions import closed_forms, printed
from .structures import (
    ALIGNED,
    ALTERNATING,
    DENAVIT_HARTENBERG,
    GENERAL,
    KINDS,
    PRISMATIC,
    REVOLUTE,
    Shape,
    chain,
    robot,
    rows,
    rows_as_given,
    shape,
    tree,
)

FIRST = 4               # joints: shorter chains save a little more at their ends
FIRST_EVEN = 6          # of chains of alternating joints
FURTHER = 1             # lengths at which a polynomial is proved, beyond those that determine it
# The columns of loops, which do as much whatever the robot's numbers: with any screws in any frames, and as they run,
# in frames on the axes; beside them the kinds of chains that straight lines are written out for.
GENERAL_LOOPS, LOOPS = "loops, general axes", "loops"
COLUMNS = GENERAL_LOOPS, LOOPS, *KINDS


class Polynomial(NamedTuple):
    """A polynomial of n with rational coefficients, that of the lowest power first."""

    coefficients: tuple

    def __call__(self, n):
        """The value at n."""
        return sum(c * n**power for power, c in enumerate(self.coefficients))

    def __str__(self):
        text = ""
        for power, c in reversed(list(enumerate(self.coefficients))):
            if c:
                variable = ("", "n", "n²", "n³")[power]
                top, bottom = abs(c).numerator, abs(c).denominator
                number = "" if top == 1 and variable else str(top)
                sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
                text += sign + number + variable + (f"/{bottom}" if bottom > 1 else "")
        return text or "0"


# [SY] table 1, as printed.
PRINTED = {
    "Walker and Orin": Polynomial((Fraction(-33), Fraction(197, 6), Fraction(65), Fraction(1, 3))),
    "Rodriguez": Polynomial((Fraction(-503), Fraction(477))),
    "screws, (15)": Polynomial((Fraction(-567), Fraction(594))),
}
PRINTED_VALUES = {"Walker and Orin": (2567, 18948), "Rodriguez": (2359, 7606), "screws, (15)": (2997, 9531)}
PRINTED_AT = 6, 17


class Published(NamedTuple):
    """Operations that others published for chains of revolute joints in Denavit and Hartenberg's convention: quantity,
    authors, additions and multiplications as Polynomials, what they assume besides, and where the numbers are from."""

    quantity: str
    source: str
    additions: Polynomial
    multiplications: Polynomial
    assumes: str
    seen: str

    @property
    def total(self):
        """Additions and multiplications together."""
        return Polynomial(tuple(a + b for a, b in zip(self.additions.coefficients, self.multiplications.coefficients,
                                                      strict=True)))


def _of(*coefficients):
    """The Polynomial of coefficients, that of the lowest power first, in sixths."""
    return Polynomial(tuple(Fraction(c, 6) for c in coefficients))


# Featherstone (2008), (10.12): operations of the mass matrix of a tree for each body that is no child of the root, and
# for each pair beyond a body and itself, where the step between them is by the convention and where it is general.
BOOK_BODY, BOOK_PAIR = (75, 105), (32, 42)
BESIDE = 6, 7, 12       # joints for which published counts are laid beside ours
_BOOK, _MEMORY = "notes on Featherstone (2008), table 10.1", "not checked against the paper"
PUBLISHED = (
    Published("inverse dynamics", "Luh, Walker and Paul (1980)", Polynomial((-48, 131)), Polynomial((-48, 150)),
              "loops", "the manual of Corke's Robotics Toolbox"),
    Published("inverse dynamics", "Khalil and Kleinfinger (1987)", Polynomial((-117, 81)), Polynomial((-127, 92)),
              "inertias regrouped to base parameters", _MEMORY),
    Published("inverse dynamics", "Balafoutis and Patel (1991), algorithm 5.7", Polynomial((-100, 81)),
              Polynomial((-108, 93)), "", _BOOK),
    Published("mass matrix", "composite bodies; Featherstone (2005)", Polynomial((-43, 37, 6)),
              Polynomial((-32, 22, 10)), "", _BOOK),
    Published("forward dynamics", "Featherstone (1983)", Polynomial((-259, 279)), Polynomial((-267, 300)), "", _MEMORY),
    Published("forward dynamics", "Brandl, Johanni and Otter (1988)", Polynomial((-198, 220)), Polynomial((-222, 250)),
              "", _MEMORY),
    Published("forward dynamics", "articulated bodies; McMillan et al. (1995)", Polynomial((-248, 205)),
              Polynomial((-259, 224)), "", _BOOK),
    # 81n - 100 + 6n² + 37n - 43 + n³/6 + n² - 7n/6, and 93n - 108 + 10n² + 22n - 32 + n³/6 + 3n²/2 - 2n/3
    Published("forward dynamics", "by mass matrix",
              _of(-858, 701, 42, 1), _of(-840, 686, 69, 1), "", _BOOK),
)


# ------------------------------------------------------------------------------------------------- one robot
@cache          # short chains serve several tables
def operations_of(entry, column, parents, joints=REVOLUTE, floating=False):
    """The Operations of a CompiledAlgorithm in a column, for the robot of parents, a tuple."""
    model = robot(column if column in KINDS else GENERAL, parents, joints, floating)
    if column in (LOOPS, GENERAL_LOOPS):
        links, frames, target, places = (rows if column == LOOPS else rows_as_given)(model)
        return operations(entry, links, frames, target, general=column == GENERAL_LOOPS, pose_sources=places)
    return straight_line_operations(entry, *(rows_as_given(model) if column == GENERAL else rows(model)))


def count(quantity, form, column, n, joints=REVOLUTE):
    """The Operations of an algorithm for a chain."""
    return operations_of(algorithms.ALL[quantity][form], column, tuple(range(n)), joints)


# ------------------------------------------------------------------------------------------------- chains
def polynomials(quantity, form, column, joints=REVOLUTE):
    """Operations whose fields are the Polynomials of an algorithm, for n >= FIRST, of alternating joints for even n >=
    FIRST_EVEN. Raises ArithmeticError where they are none."""
    lengths = range(FIRST_EVEN, 100, 2) if joints == ALTERNATING else range(FIRST, 100)
    return fitted_to(f"{quantity}, {form}, {column}", algorithms.degree(quantity, form),
                     lambda n: count(quantity, form, column, n, joints), lengths)


def fitted_to(name, degree, counted, lengths=range(FIRST, 100)):
    """Operations whose fields are the Polynomials of this degree of counted(n), Operations, at the first of lengths."""
    lengths = lengths[:degree + 1 + FURTHER]
    found = [counted(n) for n in lengths]
    fitted = Operations(*(through(lengths[:degree + 1], values) for values in zip(*found, strict=True)))
    for n, operations_at in zip(lengths, found, strict=True):
        if tuple(polynomial(n) for polynomial in fitted) != tuple(operations_at):
            raise ArithmeticError(f"{name}: the operations at n = {n} are not those of {fitted}")
    return fitted


def through(points, values):
    """The Polynomial through values at as many points as it has coefficients."""
    powers = [tuple(x**power for power in range(len(points))) for x in points]
    return Polynomial(solution(powers, values[:len(points)]))


def solution(matrix, values):
    """The exact solution of linear equations, by Gauss and Jordan; ArithmeticError where they leave it open."""
    left = [[*map(Fraction, row), Fraction(value)] for row, value in zip(matrix, values, strict=True)]
    size = len(left)
    for k in range(size):
        pivot = next((i for i in range(k, size) if left[i][k]), None)
        if pivot is None:
            raise ArithmeticError(f"the equations leave unknown {k} open")
        left[k], left[pivot] = left[pivot], left[k]
        left[k] = [x / left[k][k] for x in left[k]]
        for i in range(size):
            if i != k and left[i][k]:
                left[i] = [x - left[i][k] * y for x, y in zip(left[i], left[k], strict=True)]
    return tuple(row[-1] for row in left)


def total(fitted):
    """The Polynomial of additions, multiplications and divisions together."""
    return Polynomial(tuple(map(sum, zip(*(p.coefficients for p in fitted[:3]), strict=True))))


def table():
    """{(quantity, form, column): Operations of Polynomials} of everything, for chains of revolute joints."""
    return {(quantity, form, column): polynomials(quantity, form, column)
            for quantity, forms in algorithms.ALL.items() for form in forms for column in COLUMNS}


def of_joints():
    """{(quantity, form, joints, kind): Polynomial} of the straight lines of chains with prismatic joints."""
    return {(quantity, form, joints, kind): total(polynomials(quantity, form, kind, joints))
            for quantity, forms in algorithms.ALL.items() for form in forms
            for joints in (PRISMATIC, ALTERNATING) for kind in KINDS}


def of_printed():
    """{(form, column): Polynomial} of the recursions as [MD] prints them, and {(form, kind of call): Polynomial}."""
    found, calls = {}, {}
    for form, entry in printed.PRINTED_IN.items():
        for column in COLUMNS:
            found[form, column] = total(fitted_to(form, 1, lambda n, entry=entry, column=column: operations_of(
                entry, column, tuple(range(n)))))
        for name in printed.KINDS:
            calls[form, name] = through((4, 5), [calls_of(entry, n)[name] for n in (4, 5)])
            if calls[form, name](9) != calls_of(entry, 9)[name]:
                raise ArithmeticError(f"{form}: the {name} are not those of {calls[form, name]}")
    return found, calls


def of_closed_forms():
    """{(quantity, form, column): Polynomial} of the closed forms of [MD] 5 as matrices."""
    return {(quantity, form, column): total(fitted_to(f"{quantity}, closed, {form}, {column}", 3, lambda n, e=entry,
            c=column: operations_of(e, c, tuple(range(n)))))
            for quantity, forms in closed_forms.CLOSED_FORMS.items() for form, entry in forms.items()
            for column in COLUMNS}


def calls_of(entry, n):
    """How often a printed recursion calls each of printed.KINDS for a chain of n joints."""
    printed.calls.clear()
    entry.plain(rows(chain(ALIGNED, n)).links, *[[0.3] * n] * 3)
    return dict.fromkeys(printed.KINDS, 0) | printed.calls


# ------------------------------------------------------------------------------------------------- trees
class Formula(NamedTuple):
    """A linear form in some of the fields of a Shape, as {field: coefficient}."""

    terms: dict

    def __call__(self, found: Shape) -> Fraction:
        """The value for a Shape."""
        return sum(c * getattr(found, name) for name, c in self.terms.items())

    def __str__(self):
        text = ""
        for name, c in self.terms.items():
            if c:
                sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
                whole = "" if abs(c) == 1 else str(abs(c).numerator)
                text += sign + whole + name + (f"/{c.denominator}" if c.denominator > 1 else "")
        return text or "0"


# Arms, bodies of each, fingers of each, bodies of each finger. As many of the first as a formula has terms determine
# it, the others, of two arms and of three fingers, prove it.
FITTED_TREES = ((1, 4), (1, 5), (1, 4, 2, 4), (1, 4, 2, 5), (1, 6), (1, 5, 2, 4))
FURTHER_TREES = ((2, 4), (1, 4, 3, 4))
TREE_COLUMNS = LOOPS, ALIGNED, DENAVIT_HARTENBERG


def terms(quantity, form):
    """The fields of a Shape on which the operations of an algorithm on trees may depend."""
    if form == algorithms.SPARSE:
        return ("P", "S", "G", "n", "r", "e")
    return ("S", "G", "n", "r", "e") if algorithms.degree(quantity, form) == 2 else ("G", "n", "r", "e")


def on_trees(quantity, form, column):
    """The Formula of an algorithm for trees of which each unbranched part has four bodies or more; ArithmeticError
    where there is none."""
    entry = algorithms.ON_TREES[quantity][form]
    names, counted = terms(quantity, form), {}
    for parts in FITTED_TREES[:len(names)] + FURTHER_TREES:
        parents = tuple(tree(*parts))
        counted[shape(parents)] = operations_of(entry, column, parents).total
    return fitted_on_trees(f"{quantity}, {form}, {column}", names, counted)


def fitted_on_trees(name: str, names: Sequence[str], counted: dict) -> Formula:
    """The Formula in these fields through {Shape: operations}; least squares, which must have no remainder."""
    matrix = [[getattr(found, field) for field in names] for found in counted]
    columns, values = list(zip(*matrix, strict=True)), list(counted.values())
    normal = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in columns] for x in columns]
    formula = Formula(dict(zip(names, solution(normal, [sum(a * b for a, b in zip(x, values, strict=True))
                                                        for x in columns]), strict=True)))
    for found, value in counted.items():
        if formula(found) != value:
            raise ArithmeticError(f"{name}: the operations of {found} are not {formula}")
    return formula


def book_on_trees():
    """The Formula of BOOK_BODY and BOOK_PAIR, with one child of each body by the convention: of the n - r bodies that
    are no child of the root e - r are further children, and of the S - n pairs G go through their joints."""
    (body, further), (pair, through_further) = BOOK_BODY, BOOK_PAIR
    return Formula({"S": Fraction(pair), "G": Fraction(through_further - pair), "n": Fraction(body - pair),
                    "r": Fraction(-further), "e": Fraction(further - body)})


def tree_table():
    """{(quantity, form, column): Formula} of all that is counted on trees; of Jacobians for aligned axes alone."""
    return {(quantity, form, column): on_trees(quantity, form, column)
            for quantity, forms in algorithms.ON_TREES.items() for form in forms for column in TREE_COLUMNS
            if quantity != "Jacobians" or column == ALIGNED}


# ------------------------------------------------------------------------------------------------- floating bases
def on_floating_base(quantity, form, column):
    """The Polynomial of an algorithm for a chain of n joints on a base that moves freely."""
    def counted(n):
        return operations_of(algorithms.ALL[quantity][form], column, tuple(range(n)), floating=True)
    return total(fitted_to(f"{quantity}, {form}, {column}, floating", algorithms.degree(quantity, form), counted))


def floating_table():
    """{(quantity, form, column): Polynomial} of the dynamics on floating bases."""
    return {(quantity, form, column): on_floating_base(quantity, form, column)
            for quantity in algorithms.DYNAMICS for form in algorithms.ALL[quantity] for column in TREE_COLUMNS}
