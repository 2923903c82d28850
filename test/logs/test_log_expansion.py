"""Small files that become large ones, and what is no file: refused by name, with the limit."""
import os
import shutil
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import yaml
import zstandard
from mcap.records import ChunkIndex
from mcap.writer import CompressionType

import screw_dynamics as sd
from screw_dynamics.recordings.logs.expansion import FLOOR
from support.logged import MS, START, STATE, mcap, rosbag2, state, states

ZEROS = 1 << 27         # bytes, which a thousandth of them holds


def _zeros_in_mcap(path, compression, cut=False):
    large = state(START, ("a",), frame="a" * (1 << 20))
    mcap(path, [("/joint_states", STATE, START, large)] * (ZEROS >> 20), ZEROS, compression)
    if cut:
        path.write_bytes(path.read_bytes()[:-100])


def _zeros_in_a_bag(path):
    large = state(START, ("a",), frame="a" * (1 << 20))
    rosbag2(path, [("/joint_states", STATE, START, large)] * (ZEROS >> 20), "sqlite3", "message")


def _zeros_in_arrays(path):
    n = ZEROS // 16
    np.savez_compressed(path, t=np.zeros(n), q=np.zeros((n, 1)), joints=["a"])


def _zeros_in_parquet(path):
    n = ZEROS // 16
    pyarrow.parquet.write_table(pyarrow.table({"t": np.zeros(n), "q.a": np.zeros(n)}), path)


def _zeros_in_a_compressed_file(path):
    path.write_bytes(zstandard.compress(bytes(ZEROS)))


EXPANDING = {
    "zstd.mcap": lambda path: _zeros_in_mcap(path, CompressionType.ZSTD),
    "lz4.mcap": lambda path: _zeros_in_mcap(path, CompressionType.LZ4),
    "cut.mcap": lambda path: _zeros_in_mcap(path, CompressionType.ZSTD, cut=True),
    "x.mcap.zstd": _zeros_in_a_compressed_file, "x.db3.zstd": _zeros_in_a_compressed_file, "bag": _zeros_in_a_bag,
    "x.npz": _zeros_in_arrays, "x.parquet": _zeros_in_parquet}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPANDING)
def test_a_small_file_that_becomes_a_large_one_is_refused_with_the_limit(name, tmp_path):
    EXPANDING[name](tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name}, of \d+ bytes, becomes more than max_bytes=\d+"):
        sd.logs.read(tmp_path / name)


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4])
def test_what_a_recording_may_become_is_given(compression, tmp_path):
    """The bytes of its chunk: of each message, and 31 before it, the channel and its schema."""
    messages, _, numbers = states(40)
    path = mcap(tmp_path / "x.mcap", messages, 1 << 20, compression)
    size = sum(31 + len(data) for *_, data in messages)
    with pytest.raises(ValueError, match=f"max_bytes={size}"):
        sd.logs.read(path, max_bytes=size)
    assert np.array_equal(sd.logs.read(path, max_bytes=size + 10_000).q, numbers[:, 0])
    with pytest.raises(ValueError, match="max_bytes"):
        sd.logs.read(path, max_bytes=0)


def test_a_file_named_many_times_is_read_once(tmp_path):
    messages, _, numbers = states(40)
    folder = rosbag2(tmp_path / "bag", messages, "mcap")
    metadata = folder / "metadata.yaml"
    found = yaml.safe_load(metadata.read_text())
    found["rosbag2_bagfile_information"]["relative_file_paths"] *= 3
    metadata.write_text(yaml.safe_dump(found))
    assert np.array_equal(sd.logs.read(folder).q, numbers[:, 0])


@pytest.fixture
def bag(tmp_path):
    """The database of a recording of five states."""
    return next(rosbag2(tmp_path / "bag", states(5)[0]).glob("*.db3"))


def test_a_database_whose_rows_have_no_end_is_refused(bag):
    with closing(sqlite3.connect(bag)) as database:
        database.execute("ALTER TABLE messages RENAME TO some")
        database.execute("CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                         "100000) SELECT some.id, topic_id, timestamp + i AS timestamp, data FROM some, n")
    with pytest.raises(ValueError, match="view, 'messages'"):
        sd.logs.read(bag)


@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
@pytest.mark.parametrize("table, column, value", [
    ("messages", "data", "zeroblob(1000)"), ("topics", "offered_qos_profiles", "hex(zeroblob(1000))")])
def test_a_database_that_computes_columns_is_refused(table, column, value, kind, bag):
    with closing(sqlite3.connect(bag)) as database:
        names = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})") if name != column]
        database.execute(f"ALTER TABLE {table} RENAME TO given")
        database.execute(f"CREATE TABLE {table} ({', '.join(names)}, {column} AS ({value}) {kind})")
        database.execute(f"INSERT INTO {table} SELECT {', '.join(names)} FROM given")
        database.commit()
    with pytest.raises(ValueError, match=f"computed column, '{column}' of table '{table}'"):
        sd.logs.read(bag)


def test_a_chunk_that_an_index_names_many_times_counts_each_time(tmp_path, monkeypatch):
    messages, _, numbers = states(40)
    path = mcap(tmp_path / "once.mcap", messages, 1 << 20, CompressionType.NONE)
    assert np.array_equal(sd.logs.read(path, max_bytes=path.stat().st_size).q, numbers[:, 0])
    write = ChunkIndex.write
    monkeypatch.setattr(ChunkIndex, "write", lambda *given: [write(*given) for _ in range(20)])
    path = mcap(tmp_path / "often.mcap", messages, 1 << 20, CompressionType.NONE)
    with pytest.raises(ValueError, match=r"often\.mcap, of \d+ bytes, becomes more than"):
        sd.logs.read(path, max_bytes=path.stat().st_size)


def test_a_file_that_was_compressed_as_a_whole_counts_once(tmp_path):
    messages, _, numbers = states(2000)
    plain = next(rosbag2(tmp_path / "bag", messages).glob("*.db3"))
    path = tmp_path / "x.db3.zstd"
    path.write_bytes(zstandard.compress(plain.read_bytes()))
    assert np.array_equal(sd.logs.read(path, max_bytes=plain.stat().st_size).q, numbers[:, 0])
    with pytest.raises(ValueError, match="becomes more than"):
        sd.logs.read(path, max_bytes=plain.stat().st_size - 1)


@pytest.mark.slow
def test_the_journal_of_a_database_is_part_of_its_size(tmp_path):
    """One of a few kB, and more than FLOOR in its write-ahead log, which a recorder that was killed has left."""
    small, large = state(START, ("a",), (1.0,)), state(START + MS, ("a",), (2.0,), frame="a" * (1 << 20))
    path = next(rosbag2(tmp_path / "bag", [("/joint_states", STATE, START, small)]).glob("*.db3"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA wal_autocheckpoint=0")
        database.executemany("INSERT INTO messages (topic_id, timestamp, data) VALUES (1, ?, ?)",
                             [(START + MS, large)] * ((FLOOR >> 20) + 1))
        database.commit()
        shutil.copytree(tmp_path / "bag", tmp_path / "killed")
    assert sd.logs.read(tmp_path / "killed" / path.name).q.tolist() == [[1.0], [2.0]]


def test_metadata_are_no_larger_than_their_file(tmp_path):
    """YAML's aliases double a list with each line; of what is no name of a file none is made."""
    folder = rosbag2(tmp_path / "bag", states(5)[0])
    metadata = folder / "metadata.yaml"
    doubling = [f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]" for k in range(1, 24)]
    metadata.write_text("\n".join(["a0: &a0 [x, x]", *doubling, "rosbag2_bagfile_information: {relative_file_paths: "
                                   "[*a23]}"]))
    found = sd.logs.read(folder)
    assert len(found.t) == 5 and found.notes.counts == {"no metadata": 1} and len(str(found.notes)) < 1000


@pytest.mark.parametrize("name", ["x.csv", "x.npz", "x.parquet", "x.mcap", "x.db3", "x.mcap.zstd", "bag/x.mcap"])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)

    done = threading.Event()

    def write():
        while not done.is_set():
            with open(path, "wb"):      # whoever reads would wait for ever
                pass
    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(ValueError, match=f"{path.name} is not a regular file"):
            sd.logs.read(tmp_path / name.partition("/")[0])
    finally:
        done.set()
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writer.join()
        os.close(reader)
