"""simulator_node: a simulated robot. It subscribes to joint_commands and publishes joint_states.

It is a node around a `Simulation` and the `Runner` that paces it. Commands and steps run in a separate thread, which
excludes services and other callbacks."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from builtin_interfaces.msg import Time
from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from screw_dynamics.model.floating_base import coordinate_joints
from screw_dynamics.robot import Robot
from screw_dynamics.rollout.conservation import momentum_and_moment
from screw_dynamics.simulator.conservation import prepare_balance
from screw_dynamics.simulator.lockstep import Lockstep
from screw_dynamics.simulator.loops import prepare_loops
from screw_dynamics.simulator.motors import motor_mask
from screw_dynamics.simulator.moving import driven
from screw_dynamics.simulator.runner import IDLE, Runner
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.simulator.stamps import Stamps
from screw_dynamics.simulator.windings import under_current_control

from ..endpoints import LINGER, STEADY, STREAM
from ..node.cdr import ReceivedJointState
from ..node.description import output_order
from ..node.diagnostics import Report
from ..node.joint_state import Fault
from ..node.loaded_robot import LoadedRobot
from ..node.managed_node import ManagedNode, run
from ..node.optional import optional_interfaces
from ..node.preparation import STEPS
from ..node.process import arguments
from ..node.watches import rivals
from ..signals import end
from .base_endpoints import BaseEndpoints, on_base, on_joints
from .command_reader import CommandReader
from .complaints import REFUSED, Complaints
from .drive_endpoints import DriveEndpoints
from .entity_control import EntityControl
from .gripper_actions import GripperActions
from .gripper_settings import GripperParameters
from .health import SimulationHealth
from .interface import INTERFACE
from .outputs import Outputs
from .scene_services import SceneServices
from .scenes import unlimited_servos
from .services import SimulatorServices
from .settings import COMMAND_INTERFACES, INITIAL_POSITIONS, SETTINGS
from .simulation_control import SimulationControl
from .simulation_parameters import SimulationParameters
from .trajectory_actions import TrajectoryGroups
from .trajectory_settings import GroupParameters


class SimulatorNode(ManagedNode):
    """The node `screw_simulator`. Topics, services and actions: `interface`; parameters: `settings`.

    keeps_clock: False for all but one of several simulators on one graph. With `publish_clock` all use their simulated
    time for stamps, and the one with keeps_clock publishes it."""

    interface, closes_loops = INTERFACE, True
    families = INITIAL_POSITIONS.name, COMMAND_INTERFACES.name
    steps = {
        **{name: STEPS[name] for name in ("gravity torque", "inverse dynamics", "mass matrix", "external torque")},
        "energy": lambda robot, q, v, link: robot.kinetic_energy(q, v) + robot.potential_energy(q),
        "momentum": lambda robot, q, v, link: robot.model.on_groups and momentum_and_moment(robot, q, v),
    }

    def __init__(self, keeps_clock: bool = True, **node_options):
        # The simulator is the source of simulated time, so it cannot follow it.
        overrides = [*node_options.pop("parameter_overrides", ()), Parameter("use_sim_time", value=False)]
        super().__init__("screw_simulator", SETTINGS, "simulation", parameter_overrides=overrides, **node_options)
        self.add_on_set_parameters_callback(refuse_sim_time)
        self._simulation_parameters = SimulationParameters(self)
        integrator = self._simulation_parameters.settings.integrator
        self.steps = {
            "simulation": lambda robot, q, v, link: robot.rollout(
                q, v, v, steps=1, integrator=integrator, limits=False),     # which q may be beyond
            "driven motion": lambda robot, q, v, link: driven(
                robot, self._simulation_parameters.settings, self._simulation_parameters.forces),
            "scene": lambda robot, q, v, link: self._simulation_parameters.prepare_scene(robot),
            "closed loops": lambda robot, q, v, link: robot.model.constraints and prepare_loops(robot, q, v),
            **self.steps}
        self._group_parameters = GroupParameters(self, self.settings.trajectory_groups)
        self._gripper_parameters = GripperParameters(
            self, self.settings.gripper_groups, self._group_parameters.groups)
        if self.settings.imus:
            kinematics = ("forward kinematics", "Jacobian", "Jacobian derivative")
            self.steps = {**self.steps, **{name: STEPS[name] for name in kinematics}}
        if self.settings.energy_balance:
            self.steps = {**self.steps, "energy balance": partial(prepare_balance, integrator=self.settings.integrator)}
        self._keeps_clock = keeps_clock
        self._complaints = Complaints(self, self._on_complaint)
        self.diagnostics.listeners.append(self._complaints.hear)
        self.diagnostics.watches.append(lambda: rivals(self, "joint_states", "joint_commands"))

    def forget(self) -> None:
        """Discard the robot, its payloads, and simulated time."""
        self._loaded = LoadedRobot()
        self._runner: Runner | None = None
        self._stamps: Stamps | None = None

    # --------------------------------------------------------------------------------------------- for the services
    def runner(self) -> Runner:
        """Return the runner of the simulation. Raises ValueError if the node is not active or has no robot."""
        if self.state_label != "active":
            raise ValueError(f"the simulator is {self.state_label}")
        if self._runner is None:
            raise ValueError(f"no robot yet: {self.description.state}")
        return self._runner

    def clock_ns(self) -> int:
        """Return the time of the clock of stamps, in ns: simulated time if it is published, else the system's."""
        return self._runner.simulation.time_ns if self.settings.publish_clock else self._system_ns()

    def stamp_ns(self) -> int:
        """Return the stamp of the current state: its simulated time, or the system's time at the start plus k dt."""
        time = self._runner.simulation.time_ns
        return time if self.settings.publish_clock else self._stamps.at(time)

    def _system_ns(self) -> int:
        return self.get_clock().now().nanoseconds

    def _on_resumed(self) -> None:
        self._stamps.catch_up(self._runner.simulation.time_ns, self._system_ns())

    def quit(self) -> None:
        """End the process as SIGINT does, after pending responses are delivered."""
        self.create_timer(LINGER, self.context.try_shutdown, clock=STEADY)

    @property
    def stamp(self) -> Time:
        """The stamp of the last published state."""
        return self._outputs.stamp

    @property
    def restart_clock(self) -> bool:
        """True if a reset restarts simulated time at zero."""
        return self.settings.reset_clock

    # --------------------------------------------------------------------------------------------- lifecycle
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Run the simulation, unless paused, and publish."""
        result = super().on_activate(state)
        if self._runner is not None:
            self._runner.resume()
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the simulated time and publish nothing; commands are dropped, and services refuse requests."""
        if self._runner is not None:
            self._runner.catch_up()
        self.abort("the simulator was deactivated")
        self._commands.schedule(None)
        return super().on_deactivate(state)

    def create_endpoints(self) -> None:
        """Create topics and services."""
        self._lockstep = Lockstep(self.settings.lockstep, self.settings.lockstep_commands)
        self._outputs = Outputs(self, self._simulation_parameters.settings, self._lockstep, self._keeps_clock)
        if self.settings.left_wheels or self.settings.right_wheels:
            self._outputs.drive = DriveEndpoints(self, self._on_wheels)
        self._health = SimulationHealth(self, self._lockstep, self._complaints)
        self._commands = self.subscribe_hot("joint_commands", self._on_command, STREAM, self._work)
        SimulatorServices(self)
        SceneServices(self)
        messages = optional_interfaces(
            "simulation_interfaces.msg", "~/set_simulation_state, ~/spawn_entity and the like", self.log)
        if messages is not None:
            EntityControl(self, messages)
            SimulationControl(self, messages)
        groups, grippers = self._group_parameters.groups, self._gripper_parameters.groups
        actions = ["follow_joint_trajectory"] * bool(groups) + ["gripper_cmd"] * bool(grippers)
        control = optional_interfaces("control_msgs.action", f"actions {' and '.join(actions)}", self.log) if (
            actions) else None
        self._trajectories = TrajectoryGroups(self, self._group_parameters, control)
        GripperActions(self, self._gripper_parameters, self._trajectories, control)
        for parameters, listener in (
                (self._simulation_parameters.homes, self._on_initial_positions),
                (self._simulation_parameters.interfaces, self._on_command_interfaces)):
            parameters.listen(listener)
            self.endpoints.callback(parameters.forget)
        self.endpoints.callback(self.abort, "the simulator was shut down")

    def abort(self, reason: str) -> None:
        """Abort running steps and trajectories."""
        if self._runner is not None:
            self._runner.abort(reason)
        self._trajectories.abort(reason)
        self._complaints.clear()

    def check_steps(self, runner: Runner) -> None:
        """Raise ValueError with the reason if no steps can be made."""
        if reason := runner.simulation.fault or self._complaints.first:
            raise ValueError(reason)

    def _on_complaint(self, text: str) -> None:
        if self._runner is not None:
            self._runner.abort(text)

    # --------------------------------------------------------------------------------------------- robot
    def complete(self, robot: Robot) -> Robot:
        """Return the robot of a description with its drives."""
        return under_current_control(self._simulation_parameters.drives.on(robot))

    def use(self, robot: Robot) -> None:
        """Simulate another robot from its initial positions, with the payloads of links that it also has; simulated
        time continues. If only gravity differs, it takes effect at once."""
        simulation = self._runner.simulation if self._runner is not None else None
        if simulation is not None and self._loaded.describes(robot.model):
            self._runner.catch_up()
            self._loaded.describe(robot)
            simulation.robot = self._loaded.robot
        else:
            self._simulate(robot, 0 if simulation is None else simulation.time_ns)

    def _simulate(self, robot: Robot, time_ns: int) -> None:
        # Checks that may refuse the robot come first: then the previous simulation continues.
        simulation = self._simulation_parameters.simulation(robot, time_ns)
        if self._outputs.drive is not None:
            self._outputs.drive.check(simulation)
        self._group_parameters.declare(robot.model)
        self._complaints.unused_settings([
            *self._simulation_parameters.unused(robot.model), *self._group_parameters.unused(robot.model),
            *self._gripper_parameters.unused(robot.model),
            *(self.settings.unknown(self.families) if self.settings.strict else ())])     # else `start` logs them
        joints, motors = coordinate_joints(robot.model), motor_mask(robot.model)[robot.n - len(simulation.joint_names):]
        order = output_order(joints, list(filter(None, self.settings.joints)) or [joint for joint, motor in zip(
            joints, motors, strict=True) if not motor])
        self.abort("robot_description changed")
        for link in self._loaded.describe(robot):
            self.log.warning(f"payload of link '{link}' removed: the new robot has no such link")
        simulation.carry(self._loaded.robot, self._loaded.loaded)
        paused = self.settings.start_paused if self._runner is None else self._runner.paused
        self._runner = Runner(
            simulation, self.settings.real_time_factor, self._outputs.every, self._outputs.publish, paused,
            wake=self._schedule, lockstep=self._lockstep, resumed=self._on_resumed)
        self._stamps = self._stamps or Stamps(simulation.settings.dt_ns, time_ns, self._system_ns())
        self._warn_of_stamps()
        self._warn_of_servos(simulation)
        self._read_commands(simulation)
        self._health.follow(self._runner)
        self._trajectories.use(self._runner)
        self._follow_base(simulation)
        if self._outputs.drive is not None:
            self._outputs.drive.follow(simulation)
        self._outputs.follow(self._runner, order, np.flatnonzero(motors))
        if self.state_label == "active":
            self._runner.resume()

    def set_payload(self, link: str, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
        """Replace the payload of a link from the current step on. Raises ValueError if it is not physical."""
        self._runner.catch_up()
        self._loaded.set_payload(link, mass, com, inertia)
        self._runner.simulation.carry(self._loaded.robot, self._loaded.loaded)

    @property
    def payloads(self) -> dict[str, float]:
        """The mass of the payload by link [kg]."""
        return self._loaded.payloads

    def _follow_base(self, simulation: Simulation) -> None:
        """Create the topics of a floating base with the first robot that has one."""
        if simulation.base is not None and self._outputs.base is None:
            self._outputs.base = BaseEndpoints(self, self._on_base_wrench)
        if self._outputs.base is not None:
            self._outputs.base.follow(simulation.base)

    def _read_commands(self, simulation: Simulation) -> None:
        interfaces = self._simulation_parameters.interfaces.by_joint()
        names = simulation.command_names[simulation.robot.n - len(simulation.joint_names):]
        model = simulation.robot.model
        self._reader = CommandReader(names, model.mimics, interfaces, self._notice,
                                     references=bool(model.drives) and not self._lockstep.on)

    def parameters_changed(self, names: set[str]) -> None:
        """Apply parameters that changed while configured."""
        if "real_time_factor" in names and self._runner is not None:
            self._runner.catch_up()
            self._runner.set_factor(self.settings.real_time_factor)
            self._warn_of_stamps()

    def _warn_of_stamps(self) -> None:
        factor = self.settings.real_time_factor
        if factor != 1.0 and not self.settings.publish_clock:
            self.log.warning(
                f"real_time_factor is {factor:g}: stamps of states are in simulated time, and deviate from the system "
                "clock. Set publish_clock: true, and use_sim_time: true on other nodes")

    def _warn_of_servos(self, simulation: Simulation) -> None:
        if text := unlimited_servos(simulation, self._simulation_parameters.interfaces.by_joint()):
            self.log.warning(text)

    def _on_initial_positions(self, names: set[str]) -> None:
        homes = self._simulation_parameters.homes
        if self._runner is not None and self._loaded.describes(homes.model):
            self._runner.simulation.initial_state.change(homes.by_joint())
        elif self.description.refused is not None:
            self.description.offer(self.description.refused)   # it may have been refused because of these

    def _on_command_interfaces(self, names: set[str]) -> None:
        interfaces = self._simulation_parameters.interfaces
        if self._runner is not None and self._loaded.describes(interfaces.model):
            self._runner.catch_up()
            self._runner.simulation.set_modes(interfaces.by_joint())
            self._warn_of_servos(self._runner.simulation)
            self._read_commands(self._runner.simulation)

    # --------------------------------------------------------------------------------------------- callbacks
    def _schedule(self, wait: int = 0) -> None:
        """Schedule `_work` in `wait` nanoseconds, in place of any earlier plan."""
        if self.state_label == "active":
            self._commands.schedule(wait)

    def _work(self) -> None:
        wait = IDLE
        try:
            wait = self._runner.work()
        finally:
            self._schedule(wait)
        if self._runner.simulation.fault:
            self._trajectories.abort(self._runner.simulation.fault)
        self._health.log()

    def _on_command(self, msg: ReceivedJointState) -> None:
        if self.state_label != "active" or self._runner is None:
            raise Fault("not active", "there is no active simulation", "debug")
        self._complaints.reading()
        try:
            command = self._reader.read(msg)
        except Fault:
            if self._complaints.tolerates(REFUSED) and self.settings.strict:
                self._runner.answered(msg.stamp)    # or lockstep would wait forever
            raise
        self._complaints.read("joint_commands")
        self._command(on_joints(command, self._runner.simulation), msg.stamp, "joint_commands")

    def _on_wheels(self, speeds: Mapping[str, float], stamp: int) -> None:
        if self.state_label != "active" or self._runner is None:
            raise Fault("not active", "there is no active simulation", "debug")
        simulation = self._runner.simulation
        command = np.full(simulation.robot.n, np.nan)
        for wheel, speed in speeds.items():
            command[simulation.command_names.index(wheel)] = speed
        self._command(command, stamp, "cmd_vel")

    def _on_base_wrench(self, wrench: np.ndarray, stamp: int) -> None:
        if self.state_label != "active" or self._runner is None:
            raise Fault("not active", "there is no active simulation", "debug")
        self._command(on_base(wrench, self._runner.simulation), stamp, "base_wrench")

    def _command(self, command: np.ndarray, stamp: int, topic: str) -> None:
        """Apply commands (n,) of a message with a stamp in nanoseconds."""
        self._runner.catch_up()   # up to now with the previous commands
        self._trajectories.commanded(~np.isnan(command))
        self._runner.simulation.command(command)
        self.diagnostics.tick("command")
        if not self._runner.answered(stamp) and self._lockstep.on:
            self.diagnostics.notice(topic, Fault(
                "not awaited in lockstep", "more commands than states, motion may depend on scheduling"))

    def _notice(self, fault: Fault) -> None:
        self.diagnostics.notice("joint_commands", fault)

    # --------------------------------------------------------------------------------------------- diagnostics
    def robot_health(self) -> Report:
        """Return level, message and values for the diagnostics while configured."""
        return self._health.report(self._trajectories.running())


def refuse_sim_time(parameters: Sequence[Parameter]) -> SetParametersResult:
    """Refuse use_sim_time: the simulator makes simulated time, and would wait for itself."""
    wrong = any(p.name == "use_sim_time" and p.value for p in parameters)
    return SetParametersResult(successful=not wrong, reason="the simulator keeps use_sim_time false" if wrong else "")


def main(args: Sequence[str] | None = None) -> int:
    """Run simulator_node, or one in each namespace of `--robots`, in one process, and return the exit code."""
    options = arguments("simulator_node", "A simulated robot.", args, robots={
        "nargs": "+", "metavar": "NAMESPACE", "help": "a robot in each namespace, in one process"})
    if not options.robots:
        return run(SimulatorNode, args=args)
    return run(*(partial(SimulatorNode, keeps_clock=k == 0, namespace=namespace)
                 for k, namespace in enumerate(options.robots)), args=args)


if __name__ == "__main__":
    end(main())
