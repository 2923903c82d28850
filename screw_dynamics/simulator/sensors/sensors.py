"""All sensors of a simulated robot, with their delay, losses and faults."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.model.floating_base import coordinate_joints, floating_base
from screw_dynamics.robot import Robot

from ..faults import JOINT_STATES, Faults
from ..settings import Settings
from ..snapshot import Snapshot
from .force_torque import ForceTorques
from .imu import Imu, ImuSample
from .joints import JointSensors
from .odometry import OdometrySample, odometry

IMU, FORCE_TORQUE = "imu/", "force_torque/"     # prefixes of link and joint names in sensor names
ODOMETRY = "odom"


class JointState(NamedTuple):
    """The reported state of the joints: those of the model, then their mimic joints; arrays (names,).

    lost (names,): mask of the joints whose sample is lost; their values are those that would have been reported."""

    names: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    lost: np.ndarray


class Sensors:
    """The sensors of a robot, which measure the Snapshots of a simulation.

    imus (links) and force_torques (joints) are those of the settings. names: all sensors except those of joints, as
    faults name them. own: as in JointSensors; instrumented: as in ForceTorques. The measurement at a step, including
    its noise, is always the same. Raises ValueError for an unknown link or joint."""

    def __init__(self, settings: Settings, robot: Robot, own: Mapping[str, Mapping[str, float]] | None = None,
                 instrumented: Robot | None = None):
        links = [link for link in settings.imus if link]
        for link in links:
            if link not in robot.link_names:
                raise ValueError(f"imus: unknown link '{link}', the model has {', '.join(robot.link_names)}")
        self._settings = settings
        joint_names = coordinate_joints(robot.model)
        self._base = floating_base(robot.model)
        self._joints = JointSensors(settings, joint_names, own)
        self._imus = {link: Imu(settings, link, k) for k, link in enumerate(links)}
        self._force_torques = ForceTorques(settings, robot, instrumented)
        self.force_torques = tuple(joint for joint in settings.force_torques if joint)
        self.imus = tuple(links)
        self.names = (*(IMU + link for link in self.imus), *(FORCE_TORQUE + joint for joint in self.force_torques),
                      *([ODOMETRY] if self._base is not None else []))
        mimics = robot.model.mimics
        self._joint_names, self._names = joint_names, (*joint_names, *mimics)
        self._leader = np.array([joint_names.index(leader) for leader, _, _ in mimics.values()], dtype=np.intp)
        followed = np.array([mimic[1:] for mimic in mimics.values()], dtype=float).reshape(-1, 2)
        self._multiplier, self._offset = followed.T
        self.reset()

    def carry(self, loaded: Callable[[Robot], Robot]) -> None:
        """Change the payloads; loaded(robot): returns a robot of the same links with the payloads."""
        self._force_torques.carry(loaded)

    def reset(self) -> None:
        """Unfreeze all sensors."""
        self._held: dict[str, Any] = {}     # the values that frozen sensors repeat
        self._followed: tuple = ()          # active faults

    def follow(self, faults: Faults, snapshot: Callable[[], Snapshot]) -> None:
        """Freeze and unfreeze sensors according to the active faults; snapshot(): the present Snapshot."""
        self._faults = faults
        if faults.active == self._followed:
            return
        self._followed = faults.active
        frozen = [name for name in (JOINT_STATES, *self._joint_names, *self.names) if faults.frozen(name)]
        held = {}
        for name in frozen:
            held[name] = self._held[name] if name in self._held else self._reported(name, snapshot())
        self._held = held

    def _reported(self, name: str, snapshot: Snapshot) -> Any:
        if name.startswith(IMU) and name in self.names:
            return self.imu(name.removeprefix(IMU), snapshot)
        if name == ODOMETRY:
            return self.odometry(snapshot)
        if name in self.names:
            return self.force_torque(name.removeprefix(FORCE_TORQUE), snapshot)
        return self._measured_joints(snapshot)

    # --------------------------------------------------------------------------------------------- joints
    def joint_state(self, snapshot: Snapshot, step: int) -> JointState:
        """Return the joint state that is reported for a snapshot at a step."""
        measured, lost = self._measured_joints(snapshot), np.zeros(len(self._joint_names), dtype=bool)
        if self._faults.active or self._settings.sensor_dropout:
            lost[:] = self.lost(JOINT_STATES, step)
            lost |= [self._faults.dropped(name, step) for name in self._joint_names]
        position, velocity, effort = measured
        if len(self._leader):
            position = np.concatenate((position, self._multiplier * position[self._leader] + self._offset))
            velocity = np.concatenate((velocity, self._multiplier * velocity[self._leader]))
            effort = np.concatenate((effort, np.zeros(len(self._leader))))   # the effort acts on the leader
            lost = np.concatenate((lost, lost[self._leader]))
        return JointState(self._names, position, velocity, effort, lost)

    def _measured_joints(self, snapshot: Snapshot) -> np.ndarray:
        """Return positions, velocities and efforts, rows of (3, n), with fault offsets and frozen values."""
        if JOINT_STATES in self._held:
            return self._held[JOINT_STATES]
        measured = self._joints.measure(snapshot)
        if self._faults.active:
            measured[0] += self._faults.offset(JOINT_STATES)
            for i, name in enumerate(self._joint_names):
                measured[0, i] += self._faults.offset(name)
                if name in self._held:
                    measured[:, i] = self._held[name][:, i]
        return measured

    # --------------------------------------------------------------------------------------------- other sensors
    def imu(self, link: str, snapshot: Snapshot) -> ImuSample:
        """Return the IMU sample of a link that is reported for a snapshot."""
        if IMU + link in self._held:
            return self._held[IMU + link]
        sample = self._imus[link].measure(snapshot)
        offset = self._faults.offset(IMU + link)
        return sample._replace(linear_acceleration=sample.linear_acceleration + offset)

    def force_torque(self, joint: str, snapshot: Snapshot) -> np.ndarray:
        """Return the wrench (6,), (torque, force), that the sensor in a joint reports for a snapshot; see
        ForceTorques."""
        name = FORCE_TORQUE + joint
        if name in self._held:
            return self._held[name]
        return self._force_torques.measure(snapshot)[joint] + np.repeat([0.0, self._faults.offset(name)], 3)

    def odometry(self, snapshot: Snapshot) -> OdometrySample:
        """Return the pose and the twist of a floating base that are reported for a snapshot."""
        if ODOMETRY in self._held:
            return self._held[ODOMETRY]
        sample = odometry(self._base, snapshot)
        return sample._replace(pose=sample.pose + np.repeat([self._faults.offset(ODOMETRY), 0.0], [3, 4]))

    def child_link(self, joint: str) -> str:
        """Return the link in whose frame the force-torque sensor of a joint reports."""
        return self._force_torques.child_links[joint]

    def lost(self, name: str, step: int) -> bool:
        """Return True if the sample of a sensor (of `names`, or "joint_states") at a step is lost."""
        share, stream = self._settings.sensor_dropout, (JOINT_STATES, *self.names).index(name)
        if share > 0.0 and np.random.default_rng([self._settings.seed, 6, stream, step]).random() < share:
            return True
        return self._faults.dropped(name, step)
