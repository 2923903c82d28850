"""Model: a robot as a tree of screws, in immutable arrays. ModelBuilder (builder.py) and read_urdf (urdf) create it."""
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.screws.se3 import compose, inverse
from screw_dynamics.utils.checks import known_link
from screw_dynamics.utils.lazy import lazy

from . import checks, group_joints, inertial_parameters
from .constraints import Constraint, Members
from .drive import Drive
from .group_joints import PoseSource
from .links import Frame, Link, Placed, Structure, axis_frames, on_axes, placed


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A tree of b bodies with n velocities; all arrays are read-only.

    Parameters
    ----------
    root : str
        Fixed link. Its frame is the world frame.
    joint_names : tuple of str (j,)
        Names of the joints that mimic no other. j = n unless there are Lie-group joints.
    joint_kinds : tuple of str (j,)
        Kinds of these joints: "revolute", "continuous", "prismatic", "helical", or one of GROUPS.
    body_names : tuple of str (b,)
        Link of each body.
    body_joints : tuple of str (b,)
        Joint that moves each body, including mimic joints.
    parents : ndarray of int (b,)
        Parent body, -1 for the root.
    coordinates : ndarray of int (b,)
        Index of the velocity that drives each body.
    screws_body : ndarray (b, 6)
        Joint screw in the body frame, per rad or m of the coordinate.
    relative_poses : ndarray (b, 4, 4)
        Pose B_i in the parent body at q = 0, or at the identity of a Lie-group joint.
    inertias : ndarray (b, 6, 6)
        Inertia about the origin of the body frame, including merged links.
    root_inertia : ndarray (6, 6)
        Inertia of the root link and of all links fixed to it.
    lower, upper : ndarray (n,)
        Position limits, rad or m; -inf and inf for none.
    velocity_limit : ndarray (n,)
        Velocity limit, rad/s or m/s; inf for none.
    effort_limit : ndarray (n,)
        Effort limit, N m or N; inf for none.
    damping : ndarray (n,)
        Viscous friction, N m s/rad or N s/m.
    friction : ndarray (n,)
        Coulomb friction, N m or N.
    armature : ndarray (n,)
        Inertia of the rotor times gear ratio squared, kg m^2 or kg.
    frames : dict of str to (int, ndarray (4, 4))
        Body of every link (-1: root), and the pose of the link in the body.
    mimics : dict of str to (str, float, float)
        Leader, multiplier and offset of each mimic joint.
    warnings : tuple of str
        Warnings about the source that did not prevent reading it.
    joint_frames : dict of str to ndarray (4, 4), optional
        Pose of the joint frame of each Lie-group joint in its link. The group acts in this frame.
    constraints : tuple of LoopJoint, Distance or Gear, optional
        Closed loops, distances and gears, in addition to the joints. ClosedLoopRobot enforces them, Robot does not.
    drives : dict of str to Drive, optional
        Drive of each driven joint. The motor coordinates of elastic drives are joints of the model, see `motors`.
    forces : tuple of Element, optional
        Force elements of screw_dynamics.forces that act in all motions of the model; they refer to links and joints by
        name.

    Notes
    -----
    A body is a link moved by a joint, merged with all links fixed to it; its frame is that link's frame. Parents come
    before children. b = n unless mimic joints share the coordinates of their leaders.

    A Lie-group joint of k degrees of freedom (group_joints.py) moves a chain of k bodies. All but the last have no
    inertia and are not links. Their velocities, one per screw, are the components of the twist of the last body.
    """

    root: str                           # the fixed link; its frame is the world frame
    joint_names: tuple[str, ...]        # (j) one per joint; j = n unless there are Lie-group joints
    joint_kinds: tuple[str, ...]        # (j) "revolute", "continuous", "prismatic", "helical", or one of GROUPS
    body_names: tuple[str, ...]         # (b) the link that moves
    body_joints: tuple[str, ...]        # (b) the joint that moves it, including mimic joints
    parents: np.ndarray                 # (b) int: the parent body, -1 for the root
    coordinates: np.ndarray             # (b) int: the velocity that drives the body
    screws_body: np.ndarray             # (b, 6) joint screw in the body frame, per rad or m of the coordinate
    relative_poses: np.ndarray          # (b, 4, 4) B_i, the pose in the parent body at q = 0, or the identity
    inertias: np.ndarray                # (b, 6, 6) about the origin of the body frame, including merged links
    root_inertia: np.ndarray            # (6, 6) of the root link and the links fixed to it
    lower: np.ndarray                   # (n) position limits, rad or m; -inf and inf for none
    upper: np.ndarray
    velocity_limit: np.ndarray          # (n) rad/s or m/s, inf for none
    effort_limit: np.ndarray            # (n) N m or N, inf for none
    damping: np.ndarray                 # (n) viscous friction, N m s/rad or N s/m
    friction: np.ndarray                # (n) Coulomb friction, N m or N
    armature: np.ndarray                # (n) inertia of the rotor times gear ratio squared, kg m^2 or kg
    frames: Mapping[str, tuple[int, np.ndarray]]         # every link: its body (-1: root) and pose (4, 4) in the body
    mimics: Mapping[str, tuple[str, float, float]]       # mimic joint: leader, multiplier, offset
    warnings: tuple[str, ...]           # about the source
    # Lie-group joint: the pose (4, 4), in its link, of the joint frame in which its group acts
    joint_frames: Mapping[str, np.ndarray] = field(default_factory=dict)
    # closed loops, distances and gears; ClosedLoopRobot enforces them, Robot does not
    constraints: tuple[Constraint, ...] = ()
    # joint: its drive; motor coordinates of elastic drives are joints of the model, see `motors`
    drives: Mapping[str, Drive] = field(default_factory=dict)
    # force elements of screw_dynamics.forces that act in all motions; they refer to links and joints by name
    forces: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            elif isinstance(value, dict):
                object.__setattr__(self, name, MappingProxyType(value))
        for pose in (*(pose for _, pose in self.frames.values()), *self.joint_frames.values()):
            pose.setflags(write=False)

    def __repr__(self) -> str:
        joints = [f"{self.kind_of(joint)} {joint}" for joint in dict.fromkeys(self.body_joints)]
        return f"<Model of {len(self.parents)} bodies on {self.root}{': ' if joints else ''}{', '.join(joints)}>"

    def __getstate__(self) -> dict[str, Any]:
        return {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in vars(self).items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def digest(self) -> str:
        """A hash of all data of the model except its warnings; equal in all processes for equal models."""
        values = [getattr(self, x.name) for x in fields(self) if x.name != "warnings"]
        return hashlib.sha256("\n".join(_canonical(values)).encode()).hexdigest()

    def kind_of(self, joint: str) -> str:
        """Return the kind of a joint.

        Parameters
        ----------
        joint : str
            Joint, which may be a mimic joint.

        Returns
        -------
        str
            Kind, of `joint_kinds`. A mimic joint has the kind of its leader.
        """
        return self._kinds[self.mimics.get(joint, (joint,))[0]]

    @lazy
    def _kinds(self):
        return dict(zip(self.joint_names, self.joint_kinds, strict=True))

    @property
    def members(self) -> Members:
        """The names that constraints on this model may refer to."""
        return Members(self.root, self.frames, self._kinds, {joint: lead[0] for joint, lead in self.mimics.items()})

    @property
    def n(self) -> int:
        """The number of velocities."""
        return len(self.lower)

    @lazy
    def nq(self) -> int:
        """The length of q: n unless there are Lie-group joints."""
        return sum(len(group_joints.identity(kind)) for kind in self.joint_kinds)

    @lazy
    def q_slices(self) -> Mapping[str, slice]:
        """The slice of q of each joint, {joint: slice}."""
        return self._slices(group_joints.identity)

    @lazy
    def v_slices(self) -> Mapping[str, slice]:
        """The slice of the velocities (n,) of each joint, {joint: slice}."""
        return self._slices(group_joints.motions)

    @lazy
    def q_indices(self) -> np.ndarray:
        """The index in q of the coordinate of each velocity (n,); -1 for those of Lie-group joints."""
        indices = np.full(self.n, -1)
        for kind, numbers, rates in zip(self.joint_kinds, self.q_slices.values(), self.v_slices.values(), strict=True):
            if kind not in group_joints.GROUPS:
                indices[rates] = numbers.start
        return indices

    @lazy
    def joint_indices(self) -> np.ndarray:
        """An array (3, 1 + joints) with a column for each joint, starting at column 1: its kind as an integer, see
        group_joints.index, its first index in q and its first velocity."""
        starts = zip(self.joint_kinds, self.q_slices.values(), self.v_slices.values(), strict=True)
        return np.array([[0, 0, 0], *([group_joints.index(kind), numbers.start, rates.start]
                                      for kind, numbers, rates in starts)]).T.copy()

    def _slices(self, numbers):
        ends = np.cumsum([0, *(len(numbers(kind)) for kind in self.joint_kinds)]).tolist()
        return MappingProxyType({joint: slice(*span) for joint, span in
                                 zip(self.joint_names, pairwise(ends), strict=True)})

    @lazy
    def motors(self) -> Mapping[str, tuple[str, ...]]:
        """{joint: coordinates that its drive adds}, for drives that add any: <joint>_motor, or <joint>_motor_1 and _2,
        <joint>_lever, and <joint>_current. They are joints of the model."""
        found = {joint: tuple(x.name for x in drive.coordinates(joint)) for joint, drive in self.drives.items()}
        return MappingProxyType({joint: names for joint, names in found.items() if names})

    @property
    def on_groups(self) -> bool:
        """True if there are Lie-group joints."""
        return bool(self.joint_frames)

    @lazy
    def reference_poses(self) -> np.ndarray:
        """A_i (b, 4, 4): the pose of each body frame in the world frame in the neutral configuration,
        A_i = A_parent B_i."""
        poses = np.empty_like(self.relative_poses)
        for i, parent in enumerate(self.parents):
            poses[i] = self.relative_poses[i] if parent < 0 else poses[parent] @ self.relative_poses[i]
        poses.setflags(write=False)
        return poses

    @lazy
    def screws_spatial(self) -> np.ndarray:
        """Y_i = Ad_(A_i) X_i (b, 6): the joint screws in the world frame in the neutral configuration; [MK] (12)."""
        screws = np.einsum("bij,bj->bi", arrays.Ad_matrix(self.reference_poses), self.screws_body)
        screws.setflags(write=False)
        return screws

    @lazy
    def inertial_parameters(self) -> np.ndarray:
        """The inertial parameters (10 b,) of the bodies, ten each: mass, first moments mx my mz = mass times center of
        mass, and rotational inertia xx xy yy xz yz zz about the origin of the body frame; kg, kg m, kg m^2."""
        parameters = inertial_parameters.of_matrix(self.inertias).ravel()
        parameters.setflags(write=False)
        return parameters

    @lazy
    def inertial_parameter_names(self) -> tuple[str, ...]:
        """The names of inertial_parameters: <link>.mass, <link>.mx, ..."""
        return tuple(f"{body}.{name}" for body in self.body_names for name in inertial_parameters.NAMES)

    @lazy
    def is_link(self) -> np.ndarray:
        """The mask (b,) of bodies that are links, in contrast to the massless inner bodies of Lie-group joints."""
        last = np.array([joint != after for joint, after in pairwise((*self.body_joints, ""))], dtype=bool)
        last.setflags(write=False)
        return last

    @property
    def shares_coordinates(self) -> bool:
        """True if some coordinate drives more than one body, as with mimic joints."""
        return len(self.coordinates) > self.n

    @lazy
    def structure(self) -> Structure:
        """The Structure for which algorithms are specialized."""
        return Structure(self.shares_coordinates, self.on_groups)

    # ------------------------------------------------------------------------------------------------- for recursions
    def placed(self, gravity: ArrayLike) -> list[Placed]:
        """Return a Placed body for each slot.

        Parameters
        ----------
        gravity : array_like (3,)
            Gravity, m/s^2, in the world frame.

        Returns
        -------
        list of Placed
            The world, then the bodies.
        """
        world = placed(0, 0, np.append(np.zeros(3), -np.asarray(gravity, dtype=float)), self.root_inertia, np.eye(4))
        return [world, *map(placed, self.parents + 1, self.coordinates, self.screws_body, self.inertias,
                            self.relative_poses, self.armature_of_bodies)]

    @property
    def joint_inertia(self) -> np.ndarray:
        """The inertia (n,) that joints add to the diagonal of the mass matrix: armature."""
        return self.armature

    @lazy
    def armature_of_bodies(self) -> np.ndarray:
        """The armature (b,) of bodies; of bodies that share a coordinate, only the first has it."""
        first = np.unique(self.coordinates, return_index=True)[1]
        found = np.zeros(len(self.coordinates))
        found[first] = self.joint_inertia
        found.setflags(write=False)
        return found

    def links(self, gravity: ArrayLike) -> list[Link]:
        """Return a Link for each slot.

        Parameters
        ----------
        gravity : array_like (3,)
            Gravity, m/s^2, in the world frame.

        Returns
        -------
        list of Link
            The world, then the bodies.
        """
        return on_axes(self.placed(gravity))

    def pose_sources(self, gravity: ArrayLike) -> list[PoseSource]:
        """Return a PoseSource for each slot of a robot with Lie-group joints.

        Parameters
        ----------
        gravity : array_like (3,)
            Gravity, m/s^2, in the world frame. The world's frame is as in ``links``.

        Returns
        -------
        list of PoseSource
            The world, then the bodies. The list is empty for a robot without Lie-group joints.
        """
        return self.all_pose_sources(gravity) if self.on_groups else []

    def all_pose_sources(self, gravity: ArrayLike) -> list[PoseSource]:
        """Return a PoseSource for each slot of any robot, for kernels with Placements.

        Parameters
        ----------
        gravity : array_like (3,)
            Gravity, m/s^2, in the world frame.

        Returns
        -------
        list of PoseSource
            The world, then the bodies.
        """
        bodies, (kinds, starts, frames) = self.placed(gravity), self.joints_in_q()
        return group_joints.pose_sources(bodies, axis_frames(bodies), kinds, starts, [arrays.pose(F) for F in frames])

    def joints_in_q(self) -> tuple[list[int], list[int], list[np.ndarray]]:
        """Return the kind, the first index in q, and the frame of the joint of each slot.

        Returns
        -------
        kinds : list of int
            Kind of each joint, as in PoseSource.
        starts : list of int
            First index in q of each joint.
        frames : list of ndarray (4, 4)
            Joint frame of each joint.
        """
        kinds, starts, frames = [group_joints.INNER], [0], [np.eye(4)]
        for (before, joint), coordinate in zip(pairwise(("", *self.body_joints)), self.coordinates, strict=True):
            leader = self.mimics.get(joint, (joint,))[0]
            kinds.append(group_joints.INNER if joint == before else group_joints.index(self.kind_of(joint)))
            starts.append(self.q_slices[leader].start if self.on_groups else int(coordinate))
            frames.append(self.joint_frames.get(joint, np.eye(4)))
        return kinds, starts, frames

    @lazy
    def frame_names(self) -> tuple[str | None, ...]:
        """The links of `frame_rows` in order: None for the frames of the root and of the bodies, then every link."""
        return (None,) * (1 + len(self.parents)) + tuple(self.frames)

    def frame_rows(self, gravity: ArrayLike) -> list[Frame]:
        """Return a Frame for each of `frame_names`.

        Parameters
        ----------
        gravity : array_like (3,)
            Gravity, m/s^2, in the world frame.

        Returns
        -------
        list of Frame
            Frames of the root and of the bodies, then of every link.
        """
        axes = [inverse(T) for T in axis_frames(self.placed(gravity))]
        links = [Frame(int(body) + 1, compose(axes[body + 1], arrays.pose(C))) for body, C in self.frames.values()]
        return [Frame(slot, C) for slot, C in enumerate(axes)] + links

    def known_link(self, name: str) -> str:
        """Return the name of a link after checking it.

        Parameters
        ----------
        name : str
            Name of a link.

        Returns
        -------
        str
            The same name.

        Raises
        ------
        ValueError
            If no link has this name. The message mentions it if a joint has this name.
        """
        return known_link(name, self.frames, (*self.joint_names, *self.mimics))

    # ------------------------------------------------------------------------------------------------- changes
    def with_root_inertia(self, inertia: ArrayLike | None = None) -> "Model":
        """Return the model with another inertia of the root link.

        Parameters
        ----------
        inertia : array_like (6, 6), optional
            Inertia of the root link and of all links fixed to it, about the root's origin. By default it is 0.

        Returns
        -------
        Model
            Another model.

        Notes
        -----
        The root does not move. Only the total mass, its center and the potential energy change.
        """
        return replace(self, root_inertia=checks.inertia(f"link {self.root!r}", inertia))

    def with_armature(self, armature: Mapping[str, float]) -> "Model":
        """Return the model with different armature of some joints.

        Parameters
        ----------
        armature : dict of str to float
            Armature of these joints: the inertia of the motor's rotor times the gear ratio squared, kg m^2 or kg.

        Returns
        -------
        Model
            Another model.

        Raises
        ------
        TypeError
            If `armature` is not a mapping.
        ValueError
            If a joint does not exist, mimics another or is a Lie-group joint, or a number is negative or not finite.
        """
        if not isinstance(armature, Mapping):
            raise TypeError(f"with_armature: {{joint: value}} is expected, not {type(armature).__name__}")
        found = self.armature.copy()
        for joint, value in armature.items():
            name = f"joint {joint!r}"
            if joint in self.mimics:
                raise ValueError(f"{name} follows {self.mimics[joint][0]!r}, which has the armature of both")
            if joint not in self.v_slices:
                raise ValueError(f"{name} does not exist; the model has {', '.join(self.joint_names) or 'none'}")
            if self.kind_of(joint) in group_joints.GROUPS:
                raise ValueError(f"{name} is {self.kind_of(joint)}: only joints of one degree of freedom have armature")
            found[self.v_slices[joint]] = checks.number(name, "armature", value, 0.0)
        return replace(self, armature=found)

    def with_payload(self, link: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None) -> "Model":
        """Return the model with a rigid load fixed to a link, in addition to the link's own inertia.

        Parameters
        ----------
        link : str
            Link that carries the load.
        mass : float
            Mass, kg, >= 0.
        com : array_like (3,), optional
            Center of mass, m, in the link's frame.
        inertia : array_like (3, 3), optional
            Rotational inertia about the center of mass, kg m^2, resolved in the link's frame. By default it is 0.

        Returns
        -------
        Model
            Another model.

        Raises
        ------
        ValueError
            If the link does not exist, a number is negative or not finite, or no rigid body has this inertia. The
            message names the cause.
        """
        body, C = self.frames[self.known_link(link)]
        load = inertial_parameters.moved(C, checks.payload(mass, com, inertia))
        if body < 0:
            return replace(self, root_inertia=self.root_inertia + load)
        inertias = self.inertias.copy()
        inertias[body] += load
        return replace(self, inertias=inertias)

    def with_inertial_parameters(self, parameters: ArrayLike) -> "Model":
        """Return the model with different inertial parameters.

        Parameters
        ----------
        parameters : array_like (10 b,)
            Parameters as in `inertial_parameters`, physical or not. They must be 0 for bodies that are not links.

        Returns
        -------
        Model
            Another model.

        Raises
        ------
        ValueError
            If the shape is wrong, a number is not finite, or a body that is not a link has a nonzero parameter.
        """
        p = checks.numbers("with_inertial_parameters", "parameters", parameters, self.inertial_parameters.shape)
        for wrong in np.flatnonzero(p * ~np.repeat(self.is_link, inertial_parameters.COUNT)):
            raise ValueError(f"{self.inertial_parameter_names[wrong]} is {p[wrong]:g}, but must be 0: a body inside a "
                             "Lie-group joint has no inertia")
        return replace(self, inertias=inertial_parameters.matrix(p.reshape(-1, inertial_parameters.COUNT)))


def _refuse(self, name, *value):
    raise FrozenInstanceError(f"a Model is immutable, and its {name!r} cannot be changed: dataclasses.replace(model, "
                              f"{name}=...) returns another Model, and model.with_payload(...) one with a load")


Model.__setattr__ = Model.__delattr__ = _refuse         # type: ignore[method-assign]    # dataclass() allows it here alone


def _canonical(x: Any) -> Iterator[str]:
    """Yield the text of a value in pieces: arrays by their bytes, mappings in the order of their keys."""
    yield type(x).__name__ if not isinstance(x, Mapping) else "mapping"
    if isinstance(x, np.ndarray):
        yield f"{x.dtype.str} {x.shape} {np.ascontiguousarray(x).tobytes().hex()}"
    elif isinstance(x, Mapping):
        yield from _canonical(sorted(x.items()))
    elif isinstance(x, (list, tuple)):
        for each in x:
            yield from _canonical(each)
        yield "end"
    elif is_dataclass(x):
        yield from _canonical([getattr(x, own.name) for own in fields(x)])
    else:
        yield repr(x)
