"""Conversion between messages and arrays. It depends on no node, topic or robot.

Core twists and wrenches are (angular, linear) and (torque, force); poses are homogeneous 4 x 4 matrices."""

import array
import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Accel, Inertia, Point, Pose, Quaternion, Twist, Vector3, Wrench
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import quaternion

from ..timing import SECOND


def floats(values: ArrayLike) -> array.array:
    """Return a float64[] field, row by row. For an array.array, rclpy does not check every element."""
    return array.array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def nanoseconds(time: Time | Duration) -> int:
    """Return a Time or Duration as nanoseconds; 0 for an unstamped message."""
    return time.sec * SECOND + time.nanosec


def time_message(nanoseconds: int) -> Time:
    """Return nanoseconds as a Time."""
    seconds, rest = divmod(nanoseconds, SECOND)
    return Time(sec=seconds, nanosec=rest)


def vector(v: Vector3 | Point) -> np.ndarray:
    """Return a Vector3 or Point as an array (3,)."""
    return np.array([v.x, v.y, v.z])


def vector_message(v: np.ndarray) -> Vector3:
    """Return an array (3,) as a Vector3."""
    return Vector3(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def wrench(w: Wrench) -> np.ndarray:
    """Return a Wrench as an array (6,), torque first."""
    return np.concatenate([vector(w.torque), vector(w.force)])


def wrench_message(w: np.ndarray) -> Wrench:
    """Return an array (6,), torque first, as a Wrench."""
    return Wrench(torque=vector_message(w[:3]), force=vector_message(w[3:]))


def inertia(i: Inertia) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, center of mass (3,) and rotational inertia (3, 3) about the center of mass."""
    rotational = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
    return i.m, vector(i.com), rotational


def inertia_message(mass: float, com: np.ndarray, rotational: np.ndarray) -> Inertia:
    """Return mass, center of mass (3,) and rotational inertia (3, 3) about it as an Inertia."""
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = np.asarray(rotational, dtype=float).tolist()
    return Inertia(m=float(mass), com=vector_message(com), ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz)


def pose_message(pose: np.ndarray) -> Pose:
    """Return a pose matrix (4, 4) as a Pose."""
    return placement_message(np.concatenate((pose[:3, 3], quaternion(pose[:3, :3]))))


def placement_message(numbers: np.ndarray) -> Pose:
    """Return x y z, quaternion x y z w (7,) as a Pose."""
    x, y, z, *q = numbers.tolist()
    return Pose(position=Point(x=x, y=y, z=z), orientation=quaternion_message(q))


def quaternion_message(q: Sequence[float]) -> Quaternion:
    """Return x y z w as a Quaternion."""
    x, y, z, w = map(float, q)
    return Quaternion(x=x, y=y, z=z, w=w)


def placement(pose: Pose) -> np.ndarray:
    """Return a Pose as x y z, quaternion x y z w (7,)."""
    p, q = pose.position, pose.orientation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])


def twist(t: Twist | Accel) -> np.ndarray:
    """Return a Twist or an Accel as an array (6,), angular part first."""
    w, v = t.angular, t.linear
    return np.array([w.x, w.y, w.z, v.x, v.y, v.z])


def twist_message(t: np.ndarray) -> Twist:
    """Return an array (6,), angular part first, as a Twist."""
    return Twist(angular=vector_message(t[:3]), linear=vector_message(t[3:]))


def too_long(message: Any, most: int) -> str:
    """Return the reason for which a message is refused, a field that has more than `most` entries, or ""."""
    for field in message.get_fields_and_field_types():
        value = getattr(message, field)
        if isinstance(value, (list, array.array)) and len(value) > most:
            return f"{field}: {len(value)} entries, at most {most} are taken"
        if hasattr(value, "get_fields_and_field_types") and (reason := too_long(value, most)):
            return f"{field}.{reason}"
    return ""


def not_finite(message: Any, excepted: Collection[str] = ()) -> str:
    """Return the first number of a message that is NaN or infinite, as text, or "". The fields `excepted` are not
    checked."""
    for field in message.get_fields_and_field_types():
        if field not in excepted and (reason := _not_finite(getattr(message, field))):
            return f"{field}{reason}"
    return ""


def _not_finite(value) -> str:
    if isinstance(value, float):
        return "" if math.isfinite(value) else f" is {value}: numbers of the request or the robot are too large"
    if isinstance(value, np.ndarray) or isinstance(value, array.array) and value.typecode in "fd":
        bad = np.flatnonzero(~np.isfinite(value))
        return f"[{bad[0]}]{_not_finite(float(value[bad[0]]))}" if len(bad) else ""
    if isinstance(value, list):
        return next((f"[{k}]{reason}" for k, entry in enumerate(value) if (reason := _not_finite(entry))), "")
    if hasattr(value, "get_fields_and_field_types"):
        return "." + reason if (reason := not_finite(value)) else ""
    return ""
