"""Checks that a robot can be simulated with given settings; the ValueErrors name the cause."""
from collections.abc import Sequence

import numpy as np

from screw_dynamics.forces import Element
from screw_dynamics.robot import Robot
from screw_dynamics.rollout.integrators import FIXED_STEPS, WITH_CONSTRAINTS, check_elements

from .actuators import singular_joint
from .initial_state import InitialState
from .motors import command_names
from .settings import Settings


def check_inertia(robot: Robot, initial: InitialState, names: Sequence[str]) -> None:
    """Raise ValueError if the mass matrix is singular at the initial positions or everywhere.

    names (n,): those of the velocities; the error names the joint that no inertia resists."""
    anywhere = initial.displaced(np.random.default_rng(0).uniform(-1.0, 1.0, robot.n))
    for q, where in ((anywhere, "everywhere"), (initial.displaced(np.zeros(robot.n)), "at the initial positions")):
        i = singular_joint(robot.mass_matrix(q))
        if i is not None:
            raise ValueError(f"no inertia resists joint '{names[i]}': the mass matrix is singular {where}")


def check_drives(robot: Robot) -> None:
    """Raise ValueError if two joints share a command name, or if an electric motor limits by its voltage a torque that
    is not the effort of one coordinate."""
    names = command_names(robot.model)
    if twice := {name for i, name in enumerate(names) if name in names[:i]}:
        raise ValueError(f"joint {min(twice)!r} has the name of a link behind a spring, which has commands of its own: "
                         "rename it")
    for joint, drive in robot.model.drives.items():
        if drive.coupling and not drive.is_elastic and drive.electric is not None and drive.electric.voltage < np.inf:
            raise ValueError(f"drive of joint {joint!r} is electric and rigid, and several joints turn it: efforts of "
                             "a simulated robot act at joints, where no voltage limits them; leave the voltage out")


def check_settings(robot: Robot, settings: Settings, in_scene: bool, forces: Sequence[Element]) -> None:
    """Raise ValueError if the integrator does not support the robot's closed loops or a given force, a force does not
    fit the robot, its drives cannot compensate gravity as they should, or a setting is not available in a scene."""
    total = robot._rollouts.step_forces(forces, settings.joint_friction)
    check_elements(settings.integrator, total.elements if total else ())
    loops, known = robot.model.constraints, [name for name in WITH_CONSTRAINTS if name in FIXED_STEPS]
    if loops and settings.integrator not in known:
        raise ValueError(f"integrator is {settings.integrator}, must be one of {', '.join(known)} for a robot with "
                         "closed loops")
    if "gravity" in settings.drives_compensate:
        if loops:
            raise ValueError("drives_compensate has gravity, whose efforts motors share in closed loops: it must be "
                             "empty for a robot with these")
        for joint, motors in robot.model.motors.items():
            if robot.model.drives[joint].coupling or len(motors) > 1:
                raise ValueError(f"drives_compensate has gravity, but joint {joint!r} has a spring that several joints "
                                 "or motors turn, which share its weight in more than one way: it must be empty")
    if settings.energy_balance and in_scene:
        raise ValueError("energy_balance must be false in a scene: it is supported for a robot without contacts")
