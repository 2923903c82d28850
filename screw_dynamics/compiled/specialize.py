"""Straight-line kernels for one robot, by tracing: an algorithm's source runs once on numbers that record operations.

Parents, zeros and ones of the model are constants in that run, so the kernel has no loop, no index and no needless
product. It is compiled as every algorithm is, for one state and on lanes."""
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.group_joints import PoseSource, numbers_in_q
from screw_dynamics.model.links import Frame, Link, Links
from screw_dynamics.numbers.scalars import sincos, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, map_numbers

from .entry import COORDINATES, Entry, Target, configurations

LONGEST = 6_000         # lines: about ten seconds of compiling, which grows faster than linearly
NEEDLESS = 2            # lines traced for each that the result needs, at most
NEGLIGIBLE = 1e-15      # a number of a joint or a frame this close to 0, 1 or -1 is rounded to it


class Inputs(NamedTuple):
    """The columns of a straight-line kernel, as many as the algorithm has inputs; tau: effort, or acceleration."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    added: Scalar


class Pair(NamedTuple):
    """Two numbers of a configuration: of joints on groups q may have more of them than there are bodies."""

    a: Scalar
    b: Scalar


class Configuration(NamedTuple):
    """The columns of a straight-line kernel for joints on groups: Inputs, but q as its numbers two by two."""

    q: Pair
    qd: Scalar
    tau: Scalar
    added: Scalar


@kernel
def pair(links: Link, memory: np.ndarray, q: Sequence, column: Sequence) -> None:
    """Fill a column of Pairs with the numbers of a configuration."""
    last = len(q) - 1
    for i in range((last + 2) // 2):
        column[i] = Pair(q[2 * i], q[min(2 * i + 1, last)])


PAIRS = configurations(pair)


ARITHMETIC = "+-*/"


class TooLong(Exception):
    """A script is longer than allowed."""


class _Script:
    """The lines of a straight-line kernel; no expression has more than one line."""

    def __init__(self, longest):
        self.lines, self._known, self._longest = [], {}, longest

    def number(self, expression):
        """The number that an expression stands for."""
        return self._line(expression, 1)[0]

    def numbers(self, expression):
        """The two numbers that an expression stands for."""
        return self._line(expression, 2)

    def _line(self, expression, count):
        if expression not in self._known:
            if len(self.lines) >= self._longest:
                raise TooLong
            names = [f"t{len(self.lines)}_{k}" for k in range(count)]
            self.lines.append(f"{', '.join(names)} = {expression}")
            self._known[expression] = tuple(_Traced(self, name) for name in names)
        return self._known[expression]


class _Traced:
    """A number that is a name in a script, or its negative: arithmetic with it writes lines, unless a 0 or 1 makes them
    needless. Lines are in one order and hold no sign of a product, so that an operation done before is found again."""

    __slots__ = ("script", "name", "sign")

    def __init__(self, script, name, sign=1):
        self.script, self.name, self.sign = script, name, sign

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
        return _Traced(self.script, self.name, -self.sign)

    def _sum(self, other, sign):
        """self + sign other, as the sum or the difference of two names, or its negative."""
        if isinstance(other, tuple):
            return NotImplemented                            # a value type: its own operator comes first
        (sign_a, a), (sign_b, b) = sorted([(self.sign, self.name), _term(other, sign)], key=lambda term: term[1])
        if a == b and sign_a != sign_b:
            return 0.0
        x = self.script.number(f"{a} {'+' if sign_a == sign_b else '-'} {b}")
        return x if sign_a > 0 else -x

    def _signed(self, symbol, order, left, right):
        """A product, or a quotient: of names, with the sign of both."""
        if isinstance(left, tuple) or isinstance(right, tuple):
            return NotImplemented
        (sign_a, a), (sign_b, b) = _term(left), _term(right)
        x = self.script.number(f" {symbol} ".join(order((a, b))))
        return x if sign_a == sign_b else -x


def _term(x, sign=1):
    """Sign and absolute value of a number, as it is written in a line."""
    if isinstance(x, _Traced):
        return sign * x.sign, x.name
    return (sign if x >= 0 else -sign), repr(abs(float(x)))


def _is(x, number):
    return not isinstance(x, (_Traced, tuple)) and x == number


@sincos.register
def _(x: _Traced):
    s, c = x.script.numbers(f"sincos({x.name})")
    return (s if x.sign > 0 else -s), c


@sqrt.register
def _(x: _Traced):
    return x.script.number(f"sqrt({x})")


def straight_line(entry: Entry, links: Links, frames: Sequence[Frame] = (), target: Target | None = None,
                  pose_sources: Sequence[PoseSource] = ()) -> Entry:
    """The Entry of an algorithm for one model alone, as `shortest`; the entry itself if there is none."""
    return shortest([entry], links, frames, target, pose_sources) or entry


def shortest(entries: Iterable[Entry], links: Links, frames: Sequence[Frame] = (),
             target: Target | None = None, pose_sources: Sequence[PoseSource] = ()) -> Entry | None:
    """The Entry for one model alone, its links, frames and, with joints on groups, sources of poses as the model packs
    them, of the algorithm that takes the fewest operations there among several of the same results. None if all kernels
    would be longer than LONGEST, or one would divide by 0. Targeted entries require a target."""
    found = []
    for entry in entries:
        try:
            found.append((script(entry, links, frames, target, LONGEST, pose_sources), entry))
        except TooLong:
            pass
        except ZeroDivisionError:               # loops return infinities and NaN for accelerations of no mass
            return None
    if not found:
        return None
    lines, entry = min(found, key=lambda pair: sum(operations_in(pair[0])[kind] for kind in ARITHMETIC))
    Table, takes = (Configuration, PAIRS) if pose_sources else (Inputs, COORDINATES)
    return Entry(_kernel(lines, entry.targeted), Table, " ".join(Table._fields[:entry.inputs]), entry.shape,
                 entry.targeted, f"{entry.name}{'.groups' if pose_sources else ''}, specialized", takes=takes)


def script(entry: Entry, links: Links, frames: Sequence[Frame], target: Target | None,
           longest: float, pose_sources: Sequence[PoseSource] = ()) -> list[str]:
    """The lines of the algorithm for this model that its result needs, `name = expression` and at last
    `out[index] = name`; raises TooLong where they are more than `longest`."""
    written, n = _Script(NEEDLESS * longest), 1 + max((link.coordinate for link in links[1:]), default=-1)
    slot = {link.coordinate: i for i, link in enumerate(links) if i > 0}            # a body that the coordinate drives
    inputs = [[written.number(f"body.{column}[{slot[k]}]") for k in range(n)]
              for column in Inputs._fields[:entry.inputs]]
    if pose_sources:
        entry, pose_sources = entry.on_groups, [map_numbers(_rounded, source) for source in pose_sources]
        inputs[0] = [written.number(f"body.q[{k // 2}].{'ab'[k % 2]}") for k in range(numbers_in_q(pose_sources))]
    links = [link._replace(X=map_numbers(_rounded, link.X), E=map_numbers(_rounded, link.E)) for link in links]
    frames = [map_numbers(_rounded, frame) for frame in frames]
    out = entry.plain(links, *inputs, frames=frames, target=target, pose_sources=pose_sources)
    lines = _needed([*written.lines, *(f"out[{', '.join(map(str, index))}] = {_over_scalar(out[index])}"
                                       for index in np.ndindex(out.shape))])
    if len(lines) > longest:
        raise TooLong
    return lines


def operations_in(lines: Iterable[str]) -> Counter:
    """How many lines of a script do each operation, by the symbols + - * / and the names of functions."""
    return Counter(_kind(line.split(" = ")[1]) for line in lines if not line.startswith("out["))


def _kind(expression):
    """What an expression of a script does: one operation, a function, or nothing that counts."""
    words = expression.split(" ")
    return words[1] if len(words) == 3 else expression.partition("(")[0]


def _needed(lines):
    """The lines of a script that its results need, in order."""
    names, needed = set(), []
    for line in reversed(lines):
        left, right = line.split(" = ")
        if left.startswith("out[") or not names.isdisjoint(left.split(", ")):
            names.update(re.findall(r"t\d+_\d", right))
            needed.append(line)
    return needed[::-1]


def _rounded(x):
    nearest = round(x)
    return float(nearest) if nearest in (-1, 0, 1) and abs(x - nearest) < NEGLIGIBLE else x


def _over_scalar(x):
    """A constant result, over the kind of scalar that the kernel runs on."""
    return repr(x) if isinstance(x, _Traced) else f"null(body.q[0]) + {float(x)!r}"


def _kernel(lines, targeted):
    """The kernel of these lines, as Entry calls it, in a module whose name is their hash: the key of its cache."""
    arguments = "links, body, frames, target, out" if targeted else "links, body, out"
    text = "\n    ".join([f"@optimised_alone\ndef algorithm({arguments}):", *(lines or ["pass"])])
    imports = ("from screw_dynamics.numbers.scalars import sincos, sqrt\n"
               "from screw_dynamics.numbers.values import null, optimised_alone")
    text = f"{imports}\n\n\n{text}\n"
    name = "screw_dynamics_straight_line_" + hashlib.sha256(text.encode()).hexdigest()[:32]
    if name not in sys.modules:
        module = ModuleType(name, "A straight-line kernel, generated for one robot.")
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)
        sys.modules[name] = module
    return sys.modules[name].algorithm
