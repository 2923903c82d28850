"""The topics that simulator_node publishes: joint_states, /clock, and those of its sensors and its scene."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.lifecycle import LifecyclePublisher
from rosgraph_msgs.msg import Clock

from screw_dynamics.simulator.lockstep import Lockstep
from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.sensors.sensors import JointState as Reported
from screw_dynamics.simulator.settings import Settings

from ..node import messages
from ..node.cdr import joint_state_template
from ..node.managed_node import ManagedNode
from .base_endpoints import BaseEndpoints
from .drive_endpoints import DriveEndpoints
from .scene_outputs import SceneOutputs
from .sensor_outputs import SensorOutputs

STATE_FIELDS = ("position", "velocity", "effort")


class States:
    """A publisher of JointStates of some joints of a simulation: those at the indices `order` of the reported
    `names`."""

    def __init__(self, publisher, order: np.ndarray, names: Sequence[str]):
        self.order, self._publisher = order, publisher
        self._names, self._frame_id = [names[i] for i in order], ""

    def publish(self, state: Reported, stamp: Time, frame_id: str) -> None:
        """Publish a state, without the joints whose samples are lost."""
        if frame_id != self._frame_id:   # a parameter that can change
            self._frame_id, self._template = frame_id, joint_state_template(self._names, STATE_FIELDS, frame_id)
        template, order, lost = self._template, self.order, state.lost[self.order]
        if lost.any():
            order = order[~lost]
            if not len(order):
                return
            template = joint_state_template([state.names[i] for i in order], STATE_FIELDS, frame_id)
        template.stamp(stamp.sec, stamp.nanosec)
        for field in STATE_FIELDS:
            getattr(state, field).take(order, out=template.fields[field])
        self._publisher.publish(template.encode())


class Outputs:
    """The publishers of the states of a simulation for a node, which provides `stamp_ns()`, the stamp of the current
    state.

    every: the steps between two states. stamp: that of the last published state. keeps_clock: True if this node
    publishes /clock."""

    def __init__(self, node: ManagedNode, settings: Settings, lockstep: Lockstep, keeps_clock: bool):
        self.base: BaseEndpoints | None = None      # created with the first floating base
        self.drive: DriveEndpoints | None = None    # of a base on wheels
        self._node, self._lockstep = node, lockstep
        self._states = node.publisher("joint_states")
        self._motor_states: LifecyclePublisher | None = None  # created with the first robot with motors behind springs
        clock = node.settings.publish_clock and keeps_clock
        self._clock = node.publisher("/clock") if clock else None
        self._sensors = SensorOutputs(node, settings)
        self._scene = SceneOutputs(node) if node.settings.ground or node.settings.scene else None
        self.every, rate = settings.every(node.settings.publish_rate), node.settings.publish_rate
        if rate * settings.step > 1.0 + 1e-6:
            node.log.warning(f"publish_rate is {rate:g} Hz, but the simulation has {1.0 / settings.step:g} steps a "
                             f"second (dt is {settings.dt:g} s): each is published once")
        self.stamp = Time()

    def follow(self, runner: Runner, order: np.ndarray, motors: np.ndarray) -> None:
        """Publish the states of a simulation. order, motors: the indices of its joints in joint_states and
        motor_states."""
        self._simulation = runner.simulation
        reported, n = self._simulation.joint_state().names, len(self._simulation.joint_names)
        order = np.concatenate((order, np.arange(n, len(reported))))      # and all mimic joints
        self._joints = States(self._states, order, reported)
        if self._motor_states is None and len(motors):
            self._motor_states = self._node.publisher("motor_states")
        self._motors = States(self._motor_states, motors, reported)
        self._last = -1   # step of the last published state
        self._sensors.follow(runner, self._now)
        if self._scene is not None and (text := self._scene.misnamed(self._simulation)):
            self._node.log.warning(text)

    def _now(self) -> Time:
        """Return the stamp of the current state."""
        return messages.time_message(self._node.stamp_ns())

    def publish(self) -> bool:
        """Publish the base's state, then state and clock, and last the topic that the controller answers, so that it
        finds the other topics current. Return False if that topic is a state that the robot's sensors lose."""
        self.stamp, steps = self._now(), self._simulation.steps
        if steps == self._last or steps % self.every or steps == 0:     # the rest is published when it is due
            self._sensors.publish(again=steps == self._last)
        self._last = steps
        state = self._simulation.joint_state()
        lost = state.lost[self._joints.order]
        if self.base is not None:
            self.base.publish(self._simulation, self.stamp)
        if self.drive is not None:
            self.drive.publish(self._simulation, self.stamp)
        if self._scene is not None:
            self._scene.publish(self._simulation, self.stamp)
        if len(self._motors.order):
            self._motors.publish(state, self.stamp, self._frame_id)
        topics = [self._publish_clock, partial(self._joints.publish, state, self.stamp, self._frame_id)]
        for publish in reversed(topics) if self._lockstep.trigger == "clock" else topics:
            publish()
        self._node.diagnostics.tick("publish")
        return self._lockstep.trigger != "joint_states" or not (lost.any() and lost.all())

    def _publish_clock(self) -> None:
        if self._clock is not None:
            self._clock.publish(Clock(clock=self.stamp))

    @property
    def _frame_id(self) -> str:
        return self._node.settings.frame_id or self._simulation.robot.model.root
