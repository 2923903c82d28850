"""simulator_node: a simulated robot. It takes commands on joint_commands and publishes joint_states.

A node around a `Simulation` and the `Runner` that paces it. Commands and steps have a thread of their own, and
take turns with services and all else."""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial

import numpy as np
from builtin_interfaces.msg import Time
from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.utilities import remove_ros_args
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from screw_dynamics.robot import Robot
from screw_dynamics.simulation.driven import Driven
from screw_dynamics.simulator.faults import Fault as InjectedFault
from screw_dynamics.simulator.lockstep import Lockstep
from screw_dynamics.simulator.runner import IDLE, Runner
from screw_dynamics.simulator.sensors.sensors import JointState as Reported
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.urdf.reader import model_of

from ..node import messages
from ..node.cdr import ReceivedJointState, joint_state_template
from ..node.description import output_order
from ..node.diagnostics import ERROR, OK, WARN, Report
from ..node.endpoints import STEADY, STREAM
from ..node.joint_state import Fault, listed
from ..node.managed_node import ManagedNode, run
from ..node.preparation import STEPS
from ..node.services import LINGER
from ..node.timing import SECOND
from ..node.watches import rivals
from .command_reader import CommandReader
from .sensor_outputs import JointSensorParameters, SensorOutputs
from .services import SimulatorServices
from .settings import COMMAND_INTERFACES, INITIAL_POSITIONS, SETTINGS, JointParameters
from .simulation_control import SimulationControl
from .trajectory_actions import TrajectoryGroups
from .trajectory_settings import GroupParameters

STATE_FIELDS = ("position", "velocity", "effort")
SHOWN = 20   # active faults in the diagnostics


class SimulatorNode(ManagedNode):
    """The node `screw_simulator`. Topics, services and parameters: README.md and config/simulator.yaml.

    keeps_clock: false for all but one of several simulators on one graph. With `publish_clock` they stamp with their
    simulated time, and the one that keeps the clock publishes it."""

    steps = {
        "simulation": lambda robot, q, link: robot.rollout(q, q, q, steps=1),
        "driven motion": lambda robot, q, link: Driven(robot, "semi_implicit_euler"),
        **{name: STEPS[name] for name in ("gravity torque", "inverse dynamics", "mass matrix", "external torque")},
    }

    def __init__(self, keeps_clock: bool = True, **node_options):
        # The simulator is where simulated time comes from: it cannot follow it.
        overrides = [*node_options.pop("parameter_overrides", ()), Parameter("use_sim_time", value=False)]
        super().__init__("screw_simulator", SETTINGS, "simulation", parameter_overrides=overrides, **node_options)
        self.add_on_set_parameters_callback(refuse_sim_time)
        self._simulation_settings = Settings(**{f.name: getattr(self.settings, f.name) for f in fields(Settings)})
        self._homes = JointParameters(self, INITIAL_POSITIONS)
        self._interfaces = JointParameters(self, COMMAND_INTERFACES)
        self._group_parameters = GroupParameters(self, self.settings.trajectory_groups)
        self._joint_sensors = JointSensorParameters(self, SETTINGS)
        if self.settings.imus:
            kinematics = ("forward kinematics", "Jacobian", "Jacobian derivative")
            self.steps = {**self.steps, **{name: STEPS[name] for name in kinematics}}
        self._keeps_clock = keeps_clock
        self.stamp = Time()   # of the state published last
        self.diagnostics.watches.append(lambda: rivals(self, "joint_states", "joint_commands"))

    def forget(self) -> None:
        """Forget the robot, and simulated time."""
        self._runner: Runner | None = None
        self._given_up = 0    # wall time, as of the last diagnostics

    # --------------------------------------------------------------------------------------------- for the services
    def runner(self) -> Runner:
        """The simulation at work; ValueError when there is none."""
        if self.state_label != "active":
            raise ValueError(f"the simulator is {self.state_label}")
        if self._runner is None:
            raise ValueError(f"no robot yet: {self.description.state}")
        return self._runner

    def clock_ns(self) -> int:
        """The time of stamps: simulated time if it is published, else the system's."""
        return self._runner.simulation.time_ns if self.settings.publish_clock else self.get_clock().now().nanoseconds

    def quit(self) -> None:
        """End the process as on SIGINT, once the answers under way are delivered."""
        self.create_timer(LINGER, self.context.try_shutdown, clock=STEADY)

    @property
    def restart_clock(self) -> bool:
        """Whether a reset restarts simulated time at zero."""
        return self.settings.reset_clock

    # --------------------------------------------------------------------------------------------- lifecycle
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let time run, unless paused, and publish."""
        result = super().on_activate(state)
        if self._runner is not None:
            self._runner.resume()
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let time stand still and publish nothing; commands are dropped, services refuse."""
        if self._runner is not None:
            self._runner.catch_up()
        self.abort("the simulator was deactivated")
        self._commands.schedule(None)
        return super().on_deactivate(state)

    def create_endpoints(self) -> None:
        """Create topics and services."""
        self._states = self.publisher(JointState, "joint_states")
        clock = self.settings.publish_clock and self._keeps_clock
        self._clock_publisher = self.publisher(Clock, "/clock") if clock else None
        self._sensors = SensorOutputs(self, self._simulation_settings)
        self._lockstep = Lockstep(self.settings.lockstep, self.settings.lockstep_commands)
        self._commands = self.subscribe_hot("joint_commands", self._on_command, STREAM, self._work)
        SimulatorServices(self)
        SimulationControl(self)
        self._trajectories = TrajectoryGroups(self, self._group_parameters)
        for parameters, listener in (
                (self._homes, self._on_initial_positions), (self._interfaces, self._on_command_interfaces)):
            parameters.listen(listener)
            self.endpoints.callback(parameters.forget)
        self.endpoints.callback(self.abort, "the simulator was shut down")

    def abort(self, reason: str) -> None:
        """End the steps and the trajectories under way, if any."""
        if self._runner is not None:
            self._runner.abort(reason)
        self._trajectories.abort(reason)

    # --------------------------------------------------------------------------------------------- robot
    def use(self, robot: Robot) -> None:
        """Another robot starts anew, at its initial positions; simulated time goes on. Other gravity acts at once."""
        simulation = self._runner.simulation if self._runner is not None else None
        if simulation is not None and robot.model is simulation.robot.model:
            self._runner.catch_up()
            simulation.robot = robot
        else:
            self._simulate(robot, 0 if simulation is None else simulation.time_ns)

    def _simulate(self, robot: Robot, time_ns: int) -> None:
        settings, names = self._simulation_settings, robot.joint_names
        own = {"joint_sensors": self._joint_sensors.by_joint(names), "instrumented": self._instrumented(robot)}
        at_defaults = Simulation(robot, settings, **own)
        self._homes.declare(robot.model, at_defaults.limits.middle().tolist(), at_defaults.check_position)
        self._interfaces.declare(robot.model, [settings.command_mode] * robot.n)
        for name in (*self._homes.misnamed(), *self._interfaces.misnamed(), *self._joint_sensors.misnamed(names)):
            self.log.warning(f"parameter {name}: unknown joint, the model has {listed(names)}")
        simulation = Simulation(robot, settings, self._homes.by_joint(), time_ns, self._interfaces.by_joint(), **own)
        self.abort("robot_description changed")
        paused = self.settings.start_paused if self._runner is None else self._runner.paused
        every = self._every = max(1, round(1.0 / (self.settings.publish_rate * settings.dt)))
        self._reader = CommandReader(robot.model, self._interfaces.by_joint(), self._notice)
        self._given_up_joints = simulation.given_up
        self._describe_state(simulation)
        self._runner = Runner(
            simulation, self.settings.real_time_factor, every, self._publish, paused, wake=self._schedule,
            lockstep=self._lockstep)
        self._trajectories.use(self._runner)
        self._last = -1   # step of the state published last
        self._sensors.follow(self._runner, self._now)
        if self.state_label == "active":
            self._runner.resume()

    def _instrumented(self, robot: Robot) -> Robot | None:
        """The robot of the same description with what force-torque sensors need."""
        joints = [joint for joint in self.settings.force_torques if joint]
        if not joints:
            return None
        base_link, tip_link = self.settings.base_link or None, self.settings.tip_link or None
        try:
            return Robot(model_of(self.description.text, base_link, tip_link, apart=joints), robot.gravity)
        except ValueError as error:
            raise ValueError(f"parameter force_torques: {error}") from None

    def _describe_state(self, simulation: Simulation) -> None:
        """Determine the entries of a simulation's state that are published; their message is made with the next one."""
        reported, joints = simulation.joint_state().names, simulation.robot.joint_names
        mimics = np.arange(len(joints), len(reported))
        self._order = np.concatenate((output_order(joints, self.settings.joints), mimics))
        self._reported = [reported[i] for i in self._order]
        self._frame_id: str | None = None

    def parameters_changed(self, names: set[str]) -> None:
        """Follow parameters that changed while configured."""
        if "real_time_factor" in names and self._runner is not None:
            self._runner.catch_up()
            self._runner.set_factor(self.settings.real_time_factor)

    def _on_initial_positions(self, names: set[str]) -> None:
        if self._runner is not None and self._runner.simulation.robot.model is self._homes.model:
            self._runner.simulation.set_home(self._homes.by_joint())
        elif self.description.refused is not None:
            self.description.offer(self.description.refused)   # perhaps it was refused for these

    def _on_command_interfaces(self, names: set[str]) -> None:
        simulation = self._runner.simulation if self._runner is not None else None
        if simulation is not None and simulation.robot.model is self._interfaces.model:
            self._runner.catch_up()
            simulation.set_modes(self._interfaces.by_joint())
            self._reader = CommandReader(simulation.robot.model, self._interfaces.by_joint(), self._notice)

    # --------------------------------------------------------------------------------------------- callbacks
    def _schedule(self, wait: int = 0) -> None:
        """Work in `wait` nanoseconds, whatever was planned before."""
        if self.state_label == "active":
            self._commands.schedule(wait)

    def _work(self) -> None:
        wait = IDLE
        try:
            wait = self._runner.work()
        finally:
            self._schedule(wait)
        simulation = self._runner.simulation
        if simulation.fault:
            self._trajectories.abort(simulation.fault)
            self.diagnostics.log("fault", simulation.fault, "error")
        if simulation.given_up is not self._given_up_joints:
            if (simulation.given_up & ~self._given_up_joints).any():
                self.diagnostics.log("stale commands", self._explain_timeout(simulation))
            self._given_up_joints = simulation.given_up

    def _explain_timeout(self, simulation: Simulation) -> str:
        """What a log says when commands have ceased to come."""
        silent = (
            ". The last commands equal the reported state, where ros2_control's JointStateTopicSystem is silent: set "
            "its trigger_joint_command_threshold to -1, or command_timeout to 0") if simulation.at_command else ""
        return f"{self._without_commands(simulation)}: on_timeout is {self._simulation_settings.on_timeout}{silent}"

    def _without_commands(self, simulation: Simulation) -> str:
        joints = ", ".join(np.array(simulation.robot.joint_names)[simulation.given_up])
        return f"no joint_commands for {self._simulation_settings.command_timeout:g} s (command_timeout) for {joints}"

    def _on_command(self, msg: ReceivedJointState) -> None:
        if self.state_label != "active" or self._runner is None:
            raise Fault("not active", "there is no active simulation", "debug")
        command = self._reader.read(msg)
        self._runner.catch_up()   # up to now under the commands before
        self._trajectories.commanded(~np.isnan(command))
        self._runner.simulation.command(command)
        self.diagnostics.tick("command")
        if not self._runner.answered(msg.stamp) and self._lockstep.on:
            self._notice(Fault("not awaited in lockstep", "more commands than states, motion may depend on scheduling"))

    def _notice(self, fault: Fault) -> None:
        self.diagnostics.notice("joint_commands", fault)

    def _now(self) -> Time:
        """The stamp of the state of now."""
        return messages.time_message(self.clock_ns())

    def _publish(self) -> bool:
        """Publish state and clock, last what the controller answers: the other one is there when it does. False if that
        is a state that the robot's sensors lose."""
        self.stamp, steps = self._now(), self._runner.simulation.steps
        if steps == self._last or steps % self._every:
            self._sensors.publish(again=steps == self._last)
        self._last = steps
        state = self._runner.simulation.joint_state()
        topics = [self._publish_clock, partial(self._publish_state, state)]
        for publish in reversed(topics) if self._lockstep.trigger == "clock" else topics:
            publish()
        self.diagnostics.tick("publish")
        return self._lockstep.trigger != "joint_states" or not state.lost.all()

    def _publish_clock(self) -> None:
        if self._clock_publisher is not None:
            self._clock_publisher.publish(Clock(clock=self.stamp))

    def _publish_state(self, state: Reported) -> None:
        frame_id = self.settings.frame_id or self._runner.simulation.robot.model.root
        if frame_id != self._frame_id:   # a parameter that may change
            self._frame_id, self._template = frame_id, joint_state_template(self._reported, STATE_FIELDS, frame_id)
        template, order = self._template, self._order
        if state.lost.any():
            order = order[~state.lost[order]]
            if not len(order):
                return
            template = joint_state_template([state.names[i] for i in order], STATE_FIELDS, frame_id)
        template.stamp(self.stamp.sec, self.stamp.nanosec)
        for field in STATE_FIELDS:
            getattr(state, field).take(order, out=template.fields[field])
        self._states.publish(template.encode())

    # --------------------------------------------------------------------------------------------- diagnostics
    def robot_health(self) -> Report:
        """Level, message and values for the diagnostics while configured."""
        refused = bool(self.description.error)
        if self._runner is None:
            return ERROR if refused else WARN, self.description.state, {}
        runner, simulation = self._runner, self._runner.simulation
        names = simulation.robot.joint_names
        values = {
            "joints": simulation.robot.n,
            "simulated time [s]": simulation.time_ns / SECOND,
            "steps since the last reset": simulation.steps,
            "paused": runner.paused,
            "trajectories": ", ".join(self._trajectories.running()) or "none",
            "real-time factor": f"{runner.measured_factor():.3f}",
            "wall time given up [s]": runner.given_up / SECOND,
            "saturated efforts [steps]": int(simulation.saturated.sum()),
        }
        values |= {f"saturated: {names[i]}": int(simulation.saturated[i]) for i in simulation.saturated.nonzero()[0]}
        failing = [described(fault, simulation) for fault in simulation.faults.active[:SHOWN]]
        if failing:
            values["active faults"] = len(simulation.faults.active)
            values |= {f"fault {k}": text for k, text in enumerate(failing, 1)}
        if self._lockstep.on:
            values["lockstep"] = self._lockstep.awaited or "answered"
        behind, self._given_up = runner.given_up > self._given_up, runner.given_up
        if simulation.fault:
            return ERROR, simulation.fault, values
        if refused:
            return WARN, self.description.state, values
        if self.state_label != "active":
            return OK, self.state_label, values
        if failing:
            return WARN, f"faults of the simulated robot: {listed(failing)}", values
        if simulation.given_up.any():
            return WARN, self._without_commands(simulation), values
        if behind:
            return WARN, f"cannot keep the real-time factor {self.settings.real_time_factor}", values
        return OK, "stepping" if runner.stepping else "paused" if runner.paused else "running", values


def described(fault: InjectedFault, simulation: Simulation) -> str:
    """An active fault, and how long it lasts."""
    remaining = simulation.faults.remaining(fault, simulation.steps)
    return f"{fault}" + ("" if remaining == math.inf else f" for another {remaining:.3f} s")


def refuse_sim_time(parameters: Sequence[Parameter]) -> SetParametersResult:
    """The simulator makes simulated time: following it would be waiting for itself."""
    wrong = any(p.name == "use_sim_time" and p.value for p in parameters)
    return SetParametersResult(successful=not wrong, reason="the simulator keeps use_sim_time false" if wrong else "")


def main(args: Sequence[str] | None = None) -> int:
    """Run simulator_node, or one of each namespace that `--robots` names, in one process; the exit code."""
    parser = argparse.ArgumentParser(prog="simulator_node", description="A simulated robot.", allow_abbrev=False)
    parser.add_argument("--robots", nargs="+", metavar="NAMESPACE", help="a robot in each namespace, in one process")
    options, _ = parser.parse_known_args(remove_ros_args(args)[1:])
    if not options.robots:
        return run(SimulatorNode, args=args)
    return run(*(partial(SimulatorNode, keeps_clock=k == 0, namespace=namespace)
                 for k, namespace in enumerate(options.robots)), args=args)


if __name__ == "__main__":
    sys.exit(main())
