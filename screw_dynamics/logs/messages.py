"""The common interface of all files of messages: channels, and messages in the order in which they were logged."""
from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from .expansion import Allowance

ZSTD = b"\x28\xb5\x2f\xfd"      # what zstd's frames begin with, and no message in CDR


class Channel(NamedTuple):
    """Messages of one type on one topic.

    type: package/msg/Type. definition: in the language `schema` ("ros2msg", "ros2idl", or "" without one). encoding: of
    the messages. count: number of messages, -1 if the file does not have it."""

    topic: str
    type: str
    definition: str = ""
    schema: str = ""
    encoding: str = "cdr"
    count: int = -1


class Log(Protocol):
    """A file of messages that is open."""

    channels: dict[int, Channel]

    def messages(self, wanted: Collection[int]) -> Iterator[tuple[int, int, bytes]]:
        """Number of the channel, time of logging in ns, and bytes of each message of some channels. What cannot be read
        is noted, and left out."""
        ...


def full_type(name: str) -> str:
    """package/msg/Type, also of package/Type."""
    package, _, kind = name.partition("/")
    return name if kind.startswith("msg/") or not kind else f"{package}/msg/{kind}"


def decompressed(messages: Iterator[tuple[int, int, bytes]], allowance: Allowance
                 ) -> Iterator[tuple[int, int, bytes]]:
    """Messages that rosbag2 compressed one by one, as they were; others as they are."""
    for number, time, data in messages:
        yield number, time, allowance.expanded("zstd", data) if data[:4] == ZSTD else data
