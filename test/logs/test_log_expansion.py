"""Small files that become large ones, and what is no file: refused by name, with the limit."""
import os
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import yaml
import zstandard
from mcap.writer import CompressionType

import screw_dynamics as sd
from support.logged import START, STATE, mcap, rosbag2, state, states

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


def test_a_database_whose_rows_have_no_end_is_refused(tmp_path):
    messages, _, _ = states(5)
    path = next(rosbag2(tmp_path / "bag", messages).glob("*.db3"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE messages RENAME TO some")
        database.execute("CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                         "100000) SELECT some.id, topic_id, timestamp + i AS timestamp, data FROM some, n")
    with pytest.raises(ValueError, match="view, 'messages'"):
        sd.logs.read(path)


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
