"""Adds drives to the joints of a model and removes them. An elastic drive adds its motor's coordinate after others."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.utils.checks import described

from . import inertial_parameters
from .drive import Drive
from .group_joints import GROUPS
from .model import Model

ON_LAST = -2            # parent index that means the body added before


class _Added(NamedTuple):
    """A body that a drive adds: its names, joint, pose and inertia."""

    name: str
    kind: str | None            # None: it follows the coordinate of the joint
    parent: int
    screw: np.ndarray
    pose: np.ndarray
    inertia: np.ndarray
    coordinate: int
    numbers: Mapping[str, float]


def with_drives(model: Model, drives: Mapping[str, Drive]) -> Model:
    """Return the model with drives at some joints, {joint: Drive}.

    A rigid drive adds armature and friction. An elastic drive adds a body `<joint>_motor`, moved by a joint of that
    name on the parent of the joint's link, along the same screw. Its coordinate is theta; its pose coincides with the
    link's when the spring is relaxed. Springs are force elements, see forces/of_model.py.

    With a carrier, the added body is the rotor, whose inertia is subtracted from the carrier's. A rigid motor that
    several joints turn is a body too, preceded by a massless body per joint. The drive replaces the armature of its
    joint.

    Raises ValueError for a joint that does not exist, mimics another, is a Lie-group joint or has a drive, and for
    names that are taken."""
    if not isinstance(drives, Mapping):
        raise ValueError(f"drives must be {{joint: Drive}}, not {described(drives)}")
    arrays_of = {name: getattr(model, name).copy() for name in ("inertias", "armature", "damping", "friction")}
    root_inertia, added = model.root_inertia, []
    for joint, drive in drives.items():
        body, k = _place(model, joint, drive), model.v_slices[joint].start
        has_body = drive.carrier is not None or bool(drive.coupling)
        arrays_of["armature"][k] = 0.0 if drive.is_elastic or has_body else drive.inertia
        if not (drive.is_elastic or drive.coupling):
            arrays_of["damping"][k] += drive.motor_damping
            arrays_of["friction"][k] += drive.motor_friction
        if drive.carrier is not None:
            rotor = _rotor(model, joint, drive, body)
            if rotor.carrier < 0:
                root_inertia = root_inertia - rotor.taken
            else:
                _check_carrier(f"drive of joint {joint!r}", drive, arrays_of["inertias"][rotor.carrier], rotor)
                arrays_of["inertias"][rotor.carrier] -= rotor.taken
            added += _of_rotor(model, joint, drive, rotor, k)
        elif drive.coupling and not drive.is_elastic:
            added += _of_halves(model, joint, drive)
        added += _motors(model, joint, drive, k, body, drive.is_elastic and drive.carrier is not None)
    base = replace(model, **arrays_of, root_inertia=root_inertia, drives={**model.drives, **drives})
    return _with_bodies(base, added)


def _place(model, joint, drive) -> int:
    """Return the body index of a joint. Raises ValueError if the joint cannot have this drive."""
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
    for other in dict(drive.coupling):
        wrong = ("does not exist" if other not in {*model.v_slices, *model.mimics} else
                 "is the joint itself" if other == joint else
                 f"follows {model.mimics[other][0]!r}" if other in model.mimics else
                 "is the coordinate of a drive" if any(other in names for names in model.motors.values()) else
                 f"is {model.kind_of(other)}" if model.kind_of(other) in GROUPS else "")
        if wrong:
            raise ValueError(f"{name}: joint {other!r} of its coupling {wrong}")
    return model.body_joints.index(joint)


def _motors(model, joint, drive, k, body, first=0):
    """Yield the bodies of the drive's coordinates, from index `first` on, that only have the energy of their own rate:
    zero inertia, but armature."""
    for name, kind, inertia, damping, friction, lower, upper, effort in [*drive.coordinates(joint)][first:]:
        screw = model.screws_body[body] if kind is None else np.r_[np.zeros(3), _direction(model.screws_body[body])]
        kept = {"effort_limit": model.effort_limit[k] if effort is None else effort,
                "velocity_limit": np.inf if kind else model.velocity_limit[k]}
        yield _Added(name, kind or _kind(model, joint), int(model.parents[body]), screw, model.relative_poses[body],
                     np.zeros((6, 6)), -1, {"armature": inertia, "damping": damping, "friction": friction,
                                            "lower": lower, "upper": upper, **kept})


def _kind(model, joint):
    """Return the joint kind of a motor, which has no position limits."""
    return "continuous" if model.kind_of(joint) == "revolute" else model.kind_of(joint)


def _direction(X):
    """Return the direction (3,) of a screw's axis, or of its translation."""
    return next(e / np.linalg.norm(e) for e in (X[:3], X[3:]) if e.any())


class _Rotor(NamedTuple):
    """A rotor on a body (-1: the root): its axis and pose on the body, and its inertia about the axis alone."""

    carrier: int
    axis: np.ndarray
    pose: np.ndarray
    inertia: np.ndarray

    @property
    def taken(self) -> np.ndarray:
        """The inertia (6, 6) in the carrier's frame."""
        return inertial_parameters.moved(self.pose, self.inertia)


def _about(axis, inertia):
    """Return the inertia (6, 6) that only resists rotation about an axis."""
    found = np.zeros((6, 6))
    found[:3, :3] = inertia * np.outer(axis, axis)
    return found


def _rotor(model, joint, drive, body):
    """Return the rotor of a drive with a carrier."""
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
    pose = np.eye(4)
    pose[:3, 3] = C[:3, 3]
    return _Rotor(carrier, axis, pose, _about(axis, drive.rotor_inertia))


def _of_rotor(model, joint, drive, rotor, k):
    """Return the bodies of a rotor: on its motor's coordinate, or on those of the joints that turn it."""
    if not drive.is_elastic:
        return _turned(model, joint, drive, rotor, drive.ratio, f"{joint}_motor")
    motor = next(drive.coordinates(joint))
    numbers = {"armature": 0.0, "damping": motor.damping, "friction": motor.friction, "lower": motor.lower,
               "upper": motor.upper, "velocity_limit": model.velocity_limit[k], "effort_limit": model.effort_limit[k]}
    return [_Added(f"{joint}_motor", _kind(model, joint), rotor.carrier, np.r_[drive.ratio * rotor.axis, np.zeros(3)],
                   rotor.pose, rotor.inertia, -1, numbers)]


def _of_halves(model, joint, drive):
    """Return the bodies of a rotor without a carrier that several joints turn: two halves that spin in opposite
    directions, which have energy but no momentum, like armature."""
    axis = np.array((0.0, 0.0, 1.0))
    half = _Rotor(-1, axis, np.eye(4), _about(axis, 0.5 * drive.rotor_inertia))
    return [body for name, ratio in ((f"{joint}_motor", drive.ratio), (f"{joint}_motor_against", -drive.ratio))
            for body in _turned(model, joint, drive, half, ratio, name)]


def _turned(model, joint, drive, rotor, ratio, name):
    """Yield the bodies of a rotor that turns by ratio sum factor q: a chain with one body per joint, massless except
    for the last, the rotor."""
    on, pose, turned = rotor.carrier, rotor.pose, [*drive.shaft(joint).items()]
    for i, (other, factor) in enumerate(turned, 1):
        last = i == len(turned)
        yield _Added(name if last else f"{name}_by_{i}", None, on if i == 1 else ON_LAST,
                     np.r_[ratio * factor * rotor.axis, np.zeros(3)], pose, float(last) * rotor.inertia,
                     model.v_slices[other].start, {"ratio": ratio * factor})
        pose = np.eye(4)


def _rotors(joint, drive):
    """Return the names of the rotor bodies of a rigid drive."""
    if drive.is_elastic or not (drive.carrier or drive.coupling):
        return []
    ends = [f"{joint}_motor", *[f"{joint}_motor_against"] * (drive.carrier is None)]
    return [*ends, *(f"{end}_by_{i}" for end in ends for i in range(1, len(drive.shaft(joint))))]


def _check_carrier(name, drive, inertia, rotor):
    """Raise ValueError if the carrier has less inertia about the rotor's axis than the rotor."""
    _, _, about_center = inertial_parameters.central(inertial_parameters.of_matrix(inertia))
    if (has := rotor.axis @ about_center @ rotor.axis) < drive.rotor_inertia:
        raise ValueError(f"{name}: rotor_inertia {drive.rotor_inertia:g} is more than carrier {drive.carrier!r}, of "
                         f"which it is a part, has about the rotor's axis: {has:g} kg m^2")


def _with_bodies(model: Model, added: list[_Added]) -> Model:
    """Return the model with the added bodies after all others."""
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
        parents=np.concatenate([model.parents, [b + i - 1 if x.parent == ON_LAST else x.parent
                                                for i, x in enumerate(added)]]).astype(np.int64),
        coordinates=np.concatenate([model.coordinates, [new.get(x.name, x.coordinate) for x in added]]).astype(
            np.int64),
        screws_body=longer("screws_body", [x.screw for x in added]),
        relative_poses=longer("relative_poses", [x.pose for x in added]),
        inertias=longer("inertias", [x.inertia for x in added]),
        frames={**model.frames, **{x.name: (b + i, np.eye(4)) for i, x in enumerate(added)}},
        mimics={**model.mimics, **followed})


def _joint_of(model, velocity):
    return next(i for i, part in enumerate(model.v_slices.values()) if part.start <= velocity < part.stop)


def transmission(model: Model, drives: Mapping[str, Drive]) -> np.ndarray:
    """Return the matrix T (n, n) from joint to motor velocities of some drives, theta' = T qd.

    T is the identity except for rows of drives with a coupling. Raises ValueError if it is singular."""
    T = np.eye(model.n)
    for joint, drive in drives.items():
        for other, factor in dict(drive.coupling).items():
            T[model.v_slices[joint].start, model.v_slices[other].start] = factor
    if np.linalg.matrix_rank(T) < model.n:
        coupled = ", ".join(joint for joint, drive in drives.items() if drive.coupling)
        raise ValueError(f"the couplings of the drives of {coupled} leave a motion of the joints that turns no motor")
    return T


def torque_speed(model: Model) -> np.ndarray:
    """Return the torque-speed lines (2, n) of the motors' coordinates: the stall efforts and the no-load speeds at the
    joint; inf where there is no line."""
    found = np.full((2, model.n), np.inf)
    for joint, drive in model.drives.items():
        if (line := drive.torque_line) is not None and (drive.is_elastic or not drive.coupling):
            for _, k in motor_coordinates(model, joint):
                found[:, k] = line.stall_torque * abs(drive.ratio), line.no_load_speed / abs(drive.ratio)
    return found


def motor_coordinates(model: Model, joint: str) -> list[tuple[str, int]]:
    """Return (name, velocity index) of the motors of a joint with a drive; for a rigid one, those of the joint."""
    motors = [name for name in model.motors.get(joint, ()) if name.startswith(f"{joint}_motor")] or [joint]
    return [(name, model.v_slices[name].start) for name in motors]


def without_drives(model: Model, joints: Collection[str] | None = None) -> Model:
    """Return the model without the motors and rotors of the drives at some joints (None: all).

    It undoes with_drives, except for the armature and friction of rigid drives."""
    drives = {joint: drive for joint, drive in model.drives.items() if joints is None or joint in joints}
    gone = {name for joint in drives for name in (*model.motors.get(joint, ()), *_rotors(joint, drives[joint]))}
    bodies = np.array([joint not in gone for joint in model.body_joints], dtype=bool)
    stay = [joint not in gone for joint in model.joint_names]
    velocities = np.ones(model.n, dtype=bool)
    inertias, root_inertia = model.inertias.copy(), model.root_inertia
    for joint, part in model.v_slices.items():
        velocities[part] = joint not in gone
    for joint, drive in drives.items():
        if drive.carrier is not None:
            carrier, C = model.frames[drive.carrier]
            pose = np.eye(4)
            pose[:3, 3] = C[:3, 3]
            back = inertial_parameters.moved(pose, model.inertias[model.body_names.index(f"{joint}_motor")])
            if carrier < 0:
                root_inertia = root_inertia + back
            else:
                inertias[carrier] += back
    at, along = np.append(np.cumsum(bodies) - 1, -1), np.cumsum(velocities) - 1
    kept: dict[str, Any] = {name: getattr(model, name)[velocities] for name in (
        "lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature")}
    kept |= {name: getattr(model, name)[bodies] for name in ("screws_body", "relative_poses")}

    def those(names, which):
        return tuple(name for name, stays in zip(names, which, strict=True) if stays)
    return replace(
        model, **kept, inertias=inertias[bodies], root_inertia=root_inertia,
        drives={joint: drive for joint, drive in model.drives.items() if joint not in drives},
        joint_names=those(model.joint_names, stay), joint_kinds=those(model.joint_kinds, stay),
        body_names=those(model.body_names, bodies), body_joints=those(model.body_joints, bodies),
        parents=at[model.parents[bodies]], coordinates=along[model.coordinates[bodies]],
        frames={link: (int(at[body]), C.copy()) for link, (body, C) in model.frames.items() if link not in gone},
        mimics={joint: lead for joint, lead in model.mimics.items() if joint not in gone},
        forces=tuple(element for element in model.forces if gone.isdisjoint((*element.joints, *element.links))))
