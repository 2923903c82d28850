"""What goes wrong in logs: each fault is written into a file, and what is read is compared with what was true."""
import shutil
import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.writer import CompressionType

import screw_dynamics as sd
from support.logged import MS, NAMES, ODOMETRY, START, STATE, header, mcap, message, rosbag2, state, states


def read(path, messages, **options):
    return sd.logs.read(mcap(path / "x.mcap", messages), **options)


def states_at(stamps, logged=None, names=("arm",), first=0.0):
    """Messages with these stamps, in ms after START, and positions from `first` on; logged 1 ms later by default."""
    logged = [stamp + 1 for stamp in stamps] if logged is None else logged
    return [("/joint_states", STATE, START + at * MS, state(START + stamp * MS, names, [first + i] * len(names)))
            for i, (stamp, at) in enumerate(zip(stamps, logged, strict=True))]


# ------------------------------------------------------------------------------------------------- joints
def test_joints_come_in_any_order(tmp_path, rng):
    stamps, numbers = START + 5 * MS * np.arange(30), rng.standard_normal((30, 3, 3))
    messages = []
    for stamp, x in zip(stamps.tolist(), numbers, strict=True):
        order = rng.permutation(3)
        messages.append(("/joint_states", STATE, stamp, state(stamp, [NAMES[i] for i in order], *x[:, order])))
    recording = read(tmp_path, messages)
    columns = [recording.joints.index(name) for name in NAMES]
    for i, x in enumerate((recording.q, recording.qd, recording.tau)):
        assert np.array_equal(x[:, columns], numbers[:, i])
    assert not len(recording.notes)


def test_joints_that_come_and_go_are_nan_where_they_are_not_there(tmp_path):
    messages = states_at(range(0, 100, 10), names=("arm", "hand"))
    for i in (2, 3, 7):
        messages[i] = states_at([10 * i], names=("arm",), first=i)[0]
    messages[5] = states_at([50], names=("arm", "hand", "tool"), first=5)[0]
    recording = read(tmp_path, messages)
    assert recording.joints == ("arm", "hand", "tool")
    expected = np.tile(np.arange(10.0)[:, None], 3)
    expected[[2, 3, 7], 1] = np.nan
    expected[np.arange(10) != 5, 2] = np.nan
    assert np.array_equal(recording.q, expected, equal_nan=True)
    assert recording.notes.counts == {"missing joint": 12}
    assert {(note.text, note.count) for note in recording.notes} == {
        ("/joint_states: hand is not in the message", 3), ("/joint_states: tool is not in the message", 9)}


def test_two_publishers_of_other_joints_are_merged_by_time(tmp_path):
    """The slower one is interpolated: a straight line stays one. Where it has no message nearby there is nothing."""
    arm = states_at(range(0, 100, 5), names=("arm",))
    hand = [("/joint_states", STATE, START + at * MS, state(START + at * MS, ("hand", "tool"), (0.1 * at, -0.2 * at)))
            for at in range(7, 88, 8)]
    recording = read(tmp_path, sorted(arm + hand, key=lambda m: m[2]))
    assert recording.joints == ("arm", "hand", "tool") and np.array_equal(recording.q[:, 0], np.arange(20.0))
    t = np.arange(0.0, 100.0, 5.0)
    line = np.where((t >= 7.0) & (t <= 87.0), 0.1 * t, np.nan)
    assert recording.q[:, 1] == pytest.approx(line, abs=1e-12, nan_ok=True)
    assert recording.q[:, 2] == pytest.approx(-2.0 * line, abs=1e-12, nan_ok=True)
    assert recording.notes.counts == {"interpolated": 18, "missing joint": 4}


def test_a_joint_of_two_publishers_is_that_of_the_first(tmp_path):
    messages = states_at(range(0, 100, 10), names=("arm", "hand")) + [
        ("/other", STATE, START + 41 * MS, state(START + 40 * MS, ("hand", "tool"), (-1.0, 5.0)))]
    recording = read(tmp_path, messages, topics={"joint_states": ["/joint_states", "/other"]})
    assert recording.q[:, 1].tolist() == list(range(10)) and recording.q[4, 2] == 5.0
    assert recording.notes.count("joint again") == 1


@pytest.mark.parametrize(("fault", "said"), [
    (state(START + 15 * MS, NAMES, (1.0, 2.0)), "3 names, but 2 numbers in position"),
    (state(START + 15 * MS, ("arm", "arm", "hand"), (1.0, 2.0, 3.0)), "joint 'arm' is named twice"),
    (state(START + 15 * MS, (), (1.0,)), "0 names, but 1 numbers in position"),
    (state(START + 15 * MS, NAMES, (), (), (1.0, 2.0, 3.0))[:-8], "3 names, but 2 numbers in effort"),
    (state(START + 15 * MS, NAMES, (1.0, 2.0, 3.0))[:-20], "cannot be decoded"),
    (state(START + 15 * MS, NAMES, (1.0, 2.0, 3.0))[:30], "cannot be decoded"),
    (state(START + 15 * MS, NAMES, (1.0, 2.0, 3.0)).replace(b"\3\0\0\0\7", b"\x7f\0\0\0\7"),
     "it claims 127 entries in 92 bytes"),
    (b"", "cannot be decoded")], ids=range(8))
def test_messages_that_cannot_be_right_are_dropped_counted_and_named(fault, said, tmp_path):
    messages = states(4, 10 * MS)[0]
    messages.insert(2, ("/joint_states", STATE, START + 15 * MS, fault))
    recording = read(tmp_path, messages)
    assert len(recording.t) == 4 and recording.notes.counts == {"dropped message": 1} and said in str(recording.notes)


# ------------------------------------------------------------------------------------------------- time
def test_the_clock_jumps_back(tmp_path):
    """What follows is a new piece, placed by when it was logged, and nothing is sorted in before."""
    messages = states_at([1000, 1010, 1020, 1030, 400, 410, 420, 430],
                         [1001, 1011, 1021, 1031, 1046, 1056, 1066, 1076])
    recording = read(tmp_path, messages)
    assert recording.q[:, 0].tolist() == list(range(8)) and recording.breaks == (4,)
    assert recording.t == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.045, 0.055, 0.065, 0.075], abs=1e-12)
    assert recording.notes.counts == {"clock jump": 1} and "jumps by -0.63 s" in str(recording.notes)
    assert [recording.q[piece, 0].tolist() for piece in recording.pieces] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_the_clock_jumps_forward_and_a_gap_is_none(tmp_path):
    """Stamps jump by an hour while the log goes on; then both are interrupted by 2 s."""
    hour = 3_600_000
    stamps = [0, 10, 20, hour + 30, hour + 40, hour + 2040, hour + 2050]
    recording = read(tmp_path, states_at(stamps, [1, 11, 21, 31, 41, 2041, 2051]))
    assert recording.t == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04, 2.04, 2.05], abs=1e-12)
    assert recording.breaks == (3, 5)
    assert recording.notes.counts == {"clock jump": 1, "gap": 1, "lost samples": 199}


def test_other_topics_follow_a_jump_of_the_clock(tmp_path):
    """Commands have the stamps of the clock that jumps, or none."""
    messages = states_at([1000, 1010, 1020, 1030, 400, 410, 420, 430],
                         [1001, 1011, 1021, 1031, 1041, 1051, 1061, 1071])
    for at, stamp in ((1012, 1012), (1052, 411), (1062, None)):
        messages.append(("/joint_commands", STATE, START + at * MS + MS // 2, state(
            0 if stamp is None else START + stamp * MS, ("arm",), (), (), (1.0 * at,))))
    recording = read(tmp_path, sorted(messages, key=lambda m: m[2]))
    assert np.array_equal(recording.commands["effort"][:, 0], [np.nan, np.nan, *[1012.0] * 4, 1052.0, 1062.0],
                          equal_nan=True)


def test_late_messages_are_sorted_in_and_stray_stamps_dropped(tmp_path):
    stamps = [0, 10, 30, 20, 40, 50, -5_000_000, 60, 70, 80]
    recording = read(tmp_path, states_at(stamps, [1, 11, 31, 32, 41, 51, 55, 61, 71, 81]))
    assert recording.q[:, 0].tolist() == [0, 1, 3, 2, 4, 5, 7, 8, 9]
    assert recording.t == pytest.approx(np.arange(9) * 0.01, abs=1e-12) and not recording.breaks
    assert recording.notes.counts == {"stray": 1, "late": 1}


def test_duplicates_are_dropped_and_told_from_other_messages_of_the_same_time(tmp_path):
    messages = states_at([0, 10, 20, 30, 40])
    messages.insert(2, messages[1])
    messages.insert(5, states_at([30], first=9.0)[0])
    recording = read(tmp_path, messages)
    assert recording.q[:, 0].tolist() == list(range(5))
    assert recording.notes.counts == {"duplicate": 1, "same time": 1}


def test_gaps_cut_a_recording_into_pieces(tmp_path):
    messages = states_at([0, 10, 20, 30, 40, 50, 60, 500, 510, 520])
    recording = read(tmp_path, messages)
    assert recording.breaks == (7,) and recording.notes.counts == {"gap": 1, "lost samples": 43}
    assert "the longest of 0.44 s after t = 0.06 s" in str(recording.notes)
    assert read(tmp_path, messages, gap=0.5).breaks == ()
    assert read(tmp_path, messages, gap=0.005).breaks == tuple(range(1, 10))


def test_without_stamps_times_are_those_of_logging(tmp_path):
    without = [(topic, kind, at, state(0, ("arm",), (float(i),)))
               for i, (topic, kind, at, _) in enumerate(states_at(range(0, 80, 10)))]
    recording = read(tmp_path, without)
    assert recording.start == START + MS and recording.t == pytest.approx(np.arange(8) * 0.01)
    assert recording.notes.counts == {"no stamp": 8}
    some = states_at(range(0, 80, 10))
    some[3] = without[3]
    recording = read(tmp_path, some)
    assert recording.t == pytest.approx(np.arange(8) * 0.01) and recording.notes.counts == {"no stamp": 1}


def test_times_of_logging_are_taken_where_they_are_asked_for(tmp_path):
    messages = states_at([0, 10, 20, 30], [1, 12, 23, 34])
    assert read(tmp_path, messages, time="log").t == pytest.approx([0.0, 0.011, 0.022, 0.033])
    with pytest.raises(ValueError, match="time 'clock' must be one of stamp, log"):
        read(tmp_path, messages, time="clock")


def test_times_of_logging_that_are_none_do_no_harm(tmp_path):
    messages = states_at(range(0, 80, 10))
    messages[3] = (*messages[3][:2], 2**64 - 1, messages[3][3])
    recording = read(tmp_path, messages)
    assert recording.t == pytest.approx(np.arange(8) * 0.01) and recording.notes.counts == {"odd time": 1}
    messages[5:] = [(*message[:2], 2**63 + 10 * k, message[3]) for k, message in enumerate(messages[5:])]
    assert read(tmp_path, messages, time="log").notes.count("odd time") == 4


def test_a_base_without_an_orientation_is_not_measured(tmp_path):
    """As of a message whose quaternion nobody has set; and one of which nothing is left."""
    unset = [("/odom", ODOMETRY, START + i * MS, message(ODOMETRY, header=header(START + i * MS)))
             for i in range(0, 90, 10)]
    recording = read(tmp_path, states_at(range(0, 80, 10)) + unset)
    assert np.isnan(recording.base.q[:, 3:]).all() and (recording.base.q[:, :3] == 0.0).all()
    assert recording.notes.count("missing base") == 9
    recording = read(tmp_path, [*states_at(range(0, 80, 10)), ("/odom", ODOMETRY, START, b"")])
    assert recording.base is None and recording.notes.counts == {"dropped message": 1}


def test_simulated_time_may_be_faster_than_the_logs(tmp_path):
    """A hundred times: no step of it is a jump, and a command without a stamp lies between its neighbors."""
    messages = states_at(range(0, 20_000, 1000), [10 * i + 1 for i in range(20)])
    messages.append(("/joint_commands", STATE, START + 96 * MS, state(0, ("arm",), (), (), (1.0,))))
    recording = read(tmp_path, sorted(messages, key=lambda m: m[2]))
    assert not recording.breaks and recording.t[-1] == 19.0
    assert np.isnan(recording.commands["effort"][:10]).all() and (recording.commands["effort"][10:] == 1.0).all()


def test_sensors_with_a_clock_of_their_own_have_the_time_of_their_arrival(tmp_path):
    messages = states_at(range(0, 100, 10))
    messages += [("/joint_commands", STATE, START + at * MS, state(at * MS + 1, ("arm",), (1.0 * at,)))
                 for at in (12, 32, 52)]
    recording = read(tmp_path, sorted(messages, key=lambda m: m[2]))
    held = recording.commands["position"][:, 0]
    assert np.array_equal(held, [np.nan, np.nan, 12.0, 12.0, 32.0, 32.0, 52.0, 52.0, 52.0, 52.0], equal_nan=True)
    assert recording.notes.count("other clock") == 3


# ------------------------------------------------------------------------------------------------- damaged files
@pytest.mark.parametrize("compression", [CompressionType.NONE, CompressionType.ZSTD, CompressionType.LZ4])
@pytest.mark.parametrize("chunked", [True, False])
def test_a_truncated_file_is_read_as_far_as_it_goes(compression, chunked, tmp_path):
    """Wherever it is cut: what is read is the beginning of what was written, all of it but for the last chunk."""
    messages, _, numbers = states(60)
    whole = mcap(tmp_path / "whole.mcap", messages, 2048, compression, use_chunking=chunked).read_bytes()
    read_of = []
    for cut in range(len(whole) // 3, len(whole) - 1, len(whole) // 9):
        (tmp_path / "cut.mcap").write_bytes(whole[:cut])
        recording = sd.logs.read(tmp_path / "cut.mcap")
        read_of.append(len(recording.t))
        assert np.array_equal(recording.q, numbers[:len(recording.t), 0])
        assert recording.notes.count("no summary") == 1 and "cut.mcap" in str(recording.notes)
        assert recording.notes.count("truncated") == 1 and f"of {cut}" in str(recording.notes)
    assert read_of == sorted(read_of) and 0 < read_of[0] < read_of[-1] <= 60
    (tmp_path / "cut.mcap").write_bytes(whole[:40])
    with pytest.raises(ValueError, match="no joint states.*cut.mcap does not end as MCAP files do: it was cut"):
        sd.logs.read(tmp_path / "cut.mcap")
    if compression is CompressionType.NONE:
        assert len(set(read_of)) > 3


def test_a_damaged_chunk_is_left_out_and_told_of(tmp_path):
    messages, _, numbers = states(60)
    path = mcap(tmp_path / "x.mcap", messages, 2048, CompressionType.NONE)
    data = bytearray(path.read_bytes())
    at = data.index(messages[30][3])
    data[at + 90] ^= 0xFF
    path.write_bytes(data)
    recording = sd.logs.read(path)
    kept = np.array([any(np.array_equal(row, q) for q in recording.q) for row in numbers[:, 0]])
    lost = np.flatnonzero(~kept)
    assert 30 in lost and np.array_equal(lost, np.arange(lost[0], lost[-1] + 1))
    assert len(lost) == 60 - len(recording.t) < 15
    assert recording.notes.count("damaged") == 1 and recording.notes.count("lost messages") == len(lost)
    assert "crc" in str(recording.notes) and "at byte" in str(recording.notes)
    (tmp_path / "cut.mcap").write_bytes(data[:-200])
    again = sd.logs.read(tmp_path / "cut.mcap")
    assert np.array_equal(again.q, recording.q[:len(again.q)]) and again.notes.count("damaged") == 1


def test_a_chunk_that_is_cut_inside_is_told_of_without_a_checksum(tmp_path):
    """The chunk has half of its compressed bytes, of which zstd makes none."""
    messages, *_ = states(60)
    path = mcap(tmp_path / "x.mcap", messages, 2048, enable_crcs=False)
    data = bytearray(path.read_bytes())
    with open(path, "rb") as file:
        chunk = make_reader(file).get_summary().chunk_indexes[1]
    struct.pack_into("<Q", data, chunk.chunk_start_offset + 9 + 28 + 4 + len("zstd"), chunk.compressed_size // 2)
    path.write_bytes(data)
    recording = sd.logs.read(path)
    assert recording.notes.count("damaged") == 1 and recording.notes.count("lost messages") == 60 - len(recording.t) > 0
    assert f"at byte {chunk.chunk_start_offset}" in str(recording.notes)


@pytest.mark.parametrize("name", ["x.mcap", "x.db3", "x.mcap.zstd", "x.csv", "x.parquet", "x.npz"])
@pytest.mark.parametrize("content", [b"", b"this is no recording, whatever its name\n" * 20])
def test_a_file_of_which_nothing_can_be_read_is_refused_by_its_name(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name):
        sd.logs.read(tmp_path / name)


def test_files_without_a_single_message_are_refused(tmp_path):
    good = mcap(tmp_path / "x.mcap", states(60)[0], 2048).read_bytes()
    (tmp_path / "x.mcap").write_bytes(good[:150])
    with pytest.raises(ValueError, match="x.mcap has no joint states"):
        sd.logs.read(tmp_path / "x.mcap")
    with pytest.raises(ValueError, match="joint_states can be read"):
        read(tmp_path, [("/joint_states", STATE, START, b"")])


@pytest.mark.parametrize("kind, name, least, most", [
    ((), "bag.db3", 200, 1500), (("mcap", "file"), "bag.mcap.zstd", 100, 1900)],
    ids=["a database, row by row", "compressed as a whole"])
def test_what_is_cut_is_read_as_far_as_it_goes(kind, name, least, most, tmp_path):
    messages, _, numbers = states(2000, MS)
    path = rosbag2(tmp_path / "bag", messages, *kind) / name
    data = path.read_bytes()
    path.write_bytes(data[:len(data) // 2])
    recording = sd.logs.read(tmp_path / "bag")
    assert least < len(recording.t) < most and np.array_equal(recording.q, numbers[:len(recording.t), 0])
    assert name in str(recording.notes) and (kind or recording.notes.count("damaged") == 1)


def test_rows_of_a_database_that_are_no_messages_are_told_of(tmp_path):
    messages, _, numbers = states(20)
    path = rosbag2(tmp_path / "bag", messages) / "bag.db3"
    with closing(sqlite3.connect(path)) as database:
        database.executemany("INSERT INTO messages (topic_id, timestamp, data) VALUES (1, ?, ?)",
                             [(START, 10**12), (START, "text"), ("never", messages[0][3])])
        database.commit()
    recording = sd.logs.read(path)
    assert np.array_equal(recording.q, numbers[:, 0]) and recording.notes.counts == {"lost messages": 3}


def test_a_definition_of_a_type_that_is_missing_is_the_usual_one(tmp_path):
    messages, _, numbers = states(20)
    path = rosbag2(tmp_path / "bag", messages) / "bag.db3"
    with closing(sqlite3.connect(path)) as database:
        kept = database.execute("SELECT count(*) FROM message_definitions").fetchone()
        database.execute("CREATE TABLE others AS SELECT * FROM message_definitions")
        database.execute("UPDATE others SET encoded_message_definition = NULL")
        database.execute("DROP TABLE message_definitions")
        database.execute("ALTER TABLE others RENAME TO message_definitions")
        database.commit()
    recording = sd.logs.read(path)
    assert kept > (0,) and np.array_equal(recording.q, numbers[:, 0])


def test_what_only_the_journal_of_a_database_has_is_read(tmp_path):
    messages, _, numbers = states(20)
    path = rosbag2(tmp_path / "bag", messages) / "bag.db3"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
        stamp = START + 100 * MS
        database.execute("INSERT INTO messages (topic_id, timestamp, data) VALUES (1, ?, ?)",
                         (stamp, state(stamp, NAMES, (7.0, 8.0, 9.0))))
        database.commit()
        shutil.copytree(tmp_path / "bag", tmp_path / "killed")
    database.close()
    recording = sd.logs.read(tmp_path / "killed")
    assert recording.q[-1].tolist() == [7.0, 8.0, 9.0] and len(recording.t) == 21
    assert recording.notes.counts["not closed"] == 1


def test_a_folder_without_metadata_or_with_files_missing_is_read(tmp_path):
    messages, _, numbers = states(20)
    bag = rosbag2(tmp_path / "bag", messages)
    text = (bag / "metadata.yaml").read_text()
    (bag / "metadata.yaml").write_text(text.replace("- bag.db3", "- bag.db3\n  - bag_1.db3"))
    recording = sd.logs.read(bag)
    assert np.array_equal(recording.q, numbers[:, 0]) and recording.notes.counts == {"missing file": 1}
    (bag / "metadata.yaml").write_text("rosbag2_bagfile_information: [")
    recording = sd.logs.read(bag)
    assert np.array_equal(recording.q, numbers[:, 0]) and recording.notes.counts == {"no metadata": 1}


def test_one_file_of_a_folder_that_cannot_be_read_is_named_and_the_rest_is_read(tmp_path):
    """A recording that was split into two files."""
    messages, _, numbers = states(20)
    bag = rosbag2(tmp_path / "bag", messages[:10])
    (bag / "metadata.yaml").write_text((bag / "metadata.yaml").read_text().replace(
        "- bag.db3", "- bag.db3\n  - other.db3"))
    rosbag2(tmp_path / "other", messages[10:])
    shutil.copy(tmp_path / "other" / "other.db3", bag)
    assert np.array_equal(sd.logs.read(bag).q, numbers[:, 0])
    (bag / "other.db3").write_bytes(b"nothing")
    recording = sd.logs.read(bag)
    assert np.array_equal(recording.q, numbers[:10, 0]) and recording.notes.counts == {"unreadable": 1}
