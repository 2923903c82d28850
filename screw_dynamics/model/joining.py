"""Joins several robots and free bodies to one Model with a common root."""
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.utils.checks import described

from . import checks
from .builder import ModelBuilder
from .constraints import Constraint, Gear
from .model import Model

_OF_BODIES = "screws_body", "relative_poses", "inertias"
_OF_VELOCITIES = "lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature"
_NAMES = "joint_names", "joint_kinds", "body_names", "body_joints", "warnings", "constraints"


class Mounted(NamedTuple):
    """A model whose root is fixed to another's at a pose (4, 4), and the prefix of its names."""

    model: Model
    prefix: str = ""
    pose: ArrayLike | None = None


class FreeBody(NamedTuple):
    """A free body: the name of its link and of its joint, and its inertia (6, 6) about the link's origin.

    pose (4, 4): its pose at the identity in q. By default q is its pose in the root."""

    name: str
    inertia: ArrayLike | None = None
    pose: ArrayLike | None = None


def join(first: Model, robots: Iterable[Mounted] = (), bodies: Iterable[FreeBody | tuple] = ()) -> Model:
    """Return one Model on the root of the first: its bodies, then those of further robots, then the free bodies.

    Joints, entries of q and velocities are in the same order. The first model keeps its names. All names of another
    robot, including those of its root link and constraints, get its prefix: with "left/", joint_1 becomes left/joint_1.
    Raises ValueError if two links, joints or constraints would have the same name, and for an invalid pose or
    inertia."""
    checked = [Mounted(*each) if isinstance(each, (Mounted, tuple)) else Mounted(each) for each in robots]
    parts = [_model("the first", first), *(_mounted(first.root, *each) for each in checked)]
    parts.append(_free(first.root, [FreeBody(*each) for each in bodies]))
    for what, names in (("link", lambda part: part.frames), ("constraint", lambda part: [c.name for c in
                        part.constraints]), ("joint", lambda part: dict.fromkeys(part.body_joints))):
        _check_apart(what, [names(part) for part in parts])
    return _concatenated(first, parts)


def _model(what, model):
    if not isinstance(model, Model):
        raise TypeError(f"join: {what} must be a Model, not {described(model)}")
    return model


def _free(root, bodies):
    builder = ModelBuilder(root)
    for name, inertia, pose in bodies:
        if not checks.inertia(f"body {name!r}", inertia)[5, 5] > 0.0:
            raise ValueError(f"body {name!r} has no mass: nothing resists its motion")
        builder.add_group_joint("free", name, name, root, pose, inertia)
    model = builder.build()
    return replace(model, frames={link: at for link, at in model.frames.items() if link != root})


def _mounted(root, model, prefix, pose):
    """Return the model with its root fixed to another root."""
    if not isinstance(prefix, str):
        raise ValueError(f"join: the prefix of a robot must be text, not {described(prefix)}")
    name = f"robot {prefix!r}"
    C = checks.pose(name, pose)
    model = _model(name, model)
    to_root = arrays.Ad_matrix(arrays.inverse_pose(C))
    poses = model.relative_poses.copy()
    poses[model.parents < 0] = C @ poses[model.parents < 0]

    def named(names):
        return tuple(prefix + each for each in names)
    return replace(
        model, root=root, joint_names=named(model.joint_names), body_names=named(model.body_names),
        body_joints=named(model.body_joints), relative_poses=poses,
        root_inertia=to_root.T @ model.root_inertia @ to_root,
        frames={prefix + link: (body, C @ at if body < 0 else at) for link, (body, at) in model.frames.items()},
        mimics={prefix + joint: (prefix + lead[0], *lead[1:]) for joint, lead in model.mimics.items()},
        joint_frames={prefix + joint: frame for joint, frame in model.joint_frames.items()},
        constraints=tuple(renamed(each, prefix) for each in model.constraints),
        forces=tuple(each.mounted(prefix, model.root, C[:3, :3]) for each in model.forces),
        drives={prefix + joint: replace(drive, carrier=drive.carrier and prefix + drive.carrier,
                                        coupling={prefix + other: factor for other, factor in drive.coupling})
                for joint, drive in model.drives.items()},
        warnings=tuple(f"{prefix.strip('/')}: {text}" if prefix else text for text in model.warnings))


def renamed(constraint: Constraint, prefix: str) -> Constraint:
    """Return a constraint with a prefix before all of its names."""
    if isinstance(constraint, Gear):
        ratios = {prefix + joint: ratio for joint, ratio in constraint.ratios.items()}
        return replace(constraint, name=prefix + constraint.name, ratios=ratios)
    return replace(constraint, name=prefix + constraint.name, link=prefix + constraint.link,    # type: ignore[type-var]
                   on=None if constraint.on is None else prefix + constraint.on)


def _check_apart(what, names):
    seen: set[str] = set()
    for each in names:
        if both := sorted(seen.intersection(each)):
            raise ValueError(f"{what} {both[0]!r} would exist twice: give one robot a prefix, or the body another name")
        seen.update(each)


def _concatenated(first: Model, parts: Sequence[Model]) -> Model:
    bodies = list(accumulate((len(part.parents) for part in parts), initial=0))
    velocities = list(accumulate((part.n for part in parts), initial=0))
    each = list(zip(parts, bodies, velocities, strict=False))
    arrays_of: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts])
                                 for name in (*_OF_BODIES, *_OF_VELOCITIES)}
    names: dict[str, Any] = {name: sum((getattr(part, name) for part in parts), ()) for name in _NAMES}
    return replace(
        first, **arrays_of, **names, root_inertia=np.sum([part.root_inertia for part in parts], axis=0),
        parents=np.concatenate([np.where(part.parents < 0, -1, part.parents + b) for part, b, _ in each]),
        coordinates=np.concatenate([part.coordinates + v for part, _, v in each]),
        frames={link: (body + b if body >= 0 else -1, at.copy()) for part, b, _ in each
                for link, (body, at) in part.frames.items()},
        mimics={joint: lead for part in parts for joint, lead in part.mimics.items()},
        drives={joint: drive for part in parts for joint, drive in part.drives.items()},
        forces=sum((part.forces for part in parts), ()),
        joint_frames={joint: frame.copy() for part in parts for joint, frame in part.joint_frames.items()})
