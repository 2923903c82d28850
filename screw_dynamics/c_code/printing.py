"""Straight lines as statements of C.

A number that a recursion writes to its table is a variable of that name, W3_force_x; of others those that are used
several times are variables, and the rest parts of expressions. Parentheses keep the order of operations, so that C
rounds as Python does. Sines and cosines come first, of all angles together."""
import re
import textwrap
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.tracing import COMPARISONS, INFIX, INPUT, NAMED, Operation, Traced

from .tracing import Notes

BETWEEN = 2         # angles: so many more are computed for simpler indices
AT_ONCE = 4         # angles: some compilers take so many sines at once
LONG = 72           # characters of an expression that is not put into another
WIDTH = 120         # columns of a line
SUM, PRODUCT, ATOM = 1, 2, 3
PRECEDENCE = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "<": 0, "<=": 0, "where": 0}
SINES = "sines_and_cosines"
NUMBERED = "t", "a"     # names of variables that the algorithm does not name: t1, t2, ...
UNBROKEN = "\xa0"   # a space where no line ends
KEYWORDS = frozenset("auto break case char const continue default do double else enum extern float for goto if inline "
                     "int long register restrict return short signed sizeof static struct switch typedef union "
                     "unsigned void volatile while".split())
LOCAL = frozenset({"s", "c", "angle", *NUMBERED})       # names that a function has for itself


class Dialect(NamedTuple):
    """The C that is printed: the type of numbers, the prefix of all names that others can see, and whether results may
    have the memory of arguments, so that they are written last."""

    scalar: str
    prefix: str
    in_place: bool = True

    def number(self, x: float) -> str:
        """Return a number as a literal."""
        if not np.isfinite(x):
            raise ValueError(f"a number is {x}, of inertias that are too large or too small")
        if self.scalar == "double":
            return repr(float(x))
        with np.errstate(over="ignore"):
            single = np.float32(x)
        if not np.isfinite(single):
            raise ValueError(f"a number is {x}, too large for float")
        return f"{single!s}f"

    def function(self, name: str) -> str:
        """Return the name of a function of the C library, of sqrt, sin or cos."""
        return name if self.scalar == "double" else f"{name}f"


class Expression(NamedTuple):
    """Text of C, what binds it, and whether it reads an argument of the function."""

    text: str
    precedence: int
    reads: bool = False

    def within(self, precedence: int) -> str:
        """Return the text as an operand of what binds as strongly as this."""
        return self.text if self.precedence >= precedence else f"({self.text})"


class Statements:
    """The statements of straight lines: `lines`. results: (place, number) each; bodies {slot: what it is called in
    comments}; taken: names that are no variable's."""

    def __init__(self, operations: Sequence[Operation], results: Sequence[tuple[str, Any]], notes: Notes,
                 dialect: Dialect, bodies: Mapping[int, str], taken: Iterable[str]):
        self.dialect, self._notes, self._bodies = dialect, notes, bodies
        self._uses = Counter(name for operation in operations for name in _names_in(operation))
        self._uses.update(x.name for _, x in results if isinstance(x, Traced))
        self._taken = {*KEYWORDS, *LOCAL, *taken}
        self._known: dict[str, Expression] = {}
        self._counts: Counter = Counter()           # how many variables have a name, or one like it
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
        """Print the sines and cosines of what does not depend on others of them, and what these angles take; the names
        that are known then."""
        angles, late = [], set()                # late: what depends on a sine
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
        """Print an operation, or keep it as a part of others."""
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
        """Return a variable of this name, or of one like it."""
        self._tell_section()
        found = name
        while found in self._taken:
            self._counts[name] += 1
            found = f"{name}{self._counts[name]}" if name in NUMBERED else f"{name}_{self._counts[name] + 1}"
        self._taken.add(found)
        self._statement(f"const {self.dialect.scalar} {found} = {expression.text};")
        return Expression(found, ATOM)

    def _sine(self, operation):
        """Sine and cosine of an angle that depends on others."""
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
        """Return a name, its negative, or a number."""
        known = self._known.get(text.lstrip("-"))
        if known is None:
            x = float(text)
            return Expression(self.dialect.number(x), ATOM if x >= 0 else SUM)
        return Expression(f"-{known.within(ATOM)}", PRODUCT, known.reads) if text.startswith("-") else known

    # ------------------------------------------------------------------------------------------------- results
    def _write(self, results, *comment):
        """Write results, (place, number) each. Where they may have the memory of arguments, none is read any more."""
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
        """Note the section of an operation."""
        self._next = self._of_sections(int(operation.names[0][1:].split("_")[0]))

    def _tell_section(self):
        """Say where a new section begins."""
        if self._next not in (None, self._section):
            self._section = self._next
            text = self._next if isinstance(self._next, str) else self._bodies[self._next]
            self.lines.append(f"// {text}.")

    def _statement(self, text):
        self.lines += wrapped(text)


def wrapped(text: str, width: int = WIDTH - 2) -> list[str]:
    """Return a statement in lines that are not too long."""
    if len(text) > width:
        lines = textwrap.wrap(text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    else:
        lines = [text]
    return [line.replace(UNBROKEN, " ") for line in lines]


def _names_in(operation: Operation) -> list[str]:
    """Return the names of the operands."""
    return [name for operand in operation.operands for name in NAMED.findall(operand)]


def _by_operation(results):
    """Return the results that are constants; and the others by the operations that compute them: a number that is
    written at once needs no register any more."""
    constants, found = [], {}
    for place, x in results:
        (found.setdefault(x.name, []) if isinstance(x, Traced) else constants).append((place, x))
    return constants, found


def _sections(notes: Notes):
    """Return a function for the section of an operation by its place in the trace."""
    starts = [start for start, _ in notes.sections]

    def of(place):
        k = bisect(starts, place) - 1
        return notes.sections[k][1] if k >= 0 else None
    return of


def in_order(angles: Sequence[str]) -> list[str]:
    """Return the angles, in the order of the coordinates that they are, if they are that; then with those between, if
    they are few, so that s[2] is the sine of q[2]."""
    places = [re.fullmatch(r"q\[(\d+)\]", text) for text in angles]
    if not all(places):
        return list(angles)
    found = sorted(int(place[1]) for place in places)
    everything = list(range(found[-1] + 1))
    return [f"q[{i}]" for i in (everything if len(everything) <= len(found) + BETWEEN else found)]


def padded(count: int, scalar: str) -> int:
    """Return the number of sines that are computed of so many angles. One or two that are missing to a multiple of
    AT_ONCE are added; processors of single precision have no SIMD, as a rule."""
    missing = -count % AT_ONCE
    return count + missing if scalar == "double" and missing in (1, 2) else count


def identifier(name: str) -> str:
    """Return a name as one of C."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{found}" if found[:1].isdigit() else found


def comment(text: str) -> str:
    """Text that ends no comment, and no line."""
    return re.sub(r"[^\x20-\x7e]|\\$", "?", text.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *"))
