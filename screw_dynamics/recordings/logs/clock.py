"""Time along a log: one increasing time from message stamps and log times.

A stamp is the time of a measurement; a log time is the time of arrival. Stamps are used while they are continuous.
Where the stamps' clock jumps, a new piece begins, and the times of arrival determine its offset."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .notes import Notes

NS = 10**9
LATE = 3                # largest number of consecutive messages that count as late
JUMP = NS               # smallest error of a stamp in ns that counts as a clock jump; smaller ones are late messages


@dataclass(frozen=True)
class Clock:
    """The clock of one topic, which gives the times of messages of other topics.

    arrival (k,): times of arrival of its messages in ns, increasing. time (k,): their times in ns. piece (k,): index of
    the uninterrupted piece of each message. offset (p,): time minus stamp in each piece."""

    arrival: np.ndarray
    time: np.ndarray
    piece: np.ndarray
    offset: np.ndarray

    def at(self, arrival: np.ndarray) -> np.ndarray:
        """Return the times in ns at given times of arrival, interpolated between messages."""
        if len(self.time) == 1:
            return self.time[0] + (arrival - self.arrival[0])
        zero, start = self.arrival[0], self.time[0]
        inside = np.interp(arrival - zero, self.arrival - zero, self.time - start)
        before = np.minimum(arrival - zero, 0)
        after = np.maximum(arrival - self.arrival[-1], 0)
        return start + np.rint(inside).astype(np.int64) + before + after

    def times(self, topic: str, arrival: np.ndarray, stamps: np.ndarray | None, notes: Notes) -> np.ndarray:
        """Return the times in ns of another topic's messages: stamps plus the offset of the piece at their arrival.

        The time of arrival is used for messages without a stamp, for topics without stamps (None), and for topics whose
        stamps come from another clock."""
        arrived = self.at(arrival)
        if stamps is None or not len(arrived):
            return arrived
        near = np.searchsorted(self.arrival, arrival).clip(0, len(self.piece) - 1)
        pieces = (self.piece[near][:, None] + np.arange(-1, 2)).clip(0, len(self.offset) - 1)
        candidates = stamps[:, None] + self.offset[pieces]
        best = np.abs(candidates - arrived[:, None]).argmin(axis=1)
        times = candidates[np.arange(len(best)), best]
        unstamped = stamps <= 0
        times[unstamped] = arrived[unstamped]
        notes.add("no stamp", f"{topic}: messages without a stamp have the time of their arrival", unstamped.sum())
        if not unstamped.all():
            off = float(np.median((times - arrived)[~unstamped])) / NS
            if abs(off) > JUMP / NS:
                notes.add("other clock", f"{topic}: its stamps are off by {off:.6g} s from when they arrived, which is "
                                         "taken", (~unstamped).sum())
                return arrived
        return times


def arrivals(logged: np.ndarray) -> np.ndarray:
    """Return the times of arrival (k,) in ns: the log times in the order of the log, without backward steps."""
    steps = np.diff(logged, prepend=logged[:1])
    return logged[:1] + np.cumsum(np.maximum(steps, 0)) if len(logged) else logged


def clock(topic: str, arrival: np.ndarray, stamps: np.ndarray, notes: Notes,
          use_stamps: bool = True) -> tuple[Clock, np.ndarray]:
    """Return the clock of a topic, and the indices of the messages kept, in order of time.

    Missing stamps are replaced by times of arrival. Late messages are sorted in. Stray messages are dropped: their
    stamps jump, and those of the next messages do not."""
    if not use_stamps:
        notes.add("logged", f"{topic}: times are those of logging, as asked for", len(arrival))
        stamps = arrival
    unstamped = stamps <= 0
    if unstamped.all():
        notes.add("no stamp", f"{topic}: times are those of logging", len(stamps) if use_stamps else 0)
        stamps = arrival
    elif unstamped.any():
        stamps = stamps.copy()
        shift = np.median((stamps - arrival)[~unstamped]).astype(np.int64)
        stamps[unstamped] = arrival[unstamped] + shift
        notes.add("no stamp", f"{topic}: messages without a stamp have the time of their arrival", unstamped.sum())
    stray, starts = _pieces(topic, arrival, stamps, notes)
    kept = np.flatnonzero(~stray)
    piece = np.searchsorted(starts, kept, side="right")
    offset = _offsets(arrival[kept], stamps[kept], piece)
    time = stamps[kept] + offset[piece]
    order = np.lexsort((time, piece))
    notes.add("late", f"{topic}: messages with a stamp before that of the one before, sorted in",
              ((np.diff(time) < 0) & (np.diff(piece) == 0)).sum())
    kept = kept[order]
    return Clock(np.maximum.accumulate(arrival[kept]), time[order], piece[order], offset), kept


def _pieces(topic, arrival, stamps, notes):
    """Return a mask (k,) of the stray messages, and the indices of the messages at which the clock jumps."""
    stray, starts, at = np.zeros(len(stamps), dtype=bool), [], 0
    ratio = _ratio(arrival, stamps)
    while at < len(stamps):
        jump = _next_jump(arrival[at:], stamps[at:], stray[at:], ratio)
        if jump is None:
            break
        at += jump
        starts.append(at)
        step = (stamps[at] - stamps[at - 1]) / NS
        notes.add("clock jump", f"{topic}: the clock jumps by {step:.6g} s, {(arrival[at] - arrival[0]) / NS:.3f} s "
                                "after the start")
    notes.add("stray", f"{topic}: dropped, as the stamp is off by more than a second and the next ones are not",
              stray.sum())
    return stray, np.array(starts, dtype=np.int64)


def _next_jump(arrival, stamps, stray, ratio):
    """Return the index of the first message after a clock jump, or None; mark the stray messages before it."""
    highest = np.maximum.accumulate(stamps)
    behind = stamps < highest
    edges = np.flatnonzero(np.diff(behind.astype(np.int8), prepend=0, append=0))
    starts, ends = edges[::2], edges[1::2]
    back = None
    if starts.size:
        far = np.maximum.reduceat(highest - stamps, starts) >= JUMP
        jumps = (ends - starts > LATE) | (far & (ends == len(stamps)))
        first = int(np.argmax(jumps)) if jumps.any() else len(starts)
        back = int(starts[first]) if first < len(starts) else None
        for start, end in zip(starts[:first][far[:first]], ends[:first][far[:first]], strict=True):
            stray[start:end] = True
    reach = len(stamps) if back is None else back
    steps, passed = np.diff(stamps[:reach]), np.diff(arrival[:reach])
    ahead = np.flatnonzero((steps > JUMP) & (steps > 2.0 * ratio * passed + JUMP))
    ahead = ahead[~stray[ahead] & ~stray[ahead + 1]]
    if ahead.size:
        stray[ahead[0] + 1:] = False
        return int(ahead[0]) + 1
    return back


def _ratio(arrival, stamps):
    """Return the rate of the stamps' clock relative to the log's, at least 1: simulated time may run faster."""
    steps, passed = np.diff(stamps), np.diff(arrival)
    usual = np.median(passed) if len(passed) else 0.0
    return max(1.0, float(np.median(steps)) / float(usual)) if usual > 0.0 else 1.0


def _offsets(arrival, stamps, piece):
    """Return the offset in ns that is added to the stamps of each piece.

    The time between two pieces is the time between their arrivals."""
    offset = np.zeros(int(piece[-1]) + 1 if len(piece) else 1, dtype=np.int64)
    steps = np.diff(stamps)
    usual = int(np.median(steps[steps > 0])) if (steps > 0).any() else 1
    ratio = _ratio(arrival, stamps)
    for first in np.flatnonzero(np.diff(piece)) + 1:
        p = piece[first]
        before = slice(np.searchsorted(piece, piece[first - 1]), first)
        there = slice(first, np.searchsorted(piece, p, side="right"))
        passed = max(int(ratio * (arrival[first] - arrival[first - 1])), usual)
        offset[p] = stamps[before].max() + offset[piece[first - 1]] + passed - stamps[there].min()
    return offset
