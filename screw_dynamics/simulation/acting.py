"""The elements of force that act on a robot in a rollout, and whose error it was."""
from collections.abc import Sequence
from typing import Any

from screw_dynamics.forces import Custom, Element, JointSprings, ModelFriction, Total, elements_of, of_model
from screw_dynamics.model.model import Model

from .springs import checked_springs


def stepped(model: Model, forces: Sequence[Element] | None, friction: bool) -> tuple[Element, ...]:
    """What a step takes as forces: elements of the model itself, and those given. Damping and friction of the model's
    joints, and springs at these, are in its settings."""
    return of_model(model, friction) + (() if forces is None else elements_of(forces))


def acting(model: Model, forces: Sequence[Element] | None, friction: bool, springs: Any) -> tuple[Element, ...]:
    """The same, with the model's friction and springs at the joints as elements, as far as they are there."""
    elements = stepped(model, forces, friction)
    if friction and (model.damping.any() or model.friction.any()):
        elements += ModelFriction(),
    if (given := checked_springs(model, springs)) is not None:
        elements += JointSprings(*given),
    return elements


def name_force(error: Exception, total: Total | None) -> None:
    """Raise an error that a user's force raised again, with its name."""
    functions = [e.function.__name__ for e in total.elements if isinstance(e, Custom)] if total else []
    if functions:
        raise type(error)(f"{error}, in the force {' or '.join(functions)}") from error
