"""simulator_node in a separate process, controllers beside it, and simulated time that the test advances."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Wrench, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from screw_dynamics.control import Loop
from screw_dynamics.description.urdf.file import text_of
from screw_dynamics.robot import Robot
from screw_dynamics.ros.node import messages
from screw_dynamics.ros.node.watches import full_name
from screw_dynamics.ros.simulator import base_endpoints
from screw_dynamics.ros.simulator.complaints import check_kinds
from screw_dynamics.ros.simulator.connections import TOPICS, endpoints
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

from .driver import Driver, LawNode
from .errors import DeadlineError, LockstepError
from .processes import Process
from .recording import Recording

MODULE, SIMULATOR = "screw_dynamics.ros.simulator.node", "screw_simulator"
CHUNK = 50   # periods in one request, so that the recording keeps up


class RobotSimulator:
    """Simulated robot in a separate process, paused until the test advances its time.

    Parameters
    ----------
    urdf : str or Path
        Path of a URDF or xacro file, or XML text.
    controllers : str, rclpy Node, Loop, or sequence of these, optional
        Command lines of nodes, which run with simulated time in the same namespace, or rclpy nodes of the test, which
        are spun while time advances. A `screw_dynamics.control.Loop` is a node that answers each state.
    period : float, optional
        Simulated time between two states, in s.
    trigger : {"joint_states", "clock"}, optional
        Event that controllers answer: each state, or a timer of this period on the clock.
    answers : int, optional
        Number of messages, on joint_commands and, with a floating base, on base_wrench, that make up an answer. By
        default one for each controller.
    awaits : dict of str to type, optional
        Topics, with their types, on which a message must also be received for each state.
    record : dict of str to type, optional
        More topics in the recording, with their types.
    parameters : dict of str to object, optional
        Parameters of simulator_node.
    initial_positions : dict of str to float, optional
        Initial position of joints, by name.
    namespace : str, optional
        Namespace of all nodes.
    keeps_clock : bool, optional
        True if this robot publishes /clock: False for all but the first of several robots.
    patience : float, optional
        Wall time without progress, in s, after which the run fails.
    folder : Path, optional
        Folder for logs. By default a temporary one, which a ``with`` block removes if it ends without an error and not
        in pytest.
    xacro_args : dict of str to str, optional
        Arguments of the xacro file.
    tolerate : sequence of str, optional
        Faults that are not errors: "refused" (for example a command that is not finite or has a wrong length), "unknown
        joint", "no command" (NaN or an empty field for a named joint), "other field" (than that of the joint's command
        interface), and "unused setting" (parameters and initial positions).
    scene : str or Path, optional
        Environment of the robot, as the path or text of a scene file.
    ground : bool, optional
        True to let the robot stand on the plane z = 0.

    Notes
    -----
    ``advance`` and ``advance_until`` advance the simulated time, ``recording`` contains the run. ``robot`` is a
    ``Robot`` of the same description, for the test's own calculations. With a scene or ground, the recording has the
    topics contacts and objects.

    It is a context manager. Outside of a ``with`` block, call ``start`` and ``close``. A ``LockstepError`` names the
    process that has ended, or the request that was not answered.
    """

    def __init__(
        self, urdf: str | Path, controllers: str | Node | Sequence[Any] = (), *, period: float = 0.01,
        trigger: str = "joint_states", answers: int | None = None, awaits: Mapping[str, type] | None = None,
        record: Mapping[str, type] | None = None, parameters: Mapping[str, Any] | None = None,
        initial_positions: Mapping[str, float] | None = None, namespace: str = "", keeps_clock: bool = True,
        patience: float = 60.0, folder: Path | None = None, xacro_args: Mapping[str, str] | None = None,
        tolerate: Sequence[str] = (), scene: str | Path = "", ground: bool = False,
    ):
        controllers = [controllers] if isinstance(controllers, (str, Node, Loop)) else controllers
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
        self._commands = [controller for controller in controllers if not isinstance(controller, (Node, Loop))]
        self._nodes = [controller for controller in controllers if isinstance(controller, Node)]
        self._loops = [controller for controller in controllers if isinstance(controller, Loop)]
        for loop in self._loops:
            if missing := sorted(set(loop.robot.joint_names) - set(self.robot.joint_names)):
                raise ValueError(f"controllers: law {loop.law.name} has the joints {', '.join(missing)}, which the "
                                 f"robot does not have; it has {', '.join(self.robot.joint_names)}")
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
        self._law_nodes: list[Node] = []
        self._expected = {"states": 0, "commands": 0}
        self._settled = False

    # --------------------------------------------------------------------------------------------- start and end
    def start(self) -> "RobotSimulator":
        """Start all processes, and wait until the robot is loaded and all nodes have discovered each other.

        Returns
        -------
        RobotSimulator
            The simulator itself.
        """
        try:
            self._start_processes()
            nodes = chain(self._nodes, map(self._law_node, self._loops))     # made when ROS is initialized
            self._driver = Driver(self.namespace, nodes, self._check, self._patience)
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
        while self._law_nodes:
            self._law_nodes.pop().destroy_node()
        if self._driver is not None:
            self._driver.close()
            self._driver = None

    __enter__ = start

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.close()
        # A fixture is torn down by pytest, and does not receive the error of the test.
        if self._temporary and error is None and "PYTEST_CURRENT_TEST" not in os.environ:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _law_node(self, loop: Loop) -> Node:
        self._law_nodes.append(LawNode(loop, self.namespace))
        return self._law_nodes[-1]

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
        """Wait until the simulator has loaded the robot. A growing log, while kernels compile, counts as progress."""
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
        """Wait until all endpoints have discovered each other, and start recording."""
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
        self._compare()  # last, by a new client: its response shows that all earlier endpoints are discovered

    def _answered_by(self) -> tuple[str, ...]:
        return ("joint_commands", "base_wrench") if self._floating else ("joint_commands",)

    def _compare(self) -> None:
        """Wait until the simulator and this node have discovered the same nodes, and each other."""
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
        """The test's own node, for publishing and calling services."""
        return self._driver.node

    @property
    def time(self) -> float:
        """The simulated time of the last state [s]."""
        return float(self.recording.time[-1]) if len(self.recording.states.messages) else 0.0

    def advance(self, seconds: float) -> Recording:
        """Advance the simulated time.

        Parameters
        ----------
        seconds : float
            Simulated time in s, a multiple of the period.

        Returns
        -------
        Recording
            Recording of the run.

        Notes
        -----
        Every state in between is published once, and answered before time continues.
        """
        periods = steps_of(seconds, self.period, "seconds")
        self._settle()
        chunk = 1 if self._awaits else CHUNK
        for first in range(0, periods, chunk):
            self._step(min(chunk, periods - first))
        return self.recording

    def advance_until(self, condition: Callable[[Recording], Any], deadline: float) -> Any:
        """Advance period by period until a condition holds.

        Parameters
        ----------
        condition : callable
            Function ``condition(recording)``, whose value is true when the condition holds.
        deadline : float
            Longest simulated time in s, a multiple of the period.

        Returns
        -------
        object
            Value of the condition.

        Raises
        ------
        DeadlineError
            If the condition does not hold within the deadline. It is an AssertionError.
        """
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
        """Publish the present state and wait for the answer, unless that is done."""
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
        """Make steps, and wait until all resulting messages are recorded."""
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
        """Call a service.

        Parameters
        ----------
        kind : type
            Type of the service.
        name : str
            Name of the service.
        **fields
            Fields of the request.

        Returns
        -------
        object
            Response of the service.

        Raises
        ------
        LockstepError
            If the response has a field ``success`` that is false.
        """
        answer = self._driver.call(kind, name, **fields)
        if not getattr(answer, "success", True):
            raise LockstepError(f"{name}: {answer.message}")
        return answer

    def reset(self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None,
              base_pose: Sequence[float] | None = None, base_twist: Sequence[float] | None = None) -> None:
        """Reset to the initial state, or to a given state.

        Parameters
        ----------
        position : dict of str to float, optional
            Positions of joints, by name, in rad or m. The other joints are set to their initial positions.
        velocity : dict of str to float, optional
            Velocities of joints in ``position``, by name, in rad/s or m/s. Zero for the other joints.
        base_pose : array_like (7,), optional
            Pose x y z, quaternion x y z w of a floating base.
        base_twist : array_like (6,), optional
            Angular, then linear velocity of the floating base in its own frame. Zero by default.

        Raises
        ------
        ValueError
            If there is a velocity of a joint without a position, or ``base_twist`` without ``base_pose``.

        Notes
        -----
        The recording is cleared. The simulated time continues.
        """
        if stray := [joint for joint in velocity or {} if joint not in (position or {})]:
            raise ValueError(f"velocity of joint '{stray[0]}' is given, but not its position")
        if base_twist is not None and base_pose is None:
            raise ValueError("base_twist is given, but not base_pose")
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
        """Attach a payload to a link from now on, also after resets.

        Parameters
        ----------
        link : str
            Link that carries the payload.
        mass : float
            Mass in kg. 0 removes the payload.
        com : array_like (3,), optional
            Center of mass in m, in the link's frame.
        inertia : array_like (3, 3), optional
            Rotational inertia in kg m^2 about the center of mass. By default zero, for a point.

        Notes
        -----
        Controllers are not informed of the payload.
        """
        rotational = np.zeros((3, 3)) if inertia is None else inertia
        load = messages.inertia_message(mass, np.array(com, dtype=float), rotational)
        self.call(SetPayload, f"{SIMULATOR}/set_payload", link=link, inertia=load)

    def place(self, name: str, pose: Sequence[float], twist: Sequence[float] = (0.0,) * 6) -> None:
        """Set the pose of an object of the scene from now on.

        Parameters
        ----------
        name : str
            Name of the object.
        pose : array_like (7,)
            Pose x y z, quaternion x y z w in the root link.
        twist : array_like (6,), optional
            Twist in the object's own frame, angular part first.

        Notes
        -----
        A reset restores the object's initial pose.
        """
        self.call(SetObject, f"{SIMULATOR}/set_object", name=name,
                  pose=messages.placement_message(np.array(pose, dtype=float)),
                  twist=messages.twist_message(np.array(twist, dtype=float)))

    def spawn(self, name: str, description: str, pose: Sequence[float] = (0, 0, 0, 0, 0, 0, 1)) -> None:
        """Add an object to the scene.

        Parameters
        ----------
        name : str
            Name of the object.
        description : str
            Description as in a scene file, without the object's name and pose.
        pose : array_like (7,), optional
            Pose x y z, quaternion x y z w in the root link.
        """
        self.call(SpawnObject, f"{SIMULATOR}/spawn_object", name=name, description=description,
                  pose=messages.placement_message(np.array(pose, dtype=float)))

    def delete(self, name: str) -> None:
        """Remove an object from the scene.

        Parameters
        ----------
        name : str
            Name of the object.
        """
        self.call(DeleteObject, f"{SIMULATOR}/delete_object", name=name)

    def set_friction(self, name: str, friction: float) -> None:
        """Set the coefficient of friction of a link or an object.

        Parameters
        ----------
        name : str
            Name of the link or object.
        friction : float
            Coefficient of friction.
        """
        self.call(SetFriction, f"{SIMULATOR}/set_friction", name=name, friction=float(friction))

    def object(self, name: str) -> np.ndarray:
        """Return the pose of an object in the last state.

        Parameters
        ----------
        name : str
            Name of the object.

        Returns
        -------
        ndarray (7,)
            Pose x y z, quaternion x y z w.

        Raises
        ------
        KeyError
            If there is no object of this name.
        """
        states = self.recording.topics["objects"][-1]
        if name not in states.names:
            raise KeyError(f"object {name!r} is not among {', '.join(states.names) or 'none'}")
        return messages.placement(states.poses[states.names.index(name)])

    def push(self, link: str, force: Sequence[float] = (0, 0, 0), torque: Sequence[float] = (0, 0, 0),
             duration: float = 0.0) -> None:
        """Apply a wrench to a link from now on.

        Parameters
        ----------
        link : str
            Link in whose frame the wrench is given.
        force : array_like (3,), optional
            Force in N.
        torque : array_like (3,), optional
            Torque in N m.
        duration : float, optional
            Simulated time in s. 0 applies the wrench until a reset.
        """
        wrench = Wrench()
        for vector, values in ((wrench.force, force), (wrench.torque, torque)):
            vector.x, vector.y, vector.z = map(float, values)
        request = ApplyWrench.Request(duration=Duration(seconds=duration).to_msg())
        request.wrench.header.frame_id, request.wrench.wrench = link, wrench
        self.call(ApplyWrench, f"{SIMULATOR}/apply_wrench", wrench=request.wrench, duration=request.duration)


def advance(simulators: Sequence[RobotSimulator], seconds: float) -> None:
    """Advance the time of several robots together, period by period.

    Parameters
    ----------
    simulators : sequence of RobotSimulator
        Robots with the same period. The one that publishes the clock comes first.
    seconds : float
        Simulated time in s, a multiple of the period.

    Raises
    ------
    ValueError
        If the periods differ.
    """
    periods = {simulator.period for simulator in simulators}
    if len(periods) != 1:
        raise ValueError(f"the robots have the periods {sorted(periods)} s, must have the same")
    for _ in range(steps_of(seconds, periods.pop(), "seconds")):
        for simulator in simulators:
            simulator.advance(simulator.period)


def steps_of(duration: float, step: float, name: str) -> int:
    """Return a duration as a number of steps. Raises ValueError unless it is a multiple of the step and >= 0."""
    steps = round(duration / step)
    if steps < 0 or abs(steps * step - duration) > 1e-6 * step:
        raise ValueError(f"{name} is {duration} s, must be a multiple of {step} s")
    return steps
