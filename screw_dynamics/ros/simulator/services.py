"""The services of simulator_node: each decodes its request, makes one call, and encodes the answer.

No service raises: what is wrong with a request is a ValueError in here, and `success = false` with its text outside.
The comments of the .srv files in screw_dynamics_interfaces are the specification.
"""

from __future__ import annotations

import numpy as np
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from screw_dynamics.simulator.runner import Runner
from screw_dynamics_interfaces.srv import ApplyWrench, ResetTo, Step

from ..node import messages
from ..node.joint_state import JointMap, check_lengths


class SimulatorServices:
    """Serves `node`, which offers: `runner() -> Runner` (ValueError when nothing can be simulated), `restart_clock`,
    `schedule()`, `stamp` (of the state published last) and `get_logger()`."""

    def __init__(self, node):
        self._node = node
        # Steps may take long. In a group of their own they do not keep other callbacks waiting, only further steps.
        alone = MutuallyExclusiveCallbackGroup()
        self._services = [
            node.create_service(kind, f"~/{name}", self._answering(handler, kind.Response), callback_group=group)
            for name, kind, handler, group in (
                ("reset", Trigger, self._reset, None),
                ("reset_to", ResetTo, self._reset_to, None),
                ("set_pause", SetBool, self._set_pause, None),
                ("step", Step, self._step, alone),
                ("apply_wrench", ApplyWrench, self._apply_wrench, None),
            )
        ]

    def destroy(self) -> None:
        """Remove the services from the node."""
        for service in self._services:
            self._node.destroy_service(service)

    def _answering(self, handler, response_type):
        async def answer(request, response):
            try:
                await handler(self._node.runner(), request, response)
                response.success = True
            except ValueError as error:
                response = response_type(success=False, message=str(error))
            except Exception as error:   # a defect of ours must not take the node down
                self._node.get_logger().error(f"{handler.__name__}: {error!r}")
                response = response_type(success=False, message=f"internal error: {error!r}")
            self._node.schedule()
            return response

        return answer

    async def _reset(self, runner: Runner, request, response) -> None:
        runner.abort("~/reset was called")
        runner.simulation.reset(self._node.restart_clock)
        runner.resume()

    async def _reset_to(self, runner: Runner, request, response) -> None:
        names, position, velocity = read_state(runner.simulation, request.state)
        runner.abort("~/reset_to was called")
        runner.simulation.reset_to(names, position, velocity, self._node.restart_clock)
        runner.resume()

    async def _set_pause(self, runner: Runner, request, response) -> None:
        if runner.stepping:
            raise ValueError("steps asked for with ~/step are under way")
        runner.set_paused(request.data)
        response.message = "paused" if request.data else "running"

    async def _step(self, runner: Runner, request, response) -> None:
        if not runner.paused:
            raise ValueError("the simulator is running: ~/set_pause first")
        if runner.simulation.fault:
            raise ValueError(runner.simulation.fault)
        finished = Future()
        runner.step(request.steps, finished.set_result)
        self._node.schedule()
        reason = await finished
        if reason:
            raise ValueError(reason)
        response.stamp = self._node.stamp

    async def _apply_wrench(self, runner: Runner, request, response) -> None:
        link = request.wrench.header.frame_id
        if not link:
            raise ValueError("wrench.header.frame_id is empty: it names the link")
        runner.catch_up()
        duration = request.duration.sec + request.duration.nanosec * 1e-9
        runner.simulation.push(link, messages.wrench(request.wrench.wrench), duration)


def read_state(simulation, state) -> tuple[tuple[str, ...], np.ndarray, np.ndarray | None]:
    """Names, positions and velocities (None: at rest) in a JointState for reset_to; mimic joints are left out.

    An empty list of names stands for the joints of the model in their order. ValueError names the joint or field.
    """
    joints = simulation.robot.joint_names
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
