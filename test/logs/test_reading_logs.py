"""Recordings from files that others wrote: each kind of file, each type of message, and which topic is what."""
import sqlite3
import zipfile

import fsspec
import numpy as np
import pytest
from mcap.writer import CompressionType

import screw_dynamics as sd
from screw_dynamics.recordings.logs.clock import Clock, clock
from screw_dynamics.recordings.logs.notes import Notes
from support.logged import (
    IMU,
    MS,
    NAMES,
    NUMBERS,
    ODOMETRY,
    START,
    STATE,
    STORE,
    TEXT,
    TRAJECTORY,
    WRENCH,
    header,
    mcap,
    message,
    rosbag2,
    state,
    states,
)

IDL = """module builtin_interfaces { module msg { struct Time { int32 sec; uint32 nanosec; }; }; };
""" + "=" * 80 + """
IDL: std_msgs/msg/Header
module std_msgs { module msg { struct Header { builtin_interfaces::msg::Time stamp; string frame_id; }; }; };
""" + "=" * 80 + """
IDL: sensor_msgs/msg/JointState
module sensor_msgs { module msg { struct JointState {
  std_msgs::msg::Header header; sequence<string> name; sequence<double> position; sequence<double> velocity;
  sequence<double> effort; }; }; };
"""
IDL = "=" * 80 + "\nIDL: builtin_interfaces/msg/Time\n" + IDL


def old_database(path, messages):
    """A database as the first releases of rosbag2 wrote it, without definitions of types."""
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
                                serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
            CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
                                  data BLOB NOT NULL);
            CREATE INDEX timestamp_idx ON messages (timestamp ASC);""")
        topics = {name: i + 1 for i, name in enumerate(dict.fromkeys(topic for topic, *_ in messages))}
        for topic, number in topics.items():
            kind = next(kind for name, kind, *_ in messages if name == topic)
            database.execute("INSERT INTO topics VALUES (?, ?, ?, 'cdr', '')", (number, topic, kind))
        database.executemany("INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)",
                             [(topics[topic], time, data) for topic, _, time, data in messages])
    database.close()
    return path


KINDS = {
    "zstd": lambda at, m: mcap(at / "x.mcap", m),
    "lz4": lambda at, m: mcap(at / "x.mcap", m, compression=CompressionType.LZ4),
    "plain": lambda at, m: mcap(at / "x.mcap", m, compression=CompressionType.NONE),
    "one chunk": lambda at, m: mcap(at / "x.mcap", m, chunk_size=10**6),
    "without chunks": lambda at, m: mcap(at / "x.mcap", m, use_chunking=False),
    "without summary": lambda at, m: mcap(at / "x.mcap", m, use_statistics=False, use_summary_offsets=False,
                                          repeat_channels=False, repeat_schemas=False),
    "idl": lambda at, m: mcap(at / "x.mcap", m, definition=IDL),
    "bag of mcap": lambda at, m: rosbag2(at / "x", m, "mcap"),
    "bag of mcap, chunks": lambda at, m: rosbag2(at / "x", m, "mcap", "storage"),
    "bag of mcap, messages": lambda at, m: rosbag2(at / "x", m, "mcap", "message"),
    "bag of mcap, file": lambda at, m: rosbag2(at / "x", m, "mcap", "file"),
    "bag of sqlite3": lambda at, m: rosbag2(at / "x", m),
    "bag of sqlite3, messages": lambda at, m: rosbag2(at / "x", m, "sqlite3", "message"),
    "bag of sqlite3, file": lambda at, m: rosbag2(at / "x", m, "sqlite3", "file", version=8),
    "database alone": lambda at, m: rosbag2(at / "x", m) / "x.db3",
    "compressed database alone": lambda at, m: rosbag2(at / "x", m, "sqlite3", "file") / "x.db3.zstd",
    "old database": lambda at, m: old_database(at / "x.db3", m),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_file_gives_the_numbers_that_were_written(kind, tmp_path):
    messages, stamps, numbers = states()
    recording = sd.logs.read(KINDS[kind](tmp_path, messages))
    assert recording.joints == NAMES and recording.start == START and not recording.breaks
    assert np.array_equal(recording.t, (stamps - START) / 1e9)
    for i, x in enumerate((recording.q, recording.qd, recording.tau)):
        assert np.array_equal(x, numbers[:, i])
    assert list(recording.notes) == [] and recording.topics == {"joint_states": "/joint_states"}


@pytest.mark.parametrize("kind", ["zstd", "bag of sqlite3", "bag of mcap, file", "old database"])
def test_addresses_of_other_file_systems_are_read(kind, tmp_path):
    messages, _, numbers = states()
    path = KINDS[kind](tmp_path, messages)
    memory = fsspec.filesystem("memory")
    memory.put(str(path), f"/logs/{path.name}", recursive=path.is_dir())
    try:
        address, = sd.logs.find("memory://logs")
        assert address == f"memory:///logs/{path.name}"
        assert np.array_equal(sd.logs.read(address).q, numbers[:, 0])
    finally:
        memory.rm("/logs", recursive=True)


def test_addresses_may_be_chained_and_name_the_protocol_of_files(tmp_path):
    messages, _, numbers = states()
    path = mcap(tmp_path / "x.mcap", messages)
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as packed:
        packed.write(path, "night/run_1.mcap")
    address, = sd.logs.find(f"zip://night::{tmp_path / 'logs.zip'}")
    for whole in (address, f"file://{path}"):
        assert np.array_equal(sd.logs.read(whole).q, numbers[:, 0])


def test_one_message_is_a_recording(tmp_path):
    messages, _, numbers = states(1)
    messages.append(("/joint_commands", STATE, START + MS, state(0, NAMES, (1.0, 2.0, 3.0))))
    recording = sd.logs.read(mcap(tmp_path / "x.mcap", messages))
    assert np.array_equal(recording.q, numbers[:, 0]) and recording.t.tolist() == [0.0] and not recording.breaks
    assert np.isnan(recording.commands["position"]).all() and recording.duration == 0.0


def test_bytes_by_hand_are_those_of_rosbags():
    """The oracle has one: both orders of bytes, and a frame."""
    header_of = STORE.types["std_msgs/msg/Header"](STORE.types["builtin_interfaces/msg/Time"](5, 7), "base")
    made = STORE.types[STATE](header_of, ["a", "bcd"], np.array([1.0, 2.0]), np.zeros(0), np.array([3.0, 4.0]))
    for order, little in ("<", True), (">", False):
        by_hand = state(5 * 10**9 + 7, ("a", "bcd"), (1.0, 2.0), (), (3.0, 4.0), "base", order)
        assert by_hand == bytes(STORE.serialize_cdr(made, STATE, little_endian=little))


def test_empty_fields_are_not_measured_and_bytes_may_be_big_endian(tmp_path):
    messages = [("/joint_states", STATE, START + i * MS, state(START + i * MS, position=(i, 2.0 * i, 3.0), order=">"))
                for i in range(5)]
    recording = sd.logs.read(mcap(tmp_path / "x.mcap", messages))
    assert recording.q[4].tolist() == [4.0, 8.0, 3.0]
    assert np.isnan(recording.qd).all() and np.isnan(recording.tau).all() and recording.qd.shape == (5, 3)


# ------------------------------------------------------------------------------------------------- other topics
def xyz(*values):
    return dict(zip("xyzw", values, strict=False))


def test_odometry_wrenches_imu_and_description(tmp_path):
    """Angular parts first, in the frames that messages name; the base is interpolated to the times of joints."""
    messages, stamps, _ = states(4, 10 * MS)
    for i in range(-1, 5):
        stamp = START + (10 * i + 5) * MS
        messages.append(("/odom", ODOMETRY, stamp, message(
            ODOMETRY, header=header(stamp, "world"), child_frame_id="body",
            pose={"pose": {"position": xyz(1.0 * i, 2.0, 3.0), "orientation": xyz(0.0, 0.0, 0.6, 0.8)}},
            twist={"twist": {"linear": xyz(1.0, 2.0, 3.0), "angular": xyz(4.0, 5.0, 6.0)}})))
    for topic, frame in (("/ft", "tool"), ("/left_ft", "tool"), ("/right_ft", "foot")):
        messages.append((topic, WRENCH, START + 5 * MS, message(
            WRENCH, header=header(START + 4 * MS, frame),
            wrench={"force": xyz(1.0, 2.0, 3.0), "torque": xyz(4.0, 5.0, 6.0)})))
    messages.append(("/imu", IMU, START + 5 * MS, message(
        IMU, header=header(START + 5 * MS, "chest"), angular_velocity=xyz(1.0, 2.0, 3.0),
        linear_acceleration=xyz(4.0, 5.0, 6.0), linear_acceleration_covariance=[-1.0, *[0.0] * 8])))
    messages.append(("/robot_description", TEXT, START - MS, message(TEXT, data="<robot/>")))
    recording = sd.logs.read(mcap(tmp_path / "x.mcap", sorted(messages, key=lambda m: m[2])))
    base = recording.base
    assert (base.frame, base.link) == ("world", "body") and len(base.q) == 4
    assert base.q == pytest.approx(np.array([[i - 0.5, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8] for i in range(4)]), abs=1e-12)
    assert base.twist == pytest.approx(np.tile([4.0, 5.0, 6.0, 1.0, 2.0, 3.0], (4, 1)))
    assert set(recording.wrenches) == {"tool", "tool (/left_ft)", "foot"}
    t, wrench = recording.wrenches["foot"]
    assert t == pytest.approx([0.004]) and wrench.tolist() == [[4.0, 5.0, 6.0, 1.0, 2.0, 3.0]]
    t, rates, accelerations = recording.imu["chest"]
    assert t == pytest.approx([0.005]) and rates.tolist() == [[1.0, 2.0, 3.0]] and np.isnan(accelerations).all()
    assert recording.description == "<robot/>" and recording.notes.count("interpolated") == 4
    assert recording.topics["wrenches"] == "/ft, /left_ft, /right_ft"


def test_what_arrives_before_and_after_all_joint_states_has_its_time():
    """By a clock that runs half as fast as that of the log, between its messages; before and after as the log's."""
    s = 10**9
    one = Clock(np.array([10, 20, 40]) * s, np.array([105, 110, 120]) * s, *np.zeros((2, 3), dtype=int))
    assert (one.at(np.array([7, 10, 15, 30, 40, 43]) * s) == np.array([102, 105, 107.5, 115, 120, 123]) * s).all()


def test_a_clock_that_jumps_twice_goes_on_from_piece_to_piece():
    """Forwards, then far back: time goes on as messages arrive."""
    arrival = START + np.arange(60) * 10 * MS
    stamps = arrival + np.repeat([0, 100, -500], 20) * 1000 * MS
    found, kept = clock("/joint_states", arrival, stamps, Notes())
    assert (kept == np.arange(60)).all() and (np.diff(found.time) == 10 * MS).all() and found.time[0] == stamps[0]
    assert (found.piece == np.repeat([0, 1, 2], 20)).all()


def test_a_pause_of_a_simulation_that_is_fast_is_no_jump():
    """Stamps run ten times as fast as the log; where that waits for a second, ten have passed."""
    arrival = START + np.cumsum(np.where(np.arange(40) == 20, 1000, 10)) * MS
    found, _ = clock("/joint_states", arrival, START + 10 * (arrival - START), notes := Notes())
    assert not found.piece.any() and not notes and (np.diff(found.time) == 10 * np.diff(arrival)).all()


def test_commands_are_the_last_ones_of_each_joint(tmp_path):
    messages, _, _ = states(5, 10 * MS)
    for at, names, effort in ((5, ("arm",), (1.0,)), (15, ("hand", "arm"), (2.0, np.nan)),
                              (25, ("arm", "wing"), (3.0, 9.0))):
        messages.append(("/joint_commands", STATE, START + at * MS, state(0, names, effort=effort)))
    recording = sd.logs.read(mcap(tmp_path / "x.mcap", sorted(messages, key=lambda m: m[2])))
    nan = np.nan
    assert np.array_equal(recording.commands["effort"], [
        [nan, nan, nan], [nan, 1.0, nan], [nan, 1.0, 2.0], [nan, 3.0, 2.0], [nan, 3.0, 2.0]], equal_nan=True)
    assert list(recording.commands) == ["effort"] and "wing" in str(recording.notes)
    assert recording.notes.count("no stamp") == 3 and recording.notes.count("held") == 5


def test_numbers_of_ros2_control_have_the_names_that_are_given(tmp_path):
    messages, _, _ = states(4, 10 * MS)
    messages += [("/effort_controller/commands", NUMBERS, START + 15 * MS, message(NUMBERS, data=[1.0, 2.0])),
                 ("/effort_controller/commands", NUMBERS, START + 16 * MS, message(NUMBERS, data=[1.0])),
                 ("/trajectory", TRAJECTORY, START + 15 * MS, message(TRAJECTORY, joint_names=["arm"]))]
    path = mcap(tmp_path / "x.mcap", sorted(messages, key=lambda m: m[2]))
    named = sd.logs.read(path, {"commands": "/effort_controller/commands"}, command_joints=("hand", "arm"),
                         command_field="effort")
    assert np.array_equal(named.commands["effort"][2:], [[np.nan, 2.0, 1.0]] * 2, equal_nan=True)
    assert np.isnan(named.commands["effort"][:2]).all() and named.notes.count("dropped message") == 1
    alone = sd.logs.read(path)
    assert not alone.commands and "command_joints" in str(alone.notes) and "/trajectory" in str(alone.notes)


# ------------------------------------------------------------------------------------------------- which topic
def two_arms(path):
    """The joint states of two robots, or of two parts of one."""
    left, _, numbers = states(names=("l1", "l2"))
    right, _, _ = states(names=("r1",))
    return mcap(path / "x.mcap", sorted(
        [("/left/joint_states", *rest) for _, *rest in left] + [("/right/joint_states", *rest) for _, *rest in right],
        key=lambda m: m[2])), numbers


def test_several_joint_states_are_refused_by_name_and_merged_where_they_are_named(tmp_path):
    path, numbers = two_arms(tmp_path)
    with pytest.raises(ValueError, match="several topics .*: /left/joint_states, /right/joint_states"):
        sd.logs.read(path)
    assert np.array_equal(sd.logs.read(path, {"joint_states": "/left/joint_states"}).q, numbers[:, 0])
    both = sd.logs.read(path, {"joint_states": ["/left/joint_states", "/right/joint_states"]})
    assert both.joints == ("l1", "l2", "r1") and not np.isnan(both.q).any() and both.notes.count("merged") == 40


@pytest.mark.parametrize(("topics", "said"), [
    ({"joint_state": "/joint_states"}, "topics: role 'joint_state' must be one of joint_states, "),
    ({"joint_states": "/states"}, "has no topic /states, named as joint_states; it has /joint_states"),
    ({"odometry": "/joint_states"}, "is sensor_msgs/msg/JointState; odometry must be nav_msgs/msg/Odometry"),
    ({"joint_states": None}, "joint_states must not be None")])
def test_a_topic_that_cannot_be_meant_is_refused(topics, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        sd.logs.read(mcap(tmp_path / "x.mcap", states()[0]), topics)


def test_without_joint_states_what_there_is_is_named(tmp_path):
    path = mcap(tmp_path / "x.mcap", [("/robot_description", TEXT, START, message(TEXT, data=""))])
    with pytest.raises(ValueError, match=r"has no joint states: .*it has /robot_description \(std_msgs/msg/String\)"):
        sd.logs.read(path)


def test_of_several_candidates_none_is_taken_but_the_one_beside_the_joint_states(tmp_path):
    messages = states(4)[0]
    for topic in ("/a/odom", "/b/odom"):
        messages.append((topic, ODOMETRY, START + MS, message(ODOMETRY, header=header(START + MS))))
    assert "/a/odom, /b/odom" in str(sd.logs.read(mcap(tmp_path / "x.mcap", messages)).notes)
    messages = [(topic.replace("/joint", "/a/joint"), *rest) for topic, *rest in messages]
    assert sd.logs.read(mcap(tmp_path / "x.mcap", messages)).topics["odometry"] == "/a/odom"
    not_wanted = sd.logs.read(tmp_path / "x.mcap", {"odometry": None})
    assert not_wanted.base is None and "odometry" not in not_wanted.topics


# ------------------------------------------------------------------------------------------------- finding
def test_episodes_are_found_in_files_folders_and_globs(tmp_path):
    messages = states(3)[0]
    for number in (10, 9, 1):
        mcap(tmp_path / f"run_{number}.mcap", messages)
    (tmp_path / "deep").mkdir()
    rosbag2(tmp_path / "deep" / "bag", messages)
    (tmp_path / "deep" / "notes.txt").write_text("not a recording")
    runs = [str(tmp_path / f"run_{number}.mcap") for number in (1, 9, 10)]
    bag = str(tmp_path / "deep" / "bag")
    assert sd.logs.find(tmp_path) == [bag, *runs]
    assert sd.logs.find(tmp_path / "run_*.mcap") == runs and sd.logs.find(runs[1]) == [runs[1]]
    (tmp_path / ".0a.run_2.mcap").write_bytes(b"")          # which `whole` writes to
    assert sd.logs.find(tmp_path / "*.mcap") == runs
    assert sd.logs.find(bag) == [bag] and sd.logs.find(f"{tmp_path}/*/bag") == [bag]
    for address, said in ((tmp_path / "nowhere", "does not exist"), (tmp_path / "*.csv", "holds no recordings"),
                          (tmp_path / "deep" / "notes.txt", "holds no recordings")):
        with pytest.raises(ValueError, match=said):
            sd.logs.find(address)


def test_files_of_the_recorder_node_are_read(tmp_path):
    serialization = pytest.importorskip("rclpy.serialization")
    from sensor_msgs.msg import JointState

    from screw_dynamics.ros.view.mcap_file import McapFile
    file = McapFile(tmp_path / "x.mcap")
    for i in range(3):
        sent = JointState(name=["arm"], position=[float(i)], effort=[2.0 * i])
        sent.header.stamp.sec, sent.header.stamp.nanosec = 7, i
        file.write("/joint_states", JointState, serialization.serialize_message(sent), 8 * 10**9 + i)
    file.close()
    recording = sd.logs.read(tmp_path / "x.mcap")
    assert recording.q[:, 0].tolist() == [0.0, 1.0, 2.0] and recording.tau[:, 0].tolist() == [0.0, 2.0, 4.0]
    assert recording.start == 7 * 10**9 and recording.t == pytest.approx([0.0, 1e-9, 2e-9])
