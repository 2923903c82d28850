"""The messages recorded in a run, as arrays over simulated time, and assertions on them."""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

FIELDS = ("position", "velocity", "effort")
MOST = 5   # names in a message


class Series:
    """The JointState messages of one topic: arrays over time of each field and joint. Times are in seconds.

    times(stamps): the times of the messages from their stamps, (samples,)."""

    def __init__(self, messages: Sequence[Any], times: Callable[[np.ndarray], np.ndarray] = lambda stamps: stamps):
        self.messages = messages
        self._times = times

    @property
    def time(self) -> np.ndarray:
        """The time of each message, (samples,)."""
        stamps = (message.header.stamp for message in self.messages)
        return self._times(np.array([stamp.sec + stamp.nanosec * 1e-9 for stamp in stamps], dtype=float))

    @property
    def names(self) -> tuple[str, ...]:
        """The joints, in the order of the first message."""
        return tuple(dict.fromkeys(name for message in self.messages[:1] for name in message.name))

    def values(self, field: str, joint: str) -> np.ndarray:
        """Return a field of a joint, (samples,), with NaN for messages without it. Raises KeyError for a joint that is
        in no message."""
        index, found = {}, np.full(len(self.messages), np.nan)
        for k, message in enumerate(self.messages):
            names = tuple(message.name)
            if names not in index:
                index[names] = names.index(joint) if joint in names else None
            i, values = index[names], getattr(message, field)
            if i is not None and i < len(values):
                found[k] = values[i]
        if all(i is None for i in index.values()):
            named = sorted({name for names in index for name in names})
            raise KeyError(f"joint '{joint}' is in none of the {len(self.messages)} messages, which have "
                           + (", ".join(named) or "no joints"))
        return found


class Recording:
    """The recorded run of a robot: `states` and `commands`, each a `Series`, and `topics`, {name: messages}.

    Quantities are the fields "position", "velocity" and "effort" of joint_states, or "command" for joint_commands: the
    first of their fields that commands the joint. `after` and `before` are in simulated seconds and inclusive."""

    def __init__(self):
        self.topics: dict[str, list] = {}
        self.odometry: list = []    # messages on odom and base_wrench of a robot on a floating base
        self.wrenches: list = []
        self._states, self._commands = [], []
        self.states = Series(self._states)
        self.answers = 1   # commands for each state
        self.commands = Series(self._commands, self._times_of_commands)

    def _times_of_commands(self, stamps: np.ndarray) -> np.ndarray:
        """Return the times of commands: their stamps. A command without a stamp, or with a stamp of another clock, has
        the time of the state that it answers, which its index determines."""
        t = self.time
        if not len(t):
            return np.full(len(stamps), math.nan)
        answered = t[np.minimum(np.arange(len(stamps)) // max(self.answers, 1), len(t) - 1)]
        return np.where((stamps > 0.0) & (stamps <= t[-1]), stamps, answered)

    def clear(self) -> None:
        """Discard all messages."""
        for messages in (self._states, self._commands, self.odometry, self.wrenches, *self.topics.values()):
            messages.clear()

    # --------------------------------------------------------------------------------------------- arrays
    @property
    def time(self) -> np.ndarray:
        """The simulated time of each state, (samples,)."""
        return self.states.time

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints in joint_states."""
        return self.states.names

    def position(self, joint: str) -> np.ndarray:
        """Return the positions of a joint.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        ndarray (samples,)
            Positions in rad or m.
        """
        return self.states.values("position", joint)

    def velocity(self, joint: str) -> np.ndarray:
        """Return the velocities of a joint.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        ndarray (samples,)
            Velocities in rad/s or m/s.
        """
        return self.states.values("velocity", joint)

    def effort(self, joint: str) -> np.ndarray:
        """Return the efforts of a joint.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        ndarray (samples,)
            Efforts of the actuator, in N m or N.
        """
        return self.states.values("effort", joint)

    @property
    def base_pose(self) -> np.ndarray:
        """Poses of a floating base, x y z and quaternion x y z w, one for each Odometry message, (samples, 7). There is
        one for each state."""
        poses = [message.pose.pose for message in self.odometry]
        return np.array([[*_numbers(pose.position, "xyz"), *_numbers(pose.orientation, "xyzw")] for pose in poses])

    @property
    def base_twist(self) -> np.ndarray:
        """Angular and linear velocity of a floating base in its own frame, one for each Odometry message, (samples,
        6)."""
        twists = [message.twist.twist for message in self.odometry]
        return np.array([[*_numbers(twist.angular, "xyz"), *_numbers(twist.linear, "xyz")] for twist in twists])

    @property
    def base_wrench(self) -> np.ndarray:
        """Torque and force of each message on base_wrench, in the message's frame, (messages, 6)."""
        wrenches = [message.wrench for message in self.wrenches]
        return np.array([[*_numbers(wrench.torque, "xyz"), *_numbers(wrench.force, "xyz")] for wrench in wrenches])

    def command(self, joint: str, field: str | None = None) -> np.ndarray:
        """Return the commands of a joint.

        Parameters
        ----------
        joint : str
            Name of the joint.
        field : {"position", "velocity", "effort"}, optional
            Field of the commands. By default the first that is not empty.

        Returns
        -------
        ndarray (commands,)
            Values of the field.
        """
        if field is not None:
            return self.commands.values(field, joint)
        for each in FIELDS:
            values = self.commands.values(each, joint)
            if not np.isnan(values).all():
                return values
        return np.full(len(self._commands), np.nan)

    def series(self, joint: str, quantity: str = "position", after: float = -math.inf, before: float = math.inf
               ) -> tuple[np.ndarray, np.ndarray]:
        """Return times and values of a quantity of a joint, without times at which it has no value.

        Parameters
        ----------
        joint : str
            Name of the joint.
        quantity : {"position", "velocity", "effort", "command"}, optional
            Field of joint_states, or "command" of joint_commands.
        after, before : float, optional
            Span in simulated seconds, both ends included.

        Returns
        -------
        t : ndarray (k,)
            Times in s.
        values : ndarray (k,)
            Values at these times.

        Raises
        ------
        ValueError
            If there is no such quantity, or no value of it in the span.
        """
        if quantity == "command":
            t, values = self.commands.time, self.command(joint)
        elif quantity in FIELDS:
            t, values = self.time, self.states.values(quantity, joint)
        else:
            raise ValueError(f"quantity is '{quantity}', must be one of {', '.join((*FIELDS, 'command'))}")
        inside = (t >= after - 1e-9) & (t <= before + 1e-9) & ~np.isnan(values)
        if not inside.any():
            span = f"of {t[0]:g} to {t[-1]:g} s" if len(t) else "which is empty"
            raise ValueError(f"no {quantity} of {joint} from {after:g} to {before:g} s in the recording {span}")
        return t[inside], values[inside]

    def array(self, topic: str, field: Callable[[Any], Any]) -> np.ndarray:
        """Return a field of the messages on a recorded topic as an array.

        Parameters
        ----------
        topic : str
            Name of the topic.
        field : callable
            Function ``field(message)`` that returns a value of each message.

        Returns
        -------
        ndarray (messages, ...)
            Values of all messages.
        """
        return np.array([field(message) for message in self.topics[topic]])

    # --------------------------------------------------------------------------------------------- questions
    def max_abs(self, joint: str, quantity: str = "position", target: float = 0.0, **span: float) -> float:
        """Return the largest distance of a quantity from a target.

        Parameters
        ----------
        joint : str
            Name of the joint.
        quantity : {"position", "velocity", "effort", "command"}, optional
            Quantity, as of ``series``.
        target : float, optional
            Target in the quantity's unit.
        **span
            ``after`` and ``before``, as of ``series``.

        Returns
        -------
        float
            Largest distance.
        """
        return float(np.abs(self.series(joint, quantity, **span)[1] - target).max())

    def settling_time(self, joint: str, target: float, tolerance: float, quantity: str = "position", **span: float
                      ) -> float:
        """Return the time from which on a quantity stays near a target.

        Parameters
        ----------
        joint : str
            Name of the joint.
        target : float
            Target in the quantity's unit.
        tolerance : float
            Largest distance from the target.
        quantity : {"position", "velocity", "effort", "command"}, optional
            Quantity, as of ``series``.
        **span
            ``after`` and ``before``, as of ``series``.

        Returns
        -------
        float
            Time in s. Infinite if the quantity is not within the tolerance at the end.
        """
        t, values = self.series(joint, quantity, **span)
        outside = np.flatnonzero(np.abs(values - target) > tolerance)
        if not len(outside):
            return float(t[0])
        return float(t[outside[-1] + 1]) if outside[-1] + 1 < len(t) else math.inf

    def settled(self, joint: str, target: float, tolerance: float, by: float | None = None, **span: Any) -> bool:
        """Return True if a quantity is near a target at the end, and has been since a given time.

        Parameters
        ----------
        joint : str
            Name of the joint.
        target : float
            Target in the quantity's unit.
        tolerance : float
            Largest distance from the target.
        by : float, optional
            Time in s since which the quantity must be within the tolerance. By default any.
        **span
            ``quantity``, ``after`` and ``before``, as of ``series``.

        Returns
        -------
        bool
            True if it has settled.
        """
        return self.settling_time(joint, target, tolerance, **span) <= (math.inf if by is None else by) + 1e-9 and (
            math.isfinite(self.settling_time(joint, target, tolerance, **span)))

    def digest(self) -> str:
        """Return a hash of the recorded numbers.

        Returns
        -------
        str
            Hash of the names and numbers on joint_states and joint_commands, of the times of the states, and of the
            numbers on odom and base_wrench.
        """
        found = hashlib.sha256(self.time.tobytes())
        for message in (*self._states, *self._commands):
            found.update("\0".join(message.name).encode())
            for field in FIELDS:
                found.update(np.array([len(getattr(message, field)), *getattr(message, field)]).tobytes())
        found.update(self.base_pose.tobytes() + self.base_twist.tobytes() + self.base_wrench.tobytes())
        return found.hexdigest()

    # --------------------------------------------------------------------------------------------- assertions
    def assert_within(self, joint: str, target: float, tolerance: float, quantity: str = "position", **span: float
                      ) -> None:
        """Assert that a quantity stays near a target.

        Parameters
        ----------
        joint : str
            Name of the joint.
        target : float
            Target in the quantity's unit.
        tolerance : float
            Largest distance from the target.
        quantity : {"position", "velocity", "effort", "command"}, optional
            Quantity, as of ``series``.
        **span
            ``after`` and ``before``, as of ``series``.

        Raises
        ------
        AssertionError
            If the quantity leaves the tolerance.
        """
        __tracebackhide__ = True
        t, values = self.series(joint, quantity, **span)
        self._assert(t, values, np.abs(values - target), tolerance, f"{quantity} of {joint}", f"off {target:g}")

    def assert_below(self, joint: str, limit: float, quantity: str = "effort", **span: float) -> None:
        """Assert that the size of a quantity stays at or below a limit.

        Parameters
        ----------
        joint : str
            Name of the joint.
        limit : float
            Limit in the quantity's unit.
        quantity : {"position", "velocity", "effort", "command"}, optional
            Quantity, as of ``series``.
        **span
            ``after`` and ``before``, as of ``series``.

        Raises
        ------
        AssertionError
            If the size exceeds the limit.
        """
        __tracebackhide__ = True
        t, values = self.series(joint, quantity, **span)
        self._assert(t, values, np.abs(values), limit, f"{quantity} of {joint}", "in size")

    def assert_settled(self, joint: str, target: float, tolerance: float, by: float | None = None, **span: Any) -> None:
        """Assert that a quantity is near a target at the end, and has been since a given time.

        Parameters
        ----------
        joint : str
            Name of the joint.
        target : float
            Target in the quantity's unit.
        tolerance : float
            Largest distance from the target.
        by : float, optional
            Time in s since which the quantity must be within the tolerance. By default any.
        **span
            ``quantity``, ``after`` and ``before``, as of ``series``.

        Raises
        ------
        AssertionError
            If the quantity has not settled.
        """
        __tracebackhide__ = True
        if self.settled(joint, target, tolerance, by, **span):
            return
        t, values = self.series(joint, **span)
        since = self.settling_time(joint, target, tolerance, **span)
        quantity = span.get("quantity", "position")
        if math.isinf(since):
            raise AssertionError(
                f"{quantity} of {joint} is {values[-1]:.6g} at the end, t = {t[-1]:g} s: "
                f"{abs(values[-1] - target):.3g} off {target:g}, tolerance {tolerance:g}")
        raise AssertionError(f"{quantity} of {joint} settles within {tolerance:g} of {target:g} at t = {since:g} s, "
                             f"must by {by:g} s")

    @staticmethod
    def _assert(t: np.ndarray, values: np.ndarray, distance: np.ndarray, tolerance: float, what: str, off: str) -> None:
        __tracebackhide__ = True   # pytest shows the line of the test
        bad = np.flatnonzero(~(distance <= tolerance))
        if len(bad):
            first, worst = bad[0], int(np.nanargmax(distance))
            raise AssertionError(
                f"{what} is {values[first]:.6g} at t = {t[first]:g} s: {distance[first]:.3g} {off}, tolerance "
                f"{tolerance:g}; {len(bad)} of {len(t)} samples, the worst {values[worst]:.6g} at t = {t[worst]:g} s")

    def __str__(self) -> str:
        if not self._states:
            return "nothing recorded"
        last = self._states[-1]
        named = ", ".join(f"{name} {x:.4g}" for name, x in zip(last.name[:MOST], last.position[:MOST], strict=True))
        t = self.time
        if self.odometry:
            named = ", ".join([f"base at {', '.join(f'{x:.4g}' for x in self.base_pose[-1, :3])}", named]).rstrip(", ")
        commands = len(self._commands) + len(self.wrenches)
        return (f"{len(t)} states from t = {t[0]:g} to {t[-1]:g} s, {commands} commands; last: {named}"
                + (", ..." if len(last.name) > MOST else ""))


def _numbers(value: Any, names: str) -> list[float]:
    return [getattr(value, name) for name in names]


def matrix(recording: Recording, quantity: str, joints: Iterable[str]) -> np.ndarray:
    """Return a field of joint_states as a matrix (samples, joints)."""
    columns = [recording.states.values(quantity, joint) for joint in joints]
    return np.stack(columns, axis=-1) if columns else np.zeros((len(recording.time), 0))
