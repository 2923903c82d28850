"""Conversion of recorded operations to statements of C.

A number that an algorithm writes to its table becomes a variable with that name, such as W3_force_x. Other numbers
become variables if used several times, or else parts of expressions. Parentheses preserve the order of operations, so
that C rounds as Python does. Sines and cosines of all angles are computed first."""
import re
import textwrap
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.tracing import COMPARISONS, INFIX, INPUT, NAMED, Operation, Traced

from .tracing import Notes

BETWEEN = 2         # largest number of additional angles that are computed for simpler indices
AT_ONCE = 4         # number of sines that some compilers vectorize
LONG = 72           # characters of an expression that is not inserted into another
WIDTH = 120         # columns of a line
SUM, PRODUCT, ATOM = 1, 2, 3
PRECEDENCE = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "<": 0, "<=": 0, "where": 0}
SINES = "sines_and_cosines"
NUMBERED = "t", "a"     # prefixes of variables that the algorithm does not name: t1, t2, ...
UNBROKEN = "\xa0"   # a non-breaking space
KEYWORDS = frozenset("auto break case char const continue default do double else enum extern float for goto if inline "
                     "int long register restrict return short signed sizeof static struct switch typedef union "
                     "unsigned void volatile while".split())
LOCAL = frozenset({"s", "c", "angle", *NUMBERED})       # local names of a function


class Dialect(NamedTuple):
    """The generated C: scalar type, prefix of all public names, and in_place, True if results may share memory with
    arguments, so that they are written last."""

    scalar: str
    prefix: str
    in_place: bool = True

    def number(self, x: float) -> str:
        """Return a number as a literal. Raises ValueError if the type cannot represent it."""
        if not np.isfinite(x):
            raise ValueError(f"a constant is {x}: inertias are too large or too small")
        if self.scalar == "double":
            return repr(float(x))
        with np.errstate(over="ignore"):
            single = np.float32(x)
        if not np.isfinite(single):
            raise ValueError(f"a constant is {x}, too large for float")
        return f"{single!s}f"

    def function(self, name: str) -> str:
        """Return the name of a function of the C library for the scalar type, for sqrt, sin or cos."""
        return name if self.scalar == "double" else f"{name}f"


class Expression(NamedTuple):
    """An expression in C, its precedence, and True if it reads an argument of the function."""

    text: str
    precedence: int
    reads: bool = False

    def within(self, precedence: int) -> str:
        """Return the text as an operand, in parentheses if its precedence is lower."""
        return self.text if self.precedence >= precedence else f"({self.text})"


class Statements:
    """The statements of recorded operations: `lines`. results: (place, number) each; bodies {slot: name in comments};
    taken: names that variables must not have."""

    def __init__(self, operations: Sequence[Operation], results: Sequence[tuple[str, Any]], notes: Notes,
                 dialect: Dialect, bodies: Mapping[int, str], taken: Iterable[str]):
        self.dialect, self._notes, self._bodies = dialect, notes, bodies
        self._uses = Counter(name for operation in operations for name in _names_in(operation))
        self._uses.update(x.name for _, x in results if isinstance(x, Traced))
        self._taken = {*KEYWORDS, *LOCAL, *taken}
        self._known: dict[str, Expression] = {}
        self._counts: Counter = Counter()           # number of variables with a name or a numbered variant
        self._section: int | str | None = None
        self._next: int | str | None = None
        self._of_sections = _sections(notes)
        self.lines: list[str] = []
        first = self._of_angles(operations)
        at_last, at_once = (results, {}) if dialect.in_place else _by_operation(results)
        for operation in operations:
            if operation.names[0] not in first:
                self._operation(operation)
            for name in operation.names:
                self._write(at_once.get(name, ()))
        self._write(at_last, "// Results.")

    # ------------------------------------------------------------------------------------------------- sines
    def _of_angles(self, operations):
        """Print the independent sines and cosines and the operations that they require; return the names computed."""
        angles, late = [], set()                # late: numbers that depend on a sine or cosine
        for operation in operations:
            after = not late.isdisjoint(_names_in(operation))
            if operation.symbol == "sincos" and not after:
                angles.append(operation)
            if operation.symbol == "sincos" or after:
                late.update(operation.names)
        if not angles:
            return set()
        needed = {name for operation in angles for name in operation.operands}
        for operation in reversed(operations):
            if not needed.isdisjoint(operation.names):
                needed.update(_names_in(operation))
        for operation in operations:
            if operation.names[0] in needed:
                self._operation(operation)
        texts = [self._known[operation.operands[0]].text for operation in angles]
        order = in_order(texts)
        count, scalar = padded(len(order), self.dialect.scalar), self.dialect.scalar
        self.lines.append("// Sines and cosines of the angles, each once.")
        self._statement(f"const {scalar} angle[{count}] = {{{', '.join(order)}}};")
        self.lines += [f"{scalar} s[{count}], c[{count}];", f"{self.dialect.prefix}_{SINES}({count}, angle, s, c);"]
        for operation, text in zip(angles, texts, strict=True):
            for name, table in zip(operation.names, "sc", strict=True):
                self._known[name] = Expression(f"{table}[{order.index(text)}]", ATOM)
        return needed | {name for operation in angles for name in operation.names}

    # ------------------------------------------------------------------------------------------------- operations
    def _operation(self, operation: Operation) -> None:
        """Print an operation, or store it as a part of other expressions."""
        name = operation.names[0]
        self._turn_to(operation)
        if operation.symbol == INPUT:
            self._known[name] = Expression(operation.operands[0], ATOM, True)
        elif operation.symbol == "sincos":
            self._sine(operation)
        else:
            expression = self._expression(operation)
            named = self._notes.names.get(name)
            if operation.symbol in COMPARISONS or not named and self._uses[name] == 1 and len(expression.text) < LONG:
                self._known[name] = expression
            else:
                self._known[name] = self._variable(named or "t", expression)

    def _variable(self, name, expression):
        """Print and return a variable with this name, or with a numbered variant."""
        self._tell_section()
        found = name
        while found in self._taken:
            self._counts[name] += 1
            found = f"{name}{self._counts[name]}" if name in NUMBERED else f"{name}_{self._counts[name] + 1}"
        self._taken.add(found)
        self._statement(f"const {self.dialect.scalar} {found} = {expression.text};")
        return Expression(found, ATOM)

    def _sine(self, operation):
        """Print sine and cosine of an angle that depends on other sines or cosines."""
        self._tell_section()
        angle, scalar = self._variable("a", self._known[operation.operands[0]]), self.dialect.scalar
        sine, cosine = f"s_of_{angle.text}", f"c_of_{angle.text}"
        self.lines += [f"{scalar} {sine}, {cosine};",
                       f"{self.dialect.prefix}_{SINES}(1, &{angle.text}, &{sine}, &{cosine});"]
        for name, text in zip(operation.names, (sine, cosine), strict=True):
            self._known[name] = Expression(text, ATOM)

    def _expression(self, operation):
        """Return the Expression of an operation."""
        symbol, operands = operation.symbol, [self._operand(x) for x in operation.operands]
        reads = any(x.reads for x in operands)
        if symbol in INFIX:
            a, b = operands
            own = PRECEDENCE[symbol]
            return Expression(f"{a.within(own)} {symbol} {b.within(own + 1)}", own, reads)
        if symbol == "where":
            condition, a, b = operands
            return Expression(f"{condition.text} ? {a.within(SUM)} : {b.within(SUM)}", 0, reads)
        return Expression(f"{self.dialect.function(symbol)}({operands[0].text})", ATOM, reads)

    def _operand(self, text):
        """Return the Expression of an operand: a name, its negative, or a number."""
        known = self._known.get(text.lstrip("-"))
        if known is None:
            x = float(text)
            return Expression(self.dialect.number(x), ATOM if x >= 0 else SUM)
        return Expression(f"-{known.within(ATOM)}", PRODUCT, known.reads) if text.startswith("-") else known

    # ------------------------------------------------------------------------------------------------- results
    def _write(self, results, *comment):
        """Print the assignments of results (place, number), where place is the left side of the assignment.

        If results may share memory with arguments, all arguments are read first."""
        texts = []
        for place, x in results:
            found = self._operand(repr(x) if isinstance(x, Traced) else repr(float(x)))
            if found.reads and self.dialect.in_place:
                found = self._variable("t", found)
            texts.append((place, found.text))
        self.lines += comment
        for place, text in texts:
            self._statement(f"{place} = {text};")

    # ------------------------------------------------------------------------------------------------- layout
    def _turn_to(self, operation):
        """Set the section of the next statement to that of an operation."""
        self._next = self._of_sections(int(operation.names[0][1:].split("_")[0]))

    def _tell_section(self):
        """Print a comment at the start of a new section."""
        if self._next not in (None, self._section):
            self._section = self._next
            text = self._next if isinstance(self._next, str) else self._bodies[self._next]
            self.lines.append(f"// {text}.")

    def _statement(self, text):
        self.lines += wrapped(text)


def wrapped(text: str, width: int = WIDTH - 2) -> list[str]:
    """Return a statement, wrapped to the line width."""
    if len(text) > width:
        lines = textwrap.wrap(text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    else:
        lines = [text]
    return [line.replace(UNBROKEN, " ") for line in lines]


def _names_in(operation: Operation) -> list[str]:
    """Return the names of the operands."""
    return [name for operand in operation.operands for name in NAMED.findall(operand)]


def _by_operation(results):
    """Return the results that are constants, and the others by the operations that compute them. A result that is
    written at once occupies no register afterward."""
    constants, found = [], {}
    for place, x in results:
        (found.setdefault(x.name, []) if isinstance(x, Traced) else constants).append((place, x))
    return constants, found


def _sections(notes: Notes):
    """Return a function that returns the section of an operation from its index in the trace."""
    starts = [start for start, _ in notes.sections]

    def of(place):
        k = bisect(starts, place) - 1
        return notes.sections[k][1] if k >= 0 else None
    return of


def in_order(angles: Sequence[str]) -> list[str]:
    """Return the angles in the order of the coordinates, if all are coordinates. A few intermediate coordinates are
    added, so that s[2] is the sine of q[2]."""
    places = [re.fullmatch(r"q\[(\d+)\]", text) for text in angles]
    if not all(places):
        return list(angles)
    found = sorted(int(place[1]) for place in places)
    everything = list(range(found[-1] + 1))
    return [f"q[{i}]" for i in (everything if len(everything) <= len(found) + BETWEEN else found)]


def padded(count: int, scalar: str) -> int:
    """Return the number of sines to compute for `count` angles: one or two are added to reach a multiple of AT_ONCE,
    but not for single precision, since processors that use it usually have no SIMD."""
    missing = -count % AT_ONCE
    return count + missing if scalar == "double" and missing in (1, 2) else count


def identifier(name: str) -> str:
    """Return a name as an identifier of C."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{found}" if found[:1].isdigit() else found


def comment(text: str) -> str:
    """Return text without characters that would end a comment or a line."""
    return re.sub(r"[^\x20-\x7e]|\\$", "?", text.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *"))
