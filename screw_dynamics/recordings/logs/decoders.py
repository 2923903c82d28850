"""Decoders of messages, from the package mcap-ros2-support-fast, for message definitions in ROS's .msg format. The
package rosbags makes these of IDL definitions, and of standard ROS 2 types where a file has no definition."""
from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from .messages import Channel

LITTLE, BIG = struct.Struct("<I").unpack_from, struct.Struct(">I").unpack_from
LEAST = 4       # smallest size in bytes of a list entry: the length field of a string
# For each type with lists of strings or records: a function that returns the entry count a message claims.
COUNTS: dict[str, Callable[[bytes, Callable], int]] = {
    "sensor_msgs/msg/JointState": lambda data, number: _names(data, number),
    "std_msgs/msg/Float64MultiArray": lambda data, number: number(data, 4)[0]}


def decoder(channel: Channel) -> Callable[[bytes], Any]:
    """Return a function that decodes bytes to an object with the fields of the channel's type. Raises ValueError if
    there is none."""
    if channel.encoding != "cdr":
        raise ValueError(f"topic {channel.topic}: messages are encoded as {channel.encoding or 'nothing'}, not as cdr")
    return _decoder(channel.type, channel.definition, channel.schema)


@lru_cache(maxsize=64)
def _decoder(kind, definition, schema):
    """Return the decoder of a definition; cached, because each decoder is compiled."""
    if schema == "ros2idl":
        definition = _of_idl(kind, definition)
    decode = _by_text(kind, definition or usual_definition(kind))
    return _plausible(decode, COUNTS[kind]) if kind in COUNTS else decode


def _plausible(decode: Callable[[bytes], Any], counted: Callable[[bytes, Callable], int]) -> Callable[[bytes], Any]:
    """Return a decoder that raises ValueError for damaged messages whose claimed list length exceeds their size.

    Otherwise the decoder would allocate memory for all claimed entries, gigabytes, before reading them."""
    def checked(data):
        count = counted(data, BIG if data[1] == 0 else LITTLE)
        if LEAST * count > len(data):
            raise ValueError(f"it claims {count} entries in {len(data)} bytes")
        return decode(data)
    return checked


def _names(data, number):
    """Return the number of names that a JointState claims; the field follows stamp and frame."""
    at = 16 + number(data, 12)[0]
    return number(data, at + -at % 4)[0]


def _by_text(kind, definition):
    from mcap_ros2_support_fast.decoder import DecoderFactory
    schema = SimpleNamespace(id=1, name=kind, encoding="ros2msg", data=definition.encode())
    try:
        return DecoderFactory().decoder_for("cdr", schema)
    except Exception as error:  # noqa: BLE001  of whatever a file has for a definition
        raise ValueError(f"the definition of {kind} cannot be read: {error}") from error


def _of_idl(kind, definition):
    """Return the definition in the .msg format of one in IDL."""
    from rosbags.typesys import Stores, get_types_from_idl, get_typestore
    store, types = get_typestore(Stores.EMPTY), {}
    line = "=" * 80 + "\n"
    parts = [part.partition("\n")[2] for part in definition.split(line) if part.startswith("IDL: ")] or [definition]
    try:
        for part in parts:
            types.update(get_types_from_idl(part))
        store.register(types)
        return store.generate_msgdef(kind, ros_version=2)[0]
    except Exception as error:  # noqa: BLE001
        raise ValueError(f"the IDL of {kind} cannot be read: {error}") from error


def usual_definition(kind: str) -> str:
    """Return the definition of a standard ROS 2 type. Raises ValueError for other types."""
    store = typestore()
    if kind not in store.fielddefs:
        raise ValueError(f"the file has no definition of {kind}, and it is not a ROS 2 type")
    return store.generate_msgdef(kind, ros_version=2)[0]


@lru_cache(maxsize=1)
def typestore() -> Any:
    """Return rosbags' store of the ROS 2 types; the types read here are unchanged since the first ROS 2 release."""
    from rosbags.typesys import Stores, get_typestore
    return get_typestore(Stores.ROS2_JAZZY)
