"""Joints behind springs in a simulation: the motor that a command drives, and the motors' initial positions."""

import numpy as np

from screw_dynamics.analysis.spring_laws import deflection, law
from screw_dynamics.model.drive import LeverArm
from screw_dynamics.model.drives import transmission
from screw_dynamics.model.floating_base import coordinate_joints, coordinates, velocity_names
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot


def command_names(model: Model) -> tuple[str, ...]:
    """Return the command name of each velocity (n,).

    A motor behind a spring has the name of its joint; the joint's link, which is not commanded, is <joint>_link.
    Motors keep their own names if two act on one joint or several joints turn one; levers keep theirs too."""
    names = list(velocity_names(model))
    for joint, motors in model.motors.items():
        names[model.v_slices[joint].start] = f"{joint}_link"
        if f"{joint}_motor" in motors and not model.drives[joint].coupling:
            names[model.v_slices[f"{joint}_motor"].start] = joint
    return tuple(names)


def actuated_joints(model: Model) -> tuple[str, ...]:
    """Return the entries of command_names that can be commanded, without the velocities of a floating base."""
    names, links = command_names(model), {f"{joint}_link" for joint in model.motors}
    return tuple(name for name in names[model.n - len(coordinate_joints(model)):] if name not in links)


def behind_springs(model: Model) -> np.ndarray:
    """Return the mask (n,) of the joints that are driven through springs."""
    mask = np.zeros(model.n, dtype=bool)
    mask[[model.v_slices[turned].start for joint in model.motors for turned in model.drives[joint].shaft(joint)]] = True
    return mask


def motor_mask(model: Model) -> np.ndarray:
    """Return the mask (n,) of motors and levers."""
    mask = np.zeros(model.n, dtype=bool)
    mask[[model.v_slices[name].start for names in model.motors.values() for name in names]] = True
    return mask


def at_rest(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the coordinates (n,) with motors where their springs carry the links' weight at q (nq,).

    Levers are in the middle of their ranges; links keep their coordinates."""
    model, found = robot.model, coordinates(q, robot.n).copy()
    if not model.motors:
        return found
    turns = transmission(model, {joint: model.drives[joint] for joint in model.motors})
    weight, turned = np.linalg.solve(turns.T, robot.gravity_torque(q)), turns @ found
    for joint, motors in model.motors.items():
        drive, k = model.drives[joint], model.v_slices[joint].start
        lever = isinstance(drive.stiffness, LeverArm)
        setting = 0.5 * (drive.stiffness.lower + drive.stiffness.upper) if lever else 0.0
        x = deflection(law(drive, np.asarray(setting)), weight[k]) + 0.5 * drive.backlash * np.sign(weight[k])
        for name in motors:
            found[model.v_slices[name].start] = setting if name == f"{joint}_lever" else turned[k] + x
    return found
