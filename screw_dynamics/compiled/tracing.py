"""Numbers that record their operations: one run of an algorithm on them yields its straight-line code.

Parents, zeros and ones of a model are constants in that run. The record therefore has no loop, no index, and no
needless or repeated operation. `specialize` prints it for Numba, the package c_code as C."""
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from screw_dynamics.numbers.scalars import absolute, floor, sincos, sqrt, where

ARITHMETIC = "+-*/"
COMPARISONS = "<", "<="
INFIX = *ARITHMETIC, *COMPARISONS
INPUT = "input"
NAMED = re.compile(r"t\d+_\d")          # a name, in an operand that may have a sign


class TooLong(Exception):
    """Raised if a trace has more operations than allowed."""


class Operation(NamedTuple):
    """An operation: the names of its one or two results; its symbol, which is an infix symbol, the name of a function,
    or INPUT; and its operands: names, numbers as written, or the input. Operands of functions other than sincos may
    have a minus sign."""

    names: tuple[str, ...]
    symbol: str
    operands: tuple[str, ...]

    @property
    def expression(self) -> str:
        """The Python source of the operation, without the names of its results."""
        if self.symbol in INFIX:
            return f" {self.symbol} ".join(self.operands)
        return self.operands[0] if self.symbol == INPUT else f"{self.symbol}({', '.join(self.operands)})"

    def __str__(self):
        return f"{', '.join(self.names)} = {self.expression}"


class Trace:
    """The operations done on the numbers of an input, in order, without repetitions; at most `longest`."""

    def __init__(self, longest: float = math.inf):
        self.operations: list[Operation] = []
        self._known: dict = {}
        self._longest = longest

    def input(self, name: str) -> "Traced":
        """Return an unknown number, which is an input."""
        return self.number(INPUT, name)

    def number(self, symbol: str, *operands: str) -> "Traced":
        """Return the result of an operation."""
        return self.numbers(symbol, *operands, count=1)[0]

    def numbers(self, symbol: str, *operands: str, count: int = 2) -> tuple["Traced", ...]:
        """Return the results of an operation."""
        key = symbol, operands
        found = self._known.get(key)
        if found is None:
            if len(self.operations) >= self._longest:
                raise TooLong
            names = tuple(f"t{len(self.operations)}_{k}" for k in range(count))
            self.operations.append(Operation(names, symbol, operands))
            found = self._known[key] = tuple(Traced(self, name) for name in names)
        return found

    def forget(self) -> None:
        """Forget all operations except sines and cosines, so that later ones are recorded again."""
        self._known = {key: found for key, found in self._known.items() if key[0] in (INPUT, "sincos")}

    def needed(self, results: Iterable[Any]) -> list[Operation]:
        """Return the operations on which these numbers depend, in order."""
        names, found = {x.name for x in results if isinstance(x, Traced)}, []
        for operation in reversed(self.operations):
            if not names.isdisjoint(operation.names):
                names.update(name for operand in operation.operands for name in NAMED.findall(operand))
                found.append(operation)
        return found[::-1]


class Traced:
    """A number that is a name in a trace, or its negative. Arithmetic with it is recorded, unless a 0 or 1 makes it
    needless. Operands are sorted, and products hold no sign, so that a repeated operation is recognized."""

    __slots__ = ("trace", "name", "sign")

    def __init__(self, trace: Trace, name: str, sign: int = 1):
        self.trace, self.name, self.sign = trace, name, sign

    def __repr__(self):
        return self.name if self.sign > 0 else f"-{self.name}"

    def __add__(self, other):
        return self if _is(other, 0) else self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self if _is(other, 0) else self._sum(other, -1)

    def __rsub__(self, other):
        return -self if _is(other, 0) else (-self)._sum(other, 1)

    def __mul__(self, other):
        if _is(other, 0):
            return 0.0
        if _is(other, 1):
            return self
        return -self if _is(other, -1) else self._signed("*", sorted, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._signed("/", list, self, other)

    def __rtruediv__(self, other):
        return 0.0 if _is(other, 0) else self._signed("/", list, other, self)

    def __neg__(self):
        return Traced(self.trace, self.name, -self.sign)

    def __lt__(self, other):
        return Condition(self.trace, repr(self), "<", written(other))

    def __le__(self, other):
        return Condition(self.trace, repr(self), "<=", written(other))

    def __gt__(self, other):
        return Condition(self.trace, written(other), "<", repr(self))

    def __ge__(self, other):
        return Condition(self.trace, written(other), "<=", repr(self))

    def _sum(self, other, sign):
        """Return self + sign * other, as the sum or difference of two names, or the negative of it."""
        if isinstance(other, tuple):
            return NotImplemented                            # a value type: its own operator comes first
        (sign_a, a), (sign_b, b) = sorted([(self.sign, self.name), _term(other, sign)], key=lambda term: term[1])
        if a == b and sign_a != sign_b:
            return 0.0
        x = self.trace.number("+" if sign_a == sign_b else "-", a, b)
        return x if sign_a > 0 else -x

    def _signed(self, symbol, order, left, right):
        """Return the product or quotient of two names, with the sign of both."""
        if isinstance(left, tuple) or isinstance(right, tuple):
            return NotImplemented
        (sign_a, a), (sign_b, b) = _term(left), _term(right)
        x = self.trace.number(symbol, *order((a, b)))
        return x if sign_a == sign_b else -x


class Condition:
    """A comparison, < or <=, of numbers of which one is unknown. It is for `where`, not for a Python branch."""

    __slots__ = ("trace", "left", "symbol", "right")

    def __init__(self, trace: Trace, left: str, symbol: str, right: str):
        self.trace, self.left, self.symbol, self.right = trace, left, symbol, right

    def __bool__(self):
        raise TypeError(f"whether {self.left} {self.symbol} {self.right} is not known in a trace: it has no branches, "
                        "only where")


def written(x: Any) -> str:
    """Return a number as it is written in an operation."""
    return repr(x if isinstance(x, Traced) else float(x))


def _term(x, sign=1):
    """Return the sign of a number, and its absolute value as it is written in an operation."""
    if isinstance(x, Traced):
        return sign * x.sign, x.name
    return (sign if x >= 0 else -sign), repr(abs(float(x)))


def _is(x, number):
    return not isinstance(x, (Traced, tuple)) and x == number


@sincos.register
def _(x: Traced):
    s, c = x.trace.numbers("sincos", x.name)
    return (s if x.sign > 0 else -s), c


@sqrt.register
def _(x: Traced):
    return x.trace.number("sqrt", repr(x))


@floor.register
def _(x: Traced):
    return x.trace.number("floor", repr(x))


@absolute.register
def _(x: Traced):
    return where(x < 0.0, -x, x)


@where.register
def _(condition: Condition, a, b):
    if written(a) == written(b):
        return a
    holds = condition.trace.number(condition.symbol, condition.left, condition.right)
    return condition.trace.number("where", holds.name, written(a), written(b))


def operations_in(operations: Sequence[Operation]) -> Counter:
    """Count the operations of each kind, by the symbols + - * / and the names of functions."""
    return Counter(operation.symbol for operation in operations)


def arithmetic_in(operations: Sequence[Operation]) -> int:
    """Count the additions, multiplications and divisions."""
    done = operations_in(operations)
    return sum(done[symbol] for symbol in ARITHMETIC)
