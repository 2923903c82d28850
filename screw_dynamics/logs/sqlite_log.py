"""rosbag2 databases (sqlite3), read with the package rosbags; damaged ones are read row by row with SQL."""
from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path

from .expansion import Allowance
from .messages import Channel, full_type
from .notes import Notes


class SqliteLog:
    """An open database. Raises ValueError if it is not a rosbag2 database; damage is noted."""

    def __init__(self, path: Path, name: str, notes: Notes, allowance: Allowance):
        from rosbags.rosbag2 import Reader
        self._name, self._notes, self._allowance, self._folder = name, notes, allowance, None
        with open(path, "rb") as file:
            if not file.read(16).startswith(b"SQLite format 3"):
                raise ValueError(f"{name} is not a database of rosbag2: it begins with other bytes")
        self._path = path = self._with_journal(path)
        self._refuse_what_is_computed()
        self._reader = Reader(path)
        try:
            self._reader.open()
        except Exception as error:  # noqa: BLE001  of damaged bytes all can come
            self._reader = None
            notes.add("damaged", f"{name} cannot be opened as a whole, and is read row by row: {error}")
            self.channels = self._topics()
            return
        self.channels = {connection.id: Channel(
            connection.topic, full_type(connection.msgtype), connection.msgdef.data, _schema(connection.msgdef),
            connection.ext.serialization_format, connection.msgcount)
            for connection in self._reader.connections}

    def messages(self, wanted: Collection[int]) -> Iterator[tuple[int, int, bytes]]:
        """Yield messages of the wanted channels: channel, log time in ns, and data."""
        for message in self._all(wanted):
            self._allowance.take(len(message[2]))
            yield message

    def _all(self, wanted):
        if self._reader is None:
            yield from self._rows(frozenset(wanted))
            return
        connections = [connection for connection in self._reader.connections if connection.id in wanted]
        if connections:
            try:
                for connection, time, data in self._reader.messages(connections):
                    yield connection.id, time, data
            except Exception as error:  # noqa: BLE001
                self._notes.add("truncated", f"{self._name}: the rest of its messages cannot be read: {error}")

    def close(self) -> None:
        """Close the database."""
        if self._reader is not None:
            self._reader.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _with_journal(self, path):
        """Return the path of the database merged with its write-ahead log; a copy, if there is such a log.

        A killed recorder leaves messages in that log, and read-only readers skip them."""
        journal = path.with_name(f"{path.name}-wal")
        if not journal.exists() or not journal.stat().st_size:
            return path
        self._folder = tempfile.TemporaryDirectory()
        copy = Path(shutil.copy(path, self._folder.name))
        shutil.copy(journal, self._folder.name)
        with closing(sqlite3.connect(copy)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._notes.add("not closed", f"{self._name} was not closed: its write-ahead log was read with it")
        return copy

    def _refuse_what_is_computed(self):
        """Raise ValueError if the database has views or computed columns.

        Views can have endless rows, and computed values can have any size."""
        with closing(self._database()) as database, suppress(sqlite3.Error):
            for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'"):
                raise ValueError(f"{self._name} is not a database of rosbag2: it has a view, {view!r}")
            for table, column in database.execute(
                    "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_xinfo(tables.name) AS "
                    "columns WHERE tables.type = 'table' AND columns.hidden"):
                raise ValueError(f"{self._name} is not a database of rosbag2: it has a computed column, {column!r} of "
                                 f"table {table!r}")

    # --------------------------------------------------------------------------------------------- damaged databases
    def _topics(self):
        try:
            with closing(self._database()) as database:
                rows = database.execute("SELECT id, name, type, serialization_format FROM topics").fetchall()
        except sqlite3.Error as error:
            raise ValueError(f"{self._name}: nothing of it can be read: {error}") from None
        return {number: Channel(topic, full_type(kind), encoding=str(encoding))
                for number, topic, kind, encoding in rows
                if (type(number), type(topic), type(kind)) == (int, str, str)}

    def _rows(self, wanted):
        """Yield messages in database order, up to the first unreadable one."""
        read = 0
        with closing(self._database()) as database:
            try:
                for number, time, data in database.execute("SELECT topic_id, timestamp, data FROM messages"):
                    read += 1
                    if number in wanted:
                        yield number, time, bytes(data)
            except sqlite3.Error as error:
                self._notes.add("truncated", f"{self._name}: read up to message {read}: {error}")

    def _database(self):
        database = sqlite3.connect(f"{self._path.absolute().as_uri()}?immutable=1", uri=True)
        database.execute("PRAGMA writable_schema=ON")       # allows reading a truncated file
        return database


def _schema(definition):
    """Return the format of a definition under MCAP's name."""
    return {"MSG": "ros2msg", "IDL": "ros2idl"}.get(definition.format.name, "")
