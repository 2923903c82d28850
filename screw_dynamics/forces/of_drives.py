"""The elements of force of a model's drives: what acts between motors and joints."""
from collections.abc import Iterator

from screw_dynamics.model.drive import Antagonistic, Drive, Hardening, LeverArm, Table
from screw_dynamics.model.model import Model

from .element import Element
from .friction import Friction
from .gear_loss import GearLoss
from .nonlinear_spring import NonlinearSpring
from .spring import Spring
from .variable_spring import VariableSpring
from .winding import Winding


def of_drives(model: Model) -> tuple[Element, ...]:
    """The springs and windings of all drives, in their order; they are parts of the robot, and act in all of its
    motions."""
    return tuple(element for joint, drive in model.drives.items()
                 for element in _elements(joint, drive, model.motors.get(joint, ())))


def _elements(joint: str, drive: Drive, motors: tuple[str, ...]) -> Iterator[Element]:
    shaft = drive.shaft(joint)
    if drive.electric is not None:
        motor = motors[0] if drive.is_elastic else shaft
        k = drive.electric.torque_constant * drive.ratio
        yield Winding(motor, f"{joint}_current", k, drive.electric.resistance)
    if drive.is_elastic:
        yield from _between(shaft, drive, motors)
    elif drive.coupling and (drive.motor_damping or drive.motor_friction):
        yield Friction(shaft, drive.motor_damping, drive.motor_friction)


def _between(shaft: dict[str, float], drive: Drive, motors: tuple[str, ...]) -> Iterator[Element]:
    """What acts between motors and the joints that turn them."""
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
