"""Force elements that act on a robot in a rollout."""
from collections.abc import Sequence
from typing import Any

from screw_dynamics.forces import Element, JointSprings, ModelFriction, elements_of, of_model
from screw_dynamics.model.model import Model

from .springs import checked_springs


def step_elements(model: Model, forces: Sequence[Element] | None, friction: bool) -> tuple[Element, ...]:
    """Return the force elements that a step evaluates: those of the model and `forces`. The settings of the step
    contain damping and friction of the model's joints and springs at the joints."""
    return of_model(model, friction) + (() if forces is None else elements_of(forces))


def all_elements(model: Model, forces: Sequence[Element] | None, friction: bool, springs: Any) -> tuple[Element, ...]:
    """Return the elements of `step_elements`, and the model's joint friction and the springs as elements if there are
    any."""
    elements = step_elements(model, forces, friction)
    if friction and (model.damping.any() or model.friction.any()):
        elements += ModelFriction(),
    if (given := checked_springs(model, springs)) is not None:
        elements += JointSprings(*given),
    return elements
