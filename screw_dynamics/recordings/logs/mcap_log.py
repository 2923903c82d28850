"""MCAP files, read with the package mcap: by their index if there is one, else sequentially up to the first damage.

Messages come in file order, the order of their arrival."""
from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator
from typing import IO, Any
from zlib import crc32

from .expansion import Allowance, TooLarge
from .messages import Channel, full_type
from .notes import Notes

MAGIC = 8           # bytes of the magic at the beginning and end of a file
HEADER = 1 + 8      # bytes before a record's content: opcode and length


class McapLog:
    """An open MCAP file. Raises ValueError if the file is not MCAP; damage is noted."""

    def __init__(self, file: IO[bytes], name: str, notes: Notes, allowance: Allowance):
        self._file, self._name, self._notes, self._allowance = file, name, notes, allowance
        self.channels: dict[int, Channel] = {}
        self._schemas: dict[int, Any] = {}
        self._size = file.seek(0, 2)
        self._chunks: list[Any] | None = None
        if not self._indexed():
            left = allowance.left
            for _ in self._from_the_start(frozenset(), Notes()):        # finds the channels
                pass
            allowance.left = left               # the same bytes are read again for the messages

    def messages(self, wanted: Collection[int]) -> Iterator[tuple[int, int, bytes]]:
        """Return an iterator over messages of the wanted channels: channel, log time in ns, and data."""
        if self._chunks is None:
            return self._from_the_start(frozenset(wanted), self._notes)
        return self._by_index(frozenset(wanted))

    # --------------------------------------------------------------------------------------------- indexed files
    def _indexed(self):
        """Read channels and chunk indexes from the summary; return False if it is missing or has no channels."""
        from mcap.data_stream import ReadDataStream
        from mcap.reader import make_reader
        from mcap.stream_reader import read_magic
        self._file.seek(0)
        try:
            read_magic(ReadDataStream(self._file))
        except Exception:  # noqa: BLE001  of a file that is empty, or of something else
            raise ValueError(f"{self._name} is not an MCAP file: its first bytes differ") from None
        self._file.seek(0)
        begin = self._file.read(MAGIC)
        self._file.seek(-MAGIC, os.SEEK_END)
        if self._file.read(MAGIC) != begin:
            self._notes.add("no summary", f"{self._name} does not end as MCAP files do: it was cut, or not finished")
            return False
        self._file.seek(0)
        try:
            summary = make_reader(self._file).get_summary()
        except Exception as error:  # noqa: BLE001  of whatever stands where a summary should
            self._notes.add("no summary", f"{self._name}: its summary cannot be read: {_message_of(error)}")
            return False
        if summary is None or not summary.channels:
            return False
        self._schemas = summary.schemas
        counts = summary.statistics.channel_message_counts if summary.statistics else {}
        for channel in summary.channels.values():
            self._take(channel, counts.get(channel.id, 0 if counts else -1))
        if summary.chunk_indexes:       # messages of a file without chunks may be anywhere
            self._chunks = sorted(summary.chunk_indexes, key=lambda chunk: chunk.chunk_start_offset)
        return True

    def _by_index(self, wanted):
        from mcap.data_stream import ReadDataStream
        from mcap.records import Chunk, Message
        for index in self._chunks:
            inside = index.message_index_offsets
            if inside and wanted.isdisjoint(inside):
                continue
            at = index.chunk_start_offset
            try:
                self._file.seek(at + HEADER)
                chunk = Chunk.read(ReadDataStream(self._file))
            except Exception as error:  # noqa: BLE001  of damaged bytes all can come
                self._damaged(at, error, self._notes)
                continue
            for record in self._inside(chunk, at, self._notes):
                if type(record) is Message and record.channel_id in wanted:
                    yield record.channel_id, record.log_time, record.data

    # --------------------------------------------------------------------------------------------- other files
    def _from_the_start(self, wanted, notes):
        """Yield messages record by record; channels are registered when they occur."""
        from mcap.records import Channel as ChannelRecord
        from mcap.records import Message, Schema
        for record in self._records(notes):
            kind = type(record)
            if kind is Message:
                if record.channel_id in wanted:
                    yield record.channel_id, record.log_time, record.data
            elif kind is Schema:
                self._schemas[record.id] = record
            elif kind is ChannelRecord and record.id not in self.channels:
                self._take(record, -1)

    def _records(self, notes):
        """Yield all readable records, with the records inside chunks."""
        from mcap.records import Chunk
        from mcap.stream_reader import StreamReader
        self._file.seek(0)
        records = StreamReader(self._file, emit_chunks=True, record_size_limit=max(self._size, 1)).records
        at = 0
        while True:
            try:
                record = next(records, None)
            except Exception as error:  # noqa: BLE001  of damaged bytes all can come
                notes.add("truncated", f"{self._name}: read up to byte {at} of {self._size}: {_message_of(error)}")
                yield from self._begun_chunk(at)
                return
            if record is None:
                return
            if type(record) is Chunk:
                yield from self._inside(record, at, notes)
            else:
                yield record
            at = self._file.tell()

    def _inside(self, chunk, at, notes):
        """Yield the records of the chunk at byte `at`; none if its size or checksum is wrong."""
        try:
            data = self._allowance.expanded(chunk.compression, chunk.data)
            if len(data) != chunk.uncompressed_size:
                raise ValueError(f"it has {len(data)} bytes, not {chunk.uncompressed_size}")
            if chunk.uncompressed_crc not in (0, found := crc32(data)):
                raise ValueError(f"its crc is {found}, not {chunk.uncompressed_crc}")
            yield from _split(data)
        except TooLarge:
            raise
        except Exception as error:  # noqa: BLE001  of damaged bytes all can come
            self._damaged(at, error, notes)

    def _damaged(self, at, error, notes):
        notes.add("damaged", f"{self._name}: the chunk at byte {at} cannot be read: {_message_of(error)}")

    def _begun_chunk(self, at):
        """Yield the readable records of the chunk at which the file was truncated."""
        from mcap.data_stream import ReadDataStream
        from mcap.opcode import Opcode
        from mcap.records import Chunk
        self._file.seek(at)
        if self._file.read(1) != bytes([Opcode.CHUNK]):
            return
        self._file.seek(at + HEADER)
        try:
            chunk = Chunk.read(ReadDataStream(self._file))
            yield from _split(self._allowance.expanded(chunk.compression, chunk.data))
        except TooLarge:
            raise
        except Exception:  # noqa: BLE001  it ends somewhere: a note reports that it is cut
            return

    def _take(self, channel, count):
        schema = self._schemas.get(channel.schema_id)
        self.channels[channel.id] = Channel(
            channel.topic, full_type(schema.name) if schema else "", schema.data.decode(errors="replace") if schema
            else "", schema.encoding if schema else "", channel.message_encoding, count)


def _split(data):
    """Yield the channels, schemas and messages of a chunk one by one: a list of all would need far more memory."""
    from mcap.data_stream import ReadDataStream
    from mcap.opcode import Opcode
    from mcap.records import Channel, Message, Schema
    stream = ReadDataStream(io.BytesIO(data))
    while stream.count < len(data):
        kind, length = stream.read1(), stream.read8()
        if kind == Opcode.MESSAGE:
            yield Message.read(stream, length)
        elif kind == Opcode.CHANNEL:
            yield Channel.read(stream)
        elif kind == Opcode.SCHEMA:
            yield Schema.read(stream)
        else:
            stream.read(length)


def _message_of(error):
    """Return the message of an error, or its type's name: errors of some libraries have no message."""
    return str(error) or type(error).__name__
