"""Files of logs as others write them: messages whose bytes are written by hand, in MCAP by the package mcap, and in
rosbag2's folders by the package rosbags."""
import struct

import numpy as np
from mcap.writer import CompressionType, Writer
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as BagWriter
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_HUMBLE)       # another than that of the package
STATE, ODOMETRY = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
NUMBERS, TRAJECTORY = "std_msgs/msg/Float64MultiArray", "trajectory_msgs/msg/JointTrajectory"
WRENCH, IMU, TEXT = "geometry_msgs/msg/WrenchStamped", "sensor_msgs/msg/Imu", "std_msgs/msg/String"
START, MS = 1_700_000_000_000_000_000, 1_000_000
NAMES = "base_z", "arm", "hand"


def state(stamp, names=NAMES, position=(), velocity=(), effort=(), frame="", order="<"):
    """JointState by hand: CDR aligns each number to its size, counted after the first four bytes."""
    body = bytearray(struct.pack(f"{order}iI", *divmod(stamp, 10**9)))

    def align(size):
        body.extend(b"\0" * (-len(body) % size))

    def text(value):
        align(4)
        data = value.encode() + b"\0"
        body.extend(struct.pack(f"{order}I", len(data)) + data)

    text(frame)
    align(4)
    body.extend(struct.pack(f"{order}I", len(names)))
    for name in names:
        text(name)
    for numbers in (position, velocity, effort):
        align(4)
        body.extend(struct.pack(f"{order}I", len(numbers)))
        if len(numbers):
            align(8)
            body.extend(struct.pack(f"{order}{len(numbers)}d", *numbers))
    return (b"\0\1\0\0" if order == "<" else b"\0\0\0\0") + bytes(body)


def message(kind, **fields):
    """A message of another type by rosbags; what is not given is zero."""
    def made(name, values):
        given = {}
        for field, (node, of) in STORE.fielddefs[name][1]:
            if field == "structure_needs_at_least_one_member":
                continue
            value = values.get(field)
            if node.name == "NAME":
                given[field] = made(of, value or {})
            elif node.name == "BASE":
                given[field] = ("" if of[0] == "string" else 0) if value is None else value
            elif of[0][0].name == "BASE" and of[0][1][0] != "string":
                given[field] = np.zeros(of[1]) if value is None else np.asarray(value, dtype=float)
            else:
                given[field] = [] if value is None else list(value)
        return STORE.types[name](**given)
    return bytes(STORE.serialize_cdr(made(kind, fields), kind))


def header(stamp, frame=""):
    """The fields of a header."""
    return {"stamp": {"sec": stamp // 10**9, "nanosec": stamp % 10**9}, "frame_id": frame}


def states(count=40, step=5 * MS, rng=None, names=NAMES, start=START):
    """[(topic, type, time of logging, bytes)] of joint states; their stamps (k,); their random numbers (k, 3, n)."""
    rng = rng or np.random.default_rng(3)
    stamps, numbers = start + step * np.arange(count), rng.standard_normal((count, 3, len(names)))
    return [("/joint_states", STATE, int(stamp) + MS // 10, state(int(stamp), names, *x))
            for stamp, x in zip(stamps, numbers, strict=True)], stamps, numbers


def mcap(path, messages, chunk_size=1024, compression=CompressionType.ZSTD, definition=None, **options):
    """An MCAP file of messages in the order in which they are given."""
    with open(path, "wb") as file:
        writer = Writer(file, chunk_size=chunk_size, compression=compression, **options)
        writer.start(profile="ros2", library="test")
        schemas, channels = {}, {}
        for topic, kind, time, data in messages:
            if kind not in schemas:
                text = definition or STORE.generate_msgdef(kind, ros_version=2)[0]
                schemas[kind] = writer.register_schema(kind, "ros2idl" if definition else "ros2msg", text.encode())
            if (topic, kind) not in channels:
                channels[topic, kind] = writer.register_channel(topic, "cdr", schemas[kind])
            writer.add_message(channels[topic, kind], log_time=time, data=data, publish_time=time)
        writer.finish()
    return path


def rosbag2(folder, messages, storage="sqlite3", compression="none", version=9):
    """A folder of rosbag2."""
    writer = BagWriter(folder, version=version, storage_plugin=StoragePlugin[storage.upper()])
    writer.set_compression(CompressionMode[compression.upper()], CompressionFormat.ZSTD)
    with writer:
        channels = {}
        for topic, kind, time, data in messages:
            if topic not in channels:
                channels[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(channels[topic], time, data)
    return folder
