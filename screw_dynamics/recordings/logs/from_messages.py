"""Recordings from logs of messages."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import samples
from .alignment import held, interpolated, longest_step
from .clock import NS, arrivals
from .decoders import decoder
from .gaps import interruptions
from .joints import Table, merged, streams
from .log_files import logs
from .messages import Channel, decompressed
from .notes import Notes, listed
from .recording import FIELDS, Base, Recording, poses_at
from .roles import NUMBERS, STATE, TYPES, Topics, roles
from .samples import JointStates, Samples, Texts

ODD = "time of logging"
LAST = 2**62      # ns since the epoch, the year 2116: later times are invalid
GATHERED = {        # sample collector of each message type
    STATE: JointStates, NUMBERS: samples.multi_array, TYPES["odometry"][0]: samples.odometry,
    TYPES["wrenches"][0]: samples.wrench, TYPES["imu"][0]: samples.imu, TYPES["description"][0]: Texts}


def recording(fs: Any, path: str, name: str, topics: Topics | None, gap: float | None, use_stamps: bool,
              command_joints: Sequence[str], command_field: str, notes: Notes, max_bytes: int | None = None
              ) -> Recording:
    """Read a recording from a message file or a rosbag2 folder; the other parameters are those of `read`."""
    with logs(fs, path, name, notes, max_bytes) as (files, allowance):
        channels = [channel for log in files for channel in log.channels.values()]
        try:
            chosen = roles(channels, topics, name, notes)
        except ValueError as error:
            raise ValueError(f"{error}{_notes_text(notes)}") from None        # for example on a truncated file
        gathered, arrival = _gathered(files, allowance, chosen, notes)
    states = [gathered[topic] for topic in chosen["joint_states"] if topic in gathered]
    found = [stream for sample in states for stream in streams(sample, arrival, notes)]
    if not found:
        raise ValueError(f"{name}: none of its joint states on {', '.join(chosen['joint_states'])} can be "
                         f"read{_notes_text(notes)}")
    table = merged(sorted(found, key=lambda stream: -len(stream.stamps)), notes, use_stamps)
    start = int(table.time[0])
    t = (table.time - start) / NS
    if not (np.diff(t) > 0.0).all():
        raise ValueError(f"{name}: stamps of joint states must increase by more than the resolution of a double")
    aligned = _Aligned(table, t, arrival, use_stamps, notes)
    return Recording(
        table.joints, t, *(table.fields[field] for field in FIELDS), start=start,
        commands=aligned.commands(_of(gathered, chosen, "commands"), command_joints, command_field),
        base=aligned.base(_of(gathered, chosen, "odometry")),
        wrenches=aligned.series(_of(gathered, chosen, "wrenches")),
        imu={frame: (at, x[:, :3], x[:, 3:])
             for frame, (at, x) in aligned.series(_of(gathered, chosen, "imu")).items()},
        description=_description(_of(gathered, chosen, "description"), notes), source=name,
        topics={role: ", ".join(names) for role, names in chosen.items()},
        breaks=interruptions(t, table.breaks, gap, notes), notes=notes)


def _notes_text(notes):
    """Return the notes on an unreadable file, as text for an error message."""
    return ": " * bool(notes) + "; ".join(f"{note.text} ({note.count})" for note in notes)


def _of(gathered, chosen, role):
    """Return the samples of a role's topics that have messages."""
    return [gathered[topic] for topic in chosen.get(role, ()) if topic in gathered]


# ------------------------------------------------------------------------------------------------- messages
def _gathered(files, allowance, chosen, notes):
    """Return {topic: samples} of the chosen topics, and the times of arrival in ns, by message number."""
    wanted = {topic: role for role, names in chosen.items() for topic in names}
    found: dict[str, Samples] = {}
    logged: list[np.ndarray] = []
    number = 0
    for log in files:
        adding, expected = {}, 0
        for channel_number, channel in log.channels.items():
            if channel.topic in wanted and channel.type in TYPES[wanted[channel.topic]]:
                if (add := _adding(channel, found, notes)) is not None:
                    adding[channel_number] = add
                    expected += max(channel.count, 0)
        times, dropped = _run(log, allowance, adding, number)
        logged.append(times)
        number += len(times)
        notes.add("lost messages", "the file says that it has more of the topics that are read", expected - len(times)
                  if expected > len(times) else 0)
        for (what, text), count in dropped.items():
            notes.add("odd time" if what == ODD else "dropped message", f"{what}: {text}", count)
    all_logged = np.concatenate(logged) if logged else np.zeros(0, dtype=np.int64)
    return found, arrivals(all_logged)


def _adding(channel: Channel, found: dict[str, Samples], notes: Notes):
    """Return the topic, decoder and collector of a channel; add a note and return None if there is no decoder."""
    try:
        decode = decoder(channel)
    except ValueError as error:
        notes.add("not read", str(error))
        return None
    if channel.topic not in found:
        found[channel.topic] = GATHERED[channel.type](channel.topic)
    return channel.topic, decode, found[channel.topic].add


def _run(log, allowance, adding, number):
    """Decode and collect the messages of a log; return log times (k,), and counts of dropped messages by reason."""
    logged: list[int] = []
    dropped: Counter[tuple[str, str]] = Counter()
    append = logged.append
    for channel, time, data in decompressed(log.messages(adding), allowance):
        topic, decode, add = adding[channel]
        if not 0 <= time <= LAST:
            time = min(max(time, 0), LAST)
            dropped[ODD, "not of this era, taken as its nearest end"] += 1
        append(time)
        try:
            add(number, decode(data))
        except Exception as error:  # noqa: BLE001  decoders raise all that Python has
            text = str(error) if type(error) is ValueError else f"it cannot be decoded: {type(error).__name__}"
            dropped[topic, text] += 1
        number += 1
    return np.array(logged, dtype=np.int64), dropped


# ------------------------------------------------------------------------------------------------- signals
class _Aligned:
    """Other signals of the recording, aligned with the joint states' times or clock."""

    def __init__(self, table: Table, t: np.ndarray, arrival: np.ndarray, use_stamps: bool, notes: Notes):
        self.table, self.t, self.arrival, self.use_stamps, self.notes = table, t, arrival, use_stamps, notes

    def times(self, topic: str, layouts: Any) -> tuple[np.ndarray, list, np.ndarray]:
        """Return the increasing times (m,) in s of a topic's messages, the layouts' tables, and the row order."""
        parts = [layout.arrays for layout in layouts]
        numbers, stamps = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        order = np.argsort(numbers, kind="stable")
        time = self.table.clock.times(topic, self.arrival[numbers[order]],
                                      stamps[order] if self.use_stamps else None, self.notes)
        rows = np.argsort(time, kind="stable")
        return (time[rows] - self.table.time[0]) / NS, [part[2] for part in parts], order[rows]

    def commands(self, found, names, field):
        """Return {field: (k, n)}: the last command of each joint at each time."""
        out: dict[str, np.ndarray] = {}
        for sample in found:
            if isinstance(sample, JointStates):
                self._joint_commands(sample, out)
            else:
                self._numbers(sample, names, field, out)
        return out

    def _joint_commands(self, sample, out):
        for stream in streams(sample, self.arrival, Notes()):
            stamps = stream.stamps if self.use_stamps else None
            time = self.table.clock.times(sample.topic, stream.arrival, stamps, self.notes)
            order = np.argsort(time, kind="stable")
            at = (time[order] - self.table.time[0]) / NS
            for name, x in stream.fields.items():
                if not np.isnan(x).all():
                    self._hold(sample.topic, stream.joints, at, x[order], name, out)

    def _numbers(self, sample, names, field, out):
        if not names:
            self.notes.add("not read", f"{sample.topic} has numbers without names: give command_joints")
            return
        layouts = [layout for layout in sample.layouts.values() if layout.width == len(names)]
        other = sum(len(layout) for layout in sample.layouts.values() if layout.width != len(names))
        self.notes.add("dropped message", f"{sample.topic}: not {len(names)} numbers, one for each of command_joints",
                       other)
        if layouts:
            at, tables, order = self.times(sample.topic, layouts)
            self._hold(sample.topic, tuple(names), at, np.concatenate(tables)[order], field, out)

    def _hold(self, topic, names, at, x, field, out):
        """Store the commands of some joints: at each time the last one that is not NaN."""
        joints = self.table.joints
        if unknown := [name for name in names if name not in joints]:
            self.notes.add("not read", f"{topic}: {listed(unknown)} have no joint states")
        table = out.setdefault(field, np.full((len(self.t), len(joints)), np.nan))
        for i, name in enumerate(names):
            if name in joints and not np.isnan(x[:, i]).all():
                given = ~np.isnan(x[:, i])
                table[:, [joints.index(name)]] = held(self.t, at[given], x[given, i:i + 1])
        self.notes.add("held", f"{topic}: at each time the last {field} commanded before, of {len(at)} messages",
                       len(self.t))

    def base(self, found):
        """Return the base at the times of joint states, or None without odometry."""
        layouts = sorted((layout for sample in found for layout in sample.layouts.values()),
                         key=lambda layout: -len(layout))
        if not layouts:
            return None
        topic, ((frame, link), _) = found[0].topic, layouts[0].key
        self.notes.add("dropped message", f"{topic}: not the pose of {link} in {frame}",
                       sum(len(layout) for layout in layouts[1:]))
        at, (x,), order = self.times(topic, layouts[:1])
        at, rows = np.unique(at, return_index=True)
        x = x[order][rows]
        longest = longest_step(at)
        q, twist = poses_at(self.t, at, x[:, :7], longest), interpolated(self.t, at, x[:, 7:], longest)
        self.notes.add("interpolated", f"{topic}: the base at the times of joint states, of {len(at)} messages",
                       int((~np.isin(self.t, at)).sum()))
        self.notes.add("missing base", f"{topic}: no message near enough", int(np.isnan(q[:, 0]).sum()))
        self.notes.add("missing base", f"{topic}: a quaternion of length 0", int((~x[:, 3:7].any(axis=1)).sum()))
        return Base(q, twist, frame, link)

    def series(self, found):
        """Return {frame: (times (m,), values (m, w))} of sensors; the key of a second one in a frame has its topic."""
        out: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for sample in found:
            for layout in sample.layouts.values():
                at, (x,), order = self.times(sample.topic, [layout])
                frame = layout.key[0]
                out[f"{frame} ({sample.topic})" if frame in out else frame] = at, x[order]
        return out


def _description(found, notes):
    """Return the last robot description, or None."""
    texts = [text for sample in found for text in sample.texts]
    notes.add("several descriptions", "the last one is taken", len(texts) if len(texts) > 1 else 0)
    return texts[-1] if texts else None
