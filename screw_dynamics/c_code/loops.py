"""Functions of long robots: loops over tables of their links, with the algorithm's code for a generic body.

The algorithm is traced for a small tree with symbolic links. It generates the same code for each body, and a body in
the middle represents all. Values that its code reads from another body or loop are stored in memory, and values that
other bodies read are written to memory."""
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.specialize import rounded
from screw_dynamics.compiled.tracing import INPUT, NAMED, Operation, Trace, Traced, arithmetic_in
from screw_dynamics.numbers.values import map_numbers

from .printing import Dialect, Statements, wrapped
from .tracing import Notes, TracedRobot, Way, paths

# The parent slots of a tree, and its representative body. This body is far enough from both ends of its chain for no
# value to be 0 as at an end, and has a sibling, which adds to their parent's values first.
ANY, OUTMOST = 6, 11
PARENTS = *range(OUTMOST), ANY - 1, *range(OUTMOST + 1, OUTMOST + 5)
OWN, PARENT = "self", "parent"
HELD = {ANY: OWN, ANY - 1: PARENT}


class NotOneLoop(Exception):
    """The error of a function that cannot be written as loops over bodies, with each result written once, alike."""


class Loop(NamedTuple):
    """A loop over bodies.

    outward: its direction. operations; results: (place, number) of the values that it writes. world: (name, constant)
    of the values that it reads from the world. bodies: names of all values that it reads from bodies."""

    outward: bool
    operations: list[Operation]
    results: list[tuple[str, Any]]
    world: list[tuple[str, float]]
    bodies: set[str]


class Looped(NamedTuple):
    """The loops of a function. way: name of its algorithm; links: values that differ between links, by name; bodies:
    names of the values stored for each body."""

    way: str
    loops: list[Loop]
    links: dict[str, list[float]]
    bodies: list[str]
    tree: list[tuple[int, int]]         # (slot of the parent, coordinate) of each slot

    @property
    def operations(self) -> list[Operation]:
        """The operations of all loops."""
        return [operation for loop in self.loops for operation in loop.operations]


class _Events(Notes):
    """Notes in chronological order: ("at", operations so far, slot) when an algorithm starts to process a body,
    ("write", operations, (column, slot, number)) when it writes to its table."""

    def __init__(self, trace: Trace):
        super().__init__(trace)
        self.events: list[tuple[str, int, Any]] = []
        self._slot: int | str | None = None

    def section(self, of: int | str) -> None:
        """Mark the following operations as those of a body, and forget the values computed at other bodies."""
        if of != self._slot:
            self._slot = of
            self._trace.forget()
        self.events.append(("at", len(self._trace.operations), of))

    def name(self, column: str, slot: int, value: Any) -> None:
        """Record that a value is written."""
        self.events.append(("write", len(self._trace.operations), (column, slot, value)))


class _Tree(TracedRobot):
    """The symbolic tree on a trace."""

    def __init__(self, links: Sequence[NamedTuple], trace: Trace):
        self.links, self.frames, self.pose_sources, self._external = list(links), [], [], {}
        self.notes = _Events(trace)


def loops_of(ways: Mapping[str, Way], inputs: Mapping[str, tuple[int, ...]], outputs: Mapping[str, tuple[int, ...]],
             robot: Any) -> Looped | None:
    """Return the loops of the way with the fewest operations; inputs and outputs {name: shape}.

    Returns None if an array does not have one number per joint, for Lie-group joints or shared coordinates, and if no
    way consists of loops only."""
    model = robot.model
    per_joint = all(shape == (model.n,) for shape in (*inputs.values(), *outputs.values()))
    if model.on_groups or model.shares_coordinates or not per_joint:
        return None
    found = []
    for name, way in ways.items():
        for constants in (True, False):
            try:
                found.append(_looped(name, way, list(inputs), list(outputs), rounded(model.links(robot.gravity)),
                                     constants))
                break
            except NotOneLoop:
                pass
    return min(found, key=lambda looped: arithmetic_in(looped.operations), default=None)


def _looped(name, way, inputs, outputs, links, constants):
    """Return the loops of one way; constants: see `_symbolic`."""
    trace, table = Trace(), {}
    tree = _Tree([links[0], *(_symbolic(links[1:], slot, trace, table, constants)
                              for slot in range(1, len(PARENTS) + 1))], trace)
    arguments = [np.array([trace.input(f"{x}[link->coordinate]" if slot == ANY else f"{x} of {slot}")
                           for slot in range(1, len(PARENTS) + 1)], dtype=object) for x in inputs]
    results = way(tree, *arguments)
    of_slots, of_part = _parts(tree, trace), {}
    parts = of_slots[ANY]
    for output, result in zip(outputs, results, strict=True):
        if not isinstance(result[ANY - 1], Traced) and any(x != result[ANY - 1] for x in result):
            raise NotOneLoop
        last = max((k for k, part in enumerate(parts) if part.has(result[ANY - 1])), default=None)
        of_part.setdefault(last, []).append((f"{output}[link->coordinate]", result[ANY - 1]))
    if None in of_part or any(_is_special(k, of_slots) for k in range(len(parts))):
        raise NotOneLoop
    made = {name: operation for operation in trace.operations for name in operation.names}
    read, kept = {number for part in parts for _, number in part.new}, None
    while read != kept:                             # also drop values that only unused values depend on
        kept = read
        loops = [_loop(part, of_part.get(k, []), made, kept) for k, part in enumerate(parts)]
        read = set().union(*(loop.bodies for loop in loops))
    used = {operation.operands[0].partition("->")[2] for loop in loops for operation in loop.operations
            if operation.symbol == INPUT}
    return Looped(name, loops, {path: x for path, x in table.items() if path in used}, sorted(kept),
                  [(link.parent, link.coordinate) for link in links])


def _symbolic(links, slot, trace, table, constants):
    """Return a link of the tree. Zeros, and with `constants` other values that all links share, are numbers; others are
    symbols, whose values {name: [value of each link]} are added to `table`."""
    parts = {}
    for field in ("X", "M", "E", "armature"):
        of_links = [dict(paths(getattr(link, field))) for link in links]
        numbers = []
        for path in of_links[0]:
            values, name = [of_link[path] for of_link in of_links], f"{field}{'_' * bool(path)}{path}"
            if len(set(values)) == 1 and (constants or not values[0]):
                numbers.append(values[0])
            else:
                table[name] = values
                numbers.append(trace.input(f"link->{name}" if slot == ANY else f"{name} of {slot}"))
        given = iter(numbers)
        parts[field] = map_numbers(lambda _, given=given: next(given), getattr(links[0], field))
    return links[0]._replace(parent=PARENTS[slot - 1], coordinate=slot - 1, **parts)


class _Part(NamedTuple):
    """The work at the representative body in one loop: its operations in the trace; the table {(slot, column and path):
    number} before it, and the values that it writes there; True if the loop goes outward."""

    operations: Sequence[Operation]
    before: dict[tuple[int, str], Any]
    new: dict[tuple[int, str], Any]
    outward: bool

    @property
    def places(self) -> dict[str, str]:
        """The places {name: place} of traced numbers in the table; the body's own place if it is in both."""
        return {x.name: f"{HELD[slot]}->{number}" if x.sign > 0 else f"(-{HELD[slot]}->{number})"
                for slot in (ANY - 1, ANY) for (where, number), x in self.before.items()
                if where == slot and isinstance(x, Traced)}

    def has(self, x: Any) -> bool:
        """Return True if a number is a constant, is computed here, or is in the table."""
        own = {name for operation in self.operations for name in operation.names}
        return not isinstance(x, Traced) or x.name in own or x.name in self.places


def _parts(tree, trace) -> Mapping[int, list[_Part]]:
    """Return {slot: work at that body, per loop, in order}."""
    held: dict[tuple[int, str], Any] = {}
    found = defaultdict(list)
    slot, begin, before, new = None, 0, {}, {}
    for kind, count, what in [*tree.notes.events, ("at", len(trace.operations), None)]:
        if kind == "write":
            column, where, value = what
            numbers = {(where, f"{column}{'_' * bool(path)}{path}"): x for path, x in paths(value)}
            held |= numbers
            new |= numbers
        elif what != slot:
            found[slot].append(_Part(trace.operations[begin:count], before, new, what != ANY - 1))
            slot, begin, before, new = what, count, dict(held), {}
    return found


def _is_special(k, of_slots):
    """Return True if the representative body is a special case in loop k.

    It then finds a constant, or the same number in two places of the table, where another body, or one at the world,
    does not: for example sums of constants from body to body, or zeros at every other body."""
    part, places = of_slots[ANY][k], defaultdict(list)
    for (slot, number), x in part.before.items():
        if slot in HELD:
            name, sign = (x.name, x.sign) if isinstance(x, Traced) else (float(x), 1)
            places[name].append((slot, number, sign))
    others = [({ANY - 1: 0}, part.before), *(
        ({ANY: slot, ANY - 1: PARENTS[slot - 1]}, of_slots[slot][k].before) for slot in range(2, len(PARENTS)))]
    for slots, held in others:
        for name, those in places.items():
            values = {_signed(held[slots[slot], number], sign) for slot, number, sign in those
                      if (slots.get(slot), number) in held}
            if len(values | ({name} if isinstance(name, float) else set())) > 1:
                return True
    return False


def _signed(x, sign):
    return (x.name, sign * x.sign) if isinstance(x, Traced) else sign * float(x)


def _loop(part, results, made, kept):
    """Return the Loop of a part with these results, (place, number) each; kept: values stored in the table; made {name:
    operation that computes it}."""
    own = {name for operation in part.operations for name in operation.names}
    written = [(f"{HELD[slot]}->{number}", x) for (slot, number), x in part.new.items()
               if slot in HELD and number in kept] + results
    operations, known, read, places = [], set(), set(), part.places

    def take(name):
        """Add the operations for a number, or the read from the table of a value that another part computed."""
        if name in known:
            return
        operation = made[name]
        is_symbol = operation.symbol == INPUT and " of " not in operation.operands[0]
        if name not in own and not is_symbol and name in places:
            operation = Operation((name,), INPUT, (places[name],))
            read.add(places[name].strip("(-)"))
        elif operation.symbol != INPUT:
            for needed in (n for operand in operation.operands for n in NAMED.findall(operand)):
                take(needed)
        elif not is_symbol:
            raise NotOneLoop
        known.update(operation.names)
        operations.append(operation)
    for _, x in written:
        if isinstance(x, Traced):
            take(x.name)
    world = [(number, x) for (slot, number), x in part.before.items()
             if slot == 0 and f"{PARENT}->{number}" in read and not isinstance(x, Traced)]
    return Loop(part.outward, operations, written, world, {place.partition("->")[2] for place in read})


# ------------------------------------------------------------------------------------------------- C
def lines_of(looped: Looped, name: str, dialect: Dialect, inputs: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the declarations before a C function `name` (structs, a table of links) and the lines of its body."""
    scalar, count = dialect.scalar, len(looped.tree)
    fields = [f"  {scalar} {path};" for path in looped.links]
    of_links = zip(*looped.links.values(), strict=True) if fields else [()] * (count - 1)
    numbers = [[dialect.number(0.0)] * len(fields), *(map(dialect.number, row) for row in of_links)]
    rows = [f"  {{{', '.join([str(parent), str(max(coordinate, 0)), *row])}}},"
            for (parent, coordinate), row in zip(looped.tree, numbers, strict=True)]
    before = ["// The links: slot of the parent, coordinate, and the numbers in which they differ.",
              f"struct {name}_link {{", "  int parent, coordinate;", *fields, "};",
              f"static const struct {name}_link {name}_links[{count}] = {{",
              *(line for row in rows for line in wrapped(row, 118)), "};"]
    lines = []
    if looped.bodies:
        before += ["// What is kept of each body.", f"struct {name}_body {{",
                   *wrapped(f"  {scalar} {', '.join(looped.bodies)};", 118), "};"]
        lines = [f"struct {name}_body bodies[{count}];"]
    for loop in looped.loops:
        lines += [f"bodies[0].{number} = {dialect.number(float(x))};" for number, x in loop.world]
        begin = f"int i = 1; i < {count}; i++" if loop.outward else f"int i = {count - 1}; i > 0; i--"
        notes = Notes(Trace())          # no names, no sections
        statements = Statements(loop.operations, loop.results, notes, dialect, {},
                                [*inputs, "link", OWN, PARENT, "bodies", "i"])
        lines += [f"for ({begin}) {{", *(f"  {line}" for line in (
            *_pointers(name, " ".join(statements.lines)), *statements.lines)), "}"]
    return before, lines


def _pointers(name, text):
    """Yield the declarations of the pointers in the statements of a loop."""
    held = {OWN: "i", PARENT: "link->parent"}
    those = [f"*{pointer} = &bodies[{i}]" for pointer, i in held.items() if f"{pointer}->" in text]
    if "link->" in f"{text}{those}":
        yield f"const struct {name}_link *link = &{name}_links[i];"
    if those:
        yield f"struct {name}_body {', '.join(those)};"
