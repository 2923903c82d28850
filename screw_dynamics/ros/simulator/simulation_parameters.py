"""Construction of the simulation of a robot from the parameters of simulator_node."""

from contextlib import suppress

from screw_dynamics.collision.shapes import Sphere
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.model.floating_base import coordinate_joints
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.scene.objects import SceneObject
from screw_dynamics.simulator.initial_state import default_modes
from screw_dynamics.simulator.motors import motor_mask
from screw_dynamics.simulator.setting import rows
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.simulator.windings import under_current_control

from ..node.drives import GivenDrives
from ..node.joint_state import listed
from .force_elements import elements
from .joint_parameters import JointParameters, JointSensorParameters
from .scenes import SceneParameters
from .settings import COMMAND_INTERFACES, INITIAL_POSITIONS, SETTINGS


class SimulationParameters:
    """The parameters of a node for simulations: `settings`, and those of single joints.

    homes, interfaces: the initial positions and the command interfaces of the last robot's joints; forces: the force
    elements. The node provides `settings`, `description` and `log`. Raises ValueError if an override does not fit."""

    def __init__(self, node):
        self._node = node
        self.settings = Settings(**{row.name: getattr(node.settings, row.name) for row in rows(Settings)})
        self.homes = JointParameters(node, INITIAL_POSITIONS)
        self.interfaces = JointParameters(node, COMMAND_INTERFACES)
        self._sensors = JointSensorParameters(node, SETTINGS)
        self.forces, self.drives = elements(node.settings.forces), GivenDrives(node.settings.drives)
        self.scenes = SceneParameters(node)

    def simulation(self, robot: Robot, time_ns: int) -> Simulation:
        """Return a new simulation, whose time starts at time_ns. The joint parameters are declared for this robot.

        Raises ValueError if a parameter does not fit the robot, or the robot cannot be simulated."""
        names = coordinate_joints(robot.model)
        motors = motor_mask(robot.model)[robot.n - len(names):]
        own = {"joint_sensors": self._sensors.by_joint(names), "instrumented": self._instrumented(robot),
               "forces": self.forces, "scene": self.scenes.around(robot)}
        at_defaults = Simulation(robot, self.settings, **own)
        middle = at_defaults.limits.middle()[robot.n - len(names):]
        self.homes.declare(robot.model, {name: x for name, x, motor in zip(names, middle.tolist(), motors, strict=True)
                                         if not motor}, at_defaults.initial_state.check)
        self.interfaces.declare(robot.model, self._modes(robot.model))
        return Simulation(robot, self.settings, self.homes.by_joint(), time_ns, self.interfaces.by_joint(), **own)

    def _modes(self, model: Model) -> dict[str, str]:
        """Return the default command interface of each joint. Wheels driven by cmd_vel have velocity commands."""
        wheels = (*self._node.settings.left_wheels, *self._node.settings.right_wheels)
        modes = default_modes(model, self.settings.command_mode)
        return {joint: "velocity" if joint in wheels else mode for joint, mode in modes.items()}

    def prepare_scene(self, robot: Robot) -> None:
        """Make a step in the scene, if there is one, and one with an added moving body, so that the kernels are loaded
        or compiled ahead of time. Errors of the scene are raised in `simulation`."""
        if not self.scenes.asked:
            return
        with suppress(ValueError):
            simulation = Simulation(robot, self.settings, forces=self.forces,
                                    scene=self.scenes.around(robot, quiet=True))
            for body in (None, SceneObject("screw_dynamics: prepared", Sphere(1e-3), 1e-3)):
                if body is not None:
                    simulation.spawn(body)
                simulation.advance(1)
                simulation.touches()

    def unused(self, model: Model) -> list[str]:
        """Return a line for each parameter without effect: of a joint that the model, that of the last robot, does not
        have, or of a scene that is not there."""
        names = coordinate_joints(model)
        lines = [f"parameter {name} is not used: unknown joint, the robot has {listed(names)}"
                 for name in (*self.homes.misnamed(), *self.interfaces.misnamed(), *self._sensors.misnamed(names))]
        if any(self._node.settings.bumpers) and not self.scenes.asked:
            lines.append("parameter bumpers is not used: there is no scene; set ground or scene")
        return lines

    def _instrumented(self, robot: Robot) -> Robot | None:
        """Return the robot of the same description with the additional bodies for force-torque sensors; None without
        sensors."""
        joints = [joint for joint in self.settings.force_torques if joint]
        if not joints:
            return None
        base_link, tip_link = self._node.settings.base_link or None, self._node.settings.tip_link or None
        try:
            model = model_of(self._node.description.text, base_link, tip_link, apart=joints,
                             floating_base=self._node.settings.floating_base)
            return under_current_control(self.drives.on(Robot(model, robot.gravity)))
        except ValueError as error:
            raise ValueError(f"parameter force_torques: {error}") from None
