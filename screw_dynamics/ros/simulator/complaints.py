"""Received messages that the simulator did not use in full, and the strict mode in which they are errors."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from ..node.joint_state import Fault
from ..node.watches import publishers

# Kinds of complaints, which the parameter `tolerate` may list.
REFUSED, UNKNOWN_JOINT, NO_COMMAND, OTHER_FIELD, UNUSED_SETTING = KINDS = (
    "refused", "unknown joint", "no command", "other field", "unused setting")


class Unused(NamedTuple):
    """The messages of a topic since the last one that was used in full: their count, the count of those refused, and
    the reason for the last one."""

    count: int = 0
    refused: int = 0
    why: str = ""


class Complaints:
    """A listener to the diagnostics of `node`, which provides them, `settings` and its view of the graph.

    first: the first complaint of the current run, if it is not tolerated and the parameter `strict` is true; else "".
    on_first(text) is called with it."""

    def __init__(self, node, on_first: Callable[[str], None]):
        self._node, self._on_first = node, on_first
        self._strict, self._tolerated = node.settings.strict, check_kinds("tolerate", node.settings.tolerate)
        self._unused: dict[str, Unused] = {}
        self._flawed = False    # True if the current message has a fault
        self.first = ""

    def clear(self) -> None:
        """Start a new run."""
        self.first = ""
        self._unused.clear()

    def tolerates(self, kind: str) -> bool:
        """Return True if a complaint of this kind is not an error: strict mode is off, or `tolerate` lists the kind."""
        return not self._strict or kind in self._tolerated

    def hear(self, topic: str, fault: Fault, dropped: bool) -> None:
        """Record that a message of a topic was dropped, or not used in full."""
        kind = REFUSED if dropped else fault.reason
        if kind not in KINDS or fault.reason == "not active":
            return
        before = self._unused.get(topic, Unused())
        self._unused[topic] = Unused(before.count + (not self._flawed), before.refused + dropped, str(fault))
        self._flawed = True
        if not self.first and not self.tolerates(kind):
            names = ", ".join(publishers(self._node, topic)) or "a node that is gone"
            became = "refused" if dropped else "not used in full"
            self.first = (f"a message of the topic {topic} (published by {names}) was {became}: {fault} [strict; "
                          f"tolerate: '{kind}']")
            self._on_first(self.first)

    def reading(self) -> None:
        """Start a message: subsequent complaints belong to it."""
        self._flawed = False

    def read(self, topic: str) -> None:
        """End the message of this topic; without a complaint it was used in full."""
        if not self._flawed:
            self._unused.pop(topic, None)

    def sent(self, topic: str) -> str:
        """Return a text on the messages of a topic without commands, to be appended to "<node> publishes <topic>, "."""
        count, refused, why = self._unused.get(topic, Unused())
        if not count:
            return "but sent none of these in that time"
        share = "all refused" if refused == count else "none used in full" + (f", {refused} refused" * bool(refused))
        return f"and sent {count}, {share}; the last: {why}"

    def all_refused(self) -> list[str]:
        """Return the topics of which all messages since the last fully used one were refused."""
        return [topic for topic, unused in self._unused.items() if unused.count == unused.refused]

    def unused_settings(self, lines: Collection[str]) -> None:
        """Log a warning for each parameter without effect. In strict mode, raise ValueError, which refuses the
        robot."""
        if lines and not self.tolerates(UNUSED_SETTING):
            raise ValueError(f"{'; '.join(lines)} [strict; tolerate: '{UNUSED_SETTING}']")
        for line in lines:
            self._node.log.warning(line)


def check_kinds(name: str, kinds: Collection[str]) -> frozenset[str]:
    """Return the kinds of complaints that an option of this name lists. Raises ValueError for a kind that does not
    exist."""
    for kind in kinds:
        if kind and kind not in KINDS:
            raise ValueError(f"{name} lists '{kind}', must be of {', '.join(KINDS)}")
    return frozenset(kinds)
