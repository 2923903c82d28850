"""ModelBuilder: builds a Model from links and joints, added one by one, parents before children."""
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays, se3
from screw_dynamics.utils.checks import described, flag, one_of

from . import checks, inertial_parameters, macro_joints
from .constraints import Constraint, Distance, Gear, LoopJoint, Members
from .group_joints import GROUPS
from .mimic import SHARES, Mimic, followed
from .model import Model


class Limits(NamedTuple):
    """The limits of a joint; infinite means no limit.

    Parameters
    ----------
    lower, upper : float, optional
        Position limits, rad or m.
    velocity : float, optional
        Velocity limit, rad/s or m/s.
    effort : float, optional
        Effort limit, N m or N.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


class _Moving(NamedTuple):
    """A joint and the body that it moves, as passed to the builder."""

    joint: str
    link: str
    parent: int
    placement: np.ndarray
    screw: np.ndarray
    kind: str
    limits: Limits
    damping: float
    friction: float
    armature: float
    mimic: Mimic | None
    frame: np.ndarray | None = None     # of a Lie-group joint, in the link


class ModelBuilder:
    """A builder of a Model, which collects and checks links and joints one by one.

    Parameters
    ----------
    root : str
        Fixed link. Its frame is the world frame and the construction frame.
    inertia : array_like (6, 6), optional
        Inertia of the root link about its origin. By default it is 0.
    physical : bool, optional
        True requires inertias of rigid bodies: no principal moment is negative, and none exceeds the sum of the other
        two. False accepts others too, for example of published descriptions and planar models.

    Notes
    -----
    All methods raise ValueError with the element and the value.
    """

    def __init__(self, root: str, inertia: ArrayLike | None = None, *, physical: bool = True) -> None:
        self._moving: list[_Moving] = []
        self._inertias: list[np.ndarray] = []
        self._references: list[np.ndarray] = []                     # poses of bodies in the construction frame
        self._kinds: dict[str, str] = {}                            # of joints that mimic no other
        self._leaders: dict[str, str] = {}                          # of mimic joints
        self._joints: set[str] = set()
        self._warnings: list[str] = []
        self._constraints: dict[str, Constraint] = {}
        self.root = checks.new_name("link", root, ())
        self.physical = flag("physical", physical)
        self._root_inertia = self._inertia(root, inertia)
        self._frames = {root: (-1, np.eye(4))}

    def warn(self, text: str) -> None:
        """Add a warning about the source to the model's `warnings`.

        Parameters
        ----------
        text : str
            Warning.
        """
        self._warnings.append(text)

    def add_fixed(self, link: str, parent: str, placement: ArrayLike | None = None,
                  inertia: ArrayLike | None = None) -> None:
        """Add a link that is fixed to another.

        Parameters
        ----------
        link : str
            Name of the new link.
        parent : str
            Link to which it is fixed.
        placement : array_like (4, 4), optional
            Pose of the link in the parent. By default the identity.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin. By default it is 0.
        """
        name = f"link '{checks.new_name('link', link, self._frames)}'"
        body, C = self._frame(parent, name)
        C = C @ checks.pose(name, placement)
        self._add_inertia(body, C, self._inertia(link, inertia))
        self._frames[link] = body, C

    def add_joint(self, joint: str, link: str, parent: str, screw: ArrayLike, placement: ArrayLike | None = None,
                  inertia: ArrayLike | None = None, *, kind: str | None = None, limits: Limits | None = None,
                  damping: float = 0.0, friction: float = 0.0, armature: float = 0.0,
                  mimic: Mimic | None = None) -> None:
        """Add a link that moves relative to its parent by C(q) = placement exp(screw q).

        Parameters
        ----------
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Parent link.
        screw : array_like (6,)
            Unit screw in the link's frame, angular part first.
        placement : array_like (4, 4), optional
            Pose of the link in the parent link at q = 0. By default the identity.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin. By default it is 0.
        kind : str, optional
            Kind of the joint: that of its screw, or "continuous" instead of "revolute".
        limits : Limits, optional
            Limits of position, velocity and effort. By default there are none.
        damping : float, optional
            Viscous friction, N m s/rad or N s/m, >= 0.
        friction : float, optional
            Coulomb friction, N m or N, >= 0.
        armature : float, optional
            Inertia of the motor's rotor times the gear ratio squared, kg m^2 or kg, >= 0.
        mimic : Mimic, optional
            Leader of this joint. It may be added later.

        Notes
        -----
        The leader of a mimic joint gets multiplier^2 times its damping and armature, and ``|multiplier|`` times its
        friction.
        """
        name = f"joint '{checks.new_name('joint', joint, self._joints)}'"
        body, C = self._frame(parent, name)
        X, found = checks.screw(name, screw)
        moving = _Moving(
            joint, checks.new_name("link", link, self._frames), body, C @ checks.pose(name, placement), X,
            checks.joint_kind(name, kind, found), Limits(*checks.limits(name, limits or Limits())),
            checks.number(name, "damping", damping, 0.0), checks.number(name, "friction", friction, 0.0),
            checks.number(name, "armature", armature, 0.0), None if mimic is None else self._checked_mimic(name, mimic))
        self._move(moving, self._inertia(link, inertia))
        self._joints.add(joint)
        self._frames[link] = len(self._moving) - 1, np.eye(4)

    def add_screw(self, joint: str, link: str, parent: str, axis: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0),
                  pitch: float = 0.0, pose: ArrayLike | None = None, mass: float = 0.0,
                  com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None, *, kind: str | None = None,
                  limits: Limits | None = None, damping: float = 0.0, friction: float = 0.0, armature: float = 0.0,
                  mimic: Mimic | None = None) -> None:
        """Add a link by its joint's screw, with all data in the construction frame at q = 0.

        Parameters
        ----------
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Parent link.
        axis : array_like (3,)
            Direction of the axis.
        point : array_like (3,), optional
            Any point of the axis, m.
        pitch : float, optional
            Pitch, m/rad: 0 for a revolute and math.inf for a prismatic joint.
        pose : array_like (4, 4), optional
            Reference pose A of the link's frame. By default the identity.
        mass : float, optional
            Mass, kg, >= 0.
        com : array_like (3,), optional
            Center of mass, m.
        inertia : array_like (3, 3), optional
            Rotational inertia about the center of mass, kg m^2, resolved in the construction frame. By default it is 0.
        kind : str, optional
            Kind of the joint, as in ``add_joint``.
        limits : Limits, optional
            Limits of position, velocity and effort.
        damping : float, optional
            Viscous friction, N m s/rad or N s/m, >= 0.
        friction : float, optional
            Coulomb friction, N m or N, >= 0.
        armature : float, optional
            Inertia of the motor's rotor times the gear ratio squared, kg m^2 or kg, >= 0.
        mimic : Mimic, optional
            Leader of this joint.

        See Also
        --------
        add_joint : Add the same joint by its screw in the link's frame.

        Notes
        -----
        The spatial screw is Y = (e, p x e + h e), or (0, e) for a prismatic joint.

        References
        ----------
        [MK] (12).
        """
        name = f"joint '{joint}'"
        A = checks.pose(name, pose)
        body, C = self._frame(parent, name)
        to_link = arrays.inverse_pose(A)
        R = to_link[:3, :3]
        Y = checks.screw_on_axis(name, axis, point, pitch)
        center = R @ checks.numbers(name, "com", com, (3,)) + to_link[:3, 3]
        about = checks.numbers(name, "inertia", np.zeros((3, 3)) if inertia is None else inertia, (3, 3))
        mass = checks.number(f"link '{link}'", "mass", mass, 0.0)
        self.add_joint(joint, link, parent, arrays.Ad_matrix(to_link) @ Y,
                       arrays.inverse_pose(self._reference(body) @ C) @ A,
                       arrays.inertia_matrix(mass, center, R @ about @ R.T), kind=kind, limits=limits, damping=damping,
                       friction=friction, armature=armature, mimic=mimic)

    def add_macro_joint(self, kind: str, joint: str, link: str, parent: str, placement: ArrayLike | None = None,
                        inertia: ArrayLike | None = None, *, frame: ArrayLike | None = None, order: str | None = None,
                        pitch: float | None = None, limits: Limits | Mapping[str, Limits] | None = None,
                        damping: float | Mapping[str, float] = 0.0, friction: float | Mapping[str, float] = 0.0,
                        armature: float | Mapping[str, float] = 0.0,
                        mimic: Mimic | Mapping[str, Mimic] | None = None) -> tuple[str, ...]:
        """Add a link by a joint of several degrees of freedom, composed of single-DoF joints and massless links.

        Parameters
        ----------
        kind : str
            Kind of the joint: "cylindrical", "planar", "spherical", "universal", "free" or another of
            macro_joints.KINDS, which lists their motions in order.
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Parent link.
        placement : array_like (4, 4), optional
            Pose of the link in the parent link at q = 0, as in ``add_joint``.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin, as in ``add_joint``.
        frame : array_like (4, 4), optional
            Pose of the joint frame in the link's frame. The motions are along and about its axes; a single rotation or
            translation is on its z-axis. By default the identity.
        order : str, optional
            Axes of several rotations, as in "zyx" for R = R_z R_y R_x.
        pitch : float, optional
            Pitch of a helical motion, m/rad.
        limits : Limits or dict of str to Limits, optional
            Limits of all coordinates, or of some as {"rz": value, ...}.
        damping, friction, armature : float or dict of str to float, optional
            Values of all coordinates or of some, as in ``add_joint``.
        mimic : Mimic or dict of str to Mimic, optional
            Leaders of all coordinates, or of some.

        Returns
        -------
        tuple of str
            Names of the coordinates: joint_x for a translation along x, joint_rz for a rotation about z, and so on, or
            joint if there is only one.

        See Also
        --------
        add_group_joint : Add a joint of several degrees of freedom without singularities.

        Notes
        -----
        The intermediate links are named link_x and so on. At q = 0 their frames coincide with the link's. For
        singularities see macro_joints.

        References
        ----------
        [MK] table 2, remark 4.
        """
        name = f"joint '{checks.new_name('joint', joint, self._joints)}'"
        degrees = checks.named(name, macro_joints.degrees, kind, order, pitch)
        to_link = arrays.Ad_matrix(checks.pose(name, frame))
        options = checks.named(name, macro_joints.options_of, degrees, {
            "limits": limits, "damping": damping, "friction": friction, "armature": armature, "mimic": mimic})
        names: list[str] = []
        before = len(self._moving)
        try:
            for degree, chosen in zip(degrees, options, strict=True):
                last = degree is degrees[-1]
                names.append(joint if len(degrees) == 1 else f"{joint}_{degree.name}")
                moved = link if last else f"{link}_{degree.name}"
                self.add_joint(names[-1], moved, parent, to_link @ degree.screw, placement,
                               inertia if last else None, **chosen)
                parent, placement = moved, None
        except BaseException:
            self._forget(before)
            raise
        return tuple(names)

    def add_group_joint(self, kind: str, joint: str, link: str, parent: str, placement: ArrayLike | None = None,
                        inertia: ArrayLike | None = None, *, frame: ArrayLike | None = None,
                        limits: Limits | Mapping[str, Limits] | None = None,
                        damping: float | Mapping[str, float] = 0.0,
                        friction: float | Mapping[str, float] = 0.0) -> None:
        """Add a link by a Lie-group joint, which needs no chart and has no singularities.

        Parameters
        ----------
        kind : {"spherical", "planar", "free"}
            Group of the configuration g. "spherical": q is a quaternion x y z w. "planar", in the x-y plane of the
            joint frame: q is x, y and an angle. "free": q is x y z and a quaternion x y z w.
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Parent link.
        placement : array_like (4, 4), optional
            Pose of the link in the parent link if g is the identity. By default the identity.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin. By default it is 0.
        frame : array_like (4, 4), optional
            Pose F of the joint frame in the link's frame. By default the identity.
        limits : Limits or dict of str to Limits, optional
            Limits of all velocities, or of some as {"rx": value, ...}. Only velocity and effort limits are used:
            group elements have no position limits.
        damping, friction : float or dict of str to float, optional
            Values of all velocities or of some, as in ``add_joint``.

        See Also
        --------
        add_macro_joint : Add other joints of several degrees of freedom, some of which have charts without singularity.

        Notes
        -----
        C(q) = placement F g F^-1. Quaternions are normalized; they must not be 0.

        Velocities, accelerations and efforts (three, three and six) are components of the twist of the link relative to
        its parent, in the joint frame on the link, angular part first.
        """
        name = f"joint '{checks.new_name('joint', joint, self._joints)}'"
        checks.named(name, one_of, "kind", kind, tuple(GROUPS))
        F = checks.pose(name, frame)
        degrees = [macro_joints.degree(motion) for motion in GROUPS[kind].motions]
        given = {"limits": limits or Limits(), "damping": damping, "friction": friction}
        options = checks.named(name, macro_joints.options_of, degrees, given)
        parent_body, C = self._frame(parent, name)
        at = C @ checks.pose(name, placement)
        checks.new_name("link", link, self._frames)
        moved = self._inertia(link, inertia)
        to_link = arrays.Ad_matrix(F)
        checked = []
        for degree, chosen in zip(degrees, options, strict=True):
            bounds = Limits(*checks.limits(name, chosen.get("limits") or Limits()))
            checked.append((degree, bounds._replace(lower=-math.inf, upper=math.inf),
                            checks.number(name, "damping", chosen.get("damping", 0.0), 0.0),
                            checks.number(name, "friction", chosen.get("friction", 0.0), 0.0)))
        for degree, bounds, damping, friction in checked:
            last = degree is degrees[-1]
            self._move(_Moving(joint, link if last else f"{link}_{degree.name}", parent_body, at,
                               to_link @ degree.screw, kind, bounds, damping, friction, 0.0, None, F),
                       moved if last else np.zeros((6, 6)))
            parent_body, at = len(self._moving) - 1, np.eye(4)
        self._joints.add(joint)
        self._frames[link] = parent_body, np.eye(4)

    def add_loop_joint(self, name: str, kind: str, link: str, on: str | None = None, frame: ArrayLike | None = None,
                       frame_on: ArrayLike | None = None, pitch: float | None = None) -> None:
        """Add a joint that closes a loop between two existing links.

        Parameters
        ----------
        name : str
            Name of the constraint.
        kind : str
            Kind of the joint, as in closed_loops.LoopJoint.
        link : str
            First link.
        on : str, optional
            Second link. By default the root.
        frame : array_like (4, 4), optional
            Pose of the joint frame in `link`. By default the identity.
        frame_on : array_like (4, 4), optional
            Pose of the joint frame in `on`. By default it closes the joint in the configuration passed to
            ClosedLoopRobot.
        pitch : float, optional
            Pitch of a helical motion, m/rad.

        Notes
        -----
        The constraint is stored in the model. ClosedLoopRobot(Robot(model)) enforces it, Robot(model) alone does not.
        """
        self.add_constraint(LoopJoint(name, kind, link, on, frame, frame_on, pitch))

    def add_distance(self, name: str, link: str, on: str | None = None, point: ArrayLike = (0.0, 0.0, 0.0),
                     point_on: ArrayLike = (0.0, 0.0, 0.0), length: float | None = None) -> None:
        """Add a constraint that keeps two points on links at a fixed distance.

        Parameters
        ----------
        name : str
            Name of the constraint.
        link : str
            Link of the first point.
        on : str, optional
            Link of the second point. By default the root.
        point : array_like (3,), optional
            Point in `link`, m.
        point_on : array_like (3,), optional
            Point in `on`, m.
        length : float, optional
            Distance, m, > 0. By default that in the configuration passed to ClosedLoopRobot.

        See Also
        --------
        add_loop_joint : Add another constraint that is stored in the model.
        """
        self.add_constraint(Distance(name, link, on, point, point_on, length))

    def add_gear(self, name: str, ratios: Mapping[str, float], offset: float = 0.0) -> None:
        """Add a linear coupling of joints of one degree of freedom.

        Parameters
        ----------
        name : str
            Name of the constraint.
        ratios : dict of str to float
            Ratio of each joint.
        offset : float, optional
            Sum of ratio times coordinate over the joints.

        See Also
        --------
        add_loop_joint : Add another constraint that is stored in the model.
        """
        self.add_constraint(Gear(name, ratios, offset))

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint between existing links and joints.

        Parameters
        ----------
        constraint : LoopJoint, Distance or Gear
            Constraint.

        Raises
        ------
        ValueError
            If it does not fit the links and joints, or its name is taken. The message names the cause.
        """
        checked = Members(self.root, self._frames, self._kinds, self._leaders).checked(constraint)
        checks.new_name("constraint", checked.name, self._constraints)
        self._constraints[checked.name] = checked

    def build(self) -> Model:
        """Return the model of all links, joints and constraints added.

        Returns
        -------
        Model
            An immutable model.

        Raises
        ------
        ValueError
            If a mimic joint has an unknown leader, is part of a loop, or its multiplier or offset is out of range.
        """
        leaders = [m for m in self._moving if m.mimic is None]
        kinds = {m.joint: m.kind for m in leaders}
        index = {id(m): k for k, m in enumerate(leaders)} | {m.joint: k for k, m in enumerate(leaders)}
        mimics = {m.joint: m.mimic for m in self._moving if m.mimic}
        leading = followed((m.joint for m in self._moving), mimics)
        motion = [leading[m.joint] for m in self._moving]
        poses = [m.placement @ _exp(offset * m.screw) for m, (_, _, offset) in zip(self._moving, motion, strict=True)]
        screws = [multiplier * m.screw for m, (_, multiplier, _) in zip(self._moving, motion, strict=True)]
        limits = np.array([m.limits for m in leaders], dtype=float).reshape(-1, 4).T.copy()
        return Model(
            root=self.root, joint_names=tuple(kinds), joint_kinds=tuple(kinds.values()),
            body_names=tuple(m.link for m in self._moving), body_joints=tuple(m.joint for m in self._moving),
            parents=np.array([m.parent for m in self._moving], dtype=np.int64),
            coordinates=np.array([index.get(id(m), index[leader]) for m, (leader, _, _) in
                                  zip(self._moving, motion, strict=True)], dtype=np.int64),
            screws_body=np.array(screws, dtype=float).reshape(-1, 6),
            relative_poses=np.array(poses, dtype=float).reshape(-1, 4, 4),
            inertias=np.array(self._inertias, dtype=float).reshape(-1, 6, 6), root_inertia=self._root_inertia.copy(),
            lower=limits[0], upper=limits[1], velocity_limit=limits[2], effort_limit=limits[3],
            **{name: self._with_followers(name, index, leading) for name in SHARES},
            frames=dict(self._frames),
            mimics={joint: leading[joint] for joint in mimics}, warnings=tuple(self._warnings),
            joint_frames={m.joint: m.frame for m in self._moving if m.frame is not None},
            constraints=tuple(self._constraints.values()))

    def _with_followers(self, name, index, leading):
        """Return a joint property (n,) with the reflected shares of mimic joints added in order."""
        found = np.array([getattr(m, name) for m in self._moving if m.mimic is None], dtype=float)
        for m in self._moving:
            if m.mimic is not None:
                leader, multiplier, _ = leading[m.joint]
                found[index[leader]] += SHARES[name](multiplier) * getattr(m, name)
        return found

    @staticmethod
    def _checked_mimic(name, mimic):
        if not isinstance(mimic, Mimic):
            raise ValueError(f"{name}: mimic must be Mimic(joint, multiplier, offset), not {described(mimic)}")
        return Mimic(mimic.joint, checks.number(name, "mimic multiplier", mimic.multiplier),
                     checks.number(name, "mimic offset", mimic.offset))

    def _move(self, moving, inertia):
        """Add a body."""
        self._references.append(self._reference(moving.parent) @ moving.placement)
        self._moving.append(moving)
        self._inertias.append(inertia)
        if moving.mimic is None:
            self._kinds[moving.joint] = moving.kind
        else:
            self._leaders[moving.joint] = moving.mimic.joint

    def _forget(self, count):
        """Remove all moving links from index `count` on."""
        for moving in self._moving[count:]:
            self._joints.remove(moving.joint)
            del self._frames[moving.link]
            (self._kinds if moving.mimic is None else self._leaders).pop(moving.joint)
        del self._moving[count:], self._inertias[count:], self._references[count:]

    def _frame(self, parent, name):
        if parent not in self._frames:
            raise ValueError(f"{name}: parent link {parent!r} does not exist")
        return self._frames[parent]

    def _inertia(self, link, inertia):
        return checks.inertia(f"link '{link}'", inertia, self.physical)

    def _add_inertia(self, body, C, inertia):
        moved = inertial_parameters.moved(C, inertia)
        if body < 0:
            self._root_inertia = self._root_inertia + moved
        else:
            self._inertias[body] = self._inertias[body] + moved

    def _reference(self, body):
        """Return the pose A of a body in the construction frame with all joints at zero."""
        return np.eye(4) if body < 0 else self._references[body]


def _exp(X):
    return arrays.pose_matrix(se3.exp(arrays.twist(X)))
