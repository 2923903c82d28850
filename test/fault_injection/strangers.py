"""What strangers on the network do to nodes, and a launch to a recording: beside both nodes recorder_node or view_node
runs, and they go on as well."""

import contextlib
import signal
import socket
import time

from geometry_msgs.msg import Twist
from mcap.reader import make_reader
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from support.foreign_types import Stranger, participant
from support.graph import NodeProcess
from support.recordings import messages
from support.web_page import PATIENCE, PROTOCOL, open_page

from .rig import resident
from .table import fault

RECORDER, VIEWER = "screw_recorder", "screw_view"
HOSTILE = ((b"this::msg", b"X"), (b"", b""), (b"..::msg", b"X"), (b"os", b"path"), (b"\x1b[31m::msg", b"X"),
           (b"a\xff", b"X"))
FRAME = 8_000_000       # bytes
MOST_GROWTH = 30.0      # MB of the viewer, whatever is sent to it


@contextlib.contextmanager
def recorder(rig, name, *topics):
    """recorder_node, once it records; gives the process and the file."""
    path = rig.folder / f"{name}.mcap"
    with NodeProcess("screw_dynamics.ros.view.recorder_node", rig.namespace, rig.folder / f"{name}.log",
                     {"file": path, "topics": str(["joint_states", *topics])}) as process:
        yield process, path


def recorded(rig, count):
    """Wait until so many messages more are recorded."""
    def number():
        return int(rig.at(RECORDER, rig.status)[1]["messages"])
    before = number()
    rig.wait(lambda: number() >= before + count, "messages in the file")


def states_in(rig, path):
    return [message for message in messages(path)[f"/{rig.namespace}/joint_states"] if hasattr(message, "position")]


@fault("two SIGINTs at once while it is recorded")
def interrupted_recording(rig):
    with recorder(rig, "interrupted") as (process, path):
        recorded(rig, 200)
        for _ in range(2):
            process.process.send_signal(signal.SIGINT)
            time.sleep(1e-3)
        assert process.process.wait(PATIENCE) == 0, process.output()
    with open(path, "rb") as file:      # the summary is written last
        assert make_reader(file).get_summary().statistics.message_count >= 200


@fault("joint_states of another type")
def foreign_states(rig):
    with participant("stranger") as stranger, recorder(rig, "foreign") as (process, path):
        twists = [stranger.create_publisher(Twist, f"/{rig.namespace}/joint_states", 10) for _ in range(3)]
        rig.at(RECORDER, lambda: rig.status(
            lambda status, values: "not recorded" in status.message,
            while_waiting=lambda: [publisher.publish(Twist()) for publisher in twists]))
        recorded(rig, 100)
    assert len(states_in(rig, path)) >= 100


@fault("types whose names are no names")
def hostile_names(rig):
    topics = [f"t{k}" for k in range(len(HOSTILE))]
    with participant("stranger") as node, Stranger(node) as stranger, \
            recorder(rig, "hostile", *topics) as (process, path):
        for topic, names in zip(["joint_states", *topics], [HOSTILE[-1], *HOSTILE], strict=True):
            stranger.publish(f"/{rig.namespace}/{topic}", *names)
        rig.at(RECORDER, lambda: rig.status(lambda status, values: "not recorded" in status.message))
        recorded(rig, 100)
        output = process.output()
    assert "Zen" not in output and "\x1b" not in output and len(states_in(rig, path)) >= 100


@contextlib.contextmanager
def viewer(rig, name):
    """view_node, once it serves its page; gives the process and the page's address."""
    with NodeProcess("screw_dynamics.ros.view.view_node", rig.namespace, rig.folder / f"{name}.log",
                     {"port": 8790}) as process:
        rig.wait(lambda: "page: http://" in process.output(), "the page's address")
        rig.at(VIEWER, lambda: rig.status(lambda status, values: "following" in status.message))
        yield process, process.output().split("page: ")[1].split()[0]


def websocket(url, origin):
    host, _, port = url.partition("://")[2].rpartition(":")
    return connect(f"ws://{host}:{port}", origin=origin, subprotocols=[PROTOCOL], open_timeout=PATIENCE, max_size=None,
                   sock=socket.create_connection((host, int(port)), PATIENCE))


@fault("100 websockets of another page")
def foreign_pages(rig):
    with viewer(rig, "foreign_pages") as (process, url):
        for origin in ("http://evil.example", None, "null", f"{url}0", url.replace("http", "file")) * 20:
            with contextlib.suppress(InvalidStatus), websocket(url, origin):
                raise AssertionError(f"a page of {origin} may connect")
        with open_page(url) as page:
            assert page.state.name == "OPEN"


@fault("40 websocket messages of 8 MB")
def large_frames(rig):
    with viewer(rig, "large_frames") as (process, url):
        before = resident(process.process.pid)
        for _ in range(40):
            with contextlib.suppress(ConnectionClosed), websocket(url, url) as page:
                page.send(bytes(FRAME))
                while True:
                    page.recv(PATIENCE)
            assert page.close_code == 1009, f"closed with {page.close_code}"
        grown = resident(process.process.pid) - before
        assert grown < MOST_GROWTH, f"{grown:.0f} MB more"
