"""ModelBuilder: a Model from links and joints, added one by one, parents before children."""
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.checks import described, flag, one_of
from screw_dynamics.screws import arrays, se3

from . import checks, inertial_parameters, macro_joints
from .constraints import Constraint, Distance, Gear, LoopJoint, Members
from .group_joints import GROUPS
from .mimic import SHARES, Mimic, followed
from .model import Model


class Limits(NamedTuple):
    """The limits of a joint, each infinite where there is none.

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
    """A joint and the body that it moves, as given."""

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
    """A builder of a Model from links and joints, which it collects and checks one by one.

    Parameters
    ----------
    root : str
        Link that does not move. Its frame is the world frame and the construction frame.
    inertia : array_like (6, 6), optional
        Inertia of the root link about its origin. By default it has none.
    physical : bool, optional
        True requires inertias of rigid bodies: no principal moment is negative, and none exceeds the sum of the others.
        False accepts others too, for example of published descriptions and planar models.

    Notes
    -----
    Every error is a ValueError that names the element and the value.
    """

    def __init__(self, root: str, inertia: ArrayLike | None = None, *, physical: bool = True) -> None:
        self._moving: list[_Moving] = []
        self._inertias: list[np.ndarray] = []
        self._references: list[np.ndarray] = []                     # of bodies: poses in the construction frame
        self._kinds: dict[str, str] = {}                            # of joints that follow no other
        self._leaders: dict[str, str] = {}                          # of those that do
        self._joints: set[str] = set()
        self._warnings: list[str] = []
        self._constraints: dict[str, Constraint] = {}
        self.root = checks.new_name("link", root, ())
        self.physical = flag("physical", physical)
        self._root_inertia = self._inertia(root, inertia)
        self._frames = {root: (-1, np.eye(4))}

    def warn(self, text: str) -> None:
        """Keep a remark about the source in the model's `warnings`.

        Parameters
        ----------
        text : str
            Remark.
        """
        self._warnings.append(text)

    def add_fixed(self, link: str, parent: str, placement: ArrayLike | None = None,
                  inertia: ArrayLike | None = None) -> None:
        """Fix a link to another.

        Parameters
        ----------
        link : str
            Name of the new link.
        parent : str
            Link to which it is fixed.
        placement : array_like (4, 4), optional
            Pose of the link in the parent. By default the identity.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin. By default it has none.
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
        """Add a link that moves against its parent by C(q) = placement exp(screw q).

        Parameters
        ----------
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Link on which the joint is.
        screw : array_like (6,)
            Unit screw in the link's frame, angular part first.
        placement : array_like (4, 4), optional
            Pose of the link in the parent link at q = 0. By default the identity.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin. By default it has none.
        kind : str, optional
            Kind of the joint: the kind of its screw, or "continuous" in place of "revolute".
        limits : Limits, optional
            Limits of position, velocity and effort. By default there are none.
        damping : float, optional
            Viscous friction, N m s/rad or N s/m, >= 0.
        friction : float, optional
            Coulomb friction, N m or N, >= 0.
        armature : float, optional
            Inertia of the motor's rotor times the gear ratio squared, kg m^2 or kg, >= 0.
        mimic : Mimic, optional
            Joint that this one follows. It may be added later.

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
        """Add a link by its joint's screw, with everything given in the construction frame at q = 0.

        Parameters
        ----------
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Link on which the joint is.
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
            Joint that this one follows.

        See Also
        --------
        add_joint : The same joint by its screw in the link's frame.

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
        """Add a link by a joint of several degrees of freedom, made of joints of one and massless links.

        Parameters
        ----------
        kind : str
            Kind of the joint: "cylindrical", "planar", "spherical", "universal", "free" or another of
            macro_joints.KINDS, which has the motions in their order.
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Link on which the joint is.
        placement : array_like (4, 4), optional
            Pose of the link in the parent link at q = 0, as in ``add_joint``.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin, as in ``add_joint``.
        frame : array_like (4, 4), optional
            Pose of the joint frame, on whose axes the motions are, in the link's frame. A single turn or slide is on
            its z-axis. By default the identity.
        order : str, optional
            Axes of several turns, as in "zyx" for R = R_z R_y R_x.
        pitch : float, optional
            Pitch of a helical motion, m/rad.
        limits : Limits or dict of str to Limits, optional
            Limits of all coordinates, or as {"rz": value, ...} of some.
        damping, friction, armature : float or dict of str to float, optional
            Numbers of all coordinates or of some, as in ``add_joint``.
        mimic : Mimic or dict of str to Mimic, optional
            Joints that all coordinates follow, or some.

        Returns
        -------
        tuple of str
            Names of the coordinates: joint_x for a slide along x, joint_rz for a turn about z, and so on, or joint if
            it is the only one.

        See Also
        --------
        add_group_joint : A joint of several degrees of freedom without singularity.

        Notes
        -----
        The links in between are called link_x and so on. At q = 0 their frames are the link's. Singularities are as in
        macro_joints.

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
        """Add a link by a Lie-group joint: it has no chart and no singularity.

        Parameters
        ----------
        kind : {"spherical", "planar", "free"}
            Group of the configuration, an element g. "spherical": q = x y z w, a quaternion. "planar", in the x-y plane
            of the joint frame: q = x, y and angle. "free": q = x y z and a quaternion x y z w.
        joint : str
            Name of the new joint.
        link : str
            Name of the new link.
        parent : str
            Link on which the joint is.
        placement : array_like (4, 4), optional
            Pose of the link in the parent link at the identity of g. By default the identity.
        inertia : array_like (6, 6), optional
            Inertia about the link's origin. By default it has none.
        frame : array_like (4, 4), optional
            Pose F of the joint frame in the link's frame. By default the identity.
        limits : Limits or dict of str to Limits, optional
            Limits of all velocities, or as {"rx": value, ...} of some. Limits of velocity and effort count. Elements of
            a group have no limits of position.
        damping, friction : float or dict of str to float, optional
            Numbers of all velocities or of some, as in ``add_joint``.

        See Also
        --------
        add_macro_joint : Other joints of several degrees of freedom, which have charts without singularity.

        Notes
        -----
        C(q) = placement F g F^-1. A quaternion may have any length but 0, which is divided out.

        Velocities, accelerations and efforts are three, three and six, of the twist of the link against its parent in
        the joint frame that the link carries, the angular part first.
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
        """Close a loop by a joint between two links that exist.

        Parameters
        ----------
        name : str
            Name of the constraint.
        kind : str
            Kind of the joint, as in closed_loops.LoopJoint.
        link : str
            Link on one side.
        on : str, optional
            Link on the other side. By default the root.
        frame : array_like (4, 4), optional
            Pose of the joint frame in `link`. By default the identity.
        frame_on : array_like (4, 4), optional
            Pose of the joint frame in `on`. By default it closes the joint in the configuration with which
            ClosedLoopRobot is made.
        pitch : float, optional
            Pitch of a helical motion, m/rad.

        Notes
        -----
        The model keeps the constraint: ClosedLoopRobot(Robot(model)) closes the loop, Robot(model) alone leaves it
        open.
        """
        self.add_constraint(LoopJoint(name, kind, link, on, frame, frame_on, pitch))

    def add_distance(self, name: str, link: str, on: str | None = None, point: ArrayLike = (0.0, 0.0, 0.0),
                     point_on: ArrayLike = (0.0, 0.0, 0.0), length: float | None = None) -> None:
        """Keep two points of links at a distance.

        Parameters
        ----------
        name : str
            Name of the constraint.
        link : str
            Link of one point.
        on : str, optional
            Link of the other point. By default the root.
        point : array_like (3,), optional
            Point in `link`, m.
        point_on : array_like (3,), optional
            Point in `on`, m.
        length : float, optional
            Distance, m, > 0. By default the one in the configuration with which ClosedLoopRobot is made.

        See Also
        --------
        add_loop_joint : A constraint that the model keeps in the same way.
        """
        self.add_constraint(Distance(name, link, on, point, point_on, length))

    def add_gear(self, name: str, ratios: Mapping[str, float], offset: float = 0.0) -> None:
        """Couple joints of one degree of freedom.

        Parameters
        ----------
        name : str
            Name of the constraint.
        ratios : dict of str to float
            Ratio of each joint.
        offset : float, optional
            Sum of ratio times coordinate over these joints.

        See Also
        --------
        add_loop_joint : A constraint that the model keeps in the same way.
        """
        self.add_constraint(Gear(name, ratios, offset))

    def add_constraint(self, constraint: Constraint) -> None:
        """Keep a constraint between links and joints that exist.

        Parameters
        ----------
        constraint : LoopJoint, Distance or Gear
            Constraint.

        Raises
        ------
        ValueError
            If it does not fit the links and joints, or its name is taken. The message names what is wrong.
        """
        checked = Members(self.root, self._frames, self._kinds, self._leaders).checked(constraint)
        checks.new_name("constraint", checked.name, self._constraints)
        self._constraints[checked.name] = checked

    def build(self) -> Model:
        """Return the model of all that was added.

        Returns
        -------
        Model
            An immutable model.

        Raises
        ------
        ValueError
            If a mimic joint cannot follow.
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
        """Return a number of joints (n,), to which mimic joints add their shares, each after the one before."""
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
        """Take back all moving links from this one on."""
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
        """Return a of a body: its pose in the construction frame with every joint at zero."""
        return np.eye(4) if body < 0 else self._references[body]


def _exp(X):
    return arrays.pose_matrix(se3.exp(arrays.twist(X)))
