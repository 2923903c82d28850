"""Synthetic recordings with known motion, payload, friction and noise, for tests and benchmarks.

The robot follows exciting trajectories exactly. Its efforts come from inverse dynamics with perturbed links, joint
friction and a payload. The files are MCAP with ROS 2 messages and definitions; ROS is not required."""
from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from screw_dynamics.analysis.identification import FourierTrajectory, exciting_trajectory, physical
from screw_dynamics.description.urdf.source import Source, read_source
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .addresses import written
from .decoders import typestore, usual_definition

STATE, TEXT = "sensor_msgs/msg/JointState", "std_msgs/msg/String"
NS = 10**9
START = 1_750_000_000 * NS      # start of the first episode in ns since the epoch
MOTIONS = 8                     # number of different trajectories; amplitudes also differ between episodes
LATENCY = 200_000               # ns between stamp and log time


@dataclass(frozen=True)
class Conditions:
    """Conditions of synthetic episodes.

    duration: s, also the period of the motion. rate: Hz. spacing: s between the starts of episodes. payload: link with
    a payload of up to `mass` kg; none if empty. links: largest relative change of the links' masses and sizes from the
    URDF. damping, friction: largest joint values, N m s/rad and N m. drift: their relative growth from the first
    episode to the last. noise: standard deviations of positions, velocities and efforts.

    Raises ValueError if a value is negative or the duration too short."""

    duration: float = 10.0
    rate: float = 500.0
    spacing: float = 3600.0
    payload: str = ""
    mass: float = 1.0
    links: float = 0.0
    damping: float = 0.5
    friction: float = 0.3
    drift: float = 0.0
    noise: tuple[float, float, float] = (1e-5, 1e-3, 0.05)

    def __post_init__(self):
        for name in ("duration", "rate", "spacing"):
            checks.positive(name, getattr(self, name))
        for name in ("mass", "links", "damping", "friction", "drift"):
            checks.number(name, getattr(self, name), 0.0)
        if (checks.vector("noise", self.noise, 3) < 0.0).any():
            raise ValueError(f"noise must not be negative: {self.noise}")
        if self.duration * self.rate < 2.0:
            raise ValueError(f"{self.duration} s at {self.rate} samples a second are less than two samples")


@dataclass(frozen=True)
class Episode:
    """The ground truth of a file: its address, the payload's mass in kg, and the robot with payload and friction."""

    address: str
    mass: float
    robot: Robot


class Synthetic:
    """Synthetic episodes of a robot from a URDF.

    Each depends only on the seed and its number, not on the order of generation. `robot`: the robot of the URDF."""

    def __init__(self, urdf: Source, count: int, conditions: Conditions | None = None, seed: int = 0,
                 tip_link: str | None = None):
        self.description = read_source(urdf)
        self.robot = Robot.from_urdf(self.description, tip_link=tip_link)
        self.count, self.seed = checks.count("count", count, 1), checks.whole("seed", seed, 0)
        self.conditions = conditions or Conditions()
        if self.conditions.payload:
            checks.known_link(self.conditions.payload, self.robot.link_names)
        rng = np.random.default_rng(self.seed)
        self._rubbing = rng.uniform(0.3, 1.0, (2, self.robot.n))
        self._built = _as_built(self.robot, self.conditions.links, rng)
        self._motions: dict[int, FourierTrajectory] = {}

    def truth(self, number: int) -> tuple[Robot, float]:
        """Return an episode's robot, with its friction and payload, and the payload's mass in kg."""
        conditions, rng = self.conditions, np.random.default_rng((self.seed, number))
        mass = float(rng.uniform(0.0, conditions.mass)) if conditions.payload else 0.0
        share = number / (self.count - 1) if self.count > 1 else 0.0
        most = np.array([[conditions.damping], [conditions.friction]]) * (1.0 + conditions.drift * share)
        damping, friction = most * self._rubbing
        robot = Robot(replace(self._built.model, damping=damping, friction=friction), self._built.gravity)
        return (robot.with_payload(conditions.payload, mass, com=(0.0, 0.0, 0.05)) if mass else robot), mass

    def signals(self, number: int) -> tuple[np.ndarray, ...]:
        """Return an episode's times (k,), and (k, n) positions, velocities, efforts and efforts without noise."""
        conditions, rng = self.conditions, np.random.default_rng((self.seed, number, 1))
        motion, share = self._motion(number % MOTIONS), rng.uniform(0.6, 1.0)
        t = np.arange(round(conditions.duration * conditions.rate)) / conditions.rate
        q, qd, qdd = replace(motion, cosine=share * motion.cosine, sine=share * motion.sine)(t)
        robot, _ = self.truth(number)
        tau = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
        noise = rng.standard_normal((3, *q.shape)) * np.reshape(conditions.noise, (3, 1, 1))
        return t, q + noise[0], qd + noise[1], tau + noise[2], tau

    def write(self, number: int, folder: str | os.PathLike) -> Episode:
        """Write an episode to a folder, as episode_<number>.mcap."""
        if not 0 <= number < self.count:
            raise ValueError(f"episode {number} does not exist: there are {self.count}, from 0 on")
        t, q, qd, tau, commanded = self.signals(number)
        start = START + round(number * self.conditions.spacing * NS)
        address = f"{os.fspath(folder).rstrip('/')}/episode_{number:0{len(str(self.count - 1))}}.mcap"
        stamps = start + np.rint(t * NS).astype(np.int64)
        names, nothing = list(self.robot.joint_names), np.zeros((len(t), 0))
        with written(address) as file:
            _write(file, stamps, {"/joint_states": joint_states(names, stamps, q, qd, tau),
                                  "/joint_commands": joint_states(names, stamps, nothing, nothing, commanded)},
                   self.description)
        robot, mass = self.truth(number)
        return Episode(address, mass, robot)

    def write_all(self, folder: str | os.PathLike, numbers: Iterable[int] | None = None) -> list[Episode]:
        """Write all episodes, or those of the given numbers, to a folder."""
        return [self.write(number, folder) for number in (range(self.count) if numbers is None else numbers)]

    def _motion(self, number):
        if number not in self._motions:
            self._motions[number] = exciting_trajectory(
                self.robot, self.conditions.duration, iterations=0, seed=self.seed + number)
        return self._motions[number]


def _as_built(robot, links, rng):
    """Return a robot with physically consistent links whose log-Cholesky parameters differ by up to `links`."""
    if not links:
        return robot
    theta = physical.log_cholesky(physical.nearest_physical(robot.inertial_parameters.reshape(-1, 10)))
    change = rng.uniform(-links, links, theta.shape)
    change[:, 4:] *= np.exp(theta[:, 1:4].mean(axis=1, keepdims=True))          # lengths, relative to the link's size
    return robot.with_inertial_parameters(physical.of_log_cholesky(theta + change).ravel())


# ------------------------------------------------------------------------------------------------- messages
def joint_states(names: list[str], stamps: np.ndarray, *fields: np.ndarray) -> list[bytes]:
    """Return sensor_msgs/JointState messages in CDR for stamps (k,) in ns; fields are (k, n) or (k, 0).

    The fields are positions, velocities and efforts. rosbags serializes one message with placeholder numbers, which are
    replaced in the others.
    """
    store = typestore()
    kinds = store.types
    marks = [np.full(x.shape[1], -(1.0 + i) * 1e300 / 7.0) for i, x in enumerate(fields)]
    header = kinds["std_msgs/msg/Header"](kinds["builtin_interfaces/msg/Time"](0, 0), "")
    one = bytes(store.serialize_cdr(kinds[STATE](header, names, *marks), STATE))
    table = np.tile(np.frombuffer(one, dtype=np.uint8), (len(stamps), 1))
    table[:, 4:12] = np.stack([stamps // NS, stamps % NS], axis=1).astype("<i4").view(np.uint8)     # header stamp
    for mark, x in zip(marks, fields, strict=True):
        start = one.index(mark.tobytes())
        table[:, start:start + mark.nbytes] = np.ascontiguousarray(x, dtype="<f8").view(np.uint8).reshape(len(x), -1)
    return [row.tobytes() for row in table]


def _write(file, stamps, topics, description):
    """Write an MCAP file with the robot description, then JointState messages."""
    from mcap.writer import Writer
    writer = Writer(file)
    writer.start(profile="ros2", library="screw_dynamics")
    text = writer.register_schema(TEXT, "ros2msg", usual_definition(TEXT).encode())
    state = writer.register_schema(STATE, "ros2msg", usual_definition(STATE).encode())
    store, first = typestore(), int(stamps[0])
    data = bytes(store.serialize_cdr(store.types[TEXT](description), TEXT))
    writer.add_message(writer.register_channel("/robot_description", "cdr", text), first, data, first)
    channels = [writer.register_channel(topic, "cdr", state) for topic in topics]
    for k, (stamp, *messages) in enumerate(zip(stamps.tolist(), *topics.values(), strict=True)):
        for channel, message in zip(channels, messages, strict=True):
            writer.add_message(channel, stamp + LATENCY, message, stamp, k)
    writer.finish()
