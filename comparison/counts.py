"""Operation counts as polynomials of the number of joints: exact, and proved at more lengths than those fitted to."""
from fractions import Fraction
from typing import NamedTuple

from screw_dynamics.compiled.counting import Operations, operations, straight_line_operations

from . import algorithms
from .chains import GENERAL, KINDS, chain, rows, rows_as_given

FIRST = 4               # joints: shorter chains save a little more at their ends
FURTHER = 3             # lengths at which a polynomial is proved, beyond those that determine it
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


BESIDE = 6, 7, 12       # joints for which published counts are laid beside ours
_BOOK, _MEMORY = "Featherstone (2008), table 10.1", "not checked against the paper"
PUBLISHED = (
    Published("inverse dynamics", "Luh, Walker and Paul (1980)", Polynomial((-48, 131)), Polynomial((-48, 150)),
              "loops", "the manual of Corke's Robotics Toolbox"),
    Published("inverse dynamics", "Khalil and Kleinfinger (1987)", Polynomial((-117, 81)), Polynomial((-127, 92)),
              "inertias regrouped to base parameters", _MEMORY),
    Published("inverse dynamics", "Balafoutis and Patel (1991)", Polynomial((-65, 81)), Polynomial((-69, 93)),
              "", _MEMORY),
    Published("inverse dynamics", "recursive Newton-Euler", Polynomial((-100, 81)),
              Polynomial((-108, 93)), "", _BOOK),
    Published("mass matrix", "composite bodies", Polynomial((-43, 37, 6)), Polynomial((-32, 22, 10)), "", _BOOK),
    Published("forward dynamics", "Featherstone (1983)", Polynomial((-259, 279)), Polynomial((-267, 300)), "", _MEMORY),
    Published("forward dynamics", "Brandl, Johanni and Otter (1988)", Polynomial((-198, 220)), Polynomial((-222, 250)),
              "", _MEMORY),
    Published("forward dynamics", "articulated bodies; McMillan and Orin (1995)", Polynomial((-248, 205)),
              Polynomial((-259, 224)), "", _BOOK),
    # 81n - 100 + 6n² + 37n - 43 + n³/6 + n² - 7n/6, and 93n - 108 + 10n² + 22n - 32 + n³/6 + 3n²/2 - 2n/3
    Published("forward dynamics", "by mass matrix",
              _of(-858, 701, 42, 1), _of(-840, 686, 69, 1), "", _BOOK),
)


def count(quantity, form, column, n):
    """The Operations of an algorithm for a chain."""
    entry = algorithms.ALL[quantity][form]
    if column == LOOPS:
        return operations(entry, *rows(chain(GENERAL, n)))
    if column == GENERAL_LOOPS:
        return operations(entry, *rows_as_given(chain(GENERAL, n)), general=True)
    model = chain(column, n)
    return straight_line_operations(entry, *(rows_as_given(model) if column == GENERAL else rows(model)))


def polynomials(quantity, form, column):
    """Operations whose fields are the Polynomials of an algorithm, for n >= FIRST. Raises ArithmeticError where they
    are none."""
    degree = algorithms.degree(quantity, form)
    lengths = range(FIRST, FIRST + degree + 1 + FURTHER)
    found = [count(quantity, form, column, n) for n in lengths]
    fitted = Operations(*(through(lengths[:degree + 1], values) for values in zip(*found, strict=True)))
    for n, counted in zip(lengths, found, strict=True):
        if tuple(polynomial(n) for polynomial in fitted) != tuple(counted):
            raise ArithmeticError(f"{quantity}, {form}, {column}: the operations at n = {n} are not those of {fitted}")
    return fitted


def through(points, values):
    """The Polynomial through values at as many points as it has coefficients, by Newton's divided differences."""
    differences = [Fraction(value) for value in values[:len(points)]]
    for step in range(1, len(points)):
        for i in range(len(points) - 1, step - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (points[i] - points[i - step])
    coefficients = [Fraction(0)] * len(points)
    for x, difference in zip(reversed(points), reversed(differences), strict=True):
        coefficients = _times_linear(coefficients, x)
        coefficients[0] += difference
    return Polynomial(tuple(coefficients))


def total(fitted):
    """The Polynomial of additions, multiplications and divisions together."""
    return Polynomial(tuple(map(sum, zip(*(p.coefficients for p in fitted[:3]), strict=True))))


def table():
    """{(quantity, form, column): Operations of Polynomials} of everything."""
    return {(quantity, form, column): polynomials(quantity, form, column)
            for quantity, forms in algorithms.ALL.items() for form in forms for column in COLUMNS}


def _times_linear(coefficients, x):
    """The coefficients of a polynomial times (n - x), of which the highest one is known to vanish."""
    shifted = [Fraction(0), *coefficients[:-1]]
    return [a - x * b for a, b in zip(shifted, coefficients, strict=True)]
