"""Unknowns of an identification, and the prior robot, where the fit starts."""
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from screw_dynamics.analysis.estimation import payload_identification
from screw_dynamics.forces import Element
from screw_dynamics.model.group_joints import motions
from screw_dynamics.model.inertial_parameters import COUNT
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from . import physical
from .base_parameters import BaseParameters, from_regressor, parameter_names, random_rows
from .falling_friction import VELOCITIES
from .linear_equations import of_springs
from .own_forces import known_friction, without_springs

FALLING = "stribeck"
FRICTION = (*payload_identification.FRICTION, FALLING)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The P parameters of a robot, some of which are estimated; the others are fixed."""

    robot: Robot                # without the estimated springs
    prior: Robot                # as given
    friction: str               # one of FRICTION
    names: tuple[str, ...]      # (P,) inertial parameters, damping, friction, armature of velocities, stiffness
    parameters: np.ndarray      # (P,) of the robot; with zero friction for "none"
    bodies: np.ndarray          # (b,) bool: bodies with estimated inertial parameters
    estimated: np.ndarray       # (P,) bool
    base: BaseParameters        # of the estimated parameters
    notes: tuple[str, ...]      # on values that had to be changed
    springs: tuple[Element, ...] = ()   # with estimated stiffness, the last of the P parameters
    of_drives: tuple[str | None, ...] = ()      # joint whose drive has each spring, or None

    @property
    def rubs(self) -> np.ndarray:
        """A mask (n,) of velocities with estimated or subtracted friction, whose equations are not used at rest."""
        model = self.robot.model
        return {"estimate": _rubs(model), FALLING: _rubs(model), "model": model.friction > 0.0}.get(
            self.friction, np.zeros(model.n, bool))

    @property
    def may_rub(self) -> np.ndarray:
        """A mask (n,) of the joint velocities, which can have friction."""
        return _rubs(self.robot.model)

    @property
    def known(self) -> tuple[Element, ...]:
        """The known force elements of the robot: friction elements that are not estimated."""
        return () if self.friction == "none" else known_friction(self.prior.model, self.friction != "model")

    @property
    def velocities(self) -> np.ndarray:
        """The grid of Stribeck velocities (G,); empty unless Stribeck friction is estimated."""
        return VELOCITIES if self.friction == FALLING else VELOCITIES[:0]

    @property
    def links(self) -> np.ndarray:
        """The inertial parameters (l, 10) of the estimated bodies, made physical if necessary."""
        return physical.nearest_physical(self.parameters[:COUNT * len(self.bodies)].reshape(-1, COUNT)[self.bodies])


def unknowns(robot: Robot, friction: str = "estimate", armature: bool = False, links: Collection[str] | None = None,
             springs: Sequence[Element | str] = ()) -> Unknowns:
    """Return the unknowns of a robot; arguments as in `identify`. Raises ValueError for invalid arguments."""
    checks.one_of("friction", friction, FRICTION)
    prior, (robot, springs, of_drives) = robot, without_springs(robot, springs)
    model, n = robot.model, robot.n
    bodies, estimated = _estimated(robot, friction, checks.flag("armature", armature), links)
    of_joints = robot.friction_parameters.reshape(n, -1).copy()
    of_joints[:, :2] *= friction != "none"                  # not the armature, which is an inertia
    p = np.concatenate([robot.inertial_parameters, of_joints.ravel(), [spring.stiffness for spring in springs]])
    estimated = np.append(estimated, np.ones(len(springs), bool))
    drawn = p[:COUNT * len(bodies)].reshape(-1, COUNT)
    notes = [f"link {model.body_names[body]}: no rigid body can have the model's parameters; began with the nearest "
             "that one can have" for body in np.flatnonzero(bodies) if not physical.is_physical(drawn[body])]
    names = (*parameter_names(robot, True), *(f"{_joint_of(spring)}.stiffness" for spring in springs))
    Y = random_rows(robot, lambda q, qd, qdd: np.concatenate([
        robot.torque_regressor(q, qd, qdd, friction=True), of_springs(robot, springs, q)], axis=-1), len(names))
    base = from_regressor(Y[:, estimated], tuple(compress(names, estimated)))
    return Unknowns(robot, prior, friction, names, p, bodies, estimated, base, tuple(notes), springs, of_drives)


def _joint_of(spring):
    """Return the name of a spring's joint, or the joined names of several joints."""
    return spring.joint if isinstance(spring.joint, str) else "/".join(joint for joint, _ in spring.joint)


def _estimated(robot, friction, armature, links):
    """Return masks of the estimated bodies (b,) and parameters (P,)."""
    model, links = robot.model, (links,) if isinstance(links, str) else links
    for link in links or ():
        checks.one_of("links: link", link, [x for x, own in zip(model.body_names, model.is_link, strict=True) if own])
    chosen = np.array([links is None or x in links for x in model.body_names], dtype=bool)
    bodies = model.is_link & (model.inertias[:, 5, 5] > 0.0) & chosen
    if not bodies.any():
        raise ValueError("links: no link to estimate moves and has a mass")
    rubs = _rubs(model) & (friction in ("estimate", FALLING))
    columns = np.stack([rubs, rubs, (model.q_indices >= 0) & armature], axis=1)
    return bodies, np.append(np.repeat(bodies, COUNT), columns)


def _rubs(model: Model) -> np.ndarray:
    """Return a mask (n,) of the velocities that can have friction: all except those of free joints."""
    return np.concatenate([np.full(len(motions(kind)), kind != "free") for kind in model.joint_kinds])
