"""Conversion of a URDF's XML elements to validated links and joints."""
from math import cos, hypot, inf, pi, sin
from typing import Any, NamedTuple

import numpy as np
from lxml import etree
from numpy.typing import ArrayLike
from urdf_parser_py.urdf import URDF

from screw_dynamics.model.builder import Limits
from screw_dynamics.model.checks import SMALLEST_RADIUS, impossible
from screw_dynamics.model.mimic import Mimic

from .error import Notes, UrdfError, fault, quote
from .schema import MOVING_KINDS

SHORTEST_AXIS = 1e-9        # length below which an axis has no direction
LONGEST_ERROR = 1e-3        # deviation of an axis' length from 1 that is attributed to rounded input
LARGEST_RADIUS = 10.0       # m; larger radii of gyration mean that inertia and mass have different units
# rad; limits of revolute joints between these values must be in degrees. Published limits are at most 10, or at least
# 1000, which means no limit.
LARGEST_ANGLE, LARGEST_DEGREES = 4 * pi, 720.0
ENTRIES = "ixx", "ixy", "iyy", "ixz", "iyz", "izz"      # attributes of an <inertia>, ordered as inertial parameters
LARGEST_TURN = 6.3          # rad; larger roll, pitch or yaw angles must be in degrees: a rounded full turn


class Link(NamedTuple):
    """A link and its inertia: mass (kg), center of mass (m) and rotational inertia about it (kg m^2), link axes."""

    name: str
    line: int
    mass: float
    com: np.ndarray
    rotational: np.ndarray


class Joint(NamedTuple):
    """A joint and the motion of its child link relative to the parent link.

    placement (4, 4) is the pose of the child in the parent at q = 0; axis (3,) is a unit vector in the child's frame.
    Fixed, floating and planar joints have no axis, and defaults in the fields after it; a planar joint has the unit
    normal (3,) of its plane."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    placement: np.ndarray
    axis: np.ndarray | None = None
    limits: Limits = Limits()
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimic: Mimic | None = None
    normal: np.ndarray | None = None

    @property
    def screw(self) -> np.ndarray:
        """The unit screw (6,) of a moving joint in the child's frame, whose origin is on the axis."""
        X = np.zeros((2, 3))
        X[1 if self.kind == "prismatic" else 0] = self.axis
        return X.reshape(6)

    @property
    def frame(self) -> np.ndarray:
        """The joint frame (4, 4) of a floating or planar joint, in the child's frame: z is the normal of the plane."""
        return np.eye(4) if self.normal is None else with_z_along(self.normal)


def with_z_along(normal: ArrayLike) -> np.ndarray:
    """Return the pose (4, 4) of the frame with z along a unit vector, by the smallest rotation."""
    x, y, z = np.asarray(normal, dtype=float)
    C = np.eye(4)
    if z < -0.5:                                # starting from the frame rotated by pi about x
        C[:3, :3] = np.diag((1.0, -1.0, -1.0)) @ with_z_along((x, -y, -z))[:3, :3]
        return C
    k = 1.0 / (1.0 + z)
    C[:3, :3] = [[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]]
    return C


def describe(robot: etree._Element, notes: Notes) -> tuple[dict[str, Link], dict[str, Joint]]:
    """Return ({name: Link}, {name: Joint}) of a validated <robot>."""
    try:
        parsed = URDF.from_xml_string(etree.tostring(robot, encoding="unicode"))
    except Exception as error:  # noqa: BLE001  urdf-parser-py raises errors of any type
        raise UrdfError(f"urdf-parser-py refuses the description: {str(error)[-200:]}") from error
    links = _by_name(parsed.links, robot.findall("link"), _link, notes)
    joints = _by_name(parsed.joints, robot.findall("joint"), _joint, notes)
    if not links:
        raise fault("robot: there is no <link>", robot.sourceline)
    return links, joints


def _by_name(parsed, elements, make, notes):
    made: dict[str, Any] = {}
    for entity, element in zip(parsed, elements, strict=True):
        value = make(entity, element.sourceline, notes)
        if value.name in made:
            raise fault(f"a second {element.tag} is called {quote(value.name)}, the first is in line "
                        f"{made[value.name].line}", value.line)
        made[value.name] = value
    return made


def pose(origin: Any) -> np.ndarray:
    """Return the pose (4, 4) of an <origin>: xyz, and roll, pitch, yaw about fixed axes.

    R = Rz(yaw) Ry(pitch) Rx(roll)."""
    C = np.eye(4)
    if origin is not None:
        (r, p, y), C[:3, 3] = origin.rpy or (0, 0, 0), origin.xyz or (0, 0, 0)
        C[:3, :3] = [
            [cos(y) * cos(p), cos(y) * sin(p) * sin(r) - sin(y) * cos(r), cos(y) * sin(p) * cos(r) + sin(y) * sin(r)],
            [sin(y) * cos(p), sin(y) * sin(p) * sin(r) + cos(y) * cos(r), sin(y) * sin(p) * cos(r) - cos(y) * sin(r)],
            [-sin(p), cos(p) * sin(r), cos(p) * cos(r)]]
    return C


def placed(origin: Any, owner: str, notes: Notes) -> np.ndarray:
    """Return the pose (4, 4) of an origin; add a note if its angles seem to be in degrees."""
    if origin is not None and max(map(abs, origin.rpy or (0,))) > LARGEST_TURN:
        notes.add("rpy of more than a turn, is it in degrees?", "{:g} {:g} {:g} in ".format(*origin.rpy) + owner)
    return pose(origin)


def _link(link, line, notes):
    if link.inertial is None:
        return Link(link.name, line, 0.0, np.zeros(3), np.zeros((3, 3)))
    C, mass = placed(link.inertial.origin, link.name, notes), link.inertial.mass
    largest = _principal_moments(link, line, notes)[2]
    if mass == 0 and largest > 0:
        notes.add("link with rotational inertia but no mass", link.name)
    elif largest > mass * LARGEST_RADIUS**2:
        notes.add("inertia much too large for the mass, are both in kg and m?",
                  f"{largest:g} kg m^2 on {mass:g} kg in {link.name}")
    R = C[:3, :3]
    rotational = R @ link.inertial.inertia.to_matrix() @ R.T
    return Link(link.name, line, mass, C[:3, 3], (rotational + rotational.T) / 2)


def _principal_moments(link, line, notes):
    """Return the eigenvalues of the rotational inertia in ascending order.

    Raises UrdfError for a negative moment about an axis. An indefinite tensor, or one that violates the triangle
    inequality, only gets a note: published models have them (Romeo's torso, TIAGo's antennas, ANYmal's links) and must
    load."""
    inertia = link.inertial.inertia
    slack = link.inertial.mass * SMALLEST_RADIUS**2
    for entry in ("ixx", "iyy", "izz"):
        if getattr(inertia, entry) < -slack:
            raise fault(f"link {quote(link.name)}: {entry} {getattr(inertia, entry):g} is negative", line)
    if reason := impossible(link.inertial.mass, inertia.to_matrix()):
        notes.add(f"inertia that no rigid body can have: {reason}", link.name)
    return np.linalg.eigvalsh(inertia.to_matrix())


def _joint(joint, line, notes):
    where = f"joint {quote(joint.name)}"
    still = Joint(joint.name, line, joint.type, joint.parent, joint.child, placed(joint.origin, joint.name, notes))
    if joint.type not in MOVING_KINDS:
        if joint.mimic:
            notes.add(f"<mimic> of a {joint.type} joint is ignored", joint.name)
        planar = joint.type == "planar"
        return still._replace(normal=axis_of(joint.axis, joint.name, where, line, notes)) if planar else still
    damping, friction = (getattr(joint.dynamics, name, None) or 0.0 for name in ("damping", "friction"))
    return still._replace(axis=axis_of(joint.axis, joint.name, where, line, notes), limits=_limits(joint, notes),
                          damping=damping, friction=friction, mimic=_mimic(joint))


def axis_of(given: Any, name: str, where: str, line: int, notes: Notes) -> np.ndarray:
    """Return the unit vector (3,) along an axis, by default along x; add a note if the given one is not of unit length.

    Raises UrdfError with `where` and the line for an axis without direction."""
    axis = given or (1.0, 0.0, 0.0)
    length = hypot(*axis)
    if length < SHORTEST_AXIS:
        raise fault(f"{where}: axis {axis[0]:g} {axis[1]:g} {axis[2]:g} has no direction", line)
    if abs(length - 1) > LONGEST_ERROR:
        notes.add("axis is not of unit length, only its direction counts", name)
    return np.array(axis) / length


def _limits(joint, notes):
    """Return the limits; infinite if missing, 0, or lower > upper, which all mean no limit in practice."""
    limit, continuous = joint.limit, joint.type == "continuous"
    if limit is None:
        if not continuous:
            notes.add("limit missing, taken as no limit", joint.name)
        return Limits()
    limits = Limits()
    for names in [("effort",), ("velocity",), *([] if continuous else [("lower", "upper")])]:
        values = {name: getattr(limit, name) for name in names}
        if any(values.values()):
            limits = limits._replace(**values)
        else:                   # urdfdom's default for missing lower and upper
            zero = "is 0" if len(names) == 1 else "are both 0"
            notes.add(f"limit {' and '.join(names)} {zero}, taken as no limit", joint.name)
    interval = f"lower={limits.lower:g} upper={limits.upper:g} in {joint.name}"
    if limits.lower > limits.upper:
        notes.add("limit lower above upper, taken as no limit", interval)
        return limits._replace(lower=-inf, upper=inf)
    if limits.lower == limits.upper:
        notes.add("limit lower and upper are equal: the joint cannot move within its limits", joint.name)
    if joint.type == "revolute" and any(LARGEST_ANGLE < abs(x) <= LARGEST_DEGREES for x in limits[:2]):
        notes.add("limit of more than two turns, is it in degrees?", interval)
    return limits


def _mimic(joint):
    mimic = joint.mimic
    if mimic is None:
        return None
    return Mimic(mimic.joint, 1.0 if mimic.multiplier is None else mimic.multiplier, mimic.offset or 0.0)
