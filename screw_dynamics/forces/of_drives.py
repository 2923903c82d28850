"""The elements of force of a model's drives: what acts between motors and joints."""
from collections.abc import Iterator

from screw_dynamics.model.drive import Antagonistic, Drive, Hardening, LeverArm, Table
from screw_dynamics.model.model import Model

from .element import Element
from .gear_loss import GearLoss
from .nonlinear_spring import NonlinearSpring
from .spring import Spring
from .variable_spring import VariableSpring
from .winding import Winding


def of_drives(model: Model) -> tuple[Element, ...]:
    """The springs and windings of all drives, in their order; they are parts of the robot, and act in all of its
    motions."""
    return tuple(element for joint, motors in model.motors.items()
                 for element in _elements(joint, model.drives[joint], motors))


def _elements(joint: str, drive: Drive, motors: tuple[str, ...]) -> Iterator[Element]:
    if drive.electric is not None:
        motor = motors[0] if drive.is_elastic else joint
        k = drive.electric.torque_constant * drive.ratio
        yield Winding(motor, f"{joint}_current", k, drive.electric.resistance)
    if drive.is_elastic:
        yield from _between(joint, drive, motors)


def _between(joint: str, drive: Drive, motors: tuple[str, ...]) -> Iterator[Element]:
    """What acts between motors and their joint."""
    stiffness, spring = drive.stiffness, drive.spring
    if isinstance(stiffness, LeverArm):
        yield VariableSpring(joint, *motors[:2], stiffness.coefficients, drive.damping)
    elif isinstance(stiffness, Antagonistic):
        for motor in motors:
            yield NonlinearSpring(joint, stiffness.spring, drive.damping, other=motor)
    elif isinstance(stiffness, (Hardening, Table)) or drive.backlash:
        yield NonlinearSpring(joint, spring, drive.damping, play=drive.backlash, other=motors[0])
    else:
        yield Spring(joint, stiffness, drive.damping, other=motors[0])
    if drive.gear_loss:
        yield GearLoss(joint, motors[0], spring, drive.gear_loss, drive.backlash)
