"""The services of simulator_node: each decodes its request, makes one call, and encodes the response.

For a bad request, a handler raises ValueError; the response is then `success = false` with the error's text. The
comments of the .srv files in screw_dynamics_interfaces are the specification."""

import json
from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState

from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics_interfaces.msg import BaseState

from ..node import messages
from ..node.base_state import read_pose, read_twist
from ..node.joint_state import JointMap, check_lengths
from ..node.services import Service, serve
from ..timing import SECOND
from . import base_endpoints
from .connections import TOPICS, connect


class SimulatorServices:
    """The services of `node`. The node provides `runner() -> Runner` (raises ValueError if nothing can be simulated),
    `restart_clock`, `abort`, `check_steps`, `set_payload`, `stamp` (of the last published state), and the attributes
    that `serve` requires."""

    def __init__(self, node):
        self._node = node
        serve(node, node.runner, (
            Service("reset", self._reset),
            Service("reset_to", self._reset_to),
            Service("set_pause", self._set_pause),
            Service("step", self._step),
            Service("apply_wrench", self._apply_wrench),
            Service("set_payload", self._set_payload),
            Service("inject_fault", self._inject_fault),
            Service("clear_faults", self._clear_faults),
            Service("connected", self._connected),
        ))

    def _reset(self, runner: Runner, request, response) -> None:
        self._node.abort("~/reset was called")
        runner.simulation.reset(self._node.restart_clock)
        runner.resume()

    def _reset_to(self, runner: Runner, request, response) -> None:
        base, given = read_base(runner.simulation, request.base), request.state
        names, position, velocity = (
            ((), (), None) if base is not None and not (given.name or given.position)
            else read_state(runner.simulation, given))
        self._node.abort("~/reset_to was called")
        runner.simulation.reset_to(names, position, velocity, self._node.restart_clock, base)
        runner.resume()

    def _set_pause(self, runner: Runner, request, response) -> None:
        if runner.stepping:
            raise ValueError("steps of ~/step are in progress")
        runner.set_paused(request.data)
        response.message = "paused" if request.data else "running"

    async def _step(self, runner: Runner, request, response) -> None:
        if not runner.paused:
            raise ValueError("the simulator is running: ~/set_pause first")
        self._node.check_steps(runner)
        finished = self._node.future()
        runner.step(request.steps, finished.set_result)
        reason = await finished
        if reason:
            raise ValueError(reason)
        response.stamp = self._node.stamp

    def _apply_wrench(self, runner: Runner, request, response) -> None:
        link = request.wrench.header.frame_id
        if not link:
            raise ValueError("wrench.header.frame_id must name a link")
        runner.catch_up()
        duration = messages.nanoseconds(request.duration) / SECOND
        runner.simulation.push(link, messages.wrench(request.wrench.wrench), duration)

    def _set_payload(self, runner: Runner, request, response) -> None:
        link = request.link
        if link not in runner.simulation.robot.link_names:
            raise ValueError(f"link: '{link}' is not a link of the robot")
        try:
            self._node.set_payload(link, *messages.inertia(request.inertia))
        except ValueError as error:
            raise ValueError(f"inertia, for link '{link}': {error}") from None

    def _inject_fault(self, runner: Runner, request, response) -> None:
        runner.catch_up()
        delay, duration = (messages.nanoseconds(time) / SECOND for time in (request.delay, request.duration))
        runner.simulation.inject(request.kind, request.target, request.value, delay, duration)

    def _clear_faults(self, runner: Runner, request, response) -> None:
        runner.catch_up()
        runner.simulation.clear_faults()

    async def _connected(self, runner: Runner, request, response) -> None:
        topics = TOPICS if runner.simulation.base is None else (*TOPICS, *base_endpoints.TOPICS)
        response.message = json.dumps(await connect(self._node, topics))


def read_base(simulation: Simulation, base: Sequence[BaseState]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return pose (7,) and twist (6,) of a floating base for reset_to; None if the request has none. Raises ValueError
    that names the field."""
    if not base:
        return None
    if simulation.base is None:
        raise ValueError("base: the robot has no floating base, must be empty")
    return read_pose(base[0].pose, "base[0].pose"), read_twist(base[0].twist, "base[0].twist")


def read_state(
    simulation: Simulation, state: JointState
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray | None]:
    """Return names, positions and velocities (None: at rest) of a JointState for reset_to, without mimic joints.

    An empty list of names stands for the joints of the model in their order. Raises ValueError that names the joint or
    field."""
    joints = simulation.joint_names
    n = len(state.name) or len(joints)
    if state.name:
        check_lengths(state)
        unknown = [name for name in state.name if name not in joints and name not in simulation.robot.model.mimics]
        if unknown:
            raise ValueError(f"state.name: unknown joint '{unknown[0]}'")
    for field in ("position", "velocity"):
        k = len(getattr(state, field))
        if k != n and not (field == "velocity" and k == 0):
            raise ValueError(f"state.{field}: {k} values for {n} joints")
    names = tuple(state.name) or joints
    selection = JointMap(joints).select(names)
    position = np.asarray(state.position)[selection.source]
    velocity = np.asarray(state.velocity)[selection.source] if len(state.velocity) else None
    return tuple(joints[i] for i in selection.target), position, velocity
