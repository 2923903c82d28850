"""Conversion of an MjModel to a Model, element by element."""
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.description.urdf.error import issue, listed
from screw_dynamics.model.builder import Limits, ModelBuilder
from screw_dynamics.model.model import Model
from screw_dynamics.screws.arrays import inertia_matrix, pose_matrix, rotation_matrix
from screw_dynamics.screws.groups.se3 import exp

from .source import check_text, checked_file, is_text

FREE, BALL, SLIDE, HINGE = range(4)                                             # mjtJoint
CONNECT, WELD, JOINT = range(3)                                                 # mjtEq
SITE = 6                                                                        # mjtObj, for the ends of an equality


class MjcfWarning(UserWarning):
    """A warning about parts of a MuJoCo model that a Model cannot represent; also in the model's `warnings`."""


def read_mjcf(source: Any, folder: str | os.PathLike | None = None) -> Model:
    """Read the Model of a MuJoCo model.

    Parameters
    ----------
    source : str, path, MjSpec or MjModel
        MJCF text, the path of a file that MuJoCo reads, or a MuJoCo model.
    folder : str or path, optional
        Folder that contains all files named in the text, such as includes and meshes. By default the folder of the
        file, or the working folder for text. Text that names other files, such as by an absolute path, is rejected.

    Returns
    -------
    Model
        The model. Its ``warnings`` list omitted parts.

    Raises
    ------
    ValueError
        If MuJoCo rejects the model or is not installed, or the text names files outside the folder.

    Warns
    -----
    MjcfWarning
        If parts are omitted: armature of ball and free joints, springs, gravity compensation, actuators, tendons,
        contacts, other equalities.

    Notes
    -----
    Bodies become links, and sites links fixed to them. Joints keep MuJoCo's order, types, damping, dry friction and
    limits. q is qpos with quaternions as x y z w. The equalities connect, weld and first-order joint become
    Model.constraints; they are rigid, MuJoCo's are soft. The velocities of free joints are twists in the body's frame,
    angular part first; MuJoCo's are linear in the world frame, then angular in the body frame.
    """
    model = model_of(compiled(source, folder))
    issue(model.warnings, MjcfWarning)
    return model


def compiled(source: Any, folder: str | os.PathLike | None = None) -> Any:
    """Return the MjModel of a source; `folder` as in read_mjcf."""
    try:
        import mujoco
    except ImportError:
        raise ValueError("MJCF is read by MuJoCo, which is not installed: pip install mujoco") from None
    if isinstance(source, mujoco.MjModel):
        return source
    read = source.compile if isinstance(source, mujoco.MjSpec) else _reading(mujoco, source, folder)
    try:
        return read()
    except ValueError as error:
        raise ValueError(f"MuJoCo refuses the model: {error}") from None


def _reading(mujoco, source, folder):
    """Return MuJoCo's function that reads the text or file, after a check of the files named in it."""
    try:
        folder, source = None if folder is None else os.fspath(folder), os.fspath(source)
    except TypeError as error:
        raise ValueError(f"MJCF must be text, a path, an MjSpec or an MjModel, and folder a path: {error}") from None
    if is_text(source):
        check_text(source, folder)
        return partial(mujoco.MjModel.from_xml_string, source)
    return partial(mujoco.MjModel.from_xml_path, checked_file(source, folder))


def model_of(mj: Any, touching: bool = False) -> Model:
    """Return the Model of an MjModel, with the omitted parts in its warnings.

    touching: do not count contacts as omitted, because a scene has them."""
    bodies, joints = names_of(mj.nbody, mj.body, "body"), names_of(mj.njnt, mj.joint, "joint")
    builder = ModelBuilder(bodies[0], _inertia(mj, 0))
    for body in range(1, mj.nbody):
        _add_body(builder, mj, body, bodies, joints)
    for site in map(mj.site, range(mj.nsite)):
        if site.name and site.name not in bodies:
            builder.add_fixed(site.name, bodies[int(mj.site_bodyid[site.id])], pose_of(site.pos, site.quat))
    others = [_add_equality(builder, mj, k, bodies, joints) for k in range(mj.neq)]
    _note_left_out(builder, mj, bodies, joints, [name for name in others if name], touching)
    return builder.build()


def names_of(count: int, entry: Callable[[int], Any], kind: str) -> list[str]:
    """Return the names of `count` objects; unnamed ones are named by their number."""
    given = [entry(k).name for k in range(count)]
    return [name or next(f"{kind}_{k}{more}" for more in ("", "_", "__") if f"{kind}_{k}{more}" not in given)
            for k, name in enumerate(given)]


def pose_of(position: ArrayLike, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> np.ndarray:
    """Return the pose (4, 4) of a position and a quaternion w x y z of any nonzero length."""
    return pose_matrix((rotation_matrix(np.roll(quaternion, -1)), position))


def _inertia(mj, body):
    C = pose_of(mj.body_ipos[body], mj.body_iquat[body])
    R = C[:3, :3]
    return inertia_matrix(mj.body_mass[body], C[:3, 3], R @ np.diag(mj.body_inertia[body]) @ R.T)


def _add_body(builder, mj, body, bodies, joints):
    """Add a link for each joint of a body, in MuJoCo's order; all but the last are massless."""
    parent, inertia = bodies[mj.body_parentid[body]], _inertia(mj, body)
    placement = pose_of(mj.body_pos[body], mj.body_quat[body])
    first, count = int(mj.body_jntadr[body]), int(mj.body_jntnum[body])
    if count == 0:
        builder.add_fixed(bodies[body], parent, placement, inertia)
    for joint in range(first, first + count):
        last = joint == first + count - 1
        link = bodies[body] if last else f"{bodies[body]}/{joints[joint]}"
        _add_joint(builder, mj, joint, joints[joint], link, parent, placement, inertia if last else None)
        parent, placement = link, np.eye(4)


def _add_joint(builder, mj, joint, name, link, parent, placement, inertia):
    kind, at, dof = mj.jnt_type[joint], pose_of(mj.jnt_pos[joint]), mj.jnt_dofadr[joint]
    options = {"damping": mj.dof_damping[dof], "friction": mj.dof_frictionloss[dof]}
    if kind == FREE:
        builder.add_group_joint("free", name, link, parent, np.eye(4), inertia, **options)
    elif kind == BALL:
        builder.add_group_joint("spherical", name, link, parent, placement, inertia, frame=at, **options)
    else:
        e, p, start = mj.jnt_axis[joint], mj.jnt_pos[joint], mj.qpos0[mj.jnt_qposadr[joint]]
        screw = np.r_[e, np.cross(p, e)] if kind == HINGE else np.r_[np.zeros(3), e]
        lower, upper = mj.jnt_range[joint] if mj.jnt_limited[joint] else (-np.inf, np.inf)
        effort = np.abs(mj.jnt_actfrcrange[joint]).min() if mj.jnt_actfrclimited[joint] else np.inf
        # the frame's placement in MuJoCo is that at qpos0
        builder.add_joint(name, link, parent, screw, placement @ exp(-start * screw), inertia,
                          limits=Limits(lower, upper, effort=effort), armature=mj.dof_armature[dof], **options)


def _add_equality(builder, mj, k, bodies, joints):
    """Add the constraint of an equality; return its name if it is not supported."""
    kind, data, ends = mj.eq_type[k], mj.eq_data[k], (int(mj.eq_obj1id[k]), int(mj.eq_obj2id[k]))
    name = mj.equality(k).name or f"equality_{k}"
    if not mj.eq_active0[k] or kind > JOINT or (kind == JOINT and data[2:5].any()):
        return name
    if kind == JOINT:
        (at, on), slope = (0.0 if end < 0 else mj.qpos0[mj.jnt_qposadr[end]] for end in ends), data[1]
        others = {joints[ends[1]]: -slope} if ends[1] >= 0 and slope else {}
        builder.add_gear(name, {joints[ends[0]]: 1.0, **others}, at + data[0] - (slope * on if others else 0.0))
        return None
    if mj.eq_objtype[k] == SITE:
        frames = [pose_of(mj.site_pos[site], mj.site_quat[site]) for site in ends]
        ends = tuple(int(mj.site_bodyid[site]) for site in ends)
    elif kind == CONNECT:
        frames = [pose_of(data[:3]), pose_of(data[3:6])]
    else:
        frames = [pose_of(data[3:6], data[6:10]), pose_of(data[:3])]
    builder.add_loop_joint(name, "spherical" if kind == CONNECT else "fixed", bodies[ends[0]], bodies[ends[1]], *frames)
    return None


def _note_left_out(builder, mj, bodies, joints, equalities, touching):
    named = {
        "armature of ball and free joints": dict.fromkeys(
            joints[k] for k in mj.dof_jntid[mj.dof_armature != 0.0] if mj.jnt_type[k] in (FREE, BALL)),
        "springs of joints": [joints[k] for k in np.flatnonzero(mj.jnt_stiffness)],
        "gravity compensation of bodies": [bodies[k] for k in np.flatnonzero(mj.body_gravcomp)],
        "actuators": names_of(mj.nu, mj.actuator, "actuator"),
        "tendons": names_of(mj.ntendon, mj.tendon, "tendon"),
        "equalities": equalities,
    }
    left = [f"{what} {listed(names)}" for what, names in named.items() if names]
    if not touching and (mj.npair or (mj.geom_contype.any() and mj.geom_conaffinity.any())):
        left.append("contacts")
    if left:
        builder.warn(f"left out of the model of MuJoCo: {'; '.join(left)}")
