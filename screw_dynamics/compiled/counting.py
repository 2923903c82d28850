"""Exact operation counts: an algorithm's own source, run once on numbers that count their operations.

`operations` counts each operation of the source, whatever the values: the cost of the loops that serve every robot.
`straight_line_operations` omits operations that one robot's zeros, ones and repetitions make needless: the cost of its
specialized kernels, and the count of a derivation for this robot, by hand or symbolic."""
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from screw_dynamics.model.group_joints import PoseSource, numbers_in_q
from screw_dynamics.model.links import Frame, Links
from screw_dynamics.numbers.scalars import sincos, sqrt
from screw_dynamics.numbers.values import Nil, leaves, map_numbers, null, present

from .algorithm import CompiledAlgorithm, Target
from .specialize import traced
from .tracing import operations_in

_LITERALS = {"+": (0,), "*": (0, 1, -1), "/": ()}        # literals with which an operation is needless
UNBOUNDED = math.inf        # no limit: the code is counted, not compiled


class Operations(NamedTuple):
    """Operation counts: additions and subtractions, multiplications, divisions, pairs of sine and cosine, square roots.
    Negations, comparisons and copies are not counted."""

    additions: int
    multiplications: int
    divisions: int
    sincos: int
    square_roots: int

    @property
    def total(self) -> int:
        """The sum of additions, multiplications and divisions."""
        return self.additions + self.multiplications + self.divisions


class Counting:
    """A float that counts its operations in `done`, by the symbols + * / and the names sincos and sqrt.

    Operations with a 0, 1 or -1 in the source itself are not counted."""

    done = Counter()

    def __init__(self, x):
        self.x = float(x)

    def _operation(symbol, f):
        def apply(self, other):
            if isinstance(other, (tuple, _Absent)):
                return NotImplemented           # a value type's own operator comes first
            if type(other) in (int, float) and other in _LITERALS[symbol]:
                return 0.0 if symbol == "*" and other == 0 else Counting(f(self.x, other))
            Counting.done[symbol] += 1
            return Counting(f(self.x, getattr(other, "x", other)))
        return apply

    __add__ = __radd__ = _operation("+", lambda a, b: a + b)
    __sub__, __rsub__ = _operation("+", lambda a, b: a - b), _operation("+", lambda a, b: b - a)
    __mul__ = __rmul__ = _operation("*", lambda a, b: a * b)
    __truediv__, __rtruediv__ = _operation("/", lambda a, b: a / b), _operation("/", lambda a, b: b / a)

    def __neg__(self):
        return Counting(-self.x)

    def __lt__(self, other):
        return self.x < getattr(other, "x", other)

    def __eq__(self, other):
        return self.x == getattr(other, "x", other)

    __hash__ = None

    def __float__(self):
        return self.x


@null.register
def _(like: Counting):
    return Counting(0.0)        # of memory: operations with it count


@sincos.register
def _(x: Counting):
    Counting.done["sincos"] += 1
    return Counting(math.sin(x.x)), Counting(math.cos(x.x))


@sqrt.register
def _(x: Counting):
    Counting.done["sqrt"] += 1
    return Counting(math.sqrt(x.x))


class _Absent:
    """A number that is always 0 and whose operations are omitted; Nil in compiled code."""

    def __add__(self, other):
        return NotImplemented if isinstance(other, tuple) else other

    def __rsub__(self, other):
        return other

    def __sub__(self, other):
        return NotImplemented if isinstance(other, tuple) else -other

    def __mul__(self, other):
        return NotImplemented if isinstance(other, tuple) else self

    __radd__, __rmul__, __truediv__ = __add__, __mul__, __mul__

    def __neg__(self):
        return self


@present.register
def _(x: _Absent):
    return Counting(0.0)        # a column of a value type has all of the type's numbers


def operations(entry: CompiledAlgorithm, links: Links, frames: Sequence[Frame] = (), target: Target | None = None,
               general: bool = False, pose_sources: Sequence[PoseSource] = ()) -> Operations:
    """Return the Operations of a CompiledAlgorithm's loops for a model, with its links and frames as the model packs
    them. A product with a 0 counts as any other, unless the number is 0 in every model (Nil in the annotations of Link)
    or is an armature that no link has: the papers' algorithms have no such term. A targeted entry requires a target.
    general: links may have any screw and joint.Joint, and no number is known to be 0. pose_sources: those of a model
    with Lie-group joints, which has other kernels.

    Operations with a literal 0, 1 or -1 are not counted. The compiler may omit operations that have no effect within
    one pass of a loop, such as those for the lower triangle of a symmetric matrix that is never read. It also fuses
    many products with sums."""
    geared = general or any(row.armature for row in links)
    links = [_counting(row, general) for row in links]
    if not geared:
        links = [row._replace(armature=_Absent()) for row in links]
    frames = [map_numbers(Counting, row) for row in frames]
    n = 1 + max((link.coordinate for link in links[1:]), default=-1)
    nq, pose_sources = numbers_in_q(pose_sources) or n, [map_numbers(Counting, source) for source in pose_sources]
    entry = entry.on_groups if pose_sources else entry
    Counting.done.clear()
    entry.plain(links, [Counting(0.3)] * nq, *[[Counting(0.3)] * n] * (entry.inputs - 1), frames=frames, target=target,
                pose_sources=pose_sources)
    return Operations(*(Counting.done[kind] for kind in ("+", "*", "/", "sincos", "sqrt")))


def _counting(link, general):
    """Return a link whose numbers count their operations."""
    if general:
        return map_numbers(Counting, link)
    kinds = iter(leaves(type(link)))
    counting = {Nil: lambda x: _Absent(), float: Counting, int: int}
    return _map(lambda x: counting[next(kinds)](x), link)


def _map(f, x):
    return type(x)(*(_map(f, part) for part in x)) if isinstance(x, tuple) else f(x)


def straight_line_operations(entry: CompiledAlgorithm, links: Links, frames: Sequence[Frame] = (),
                             target: Target | None = None, pose_sources: Sequence[PoseSource] = ()) -> Operations:
    """Return the Operations of a CompiledAlgorithm's straight-line kernel for a model, as Robot.specialize compiles it,
    of any length. With pose_sources, the kernel is that of a robot with Lie-group joints.

    Operations on numbers of the model are done ahead of time, those with 0, 1 or -1 are omitted, equal ones are done
    once, and those that no result needs are omitted."""
    done = operations_in(traced(entry, links, frames, target, UNBOUNDED, pose_sources).operations)
    return Operations(done["+"] + done["-"], *(done[kind] for kind in ("*", "/", "sincos", "sqrt")))
