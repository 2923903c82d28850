"""recorder_node writes an MCAP file that others read: the same messages, whole after a signal, and no more than fit."""
import signal
import subprocess
import sys

import numpy as np
import pytest

mcap = pytest.importorskip("mcap", reason="recording needs mcap, the extra [record]")
pytest.importorskip("mcap_ros2", reason="reading a recording needs mcap-ros2-support, the extra [record]")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from screw_dynamics.ros.view.mcap_file import McapFile, free_path  # noqa: E402
from support.graph import Driver, NodeProcess  # noqa: E402
from support.recordings import messages  # noqa: E402

pytestmark = pytest.mark.slow

MODULE = "screw_dynamics.ros.view.recorder_node"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_what_is_published_is_in_the_file_after_a_signal(ros, tmp_path, end):
    namespace = f"record_{end.name.lower()}"
    path = tmp_path / "run.mcap"
    rng = np.random.default_rng(1)
    sent = [rng.normal(size=(3, 2)) for _ in range(200)]
    with NodeProcess(MODULE, namespace, tmp_path / "log", {"file": path}, end=end):
        driver = Driver(namespace, "screw_recorder")
        driver.describe("<robot name='r'/>")
        states = driver.publisher(JointState, "joint_states")
        for k, (q, qd, tau) in enumerate(sent):
            msg = JointState(name=["a", "b"], position=q.tolist(), velocity=qd.tolist(), effort=tau.tolist())
            msg.header.stamp.sec, msg.header.frame_id = k, "frame"
            states.publish(msg)
        driver.wait(lambda: driver.status()[1]["messages"] != "0" and int(driver.status()[1]["messages"]) > 200, "them")
    found = messages(path)
    topic = f"/{namespace}/joint_states"
    assert [message.header.stamp.sec for message in found[topic]] == list(range(200))
    for message, (q, qd, tau) in zip(found[topic], sent, strict=True):
        assert message.name == ["a", "b"] and message.header.frame_id == "frame"
        assert (message.position, message.velocity, message.effort) == (q.tolist(), qd.tolist(), tau.tolist())
    assert [message.data for message in found[f"/{namespace}/robot_description"]] == ["<robot name='r'/>"]
    assert any(status.message == "recording" for array in found["/diagnostics"] for status in array.status)


def test_a_full_disk_ends_the_recording_and_is_told(ros, tmp_path):
    """By the limit of a file's size, which the system reports as the disk's end is: no signal, an OSError."""
    program = (f"import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
               f"resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
               f"from {MODULE} import main; sys.exit(main())")
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen([sys.executable, "-c", program, "--ros-args", "-r", "__ns:=/full", "-p",
                                    f"file:={tmp_path / 'run.mcap'}"], stdout=log, stderr=log)
    try:
        driver = Driver("full", "screw_recorder")
        states = driver.publisher(JointState, "joint_states")
        noise = np.random.default_rng(2)

        def flood():
            for _ in range(20):
                states.publish(JointState(name=["a"] * 500, position=noise.normal(size=500).tolist()))

        status, _ = driver.status(lambda status, values: status.level == DiagnosticStatus.ERROR, flood)
        assert "run.mcap ended after" in status.message
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(60.0)
    said = (tmp_path / "log").read_text()
    assert code == 1 and "Traceback" not in said and said.count("ended after") == 1


def test_a_file_that_cannot_be_made_is_one_line(tmp_path):
    done = subprocess.run([sys.executable, "-m", MODULE, "--ros-args", "-p", f"file:={tmp_path}/none/run.mcap"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.strip().count("\n") == 0 and "No such file or directory" in done.stderr


def test_no_recording_replaces_another(tmp_path):
    path = tmp_path / "run.mcap"
    assert free_path(path) == path
    path.touch()
    assert free_path(path) == tmp_path / "run_1.mcap"
    with pytest.raises(FileExistsError):
        McapFile(path)


def test_messages_of_all_our_kinds_are_read_back_by_their_definitions(tmp_path):
    status = DiagnosticStatus(level=b"\x01", name="n", values=[KeyValue(key="k", value="v")])
    point = JointTrajectoryPoint(positions=[1.0, 2.0])
    point.time_from_start.nanosec = 5
    sent = {"/a": DiagnosticArray(status=[status]), "/b": Clock(),
            "/c": JointTrajectory(joint_names=["j"], points=[point]), "/d": Imu(orientation_covariance=np.arange(9.0))}
    file = McapFile(tmp_path / "all.mcap")
    for time, (topic, message) in enumerate(sent.items()):
        file.write(topic, type(message), serialize_message(message), time)
    file.close()
    found = {topic: message for topic, (message,) in messages(tmp_path / "all.mcap").items()}
    assert found.keys() == sent.keys()
    assert found["/a"].status[0].values[0].value == "v" and found["/a"].status[0].level == 1
    assert found["/c"].points[0].positions == [1.0, 2.0] and found["/c"].points[0].time_from_start.nanosec == 5
    assert list(found["/d"].orientation_covariance) == list(range(9))
