"""Rigid bodies of a system with their initial motion, and by which number each is known."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.model.checks import inertia, new_name, numbers, pose

from .groups import SEMIDIRECT, ConfigurationGroup
from .joint_springs import JointSpring
from .joints import Joint
from .springs import Spring


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body with its initial motion.

    inertia (6, 6) about the frame's origin, as from sd.inertia_matrix; pose (4, 4) of the frame in the inertial frame;
    twist (6,) body-fixed, angular part first; group: in which its configuration is integrated, and so what its velocity
    is: "SE(3)" (body-fixed twist) or "SO(3) x R^3" (mixed). physical: the inertia must be one that a rigid body can
    have, as of ModelBuilder."""

    name: str
    inertia: ArrayLike
    pose: ArrayLike = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    twist: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    group: str = SEMIDIRECT
    physical: bool = True

    def __post_init__(self) -> None:
        name, physical = f"body {new_name('body', self.name, ())!r}", checks.flag("physical", self.physical)
        ConfigurationGroup([self.group])                        # which refuses what is none
        for field, value in (("inertia", inertia(name, self.inertia, physical)),
                             ("pose", pose(name, self.pose)), ("twist", numbers(name, "twist", self.twist, (6,)))):
            value.setflags(write=False)
            object.__setattr__(self, field, value)


def numbered(bodies: Sequence[Body], joints: Sequence[Joint], springs: Sequence[Spring | JointSpring]
             ) -> dict[str | None, int]:
    """{name of a body: number}, None for the ground; ValueError for names that come twice or do not exist."""
    number: dict[str | None, int] = {body.name: k for k, body in enumerate(bodies)}
    if len(number) < len(bodies):
        raise ValueError(f"bodies must differ in their names, not {', '.join(b.name for b in bodies)}")
    if len({joint.name for joint in joints}) < len(joints):
        raise ValueError(f"joints must differ in their names, not {', '.join(j.name for j in joints)}")
    number[None] = len(bodies)
    for kind, of in (("joint", joints), ("spring", springs)):
        for k, item in enumerate(of):
            if isinstance(item, JointSpring):
                continue
            for name in (item.body, item.on):
                if name not in number:
                    raise ValueError(f"{kind} {getattr(item, 'name', k)!r}: the body {name!r} does not exist")
    return number


def root_inverse(body: Body) -> np.ndarray:
    """L^-T (6, 6) of its inertia M = L L^T; ValueError where M is not positive definite."""
    try:
        return np.linalg.inv(np.linalg.cholesky(body.inertia)).T
    except np.linalg.LinAlgError:
        raise ValueError(f"the inertia of the body {body.name!r} must be positive definite: absolute coordinates need "
                         "mass and inertia of every body") from None
