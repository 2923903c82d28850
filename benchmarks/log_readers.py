"""How fast recordings are read, beside the readers alone: JointState of seven joints, messages a second of a processor.

  python -m benchmarks.log_readers [--messages N] [--repeats N]

A reader alone yields decoded messages, and nothing is done with them; `sd.logs.read` makes the whole Recording. All
take turns in one process, and the best of some rounds counts. docs/logs.md has the figures."""
import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

NAMES = [f"panda_joint{i}" for i in range(1, 8)]
TOPIC, STATE = "/joint_states", "sensor_msgs/msg/JointState"


def files(folder, count):
    """{kind: path} of the same messages in MCAP and in both storages of rosbag2."""
    from mcap.writer import Writer
    from rosbags.rosbag2 import StoragePlugin
    from rosbags.rosbag2 import Writer as BagWriter

    from screw_dynamics.recordings.logs.decoders import typestore, usual_definition
    from screw_dynamics.recordings.logs.synthetic import joint_states
    stamps = 1_750_000_000_000_000_000 + 1_000_000 * np.arange(count)
    numbers = np.random.default_rng(0).standard_normal((3, count, len(NAMES)))
    messages = joint_states(NAMES, stamps, *numbers)
    found = {"MCAP, zstd": folder / "x.mcap"}
    with open(found["MCAP, zstd"], "wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2", library="benchmark")
        channel = writer.register_channel(TOPIC, "cdr", writer.register_schema(
            STATE, "ros2msg", usual_definition(STATE).encode()))
        for stamp, message in zip(stamps.tolist(), messages, strict=True):
            writer.add_message(channel, stamp, message, stamp)
        writer.finish()
    for storage in ("mcap", "sqlite3"):
        found[f"rosbag2, {storage}"] = folder / storage
        with BagWriter(folder / storage, version=9, storage_plugin=StoragePlugin[storage.upper()]) as writer:
            connection = writer.add_connection(TOPIC, STATE, typestore=typestore())
            for stamp, message in zip(stamps.tolist(), messages, strict=True):
                writer.write(connection, stamp, message)
    return found


def by_mcap(path, package):
    """All messages by the package mcap with a decoder."""
    from importlib import import_module

    from mcap.reader import make_reader
    factory = import_module(f"{package}.decoder").DecoderFactory()
    with open(path, "rb") as file:
        return sum(1 for _ in make_reader(file, decoder_factories=[factory]).iter_decoded_messages(
            topics=[TOPIC], log_time_order=False))


def by_rosbags(path):
    """All messages by the package rosbags."""
    from rosbags.highlevel import AnyReader
    with AnyReader([path]) as reader:
        return sum(1 for connection, _, data in reader.messages() if reader.deserialize(data, connection.msgtype))


def by_us(path):
    """All messages, as a Recording."""
    import screw_dynamics as sd
    return len(sd.logs.read(path).t)


def contestants(found):
    """{(kind of file, reader): function} that returns how many messages there were."""
    made = {}
    for kind, path in found.items():
        if path.suffix == ".mcap":
            for package in ("mcap_ros2", "mcap_ros2_support_fast"):
                made[kind, f"mcap, {package}"] = partial(by_mcap, path, package)
        made[kind, "rosbags"] = partial(by_rosbags, path)
        made[kind, "sd.logs.read"] = partial(by_us, path)
    return made


def measured(made, count, repeats):
    """{(kind, reader): messages a second}, the best of some rounds in which all take turns."""
    best = dict.fromkeys(made, 0.0)
    for _ in range(repeats):
        for who, read in made.items():
            start = time.process_time()
            assert read() == count, who
            best[who] = max(best[who], count / (time.process_time() - start))
    return best


def main(arguments=None):
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = measured(contestants(files(Path(folder), options.messages)), options.messages, options.repeats)
    print("| file | reader | messages a second |\n|---|---|---|")
    for (kind, reader), rate in found.items():
        print(f"| {kind} | {reader} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
