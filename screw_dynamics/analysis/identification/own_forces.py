"""Force elements of a robot that an identification estimates (springs of drives, friction), and the robot with the
estimates."""
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from screw_dynamics.forces import Element, Friction, Spring, friction_of, of_drive
from screw_dynamics.model.drive_numbers import following
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

STIFFEST = 1e9          # N m/rad or N/m: largest initial stiffness


def without_springs(robot: Robot, springs: Sequence[Element | str]
                    ) -> tuple[Robot, tuple[Element, ...], tuple[str | None, ...]]:
    """Return the robot without the springs of the named drives, all springs as elements, and their joints.

    The joint is None for a spring that is given as an element. Raises ValueError for invalid springs and those that do
    not fit the robot."""
    if not isinstance(springs, list | tuple):
        raise ValueError("springs must be a list of screw_dynamics.forces.Spring, or names of joints, not "
                         f"{checks.described(springs)}")
    found = tuple(_of_drive(robot, x) if isinstance(x, str) else x for x in springs)
    for spring in found:
        if not isinstance(spring, Spring):
            raise ValueError(f"springs: {checks.described(spring)} must be a screw_dynamics.forces.Spring")
    robot.total_force(list(found))          # raises for invalid numbers
    for spring in found:
        if spring.stiffness > STIFFEST:
            raise ValueError(f"springs: {spring} must have a stiffness <= {STIFFEST:g}: a stiffer one cannot be "
                             "identified")
    names, model = tuple(x if isinstance(x, str) else None for x in springs), robot.model
    if not (named := dict.fromkeys(x for x in names if x is not None)):
        return robot, found, names
    if len(named) + names.count(None) < len(names):
        raise ValueError(f"springs: a joint of {', '.join(named)} is named twice")
    others = [x for joint in named for x in of_drive(joint, model.drives[joint], model.motors[joint])
              if not isinstance(x, Spring)]
    bare = replace(model, forces=(*model.forces, *others),
                   drives={joint: drive for joint, drive in model.drives.items() if joint not in named})
    return Robot(bare, robot.gravity, robot.representation, robot.source), found, names


def _of_drive(robot, joint):
    """Return the linear spring of a joint's drive."""
    drive = robot.model.drives.get(joint)
    if drive is None or not isinstance(drive.stiffness, float) or drive.backlash or drive.gear_loss:
        raise ValueError(f"springs: joint {joint!r} has no drive with a linear spring, without backlash and gear_loss")
    return next(x for x in of_drive(joint, drive, robot.model.motors[joint]) if isinstance(x, Spring))


def known_friction(model: Model, estimated: bool) -> tuple[Element, ...]:
    """Return the friction elements of a robot that are subtracted from its efforts. If friction is estimated, these are
    only the elements on several joints, which differ from joint friction."""
    return tuple(x for x in friction_of(model) if not estimated or len(x.joints) > 1)


def with_found(prior: Robot, model: Model, named: Sequence[str | None], springs: Sequence[Element],
               falling: np.ndarray | None) -> Robot:
    """Return the prior robot with the values of `model` and all estimates.

    springs: each belongs to the drive of the joint in `named`, or to none (None). falling (n, 2): breakaway friction
    beyond Coulomb's and Stribeck velocity of each velocity; None leaves friction elements unchanged. `model` may lack
    springs of drives."""
    drives = dict(prior.model.drives)
    for joint, spring in zip(named, springs, strict=True):
        if joint is not None and spring.stiffness > 0.0:
            drives[joint] = replace(drives[joint], stiffness=spring.stiffness)
    forces = [x for x in prior.forces if falling is None or not isinstance(x, Friction) or len(x.joints) > 1]
    names = velocity_names(model)
    forces += [Friction(name, breakaway=float(excess), stribeck=float(velocity)) for name, (excess, velocity) in
               zip(names, [] if falling is None else falling.tolist(), strict=False) if excess > 0.0]
    forces += [spring for joint, spring in zip(named, springs, strict=True) if joint is None]
    found = following(replace(model, drives=drives, forces=tuple(forces)))
    return Robot(found, prior.gravity, prior.representation, prior.source)
