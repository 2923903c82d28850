"""ModelBuilder: a Model from links and joints, added one by one, parents before children."""
import math
from typing import NamedTuple

import numpy as np

from screw_dynamics.screws import arrays, se3

from . import macro_joints
from .model import Model

TOLERANCE = 1e-6        # how far a given rotation or axis may be from orthogonal or unit length before it is refused


class Limits(NamedTuple):
    """Limits of a joint: position (rad or m), velocity and effort; infinite where there is none."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


class Mimic(NamedTuple):
    """A joint that follows another: q = multiplier * q_joint + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


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
    mimic: Mimic | None


class ModelBuilder:
    """Collects links and joints and checks each; every error is a ValueError that names the element and the value.

    `root` is the link that does not move; its frame is the world and the construction frame. `inertia` (6, 6) is its
    own."""

    def __init__(self, root, inertia=None):
        self._moving, self._inertias, self._frames, self._joints, self._warnings = [], [], {}, set(), []
        self.root = self._new_link(root)
        self._root_inertia = _inertia(root, inertia)
        self._frames[root] = -1, np.eye(4)

    def warn(self, text):
        """Keep a remark about the source in the model's `warnings`."""
        self._warnings.append(text)

    def add_fixed(self, link, parent, placement=None, inertia=None):
        """Fix a link to another: `placement` (4, 4) is its pose in the parent link, `inertia` (6, 6) about its own
        origin."""
        name = f"link '{self._new_link(link)}'"
        body, C = self._frame(parent, name)
        C = C @ _pose(name, placement)
        self._add_inertia(body, C, _inertia(link, inertia))
        self._frames[link] = body, C

    def add_joint(self, joint, link, parent, screw, placement=None, inertia=None, *, kind=None, limits=None,
                  damping=0.0, friction=0.0, mimic=None):
        """Add a link that moves against its parent by C(q) = placement exp(screw q).

        screw (6,): unit screw in the link's frame, angular part first. placement (4, 4): pose of the link in the parent
        link at q = 0. inertia (6, 6) about the link's origin. damping N m s/rad or N s/m, friction N m or N. The joint
        that a mimic joint follows may be added later."""
        name = f"joint '{self._new_joint(joint)}'"
        body, C = self._frame(parent, name)
        screw, found = _screw(name, screw)
        moving = _Moving(joint, self._new_link(link), body, C @ _pose(name, placement), screw, kind or found,
                         _limits(name, limits or Limits()), _not_negative(name, "damping", damping),
                         _not_negative(name, "friction", friction), _mimic(name, mimic))
        self._inertias.append(_inertia(link, inertia))
        self._joints.add(joint)
        self._moving.append(moving)
        self._frames[link] = len(self._moving) - 1, np.eye(4)

    def add_screw(self, joint, link, parent, axis, point=(0.0, 0.0, 0.0), pitch=0.0, pose=None, mass=0.0,
                  com=(0.0, 0.0, 0.0), inertia=None, **joint_options):
        """Add a link by its joint's screw, with everything given in the construction frame at q = 0.

        axis (3,): direction; point (3,): any point of the axis, m; pitch: m/rad, 0 for a revolute and math.inf for a
        prismatic joint. pose (4, 4): the reference pose A of the link's frame. com (3,): centre of mass; inertia (3,
        3): about the centre of mass, resolved in the construction frame. Spatial screw Y = (e, p x e + h e) or (0, e);
        [MK] (12)."""
        name = f"joint '{joint}'"
        A = _pose(name, pose)
        body, C = self._frame(parent, name)
        to_link = arrays.inverse_pose(A)
        e = _unit(name, "axis", _numbers(name, "axis", axis, (3,)))
        p = _numbers(name, "point", point, (3,))
        if math.isnan(pitch) or pitch == -math.inf:
            raise ValueError(f"{name}: pitch {pitch} is not a number of m/rad, nor inf for a prismatic joint")
        Y = np.r_[0.0, 0.0, 0.0, e] if pitch == math.inf else np.r_[e, np.cross(p, e) + pitch * e]
        R = to_link[:3, :3]
        centre = R @ _numbers(name, "com", com, (3,)) + to_link[:3, 3]
        about = R @ _numbers(name, "inertia", np.zeros((3, 3)) if inertia is None else inertia, (3, 3)) @ R.T
        self.add_joint(joint, link, parent, arrays.Ad_matrix(to_link) @ Y,
                       arrays.inverse_pose(self._reference(body) @ C) @ A, arrays.inertia_matrix(mass, centre, about),
                       **joint_options)

    def add_macro_joint(self, kind, joint, link, parent, placement=None, inertia=None, *, frame=None, order=None,
                        pitch=None, **joint_options):
        """Add a link by a joint of several degrees of freedom, made of joints of one with massless links in between.

        kind: "cylindrical", "planar", "spherical", "universal", "free" or another of macro_joints.KINDS, which has the
        motions in their order. frame (4, 4): the pose of the joint frame, on whose axes they are, in the link's frame;
        a single turn or slide is on its z-axis. order: the axes of several turns, as in "zyx" for R = R_z R_y R_x.
        pitch: of a helical motion, m/rad. placement, inertia and options as in add_joint, an option for all coordinates
        or as {"rz": value, ...} for some.

        Gives the names of the coordinates: joint_x for a slide along x, joint_rz for a turn about z and so on, or joint
        if it is the only one; the links in between are called link_x and so on. At q = 0 their frames are the link's.
        Singular where macro_joints says; [MK] table 2, remark 4."""
        name = f"joint '{self._new_joint(joint)}'"
        degrees = _naming(name, macro_joints.degrees, kind, order, pitch)
        to_link = arrays.Ad_matrix(_pose(name, frame))
        options = _naming(name, macro_joints.options_of, degrees, joint_options)
        before, names = len(self._moving), []
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

    def build(self):
        """The model of all that was added."""
        leaders = [m for m in self._moving if m.mimic is None]
        index = {m.joint: k for k, m in enumerate(leaders)}
        follow = {m.joint: m.mimic for m in self._moving if m.mimic}
        motion = [_resolve(m.joint, follow, self._joints) for m in self._moving]        # leader, multiplier, offset
        poses = [m.placement @ _exp(offset * m.screw) for m, (_, _, offset) in zip(self._moving, motion, strict=True)]
        screws = [multiplier * m.screw for m, (_, multiplier, _) in zip(self._moving, motion, strict=True)]
        frames = dict(self._frames)
        limits = np.array([m.limits for m in leaders], dtype=float).reshape(-1, 4).T.copy()
        return Model(
            root=self.root, joint_names=tuple(index), joint_kinds=tuple(m.kind for m in leaders),
            body_names=tuple(m.link for m in self._moving), body_joints=tuple(m.joint for m in self._moving),
            parents=np.array([m.parent for m in self._moving], dtype=np.int64),
            coordinates=np.array([index[leader] for leader, _, _ in motion], dtype=np.int64),
            screws_body=np.array(screws, dtype=float).reshape(-1, 6),
            relative_poses=np.array(poses, dtype=float).reshape(-1, 4, 4),
            inertias=np.array(self._inertias, dtype=float).reshape(-1, 6, 6), root_inertia=self._root_inertia.copy(),
            lower=limits[0], upper=limits[1], velocity_limit=limits[2], effort_limit=limits[3],
            damping=np.array([m.damping for m in leaders], dtype=float),
            friction=np.array([m.friction for m in leaders], dtype=float), frames=frames,
            mimics={m.joint: found for m, found in zip(self._moving, motion, strict=True) if m.mimic},
            warnings=tuple(self._warnings))

    def _new_link(self, link):
        if not isinstance(link, str) or not link:
            raise ValueError(f"a link's name must be a non-empty string, not {link!r}")
        if link in self._frames:
            raise ValueError(f"link '{link}' is there twice")
        return link

    def _new_joint(self, joint):
        if not isinstance(joint, str) or not joint:
            raise ValueError(f"a joint's name must be a non-empty string, not {joint!r}")
        if joint in self._joints:
            raise ValueError(f"joint '{joint}' is there twice")
        return joint

    def _forget(self, count):
        """Take back all moving links from this one on."""
        for moving in self._moving[count:]:
            self._joints.remove(moving.joint)
            del self._frames[moving.link]
        del self._moving[count:], self._inertias[count:]

    def _frame(self, parent, name):
        if parent not in self._frames:
            raise ValueError(f"{name}: its parent link {parent!r} is not there")
        return self._frames[parent]

    def _add_inertia(self, body, C, inertia):
        to_link = arrays.Ad_matrix(arrays.inverse_pose(C))
        moved = to_link.T @ inertia @ to_link
        if body < 0:
            self._root_inertia = self._root_inertia + moved
        else:
            self._inertias[body] = self._inertias[body] + moved

    def _reference(self, body):
        """A of a body: its pose in the construction frame with every joint at zero."""
        C = np.eye(4)
        while body >= 0:
            C, body = self._moving[body].placement @ C, self._moving[body].parent
        return C


def _exp(X):
    return arrays.pose_matrix(se3.exp(arrays.twist(X)))


def _resolve(joint, follow, joints):
    """The leader of a joint with multiplier and offset, through any chain of mimic joints."""
    leader, multiplier, offset, seen = joint, 1.0, 0.0, {joint}
    while leader in follow:
        step = follow[leader]
        if step.joint not in joints:
            raise ValueError(f"joint '{leader}' mimics joint {step.joint!r}, which is not there or does not move")
        if step.joint in seen:
            raise ValueError(f"joint '{joint}' mimics joint '{step.joint}' in a circle")
        seen.add(step.joint)
        leader, multiplier, offset = step.joint, multiplier * step.multiplier, multiplier * step.offset + offset
    return leader, multiplier, offset


# ------------------------------------------------------------------------------------------------- checks
def _naming(name, check, *arguments):
    """What a check gives; its ValueError gets the name of the element in front."""
    try:
        return check(*arguments)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _numbers(name, what, x, shape):
    try:
        a = np.array(x, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {what} {x!r} is not made of numbers") from None
    if a.shape != shape:
        raise ValueError(f"{name}: {what} has shape {a.shape}, not {shape}")
    if not np.isfinite(a).all():
        raise ValueError(f"{name}: {what} {a.tolist()} is not finite")
    return a


def _unit(name, what, a):
    norm = np.linalg.norm(a)
    if not norm > 0.0:
        raise ValueError(f"{name}: {what} {a.tolist()} has no direction")
    return a / norm


def _pose(name, C):
    C = _numbers(name, "pose", np.eye(4) if C is None else C, (4, 4))
    R = C[:3, :3]
    if not np.array_equal(C[3], [0.0, 0.0, 0.0, 1.0]):
        raise ValueError(f"{name}: the last row of a pose is 0 0 0 1, not {C[3].tolist()}")
    if np.abs(R @ R.T - np.eye(3)).max() > TOLERANCE or np.linalg.det(R) < 0.0:
        raise ValueError(f"{name}: {R.tolist()} is not a rotation")
    U, _, W = np.linalg.svd(R)
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-15:
        C[:3, :3] = U @ W                     # the nearest rotation, so that a pose given with few digits stays rigid
    return C


def _screw(name, screw):
    """A unit screw and the kind of its joint."""
    X = _numbers(name, "screw", screw, (6,))
    rotation, translation = np.linalg.norm(X[:3]), np.linalg.norm(X[3:])
    norm = rotation if rotation > 0.0 else translation
    if abs(norm - 1.0) > TOLERANCE:
        raise ValueError(f"{name}: screw {X.tolist()} is not of unit length; its norm is {norm:g}")
    if rotation == 0.0:
        return X / norm, "prismatic"
    pitch = X[:3] @ X[3:] / norm**2
    return X / norm, "revolute" if abs(pitch) <= 1e-12 * max(1.0, translation) else "helical"


def _inertia(link, inertia):
    """A physically possible (6, 6) inertia: [[Theta, m d~], [-m d~, m I]]."""
    name = f"link '{link}'"
    M = _numbers(name, "inertia", np.zeros((6, 6)) if inertia is None else inertia, (6, 6))
    mass, scale = M[5, 5], max(1.0, np.abs(M).max())
    if mass < 0.0:
        raise ValueError(f"{name}: mass {mass} is negative")
    moment = np.array([M[2, 4], M[0, 5], M[1, 3]])
    form = np.block([[M[:3, :3], arrays.tilde(moment)], [-arrays.tilde(moment), mass * np.eye(3)]])
    if np.abs(M - form).max() > 1e-9 * scale or np.abs(M - M.T).max() > 1e-9 * scale:
        raise ValueError(f"{name}: {M.tolist()} has not the form of a rigid body's inertia")
    if mass == 0.0 and moment.any():
        raise ValueError(f"{name}: mass is 0 but mass times centre of mass is {moment.tolist()}")
    about = M[:3, :3] + (arrays.tilde(moment) @ arrays.tilde(moment) / mass if mass > 0.0 else 0.0)
    smallest = about.diagonal().min()         # only this: the products of some real robots are indefinite
    if smallest < -1e-9 * scale:
        raise ValueError(f"{name}: its rotational inertia has the negative moment {smallest:g}")
    return M


def _limits(name, limits):
    limits = Limits(*map(float, limits))
    if any(map(math.isnan, limits)) or limits.lower > limits.upper:
        raise ValueError(f"{name}: limits lower {limits.lower}, upper {limits.upper} hold nothing")
    for what in ("velocity", "effort"):
        if not getattr(limits, what) >= 0.0:
            raise ValueError(f"{name}: {what} limit {getattr(limits, what)} is negative")
    return limits


def _not_negative(name, what, x):
    if not (math.isfinite(x) and x >= 0.0):
        raise ValueError(f"{name}: {what} {x} is not a number from 0 up")
    return float(x)


def _mimic(name, mimic):
    if mimic is None:
        return None
    mimic = Mimic(mimic.joint, float(mimic.multiplier), float(mimic.offset))
    if not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
        raise ValueError(f"{name}: mimic multiplier {mimic.multiplier} and offset {mimic.offset} must be finite")
    return mimic
