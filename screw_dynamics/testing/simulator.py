"""simulator_node in a process of its own, controllers beside it, and simulated time that the test advances."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Wrench, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from screw_dynamics.robot import Robot
from screw_dynamics.ros.node import messages
from screw_dynamics.ros.node.watches import full_name
from screw_dynamics.ros.simulator import base_endpoints
from screw_dynamics.ros.simulator.complaints import check_kinds
from screw_dynamics.ros.simulator.connections import TOPICS, endpoints
from screw_dynamics.urdf.file import text_of
from screw_dynamics_interfaces.msg import BaseState, Contacts, ObjectStates
from screw_dynamics_interfaces.srv import (
    ApplyWrench,
    DeleteObject,
    ResetTo,
    SetFriction,
    SetObject,
    SetPayload,
    SpawnObject,
    Step,
)

from .driver import Driver
from .errors import DeadlineError, LockstepError
from .processes import Process
from .recording import Recording

MODULE, SIMULATOR = "screw_dynamics.ros.simulator.node", "screw_simulator"
CHUNK = 50   # periods in one request, so that the recording keeps up


class RobotSimulator:
    """A simulated robot, paused; `advance` and `advance_until` make its time go on, `recording` has what it did.

    * urdf: path of a URDF or xacro file, or XML text; xacro_args: {name: value} of the xacro file. robot: the same as
      a `Robot`, for the test's own calculations.
    * controllers: command lines of nodes, run with simulated time in the same namespace; or rclpy nodes made by the
      test, which are spun while time advances. One of them may be given alone.
    * period: seconds of simulated time between two states. trigger: what controllers answer: "joint_states", each
      state; "clock", on a timer of this period. answers: the messages on joint_commands, and on base_wrench of a robot
      on a floating base, that make up an answer; None: one of each controller. awaits {topic: type}: topics that have
      to answer too, by a message each.
    * record {topic: type}: more topics in the recording. parameters: of simulator_node. initial_positions {joint:
      position}. namespace: of all nodes. keeps_clock: false for all but the first of several robots.
    * scene: what is around the robot, path or text of a scene file; ground: the robot stands on the plane z = 0. The
      recording has the topics contacts and objects then.
    * tolerate: what else is an error, of "refused" (a command that is not finite, or of a wrong length, say), "unknown
      joint", "no command" (NaN or an empty field for a joint that is named), "other field" (than that of the joint's
      command interface), and "unused setting" (parameters and initial positions).
    * patience: wall seconds without progress, after which the run fails. folder: for logs; None: a temporary one,
      which a `with` block that ends well removes, except in pytest.

    A context, or `start` and `close`. `LockstepError` says which process has ended, or what was not answered."""

    def __init__(
        self, urdf: str | Path, controllers: str | Node | Sequence[Any] = (), *, period: float = 0.01,
        trigger: str = "joint_states", answers: int | None = None, awaits: Mapping[str, type] | None = None,
        record: Mapping[str, type] | None = None, parameters: Mapping[str, Any] | None = None,
        initial_positions: Mapping[str, float] | None = None, namespace: str = "", keeps_clock: bool = True,
        patience: float = 60.0, folder: Path | None = None, xacro_args: Mapping[str, str] | None = None,
        tolerate: Sequence[str] = (), scene: str | Path = "", ground: bool = False,
    ):
        controllers = [controllers] if isinstance(controllers, (str, Node)) else controllers
        given = dict(parameters or {})
        if scene:
            given["scene"] = os.path.abspath(scene) if isinstance(scene, Path) or "\n" not in scene else scene
        if ground:
            given["ground"] = True
        around = {"contacts": Contacts, "objects": ObjectStates} if given.get("scene") or given.get("ground") else {}
        self.urdf = text_of(urdf, xacro_args)
        self.robot = Robot.from_urdf(self.urdf, given.get("base_link") or None, given.get("tip_link") or None,
                                     floating_base=bool(given.get("floating_base")))
        self._floating = self.robot.model.on_groups
        self.namespace = "/" + namespace.strip("/")
        self._temporary = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="robot_simulator_") if folder is None else folder)
        self.recording = Recording()
        self.processes: list[Process] = []
        self._commands = [controller for controller in controllers if not isinstance(controller, Node)]
        self._nodes = [controller for controller in controllers if isinstance(controller, Node)]
        self._answers = self.recording.answers = len(controllers) if answers is None else answers
        self._awaits, self._topics = dict(awaits or {}), {**around, **(record or {}), **(awaits or {})}
        self._trigger, self._patience, self._keeps_clock = trigger, patience, keeps_clock
        self._every = steps_of(period, given.get("dt", 1e-3), "period")
        self.period = period
        self._parameters = {
            "robot_description": self.urdf, "publish_clock": True, "start_paused": True, "publish_rate": 1.0 / period,
            "lockstep": trigger, "lockstep_commands": self._answers, "strict": True,
            "tolerate": [*check_kinds("tolerate", tolerate)] or [""],
            **{f"initial_positions.{joint}": float(q) for joint, q in (initial_positions or {}).items()}, **given}
        self._driver: Driver | None = None
        self._expected = {"states": 0, "commands": 0}
        self._settled = False

    # --------------------------------------------------------------------------------------------- start and end
    def start(self) -> "RobotSimulator":
        """Start all processes, and wait until the robot is loaded and everybody has found each other."""
        try:
            self._start_processes()
            self._driver = Driver(self.namespace, self._nodes, self._check, self._patience)
            self._load()
            self._connect()
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End all processes, and remove the test's node."""
        for process in self.processes:
            process.interrupt()
        for process in self.processes:
            process.end()
        if self._driver is not None:
            self._driver.close()
            self._driver = None

    __enter__ = start

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.close()
        # A fixture, which is torn down in pytest, does not see the error of a test.
        if self._temporary and error is None and "PYTEST_CURRENT_TEST" not in os.environ:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _start_processes(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "simulator.yaml"
        parameters = {f"/**/{SIMULATOR}": {"ros__parameters": self._parameters}}
        file.write_text(json.dumps(parameters, ensure_ascii=False), encoding="utf-8")   # JSON is YAML
        names = ["--ros-args", "-r", f"__ns:={self.namespace}"]
        clock = [] if self._keeps_clock else ["-r", "/clock:=clock"]
        simulator = [sys.executable, "-m", MODULE, *names, *clock, "--params-file", str(file)]
        self.processes.append(Process(simulator, self.folder / "simulator.log"))
        for k, command in enumerate(self._commands):
            log = self.folder / f"controller_{k}.log"
            self.processes.append(Process(command, log, [*names, "-p", "use_sim_time:=true"]))

    def _check(self) -> None:
        for process in self.processes:
            process.check()

    def _load(self) -> None:
        """Wait until the simulator has loaded the robot; while it compiles kernels, its log grows."""
        answer = None

        def loaded():
            nonlocal answer
            answer = self._driver.ask(SetBool, f"{SIMULATOR}/set_pause", data=True)
            if "refused" in answer.message:
                raise LockstepError(f"simulator_node: {answer.message}")
            return answer.success

        log = self.folder / "simulator.log"
        self._driver.wait(loaded, lambda: f"the robot: {answer.message}", progress=lambda: log.stat().st_size)

    def _connect(self) -> None:
        """Wait until all endpoints have found each other, and record."""
        driver = self._driver
        heard = "/clock" if self._trigger == "clock" else "joint_states"
        if self._answers:
            names = " or ".join(driver.node.resolve_topic_name(topic) for topic in self._answered_by())
            driver.wait(lambda: sum(len(driver.publishers(topic)) for topic in self._answered_by()) >= self._answers,
                        f"{self._answers} publishers of {names}")
            driver.wait(lambda: driver.subscriptions(heard) or self._floating and driver.subscriptions("odom"),
                        f"a controller that subscribes to {driver.node.resolve_topic_name(heard)}")
        others = sorted(full_name(info) for info in driver.publishers("joint_states"))
        if len(others) > 1:
            topic = driver.node.resolve_topic_name("joint_states")
            raise LockstepError(f"{topic} has several publishers: {', '.join(others)}; another robot is in this domain "
                                "and namespace: screw_dynamics.testing.isolate() gives a process a domain of its own")
        for topic in self._awaits:
            driver.wait(lambda topic=topic: driver.publishers(topic), f"a publisher of {topic}")
        recorded = [driver.record(JointState, "joint_states", self.recording.states.messages),
                    driver.record(JointState, "joint_commands", self.recording.commands.messages)]
        if self._floating:
            recorded += [driver.record(Odometry, "odom", self.recording.odometry),
                         driver.record(WrenchStamped, "base_wrench", self.recording.wrenches)]
        for topic, kind in self._topics.items():
            self.recording.topics[topic] = []
            recorded.append(driver.record(kind, topic, self.recording.topics[topic]))
        driver.wait(lambda: all(s.get_publisher_count() >= len(driver.publishers(s.topic_name)) for s in recorded),
                    "the recording to find all publishers")
        driver.greet([*TOPICS, *(base_endpoints.TOPICS if self._floating else ()), *self._topics])
        for kind, name in ((Step, "step"), (Trigger, "reset"), (ResetTo, "reset_to"), (ApplyWrench, "apply_wrench")):
            driver.client(kind, f"{SIMULATOR}/{name}")
        self._compare()   # last, by a new client: its answer shows that the simulator knows all before it

    def _answered_by(self) -> tuple[str, ...]:
        return ("joint_commands", "base_wrench") if self._floating else ("joint_commands",)

    def _compare(self) -> None:
        """Wait until the simulator has found all nodes that this one has found, and they it."""
        topics = ("joint_states", "joint_commands", "/clock" if self._keeps_clock else "clock",
                  *(base_endpoints.TOPICS if self._floating else ()))
        seen, here = None, None

        def agreed():
            nonlocal seen, here
            answer = self._driver.ask(Trigger, f"{SIMULATOR}/connected")
            seen = json.loads(answer.message) if answer.success else answer.message
            here = endpoints(self.node, topics)
            return seen == here

        self._driver.wait(agreed, lambda: f"simulator_node to find all nodes: it sees {seen}, the test {here}")

    # --------------------------------------------------------------------------------------------- time
    @property
    def node(self) -> Node:
        """The test's own node, to publish or to call services with."""
        return self._driver.node

    @property
    def time(self) -> float:
        """The simulated time of the last state [s]."""
        return float(self.recording.time[-1]) if len(self.recording.states.messages) else 0.0

    def advance(self, seconds: float) -> Recording:
        """Let simulated time advance by a multiple of the period. The recording.

        Every state on the way is published once, and answered before time goes on."""
        periods = steps_of(seconds, self.period, "seconds")
        self._settle()
        chunk = 1 if self._awaits else CHUNK
        for first in range(0, periods, chunk):
            self._step(min(chunk, periods - first))
        return self.recording

    def advance_until(self, condition: Callable[[Recording], Any], deadline: float) -> Any:
        """Advance period by period until `condition(recording)` holds; its value.

        DeadlineError, an AssertionError, when it does not within `deadline` seconds of simulated time."""
        periods = steps_of(deadline, self.period, "deadline")
        self._settle()
        for k in range(periods + 1):
            if value := condition(self.recording):
                return value
            if k < periods:
                self._step(1)
        name = getattr(condition, "__name__", str(condition))
        raise DeadlineError(f"{name} does not hold within {deadline:g} s of simulated time; {self.recording}")

    def _settle(self) -> None:
        """Have the present state published and answered, if it is not yet."""
        if not self._settled:
            self._expected["states"] += 1
            self._expected["commands"] += self._answers if self._trigger == "joint_states" else 0
            self._request(0)
            self._settled = True

    def _step(self, periods: int) -> None:
        self._expected["states"] += periods
        self._expected["commands"] += self._answers * periods
        self._request(self._every * periods)

    def _request(self, steps: int) -> None:
        """Make steps, and wait until all that they caused is recorded."""
        driver, recording = self._driver, self.recording
        states, commands = recording.states.messages, (recording.commands.messages, recording.wrenches)
        before = {topic: len(recording.topics[topic]) for topic in self._awaits}
        future = driver.request(Step, f"{SIMULATOR}/step", steps=steps)
        driver.wait(future.done, self._unanswered, progress=lambda: (len(states), sum(map(len, commands))))
        if not future.result().success:
            raise LockstepError(f"simulator_node: {future.result().message}")
        odometry = recording.odometry if self._floating else states
        driver.wait(lambda: (min(len(states), len(odometry)) >= self._expected["states"]
                             and sum(map(len, commands)) >= self._expected["commands"]),
                    lambda: f"states and commands to be recorded, {self._expected}: {recording}")
        for topic, count in before.items():
            driver.wait(lambda topic=topic, count=count: len(recording.topics[topic]) > count,
                        lambda topic=topic: f"an answer on {topic} to the state of t = {self.time:g} s")

    def _unanswered(self) -> str:
        topics = [self.node.resolve_topic_name(topic) for topic in self._answered_by()]
        there = sum(len(self._driver.publishers(topic)) for topic in topics)
        topic, came = " or ".join(topics), len(self.recording.commands.messages) + len(self.recording.wrenches)
        what = "tick of the clock" if self._trigger == "clock" else "state"
        return (f"{self._answers} command(s) on {topic} that answer the {what} of t = {self.time:g} s; the topic has "
                f"{there} publisher(s), {came} commands came in all\n"
                + "\n".join(f"--- {process}\n{process.tail()}" for process in self.processes[1:]))

    # --------------------------------------------------------------------------------------------- services
    def call(self, kind: type, name: str, /, **fields: Any) -> Any:
        """The answer of any service; LockstepError when it has a field `success` that is false."""
        answer = self._driver.call(kind, name, **fields)
        if not getattr(answer, "success", True):
            raise LockstepError(f"{name}: {answer.message}")
        return answer

    def reset(self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None,
              base_pose: Sequence[float] | None = None, base_twist: Sequence[float] | None = None) -> None:
        """Back to the initial state, or to that of the joints named; the recording starts anew, time goes on.

        velocity: of joints in `position`; zero for others. base_pose: x y z, quaternion x y z w of a floating base;
        base_twist: its angular, then linear velocity, in its own frame, zero unless it is given."""
        if stray := [joint for joint in velocity or {} if joint not in (position or {})]:
            raise ValueError(f"velocity of joint '{stray[0]}' is given, but no position of it")
        if base_twist is not None and base_pose is None:
            raise ValueError("base_twist is given, but no base_pose")
        if position is None and base_pose is None:
            self.call(Trigger, f"{SIMULATOR}/reset")
        else:
            position, base = position or {}, []
            speed = [float((velocity or {}).get(joint, 0.0)) for joint in position]
            state = JointState(name=list(position), position=[float(q) for q in position.values()], velocity=speed)
            if base_pose is not None:
                base = [BaseState(pose=messages.placement_message(np.array(base_pose, dtype=float)),
                                  twist=messages.twist_message(np.zeros(6) if base_twist is None else base_twist))]
            self.call(ResetTo, f"{SIMULATOR}/reset_to", state=state, base=base)
        self.recording.clear()
        self._expected, self._settled = {"states": 0, "commands": 0}, False

    def set_payload(self, link: str, mass: float, com: Sequence[float] = (0, 0, 0), inertia: Any = None) -> None:
        """Let a link carry a payload, which controllers do not know of, from now on, resets included; mass 0: none.

        com (3,) [m] in the link's frame, inertia (3, 3) [kg m^2] about it; None: a point."""
        rotational = np.zeros((3, 3)) if inertia is None else inertia
        load = messages.inertia_message(mass, np.array(com, dtype=float), rotational)
        self.call(SetPayload, f"{SIMULATOR}/set_payload", link=link, inertia=load)

    def place(self, name: str, pose: Sequence[float], twist: Sequence[float] = (0.0,) * 6) -> None:
        """Put an object of the scene at a pose x y z, quaternion x y z w in the root link, with a twist in its own
        frame, angular part first, from now on; a reset brings it back."""
        self.call(SetObject, f"{SIMULATOR}/set_object", name=name,
                  pose=messages.placement_message(np.array(pose, dtype=float)),
                  twist=messages.twist_message(np.array(twist, dtype=float)))

    def spawn(self, name: str, description: str, pose: Sequence[float] = (0, 0, 0, 0, 0, 0, 1)) -> None:
        """Add an object to the scene, described as in a scene file, but for its name and place."""
        self.call(SpawnObject, f"{SIMULATOR}/spawn_object", name=name, description=description,
                  pose=messages.placement_message(np.array(pose, dtype=float)))

    def delete(self, name: str) -> None:
        """Take an object out of the scene."""
        self.call(DeleteObject, f"{SIMULATOR}/delete_object", name=name)

    def set_friction(self, name: str, friction: float) -> None:
        """Let a link or an object have another coefficient of friction."""
        self.call(SetFriction, f"{SIMULATOR}/set_friction", name=name, friction=float(friction))

    def object(self, name: str) -> np.ndarray:
        """The pose x y z, quaternion x y z w (7,) of an object in the last state. KeyError if there is none."""
        states = self.recording.topics["objects"][-1]
        if name not in states.names:
            raise KeyError(f"object {name!r} is not among {', '.join(states.names) or 'none'}")
        return messages.placement(states.poses[states.names.index(name)])

    def push(self, link: str, force: Sequence[float] = (0, 0, 0), torque: Sequence[float] = (0, 0, 0),
             duration: float = 0.0) -> None:
        """Apply a wrench to a link, in its frame, for some simulated seconds from now on; 0: until a reset."""
        wrench = Wrench()
        for vector, values in ((wrench.force, force), (wrench.torque, torque)):
            vector.x, vector.y, vector.z = map(float, values)
        request = ApplyWrench.Request(duration=Duration(seconds=duration).to_msg())
        request.wrench.header.frame_id, request.wrench.wrench = link, wrench
        self.call(ApplyWrench, f"{SIMULATOR}/apply_wrench", wrench=request.wrench, duration=request.duration)


def advance(simulators: Sequence[RobotSimulator], seconds: float) -> None:
    """Let the time of several robots advance together, period by period; the one that keeps the clock comes first."""
    periods = {simulator.period for simulator in simulators}
    if len(periods) != 1:
        raise ValueError(f"the robots have the periods {sorted(periods)} s, must have the same")
    for _ in range(steps_of(seconds, periods.pop(), "seconds")):
        for simulator in simulators:
            simulator.advance(simulator.period)


def steps_of(duration: float, step: float, name: str) -> int:
    """A duration as a number of steps; ValueError unless it is a multiple, >= 0."""
    steps = round(duration / step)
    if steps < 0 or abs(steps * step - duration) > 1e-6 * step:
        raise ValueError(f"{name} is {duration} s, must be a multiple of {step} s")
    return steps
