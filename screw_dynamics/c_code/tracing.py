"""Traces a robot's algorithms: records their operations, with notes on the body to which each belongs.

Evaluation on Python floats instead yields the expected values of an export's test."""
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.algorithms.space import Groups
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target
from screw_dynamics.compiled.specialize import NEEDLESS, rounded
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.compiled.tracing import Operation, TooLong, Trace, Traced, arithmetic_in
from screw_dynamics.forces import Element
from screw_dynamics.forces.kernels import add_efforts, loops_on, move_bodies
from screw_dynamics.forces.laws import EFFORT, ON_LINKS, TERMS, Bodies, State
from screw_dynamics.forces.total import packed, rows_by_law
from screw_dynamics.model.group_joints import PoseSource, configure
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.tables import columns, table
from screw_dynamics.numbers.values import fields, null, zero
from screw_dynamics.screws.inertia import Inertia, moved, shifted
from screw_dynamics.screws.se3 import Ad_dual, Twist, Wrench
from screw_dynamics.screws.vectors import Symmetric3, Vec3

DOWN = (0.0, 0.0, -9.81)        # if gravity is an argument: the world frame of links then has the axes of the root


class Number(Traced):
    """A number of a trace that operates on arrays elementwise, as those of laws do."""

    __slots__ = ()

    def __add__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else super().__add__(other)

    def __sub__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else super().__sub__(other)

    def __mul__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else super().__mul__(other)

    def __truediv__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else super().__truediv__(other)

    def __pow__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Traced) or not (other >= 1 and other == int(other)):
            raise TypeError(f"the exponent {other!r} of a power must be a whole number above 0")
        return reduce(mul, [self] * int(other))

    def __neg__(self):
        return Number(self.trace, self.name, -self.sign)


class NumberTrace(Trace):
    """A trace of Numbers."""

    def numbers(self, symbol: str, *operands: str, count: int = 2) -> tuple[Traced, ...]:
        """Return the results of an operation."""
        return tuple(Number(self, x.name, x.sign) for x in super().numbers(symbol, *operands, count=count))


class Notes:
    """Notes on a running algorithm.

    names: of numbers, by the table columns to which they were written. sections: (index of the first operation, body
    slot or title)."""

    def __init__(self, trace: Trace):
        self.names: dict[str, str] = {}
        self.sections: list[tuple[int, int | str]] = []
        self._trace = trace

    def section(self, of: int | str) -> None:
        """Mark the following operations as those of a body, or under a title."""
        if not self.sections or self.sections[-1][1] != of:
            self.sections.append((len(self._trace.operations), of))

    def name(self, column: str, slot: int, value: Any) -> None:
        """Name the unnamed numbers of a value, except the world's. The prefix minus_ means that the trace has only the
        negative."""
        for path, x in paths(value) if slot else ():
            if isinstance(x, Traced):
                sign = "minus_" if x.sign < 0 else ""
                self.names.setdefault(x.name, f"{sign}{column}{slot}{'_' * bool(path)}{path}")

    def watched(self, links: NamedTuple, body: NamedTuple) -> tuple[NamedTuple, NamedTuple]:
        """Return two tables that record reads of links and writes to bodies."""
        links = links._replace(**{name: _Read(self, getattr(links, name)) for name in ("X", "E", "M")})
        columns = (_Written(self, name, column) if isinstance(column, list) else column
                   for name, column in body._asdict().items())
        return links, type(body)(*columns)


class _Read(list):
    """A column of links that records reads."""

    def __init__(self, notes, values):
        super().__init__(values)
        self._notes = notes

    def __getitem__(self, i):
        if i:
            self._notes.section(i)
        return super().__getitem__(i)


class _Written(list):
    """A column of a table of bodies that records writes."""

    def __init__(self, notes, name, values):
        super().__init__(values)
        self._notes, self._name = notes, name

    def __setitem__(self, i, value):
        if isinstance(i, int):
            self._notes.name(self._name, i, value)
        super().__setitem__(i, value)


def paths(x: Any, path: str = "") -> list[tuple[str, Any]]:
    """Return the numbers in a value with their paths: that of V.angular.x is angular_x, that of R.x.y is xy."""
    if not isinstance(x, tuple):
        return [(path, x)]
    found = []
    for name, part in zip(x._fields, x, strict=True):
        long = len(path.rpartition("_")[2]) > 2
        found += paths(part, f"{path}{'_' * (bool(path) and (long or len(name) > 2))}{name}")
    return found


class TracedRobot:
    """A robot's model and gravity on the numbers of a trace, or on floats.

    arguments {name: array of numbers}: "gravity" (3,), "payload_LINK" (10,) and "external_LINK" (6,) affect all
    algorithms that are run."""

    def __init__(self, model: Model, gravity: Sequence[float], trace: Trace, arguments: Mapping[str, np.ndarray]):
        self.model, self.notes = model, Notes(trace)
        self._frame_of = {name: i for i, name in enumerate(model.frame_names) if name is not None}
        at_run_time = "gravity" in arguments
        gravity = DOWN if at_run_time else gravity
        self.links, self.frames, self.pose_sources = map(rounded, (
            model.links(gravity), model.frame_rows(gravity), model.pose_sources(gravity)))
        if at_run_time:
            self.links[0] = self.links[0]._replace(X=Twist(Vec3(0.0, 0.0, 0.0), -Vec3(*arguments["gravity"])))
        self._external = {}
        for name, x in arguments.items():
            kind, _, link = name.partition("_")
            if kind == "payload":
                self.load(link, x)
            elif kind == "external":
                self._external[link] = Wrench(Vec3(*x[:3]), Vec3(*x[3:]))

    def load(self, link: str, x: Sequence) -> None:
        """Add a payload on a link: mass, com, and inertia xx xy yy xz yz zz about it."""
        slot, C = self.frames[self._frame_of[link]]
        xx, xy, yy, xz, yz, zz = x[4:]
        at_com = Inertia(x[0], Vec3(0.0, 0.0, 0.0), Symmetric3(xx, xy, xz, yy, yz, zz))
        load = moved(C, shifted(Vec3(*x[1:4]), at_com))
        self.links[slot] = self.links[slot]._replace(M=self.links[slot].M + load)

    @property
    def wrenches(self) -> list[Wrench]:
        """The external wrench on each body, in the frame of its Link."""
        found = [zero(Wrench, 0.0) for _ in self.links]
        for link, W in self._external.items():
            slot, C = self.frames[self._frame_of[link]]
            found[slot] += Ad_dual(C, W)
        return found[1:]

    @property
    def loaded(self) -> bool:
        """True if external wrenches act."""
        return bool(self._external)

    @property
    def space(self) -> Groups | None:
        """The space of configurations, for algorithms/space.py."""
        if not self.pose_sources:
            return None
        return Groups([source.kind for source in self.pose_sources], [source.start for source in self.pose_sources],
                      [link.coordinate for link in self.links])

    def target(self, link: str, representation: str, reference: str) -> Target:
        """Return the Target of a link and a reference link."""
        return Target(self._frame_of[link], self._frame_of[reference], REPRESENTATIONS.index(representation))

    def run(self, entry: CompiledAlgorithm, *inputs: Sequence, target: Target | None = None,
            weightless: bool = False) -> np.ndarray:
        """Return the result of an algorithm; weightless: without gravity."""
        links = list(self.links)
        if weightless:
            links[0] = links[0]._replace(X=zero(Twist, 0.0))
        entry = entry.on_groups if self.pose_sources else entry
        return entry.plain(links, *inputs, frames=self.frames, target=target, pose_sources=self.pose_sources,
                           watched=self.notes.watched)

    def efforts_of(self, elements: Sequence[Element], q: Sequence, qd: Sequence) -> np.ndarray:
        """Return the joint efforts (n,) equivalent to force elements at time 0."""
        laws, efforts = rows_by_law(self.model, self.frames, elements), np.full((TERMS, len(qd)), 0.0, dtype=object)
        links, bodies = columns(type(self.links[0]), self.links), table(Bodies, None, len(self.links))
        p = packed(laws.values())
        if self.pose_sources:
            configure(links, columns(PoseSource, self.pose_sources), q, bodies.q)
        else:
            gather(links.coordinate, q, bodies.q)
        gather(links.coordinate, qd, bodies.qd)
        bodies.q[0] = null(qd[0])
        if p[ON_LINKS]:
            move_bodies(links, self.frames[0].C, bodies)
        add, _ = loops_on(law for law, _ in laws.values())
        add(p, State(0.0, 0.0, q, qd), bodies, efforts)
        if p[ON_LINKS]:
            add_efforts(links, bodies, efforts[EFFORT])
        return efforts[EFFORT]


class Straight(NamedTuple):
    """The straight-line code of a function: the name of its algorithm, the operations, the results, one array per
    output, and the notes."""

    way: str
    operations: list[Operation]
    results: list[np.ndarray]
    notes: Notes


def columns_of(entry: CompiledAlgorithm) -> str:
    """Return the description of the columns of an algorithm's table, which is the table's docstring; "" if it has
    none."""
    return " ".join((entry.Table.__doc__ or "").split()) if fields(entry.Table) else ""


Way = Callable[..., list[np.ndarray]]         # way(robot, *inputs) returns the results of a function on a TracedRobot


def shortest(ways: Mapping[str, Way], inputs: Mapping[str, tuple[int, ...]], texts: Mapping[str, str], robot: Any,
             longest: int) -> Straight:
    """Return the Straight code of the way with the fewest operations.

    inputs {name: shape}; texts {name: expression of the array in C}. Raises TooLong if all ways have more than
    `longest` operations, and ZeroDivisionError if one divides by 0."""
    found, failure = [], TooLong()
    for name, way in ways.items():
        try:
            found.append(_straight(name, way, inputs, texts, robot, longest))
        except TooLong as error:
            failure = error
    if not found:
        raise failure
    return min(found, key=lambda straight: arithmetic_in(straight.operations))


def _straight(name, way, inputs, texts, robot, longest):
    """Return the Straight code of one way."""
    trace = NumberTrace(NEEDLESS * longest)
    arguments = {}
    for argument, shape in inputs.items():
        text, x = texts[argument], np.empty(shape, dtype=object)
        numbers = [trace.input(text if shape == () else f"{text}[{i}]") for i in range(x.size)]
        x.flat = numbers
        arguments[argument] = x
    traced = TracedRobot(robot.model, robot.gravity, trace, arguments)
    results = [np.asarray(x, dtype=object) for x in way(traced, *arguments.values())]
    operations = trace.needed(x for result in results for x in result.flat)
    if len(operations) > longest:
        raise TooLong
    return Straight(name, operations, results, traced.notes)


def evaluated(ways: Mapping[str, Way], inputs: Mapping[str, np.ndarray], robot: Any, but: str) -> list[np.ndarray]:
    """Return the results of a function by its algorithms on floats, by another way than `but` if there are several."""
    way = next((way for name, way in ways.items() if name != but), ways[but])
    arguments = {}
    for name, x in inputs.items():
        arguments[name] = np.empty(np.shape(x), dtype=object)
        arguments[name].flat = np.ravel(x).tolist()
    plain = TracedRobot(robot.model, robot.gravity, Trace(), arguments)
    return [np.asarray(x, dtype=float) for x in way(plain, *arguments.values())]
