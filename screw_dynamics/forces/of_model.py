"""Force elements of a model: those of its drives, between motors and joints, and its own elements."""
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from screw_dynamics.model.drive import Antagonistic, Drive, Hardening, LeverArm, Table
from screw_dynamics.model.model import Model

from .element import Element
from .friction import Friction
from .gear_loss import GearLoss
from .nonlinear_spring import NonlinearSpring
from .spring import Spring
from .variable_spring import VariableSpring
from .winding import Winding


def of_model(model: Model, friction: bool = True) -> tuple[Element, ...]:
    """Return the force elements that belong to a robot, and act in all of its motions.

    Parameters
    ----------
    model : Model
        Model of the robot.
    friction : bool, optional
        If false, omit friction elements.

    Returns
    -------
    tuple of Element
        Springs and windings of all drives, in their order, and the elements of ``Model.forces``.
    """
    if not (model.drives or model.forces):
        return ()
    of_drives = (element for joint, drive in model.drives.items()
                 for element in of_drive(joint, drive, model.motors.get(joint, ())))
    return tuple(x for x in (*of_drives, *model.forces) if friction or not isinstance(x, Friction))


def friction_of(model: Model) -> tuple[Element, ...]:
    """Return the friction elements of a model, without damping and friction of its joints.

    Parameters
    ----------
    model : Model
        Model with drives and force elements of its own.

    Returns
    -------
    tuple of Friction
        The friction elements of ``of_model``.
    """
    return tuple(element for element in of_model(model) if isinstance(element, Friction))


def without_friction(model: Model) -> Model:
    """Return the model without friction, except gear losses.

    Parameters
    ----------
    model : Model
        Model with any friction.

    Returns
    -------
    Model
        A model without damping and friction of its joints and motors, and without Friction among its forces.
    """
    none, frictionless = np.zeros(model.n), [x for x in model.forces if not isinstance(x, Friction)]
    return replace(model, damping=none, friction=none.copy(), forces=tuple(frictionless), drives={
        joint: replace(drive, motor_damping=0.0, motor_friction=0.0) for joint, drive in model.drives.items()})


def of_drive(joint: str, drive: Drive, motors: tuple[str, ...]) -> Iterator[Element]:
    """Yield the force elements of a joint's drive.

    Parameters
    ----------
    joint : str
        Joint that the drive moves.
    drive : Drive
        Its drive.
    motors : tuple of str
        Coordinates of the drive's motors.

    Yields
    ------
    Element
        The winding, the springs between motors and joint, the gear loss, and friction, if the drive has them.
    """
    shaft = drive.shaft(joint)
    if (winding := drive.winding) is not None:
        motor = motors[0] if drive.is_elastic else shaft
        k = winding.torque_constant * drive.ratio
        yield Winding(motor, f"{joint}_current", k, winding.resistance)
    if drive.is_elastic:
        yield from _between(shaft, drive, motors)
    elif drive.coupling and (drive.motor_damping or drive.motor_friction):
        yield Friction(shaft, drive.motor_damping, drive.motor_friction)


def _between(shaft: dict[str, float], drive: Drive, motors: tuple[str, ...]) -> Iterator[Element]:
    """Yield the elements between motors and the joints on their shaft."""
    stiffness, spring = drive.stiffness, drive.spring
    if isinstance(stiffness, LeverArm):
        yield VariableSpring(shaft, *motors[:2], stiffness.coefficients, drive.damping)
    elif isinstance(stiffness, Antagonistic):
        for motor in motors:
            yield NonlinearSpring({**shaft, motor: -1.0}, stiffness.spring, drive.damping)
    elif isinstance(stiffness, (Hardening, Table)) or drive.backlash:
        yield NonlinearSpring({**shaft, motors[0]: -1.0}, spring, drive.damping, play=drive.backlash)
    else:
        yield Spring({**shaft, motors[0]: -1.0}, stiffness, drive.damping)
    if drive.gear_loss:
        yield GearLoss(shaft, motors[0], spring, drive.gear_loss, drive.backlash)
