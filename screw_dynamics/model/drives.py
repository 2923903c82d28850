"""A model with drives at its joints: for each elastic one a coordinate of the motor, behind all others; and without."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.checks import described

from . import inertial_parameters
from .drive import Drive
from .group_joints import GROUPS
from .model import Model


class _Added(NamedTuple):
    """A body that a drive adds: what it is called, what drives it, where it is, and what it weighs."""

    name: str
    kind: str | None            # None: it moves with the coordinate of the joint
    parent: int
    screw: np.ndarray
    pose: np.ndarray
    inertia: np.ndarray
    coordinate: int
    numbers: Mapping[str, float]


def with_drives(model: Model, drives: Mapping[str, Drive]) -> Model:
    """The model with drives at some joints, {joint: Drive}.

    A rigid drive is armature, and friction more. An elastic one is a body `<joint>_motor` more, moved by a joint of
    that name on the parent of the joint's link, along the same screw: its coordinate is theta, and its pose that of the
    link at rest on its spring. Springs are elements of force, forces/of_drives.py. With a carrier the rotor's inertia
    is taken from the carrier, and the body is the rotor. Armature that a driven joint had is the drive's to say: it is
    dropped. ValueError for a joint that does not exist, follows another, is on a group, or has a drive, and for names
    that are taken."""
    if not isinstance(drives, Mapping):
        raise ValueError(f"drives must be {{joint: Drive}}, not {described(drives)}")
    arrays_of = {name: getattr(model, name).copy() for name in ("inertias", "armature", "damping", "friction")}
    root_inertia, added = model.root_inertia, []
    for joint, drive in drives.items():
        place = _place(model, joint, drive)
        k, body = model.v_slices[joint].start, place
        B = 0.0 if drive.is_elastic else drive.inertia
        arrays_of["armature"][k] = B if drive.carrier is None else 0.0
        if not drive.is_elastic:
            arrays_of["damping"][k] += drive.motor_damping
            arrays_of["friction"][k] += drive.motor_friction
        if drive.carrier is None:
            added += _motors(model, joint, drive, k, body)
            continue
        carrier, rotor = _rotor(model, joint, drive, k, body)
        added += [rotor, *_motors(model, joint, drive, k, body, drive.is_elastic)]
        taken = inertial_parameters.moved(rotor.pose, rotor.inertia)
        if carrier < 0:
            root_inertia = root_inertia - taken
        else:
            _check_carrier(f"drive of joint {joint!r}", drive, arrays_of["inertias"][carrier], rotor)
            arrays_of["inertias"][carrier] -= taken
    base = replace(model, **arrays_of, root_inertia=root_inertia, drives={**model.drives, **drives})
    return _with_bodies(base, added)


def _place(model, joint, drive) -> int:
    """The body of a joint that can have this drive."""
    name = f"drive of joint {joint!r}"
    if not isinstance(drive, Drive):
        raise ValueError(f"{name} must be a Drive, not {described(drive)}")
    if joint in model.mimics:
        raise ValueError(f"{name}: it follows {model.mimics[joint][0]!r}, whose drive moves both")
    if joint not in model.v_slices:
        raise ValueError(f"{name}: the joint does not exist; the model has {', '.join(model.joint_names) or 'none'}")
    if model.kind_of(joint) in GROUPS:
        raise ValueError(f"{name}: it is {model.kind_of(joint)}, and only joints of one degree of freedom have drives")
    if joint in model.drives or any(joint in names for names in model.motors.values()):
        raise ValueError(f"{name}: it {'has one' if joint in model.drives else 'is the coordinate of one'}")
    return model.body_joints.index(joint)


def _motors(model, joint, drive, k, body, first=0):
    """From the first coordinate on, the bodies of those with the energy of their own rate alone: without inertia, but
    with armature."""
    for name, kind, inertia, damping, friction, lower, upper, effort in [*drive.coordinates(joint)][first:]:
        screw = model.screws_body[body] if kind is None else np.r_[np.zeros(3), _direction(model.screws_body[body])]
        kept = {"effort_limit": model.effort_limit[k] if effort is None else effort,
                "velocity_limit": np.inf if kind else model.velocity_limit[k]}
        yield _Added(name, kind or _kind(model, joint), int(model.parents[body]), screw, model.relative_poses[body],
                     np.zeros((6, 6)), -1, {"armature": inertia, "damping": damping, "friction": friction,
                                            "lower": lower, "upper": upper, **kept})


def _kind(model, joint):
    """That of a motor, which has no ends."""
    return "continuous" if model.kind_of(joint) == "revolute" else model.kind_of(joint)


def _direction(X):
    """The direction of a screw's axis (3,), or of the slide."""
    return next(e / np.linalg.norm(e) for e in (X[:3], X[3:]) if e.any())


def _rotor(model, joint, drive, k, body):
    """The body that carries the motor (-1: the root), and the rotor, of inertia about its axis alone."""
    name = f"drive of joint {joint!r}"
    if drive.carrier not in model.frames:
        raise ValueError(f"{name}: carrier {drive.carrier!r} does not exist; the links are {', '.join(model.frames)}")
    carrier, C = model.frames[drive.carrier]
    if carrier >= 0 and not model.is_link[carrier]:
        raise ValueError(f"{name}: carrier {drive.carrier!r} has no inertia")
    reference = np.eye(4) if carrier < 0 else model.reference_poses[carrier]
    if drive.axis is not None:
        axis = C[:3, :3] @ drive.axis
    elif model.screws_body[body][:3].any():
        axis = reference[:3, :3].T @ _direction(model.screws_spatial[body])
    else:
        raise ValueError(f"{name}: the joint slides, so that the rotor needs an axis")
    inertia = np.zeros((6, 6))
    inertia[:3, :3] = drive.rotor_inertia * np.outer(axis, axis)
    motor = next(drive.coordinates(joint)) if drive.is_elastic else None
    numbers = {"ratio": drive.ratio} if motor is None else {
        "armature": 0.0, "damping": motor.damping, "friction": motor.friction, "lower": motor.lower,
        "upper": motor.upper, "velocity_limit": model.velocity_limit[k], "effort_limit": model.effort_limit[k]}
    kind = None if motor is None else _kind(model, joint)
    pose = np.eye(4)
    pose[:3, 3] = C[:3, 3]
    return carrier, _Added(f"{joint}_motor", kind, carrier, np.r_[drive.ratio * axis, np.zeros(3)], pose, inertia,
                           k if motor is None else -1, numbers)


def _check_carrier(name, drive, inertia, rotor):
    """ValueError where the body that carries a motor has less inertia about the rotor's axis than the rotor."""
    _, _, about_centre = inertial_parameters.central(inertial_parameters.of_matrix(inertia))
    axis = rotor.screw[:3] / drive.ratio
    if (has := axis @ about_centre @ axis) < drive.rotor_inertia:
        raise ValueError(f"{name}: rotor_inertia {drive.rotor_inertia:g} is more than carrier {drive.carrier!r}, of "
                         f"which it is a part, has about the rotor's axis: {has:g} kg m^2")


def _with_bodies(model: Model, added: list[_Added]) -> Model:
    """The model with bodies behind all others."""
    taken = {*model.body_joints, *model.frames}
    for body in added:
        if body.name in taken:
            raise ValueError(f"a drive needs the name {body.name!r}, which is taken")
        taken.add(body.name)
    driven, b = [body for body in added if body.coordinate < 0], len(model.parents)
    new = {body.name: model.n + i for i, body in enumerate(driven)}

    def longer(name, rows):
        return np.concatenate([getattr(model, name), np.array(rows, dtype=float).reshape(
            -1, *getattr(model, name).shape[1:])])
    of_velocities = {name: longer(name, [body.numbers.get(name, np.inf) for body in driven]) for name in (
        "lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature")}
    followed = {body.name: (model.joint_names[_joint_of(model, body.coordinate)], body.numbers["ratio"], 0.0)
                for body in added if body.coordinate >= 0}
    return replace(
        model, **of_velocities,
        joint_names=(*model.joint_names, *new), joint_kinds=(*model.joint_kinds, *(str(x.kind) for x in driven)),
        body_names=(*model.body_names, *(x.name for x in added)),
        body_joints=(*model.body_joints, *(x.name for x in added)),
        parents=np.concatenate([model.parents, [x.parent for x in added]]).astype(np.int64),
        coordinates=np.concatenate([model.coordinates, [new.get(x.name, x.coordinate) for x in added]]).astype(
            np.int64),
        screws_body=longer("screws_body", [x.screw for x in added]),
        relative_poses=longer("relative_poses", [x.pose for x in added]),
        inertias=longer("inertias", [x.inertia for x in added]),
        frames={**model.frames, **{x.name: (b + i, np.eye(4)) for i, x in enumerate(added)}},
        mimics={**model.mimics, **followed})


def _joint_of(model, velocity):
    return next(i for i, part in enumerate(model.v_slices.values()) if part.start <= velocity < part.stop)


def without_drives(model: Model) -> Model:
    """The model of the links alone, whose joints have neither motors nor armature of drives: with_drives undone, but
    for armature and friction of rigid drives."""
    if not model.motors and not any(drive.carrier for drive in model.drives.values()):
        return replace(model, drives={})
    gone = {name for names in model.motors.values() for name in names} | {
        f"{joint}_motor" for joint, drive in model.drives.items() if drive.carrier}
    bodies = np.array([joint not in gone for joint in model.body_joints])
    joints = [joint not in gone for joint in model.joint_names]
    velocities = np.ones(model.n, dtype=bool)
    inertias, root_inertia = model.inertias.copy(), model.root_inertia
    for joint, part in model.v_slices.items():
        velocities[part] = joint not in gone
    for i in np.flatnonzero(~bodies):
        back = inertial_parameters.moved(model.relative_poses[i], model.inertias[i])
        if model.parents[i] < 0:
            root_inertia = root_inertia + back
        else:
            inertias[model.parents[i]] += back
    at, along = np.append(np.cumsum(bodies) - 1, -1), np.cumsum(velocities) - 1
    kept: dict[str, Any] = {name: getattr(model, name)[velocities] for name in (
        "lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature")}
    kept |= {name: getattr(model, name)[bodies] for name in ("screws_body", "relative_poses")}

    def those(names, which):
        return tuple(name for name, stays in zip(names, which, strict=True) if stays)
    return replace(
        model, **kept, inertias=inertias[bodies], root_inertia=root_inertia, drives={},
        joint_names=those(model.joint_names, joints), joint_kinds=those(model.joint_kinds, joints),
        body_names=those(model.body_names, bodies), body_joints=those(model.body_joints, bodies),
        parents=at[model.parents[bodies]], coordinates=along[model.coordinates[bodies]],
        frames={link: (int(at[body]), C.copy()) for link, (body, C) in model.frames.items() if link not in gone},
        mimics={joint: lead for joint, lead in model.mimics.items() if joint not in gone})
