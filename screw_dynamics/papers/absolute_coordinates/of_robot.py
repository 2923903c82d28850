"""Robots in absolute coordinates: the same bodies with independent poses, joints as constraints."""
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.constraints import LoopJoint
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose, pose_along, screw_axis
from screw_dynamics.utils import checks

from .bodies import Body
from .groups import SEMIDIRECT
from .joint_springs import JointSpring
from .joints import Joint
from .springs import Spring
from .system import MultibodySystem

Efforts = ArrayLike | Callable[[float, np.ndarray], ArrayLike]


class Freedom(NamedTuple):
    """A joint of a robot: the slice of its velocities, the bodies of the system that it joins (the ground is the last),
    its screws (6, k) in the frame of the child, and their pseudoinverse."""

    name: str
    rates: slice
    child: int
    parent: int
    screws: np.ndarray
    inverse: np.ndarray
    frame: np.ndarray       # (4, 4) of the joint in the child, z along the axis
    placement: np.ndarray   # (4, 4) of the child in the parent in the neutral configuration
    pitch: float


class RobotJoints:
    """The maps from the poses and twists of a robot's bodies to its joints, and back.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Raises
    ------
    ValueError
        If the robot has mimic joints.

    Notes
    -----
    The attribute ``bodies`` lists the links with inertia, in the order of ``model.body_names``.
    """

    def __init__(self, model: Model):
        self.n, self.bodies, self.freedoms = model.n, _links(model), _freedoms(model)

    def rates(self, poses: np.ndarray, twists: np.ndarray) -> np.ndarray:
        """Compute the velocities of the joints by least squares.

        Parameters
        ----------
        poses : ndarray (bodies, 4, 4)
            Poses of the bodies.
        twists : ndarray (bodies, 6)
            Body-fixed twists of the bodies.

        Returns
        -------
        ndarray (n,)
            Velocities of the joints. For derivatives of twists at rest they are the accelerations.
        """
        qd = np.zeros(self.n)
        for freedom, to_child in zip(self.freedoms, self._to_children(poses), strict=True):
            relative = twists[freedom.child]
            if freedom.parent < len(twists):
                relative = relative - to_child @ twists[freedom.parent]
            qd[freedom.rates] = freedom.inverse @ relative
        return qd

    def wrenches(self, poses: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the wrenches on the bodies that are equivalent to given efforts.

        Parameters
        ----------
        poses : ndarray (bodies, 4, 4)
            Poses of the bodies.
        tau : ndarray (n,)
            Efforts of the joints: N m, or N.

        Returns
        -------
        ndarray (bodies, 6)
            Wrenches on the child of each joint, and the opposite on its parent.
        """
        W = np.zeros((len(self.bodies), 6))
        for freedom, to_child in zip(self.freedoms, self._to_children(poses), strict=True):
            on_child = freedom.inverse.T @ tau[freedom.rates]
            W[freedom.child] += on_child
            if freedom.parent < len(W):
                W[freedom.parent] -= to_child.T @ on_child
        return W

    def _to_children(self, poses):
        """Yield, for each joint, the matrix that transforms a twist from the frame of the parent to that of the
        child."""
        for freedom in self.freedoms:
            outer = poses[freedom.parent] if freedom.parent < len(poses) else np.eye(4)
            yield Ad_matrix(inverse_pose(poses[freedom.child]) @ outer)


def of_robot(robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, efforts: Efforts | None = None,
             group: str | Mapping[str, str] = SEMIDIRECT, joints: Sequence[Joint] = (),
             springs: Sequence[Spring | JointSpring] = ()) -> MultibodySystem:
    """Return the MultibodySystem of a robot, with its gravity.

    Parameters
    ----------
    robot : Robot
        Robot. Its loop joints are joints of the system.
    q : array_like (nq,)
        Initial configuration.
    qd : array_like (n,), optional
        Initial velocities, at rest by default.
    efforts : array_like (n,) or callable, optional
        Efforts of the joints, or a function efforts(t, qd) that returns them. Friction acts only if they include
        -robot.friction_torque(qd).
    group : str or mapping of str to str, optional
        Group of all bodies, or of each link; SE(3) for others.
    joints : sequence of Joint, optional
        Additional joints between links, other than fixed ones, or the root as the ground.
    springs : sequence of Spring or JointSpring, optional
        Springs between such links.

    Returns
    -------
    MultibodySystem
        System in absolute coordinates.

    Raises
    ------
    ValueError
        If the robot has mimic joints, distances, gears or armature, or a joint moves a link without inertia.
    """
    checks.without_armature("of_robot", robot.model)
    model, own = robot.model, RobotJoints(robot.model)
    slots = [model.body_names.index(name) for name in own.bodies]
    poses, twists = robot.body_poses(q), robot.body_twists(q, np.zeros(robot.n) if qd is None else qd)
    bodies = [Body(name, model.inertias[slot], poses[slot], twists[slot], physical=False)
              for name, slot in zip(own.bodies, slots, strict=True)]

    def driven(t, poses, twists):
        tau = efforts(t, own.rates(poses, twists)) if callable(efforts) else efforts
        return own.wrenches(poses, checks.real_numbers("efforts", tau, robot.n))
    held = [_joint(model, freedom, own.bodies) for freedom in own.freedoms if model.kind_of(freedom.name) != "free"]
    system = MultibodySystem(bodies, [*held, *_loops(robot, q), *joints], springs, robot.gravity,
                             None if efforts is None else driven)
    return system if group == SEMIDIRECT else system.with_groups(group)


def _loops(robot, q):
    """Yield the joints that close the loops of a robot's model."""
    model = robot.model
    for given in model.constraints:
        if not isinstance(given, LoopJoint):
            raise ValueError(f"{given.what} {given.name!r}: a system in absolute coordinates supports only joints as "
                             "loop constraints; dataclasses.replace(model, constraints=()) removes all")
        between = robot.forward_kinematics(q, given.link, given.on)
        frame_on = between @ given.frame if given.frame_on is None else given.frame_on
        (i, C), (j, D) = model.frames[given.link], model.frames[given.on]
        ends = [(i, C @ given.frame), (j, D @ frame_on)]
        if i < 0:                       # the ground is the other body
            ends = [(body, frame @ _QUARTER if given.kind == "universal" else frame) for body, frame in reversed(ends)]
        (body, frame), (on, frame_on) = ends
        if body != on:
            yield Joint(given.name, given.kind, model.body_names[body], frame,
                        None if on < 0 else model.body_names[on], frame_on, given.pitch or 0.0)


_QUARTER = np.array(((0.0, -1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)))


def _links(model: Model):
    """Return the names of the bodies with inertia: the last one of a Lie-group joint."""
    last = dict(zip(model.body_joints, model.body_names, strict=True))
    return list(last.values())


def _freedoms(model):
    """Return one Freedom for each joint."""
    for joint in model.mimics:
        raise ValueError(f"joint {joint!r} mimics {model.mimics[joint][0]!r}: a system in absolute coordinates has no "
                         "mimic joints")
    links, found = _links(model), []
    for joint in model.joint_names:
        slots = [i for i, of in enumerate(model.body_joints) if of == joint]
        first, last = slots[0], slots[-1]
        before = int(model.parents[first])
        outer = model.reference_poses[before] if before >= 0 else np.eye(4)
        frame, pitch = model.joint_frames.get(joint), 0.0
        if frame is None:
            frame, pitch = _axis_frame(model.screws_body[last])
            screws = model.screws_body[last][:, None]
        else:
            kind = _SCREWS[model.kind_of(joint)]
            screws = Ad_matrix(frame)[:, kind]
        found.append(Freedom(joint, model.v_slices[joint], links.index(model.body_names[last]),
                             links.index(model.body_names[before]) if before >= 0 else len(links), screws,
                             np.linalg.pinv(screws), frame,
                             inverse_pose(outer) @ model.reference_poses[last], pitch))
    return found


# Indices of the motions of a group's element in (rx, ry, rz, x, y, z).
_AXES = ("rx", "ry", "rz", "x", "y", "z")
_SCREWS = {kind: [_AXES.index(motion) for motion in group.motions] for kind, group in GROUPS.items()}


def _axis_frame(X):
    """Return a frame on the axis of a screw, with z along it, and the pitch; for a translation, z is along it."""
    axis = screw_axis(X)
    return pose_along(axis.direction, axis.point), float(axis.pitch) if np.isfinite(axis.pitch) else 0.0


def _joint(model, freedom, links):
    kind = model.kind_of(freedom.name)
    kind = "revolute" if kind == "continuous" else kind
    ground = freedom.parent == len(links)
    return Joint(freedom.name, kind, links[freedom.child], freedom.frame, None if ground else links[freedom.parent],
                 freedom.placement @ freedom.frame, freedom.pitch if kind == "helical" else 0.0)
