"""The log lines and the diagnostics of the simulator."""

import math

import numpy as np
from rclpy.node import Node

from screw_dynamics.rollout.conservation import momentum_and_moment
from screw_dynamics.simulator.faults import Fault
from screw_dynamics.simulator.lockstep import Lockstep
from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.simulation import Simulation

from ..node.diagnostics import ERROR, OK, WARN, Report
from ..node.joint_state import listed
from ..node.watches import publishers, runs
from ..timing import SECOND
from .complaints import Complaints

CONTROLLER_MANAGER = "controller_manager"     # the node of ros2_control
SHOWN = 20   # active faults in the diagnostics
# What acts on joints with timed-out commands, by on_timeout; with zero, position-controlled joints do not time out.
ACTING = {"zero": "their efforts or velocities are 0", "hold": "brakes hold them",
          "gravity_compensation": "their gravity torques act"}


class SimulationHealth:
    """Reports on the simulation of a node, which provides `description`, `state_label`, `settings`, `payloads`,
    `diagnostics` and its view of the graph."""

    def __init__(self, node, lockstep: Lockstep, complaints: Complaints):
        self._node, self._lockstep, self._complaints = node, lockstep, complaints
        self._runner: Runner | None = None
        self._behind = 0    # at the last report

    def follow(self, runner: Runner) -> None:
        """Report on this runner from now on."""
        self._runner, self._stale = runner, runner.simulation.given_up

    def log(self) -> None:
        """Log a fault, and command timeouts since the previous call."""
        simulation = self._runner.simulation
        if simulation.fault:
            self._node.diagnostics.log("fault", simulation.fault, "error")
        if simulation.given_up is not self._stale:
            if (simulation.given_up & ~self._stale).any():
                text = explained_timeout(simulation, self._node, self._complaints)
                self._node.diagnostics.log("stale commands", text)
            self._stale = simulation.given_up

    def report(self, trajectories: list[str]) -> Report:
        """Return level, message and values for the diagnostics. trajectories: the groups that follow one."""
        if self._runner is None:
            return ERROR if self._node.description.error else WARN, self._node.description.state, {}
        factor = self._runner.measured_factor()
        level, message = self._verdict(self._runner, self._runner.simulation, factor)
        return level, message, self._values(self._runner, trajectories, factor)

    def _values(self, runner: Runner, trajectories: list[str], factor: float) -> dict:
        simulation = runner.simulation
        names, saturated, faults = simulation.names, simulation.saturated, active_faults(simulation)
        values = {
            "joints": len(simulation.joint_names),
            "simulated time [s]": simulation.time_ns / SECOND,
            "steps since the last reset": simulation.steps,
            "paused": runner.paused,
            "payloads [kg]": ", ".join(f"{link}: {mass:g}" for link, mass in self._node.payloads.items()) or "none",
            "trajectories": ", ".join(trajectories) or "none",
            "real-time factor": f"{factor:.3f}",
            "behind real time [s]": runner.behind / SECOND,
            "saturated efforts [joint steps]": int(saturated.sum()),
        }
        values |= {f"saturated: {names[i]}": int(saturated[i]) for i in saturated.nonzero()[0]}
        values |= {f"temperature: {name} [C]": f"{temperature:.1f}" for name, temperature in
                   zip(simulation.heat.names, simulation.heat.temperatures, strict=True)}
        if simulation.windings.names:
            now = simulation.snapshot()
            values |= {f"{what}: {name} [{unit}]": f"{x:.3f}" for what, unit, xs in zip(
                ("current", "voltage"), "AV", simulation.windings.state(now.effort, now.qd), strict=True)
                for name, x in zip(simulation.windings.names, xs, strict=True)}
        values |= conserved(simulation)
        if faults:
            values["active faults"] = len(simulation.faults.active)
            values |= {f"fault {k}": text for k, text in enumerate(faults, 1)}
        if self._lockstep.on:
            values["lockstep"] = self._lockstep.awaited or "answered"
        return values

    def _verdict(self, runner: Runner, simulation: Simulation, factor: float) -> tuple[bytes, str]:
        behind, self._behind = runner.behind > self._behind, runner.behind
        if simulation.fault or self._complaints.first:
            return ERROR, simulation.fault or self._complaints.first
        if self._node.description.error:
            return WARN, self._node.description.state
        if self._node.state_label != "active":
            return WARN, self._node.state_label
        if faults := active_faults(simulation):
            return WARN, f"faults of the simulated robot: {listed(faults)}"
        if simulation.given_up.any():
            return WARN, without_commands(simulation, self._node, self._complaints)
        if refused := self._complaints.all_refused():
            return WARN, "; ".join(source(topic, self._node, self._complaints) for topic in refused)
        if behind:
            return WARN, (f"real_time_factor {self._node.settings.real_time_factor:g} is not kept, {factor:.3g} was "
                          f"reached: {runner.behind / SECOND:.1f} s behind since the start")
        return OK, "stepping" if runner.stepping else "paused" if runner.paused else "running"


def conserved(simulation: Simulation) -> dict[str, str]:
    """Return energy, momentum, and indicators of integration errors, whose limits docs/simulator_node.md
    documents."""
    robot, q, qd = simulation.robot, simulation.q, simulation.qd
    values = {"kinetic energy [J]": digits(robot.kinetic_energy(q, qd)),
              "potential energy [J]": digits(robot.potential_energy(q))}
    if simulation.base is not None:
        momentum = momentum_and_moment(robot, q, qd)[0]
        values |= {"angular momentum [N m s]": digits(momentum[:3]), "linear momentum [N s]": digits(momentum[3:])}
    values |= {f"constraint residual: {name}": digits(of(q)) for name, of in simulation.residuals.items()}
    if simulation.environment is not None:
        values["contacts not solved [m/s]"] = digits(simulation.unsolved)
    account = simulation.account()
    if account is not None:
        values |= {"work of efforts and pushes [J]": digits(account.work), "taken by friction [J]":
                   digits(account.friction), "taken by stops and brakes [J]": digits(account.stops),
                   "energy balance residual [J]": digits(account.energy_residual)}
        if account.momentum_residual is not None:
            left = account.momentum_residual
            values |= {"angular momentum residual [N m s]": digits(left[:3]),
                       "linear momentum residual [N s]": digits(left[3:])}
    return values


def digits(x: float | np.ndarray) -> str:
    """Format numbers with six significant digits, separated by spaces."""
    return " ".join(f"{value:.6g}" for value in np.atleast_1d(x))


def active_faults(simulation: Simulation) -> list[str]:
    """Return the active faults, at most SHOWN, each with its remaining time."""
    return [described(fault, simulation) for fault in simulation.faults.active[:SHOWN]]


def described(fault: Fault, simulation: Simulation) -> str:
    """Return an active fault and its remaining time as text."""
    remaining = simulation.faults.remaining(fault, simulation.steps)
    return f"{fault}" + ("" if remaining == math.inf else f" for another {remaining:.3f} s")


def without_commands(simulation: Simulation, node: Node, complaints: Complaints) -> str:
    """Return a text on the joints without commands, and on the publishing nodes in this node's view of the graph."""
    first = simulation.robot.n - len(simulation.joint_names)
    joints = ", ".join(np.array(simulation.joint_names)[simulation.given_up[first:]])
    span = f"for {simulation.settings.command_timeout:g} s (command_timeout)"
    lacking = [f"no joint_commands {span} for {joints}: {source('joint_commands', node, complaints)}"] if joints else []
    if simulation.given_up[:first].any():
        lacking.append(f"no base_wrench {span}: {source('base_wrench', node, complaints)}")
    return "; ".join(lacking)


def source(topic: str, node: Node, complaints: Complaints) -> str:
    """Return a text on the nodes that publish a topic whose commands are missing, and on the use of their messages."""
    found = publishers(node, topic)
    if not found:
        return f"no node publishes {topic}"
    return f"{', '.join(found)} {'publishes' if len(found) == 1 else 'publish'} {topic}, {complaints.sent(topic)}"


def explained_timeout(simulation: Simulation, node: Node, complaints: Complaints) -> str:
    """Return the text of `without_commands` at the time of a command timeout, with its consequence and a possible
    cause."""
    timeout = simulation.settings.on_timeout
    silent = (
        ". The state equals the last commands, and ros2_control's JointStateTopicSystem sends nothing then: set its "
        "trigger_joint_command_threshold to -1, or command_timeout to 0"
    ) if simulation.at_command and publishers(node, "joint_commands") and runs(node, CONTROLLER_MANAGER) else ""
    lacking = without_commands(simulation, node, complaints)
    return f"{lacking}. From now on {ACTING[timeout]} (on_timeout: {timeout}){silent}"
