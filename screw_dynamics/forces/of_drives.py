"""The elements of force of a model's drives: what acts between motors and joints."""
from collections.abc import Iterator

from screw_dynamics.model.drive import Antagonistic, Drive, Hardening, LeverArm, Table
from screw_dynamics.model.model import Model

from .element import Element
from .gear_loss import GearLoss
from .nonlinear_spring import NonlinearSpring
from .spring import Spring
from .variable_spring import VariableSpring


def of_drives(model: Model) -> tuple[Element, ...]:
    """The springs of all elastic drives, in their order; they are parts of the robot, and act in all of its motions."""
    return tuple(element for joint, drive in model.drives.items() if drive.is_elastic
                 for element in _elements(joint, drive, model.motors[joint]))


def _elements(joint: str, drive: Drive, motors: tuple[str, ...]) -> Iterator[Element]:
    stiffness, spring = drive.stiffness, drive.spring
    if isinstance(stiffness, LeverArm):
        yield VariableSpring(joint, *motors, stiffness.coefficients, drive.damping)
    elif isinstance(stiffness, Antagonistic):
        for motor in motors:
            yield NonlinearSpring(joint, stiffness.spring, drive.damping, other=motor)
    elif isinstance(stiffness, (Hardening, Table)) or drive.backlash:
        yield NonlinearSpring(joint, spring, drive.damping, play=drive.backlash, other=motors[0])
    else:
        yield Spring(joint, stiffness, drive.damping, other=motors[0])
    if drive.gear_loss:
        yield GearLoss(joint, motors[0], spring, drive.gear_loss, drive.backlash)
