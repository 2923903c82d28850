"""The interface of all message files: channels, and messages in log order."""
from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from .expansion import Allowance

ZSTD = b"\x28\xb5\x2f\xfd"      # magic of zstd frames; no CDR message begins with it


class Channel(NamedTuple):
    """Messages of one type on one topic.

    type: package/msg/Type. definition: in the format `schema` ("ros2msg", "ros2idl", or "" for none). encoding: of the
    messages. count: number of messages, -1 if unknown."""

    topic: str
    type: str
    definition: str = ""
    schema: str = ""
    encoding: str = "cdr"
    count: int = -1


class Log(Protocol):
    """An open message file."""

    channels: dict[int, Channel]

    def messages(self, wanted: Collection[int]) -> Iterator[tuple[int, int, bytes]]:
        """Return an iterator over messages of the wanted channels: channel number, log time in ns, and data.

        Unreadable messages are noted and skipped."""
        ...


def full_type(name: str) -> str:
    """Return package/msg/Type, also for package/Type."""
    package, _, kind = name.partition("/")
    return name if kind.startswith("msg/") or not kind else f"{package}/msg/{kind}"


def decompressed(messages: Iterator[tuple[int, int, bytes]], allowance: Allowance
                 ) -> Iterator[tuple[int, int, bytes]]:
    """Yield messages, decompressing those that rosbag2 compressed one by one."""
    for number, time, data in messages:
        yield number, time, allowance.expanded("zstd", data) if data[:4] == ZSTD else data
