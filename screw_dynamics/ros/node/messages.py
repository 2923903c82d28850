"""Pure translation between messages and arrays. It depends on no node, topic or robot.

Core twists and wrenches are (angular, linear) and (torque, force); poses are homogeneous 4 x 4 matrices."""

import array
import math
from collections.abc import Collection
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Inertia, Point, Pose, Quaternion, Vector3, Wrench
from numpy.typing import ArrayLike

from .timing import SECOND


def floats(values: ArrayLike) -> array.array:
    """A float64[] field, rows one after the other: array.array spares rclpy a check of every element."""
    return array.array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def nanoseconds(time: Time | Duration) -> int:
    """A Time or Duration as nanoseconds; 0 for an unstamped message."""
    return time.sec * SECOND + time.nanosec


def time_message(nanoseconds: int) -> Time:
    """Time of nanoseconds."""
    seconds, rest = divmod(nanoseconds, SECOND)
    return Time(sec=seconds, nanosec=rest)


def vector(v: Vector3 | Point) -> np.ndarray:
    """(3,) of a Vector3 or Point."""
    return np.array([v.x, v.y, v.z])


def vector_message(v: np.ndarray) -> Vector3:
    """Vector3 of (3,)."""
    return Vector3(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def wrench(w: Wrench) -> np.ndarray:
    """(6,) torque, force of a Wrench."""
    return np.concatenate([vector(w.torque), vector(w.force)])


def wrench_message(w: np.ndarray) -> Wrench:
    """Wrench of (6,) torque, force."""
    return Wrench(torque=vector_message(w[:3]), force=vector_message(w[3:]))


def inertia(i: Inertia) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass (3,) and rotational inertia (3, 3) about the centre of mass."""
    rotational = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
    return i.m, vector(i.com), rotational


def inertia_message(mass: float, com: np.ndarray, rotational: np.ndarray) -> Inertia:
    """Inertia of mass, centre of mass (3,) and rotational inertia (3, 3) about it."""
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = np.asarray(rotational, dtype=float).tolist()
    return Inertia(m=float(mass), com=vector_message(com), ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz)


def pose_message(pose: np.ndarray) -> Pose:
    """Pose of (4, 4)."""
    p = pose[:3, 3]
    x, y, z, w = quaternion(pose[:3, :3])
    return Pose(position=Point(x=float(p[0]), y=float(p[1]), z=float(p[2])), orientation=Quaternion(x=x, y=y, z=z, w=w))


def quaternion(rotation: ArrayLike) -> tuple[float, float, float, float]:
    """Unit (x, y, z, w), w >= 0, of a rotation matrix.

    The 4 x 4 matrix 4 q q' - 1 is linear in the rotation; its column of the largest diagonal entry never cancels."""
    r = np.asarray(rotation)
    xx, yy, zz = r[0, 0], r[1, 1], r[2, 2]
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    wx, wy, wz = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    outer = np.array([   # 4 q q'
        [1 + xx - yy - zz, xy, xz, wx],
        [xy, 1 - xx + yy - zz, yz, wy],
        [xz, yz, 1 - xx - yy + zz, wz],
        [wx, wy, wz, 1 + xx + yy + zz],
    ])
    q = outer[np.argmax(np.diag(outer))]
    q = q / np.linalg.norm(q)
    x, y, z, w = (q if q[3] >= 0.0 else -q).tolist()
    return x, y, z, w


def too_long(message: Any, most: int) -> str:
    """"" or why a message is refused: a field that has more than `most` entries."""
    for field in message.get_fields_and_field_types():
        value = getattr(message, field)
        if isinstance(value, (list, array.array)) and len(value) > most:
            return f"{field}: {len(value)} entries, at most {most} are taken"
        if hasattr(value, "get_fields_and_field_types") and (reason := too_long(value, most)):
            return f"{field}.{reason}"
    return ""


def not_finite(message: Any, excepted: Collection[str] = ()) -> str:
    """"" or which number of a message is NaN or infinite; the fields `excepted` are not looked at."""
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
