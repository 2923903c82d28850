"""An MCAP file of messages as received: their bytes, with topics and definitions of types, so that readers need no ROS.
It uses memory for one chunk, and for an index that grows by some hundred bytes per chunk."""

import importlib
from pathlib import Path
from typing import Any

from .message_definition import definition, type_name

CHUNK = 512 * 1024      # bytes; kill -9 loses one chunk at most


class McapFile:
    """A new MCAP file. Raises ImportError without the package mcap. Each method raises OSError if the file cannot be
    written."""

    def __init__(self, path: Path):
        try:
            Writer = importlib.import_module("mcap.writer").Writer      # an extra, which package.xml cannot declare
        except ImportError:
            raise ImportError("recording writes MCAP, whose package is not installed: pip install mcap") from None
        self.path = path
        self._file = open(path, "xb")
        self._writer: Any = Writer(self._file, chunk_size=CHUNK)
        self._writer.start(profile="ros2", library="screw_dynamics")
        self._channels: dict[tuple[str, str], int] = {}
        self._schemas: dict[str, int] = {}
        self.messages = 0

    def write(self, topic: str, kind: type, data: bytes, time: int, sequence: int = 0) -> None:
        """Append a message, serialized in CDR with its header, that was received at a time (ns)."""
        name = type_name(kind)
        channel = self._channels.get((topic, name))
        if channel is None:
            if name not in self._schemas:
                self._schemas[name] = self._writer.register_schema(name, "ros2msg", definition(kind).encode())
            channel = self._channels[topic, name] = self._writer.register_channel(topic, "cdr", self._schemas[name])
        self._writer.add_message(channel, log_time=time, data=data, publish_time=time, sequence=sequence)
        self.messages += 1

    @property
    def size(self) -> int:
        """The number of bytes written so far."""
        return self._file.tell()

    def close(self) -> None:
        """Write the index, and close the file. After an OSError, the data written before it is kept."""
        try:
            self._writer.finish()
        finally:
            self._file.close()


def free_path(path: Path) -> Path:
    """Return the path, with a number added if the file exists: a recording overwrites no file."""
    candidate, number = path, 0
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}_{number}{path.suffix}")
    return candidate
