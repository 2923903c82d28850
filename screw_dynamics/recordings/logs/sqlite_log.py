"""rosbag2 databases, read by SQL: in the order of their timestamps, or row by row if they are damaged."""
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
        self._name, self._notes, self._allowance, self._folder = name, notes, allowance, None
        with open(path, "rb") as file:
            if not file.read(16).startswith(b"SQLite format 3"):
                raise ValueError(f"{name} is not a database of rosbag2: its first bytes differ")
        self._path = self._with_journal(path)
        with closing(self._database()) as database:
            self._refuse_what_is_computed(database)
            try:
                counts = dict(database.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id"))
                database.execute("SELECT count(timestamp) FROM messages").fetchall()    # fails with a damaged index
                self._order = "ORDER BY timestamp"
            except sqlite3.Error as error:
                counts, self._order = None, ""
                notes.add("damaged", f"{name} cannot be opened as a whole, and is read row by row: {error}")
            self.channels = self._topics(database, counts)

    def messages(self, wanted: Collection[int]) -> Iterator[tuple[int, int, bytes]]:
        """Yield messages of the wanted channels, up to the first unreadable one: channel, log time in ns, and data."""
        read = 0
        rows = (f"SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({', '.join(map(str, wanted))}) AND "
                f"typeof(timestamp) = 'integer' AND typeof(data) = 'blob' {self._order}")
        with closing(self._database()) as database:
            try:
                for message in database.execute(rows):
                    self._allowance.take(len(message[2]))
                    yield message
                    read += 1
            except sqlite3.Error as error:
                self._notes.add("truncated", f"{self._name}: read up to message {read}: {error}")

    def close(self) -> None:
        """Remove the copy of the database, if there is one."""
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

    def _refuse_what_is_computed(self, database):
        """Raise ValueError if the database has views or computed columns.

        Views can have endless rows, and computed values can have any size."""
        with suppress(sqlite3.Error):
            for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'"):
                raise ValueError(f"{self._name} is not a database of rosbag2: it has a view, {view!r}")
            for table, column in database.execute(
                    "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_xinfo(tables.name) AS "
                    "columns WHERE tables.type = 'table' AND columns.hidden"):
                raise ValueError(f"{self._name} is not a database of rosbag2: it has a computed column, {column!r} of "
                                 f"table {table!r}")

    def _topics(self, database, counts):
        """Return the channels by number; counts: None if the messages cannot be counted."""
        definitions = {}
        with suppress(sqlite3.Error):       # older databases have none
            definitions = {kind: (str(text or ""), str(schema or "")) for kind, text, schema in database.execute(
                "SELECT topic_type, encoded_message_definition, encoding FROM message_definitions")}
        try:
            rows = database.execute("SELECT id, name, type, serialization_format FROM topics").fetchall()
        except sqlite3.Error as error:
            raise ValueError(f"{self._name}: nothing in it can be read: {error}") from None
        return {number: Channel(topic, full_type(kind), *definitions.get(kind, ("", "")), str(encoding),
                                -1 if counts is None else counts.get(number, 0))
                for number, topic, kind, encoding in rows
                if (type(number), type(topic), type(kind)) == (int, str, str)}

    def _database(self):
        database = sqlite3.connect(f"{self._path.absolute().as_uri()}?immutable=1", uri=True)
        database.execute("PRAGMA writable_schema=ON")       # allows reading a truncated file
        return database
