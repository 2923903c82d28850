"""Joint states: from columns of messages to one table over time.

Messages may list joints in any order, joints may appear and disappear, and there may be several publishers."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .alignment import interpolated, longest_step
from .clock import NS, Clock, clock
from .notes import Notes, listed
from .samples import JointStates, Layout


@dataclass(frozen=True)
class Stream:
    """Messages of one publisher, identified by joint names.

    arrival and stamps (k,) in ns; fields {"position", ...: (k, n)}."""

    topic: str
    joints: tuple[str, ...]
    arrival: np.ndarray
    stamps: np.ndarray
    fields: dict[str, np.ndarray]


@dataclass(frozen=True)
class Table:
    """Joint states at the times (k,) of a clock in ns; `breaks`: rows before which the clock jumped."""

    joints: tuple[str, ...]
    time: np.ndarray
    fields: dict[str, np.ndarray]
    clock: Clock
    breaks: tuple[int, ...]


def streams(samples: JointStates, arrival: np.ndarray, notes: Notes) -> list[Stream]:
    """Return one stream for each set of layouts that share joints, the one with most messages first.

    `arrival` is indexed by message number. Messages with different joints belong to the same publisher if they share a
    joint."""
    layouts = [layout for layout in samples.layouts.values() if len(layout)]
    found = [_stream(samples.topic, group, arrival, notes) for group in _publishers(layouts)]
    return sorted(found, key=lambda stream: -len(stream.stamps))


def _publishers(layouts: list[Layout]) -> list[list[Layout]]:
    """Return groups of layouts connected by common joints."""
    groups: list[tuple[set[str], list[Layout]]] = []
    for layout in layouts:
        names, together = set(layout.key[0]), [layout]
        if not names:
            continue
        apart = []
        for joints, group in groups:
            if joints & names:
                names, together = names | joints, group + together
            else:
                apart.append((joints, group))
        groups = [*apart, (names, together)]
    return [group for _, group in groups]


def _stream(topic, layouts, arrival, notes):
    """Return the messages of a group of layouts in the order of the log; NaN for missing values."""
    joints = tuple(dict.fromkeys(name for layout in layouts for name in layout.key[0]))
    parts = [layout.arrays for layout in layouts]
    numbers = np.concatenate([part[0] for part in parts])
    order = np.argsort(numbers, kind="stable")
    place, fields = np.argsort(order), {}
    for i, field in enumerate(("position", "velocity", "effort")):
        values, row = np.full((len(numbers), len(joints)), np.nan), 0
        for layout, (rows, _, table) in zip(layouts, parts, strict=True):
            names, counts = layout.key
            if counts[i]:
                start = sum(counts[:i])
                columns = [joints.index(name) for name in names]
                values[np.ix_(place[row:row + len(rows)], columns)] = table[:, start:start + counts[i]]
            row += len(rows)
        fields[field] = values
    for name in joints:
        without = sum(len(part[0]) for layout, part in zip(layouts, parts, strict=True) if name not in layout.key[0])
        notes.add("missing joint", f"{topic}: {name} is not in the message", without)
    stamps = np.concatenate([part[1] for part in parts])[order]
    return Stream(topic, joints, arrival[numbers[order]], stamps, fields)


def merged(found: list[Stream], notes: Notes, use_stamps: bool = True) -> Table:
    """Return all streams at the times of the first one, which has most messages; the others are interpolated.

    Of messages with equal times the first is kept. A joint in several streams is taken from the first of them."""
    main = found[0]
    of_main, kept = clock(main.topic, main.arrival, main.stamps, notes, use_stamps)
    first = np.diff(of_main.time, prepend=of_main.time[:1] - 1) > 0
    _count_repeated(main, kept, first, notes)
    rows = kept[first]
    whole = np.array_equal(rows, np.arange(len(main.stamps)))
    fields = {field: x if whole else x[rows] for field, x in main.fields.items()}
    one_clock = Clock(of_main.arrival[first], of_main.time[first], of_main.piece[first], of_main.offset)
    joints = main.joints
    for other in found[1:]:
        joints, fields = _with(joints, fields, other, one_clock, use_stamps, notes)
    breaks = tuple((np.flatnonzero(np.diff(one_clock.piece)) + 1).tolist())
    return Table(joints, one_clock.time, fields, one_clock, breaks)


def _count_repeated(stream, kept, first, notes):
    """Note messages with the time of the previous one: duplicates, or messages with other values."""
    again = np.flatnonzero(~first)
    same = np.ones(len(again), dtype=bool)
    for x in stream.fields.values():
        one, other = x[kept[again]], x[kept[again - 1]]
        same &= ((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1)
    notes.add("duplicate", f"{stream.topic}: the same message again, dropped", same.sum())
    notes.add("same time", f"{stream.topic}: another message with the stamp of the one before, dropped", (~same).sum())


def _with(joints, fields, other, one_clock, use_stamps, notes):
    """Return joints and fields with those of another stream added."""
    new = [i for i, name in enumerate(other.joints) if name not in joints]
    if twice := [name for name in other.joints if name in joints]:
        notes.add("joint again", f"{other.topic}: {listed(twice)} come from somebody else too, and are dropped",
                  len(other.stamps))
    if not new:
        return joints, fields
    stamps = other.stamps if use_stamps else None
    time = one_clock.times(f"{other.topic}, {other.joints[new[0]]}", other.arrival, stamps, notes)
    time, rows = np.unique(time, return_index=True)
    notes.add("duplicate", f"{other.topic}: another message of the same time, dropped", len(other.stamps) - len(rows))
    start = one_clock.time[0]
    at, t = (one_clock.time - start) / NS, (time - start) / NS
    names = [other.joints[i] for i in new]
    added = {field: interpolated(at, t, other.fields[field][rows][:, new], longest_step(t)) for field in fields}
    exact = np.isin(one_clock.time, time)
    if exact.all():
        notes.add("merged", f"{other.topic}: {listed(names)} come in messages of their own, of the same times", len(at))
    else:
        notes.add("interpolated", f"{other.topic}: {listed(names)} come in messages of their own, {len(t)} of them: "
                                  "interpolated", len(at) - int(exact.sum()))
    unknown = np.isnan(added["position"]).all(axis=1).sum()
    notes.add("missing joint", f"{other.topic}: {listed(names)} have no message near enough", unknown)
    return (*joints, *names), {field: np.concatenate([x, added[field]], axis=1) for field, x in fields.items()}
