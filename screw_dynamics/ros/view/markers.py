"""Markers of a robot's joint screws, centers of mass and efforts, each in the frame of its body: TF places them. All
markers except efforts are constant in their bodies, so their message is always the same."""

from collections.abc import Iterator

import numpy as np
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays
from screw_dynamics.viewer import glyphs

COLORS = {"turns": (0.09, 0.41, 0.74), "slides": (0.89, 0.47, 0.07), "helical": (0.55, 0.24, 0.67)}
EFFORT, CENTER = (0.84, 0.15, 0.16), (0.96, 0.75, 0.08)
TURNS = {"turns": (1.0, 0.0), "helical": (2.5, 0.12)}   # of the ring or helix: turns, and pitch


def fixed_markers(model: Model, length: float, prefix: str = "") -> MarkerArray:
    """Return the joint screws as arrows of a length (m) along the screw axes, and the centers of mass.

    A revolute joint has a ring, a prismatic joint a second arrow, a helical joint a helix. prefix: that of the frames,
    as robot_state_publisher's frame_prefix."""
    markers = [Marker(action=Marker.DELETEALL)]
    masses, centers = glyphs.centers(model)
    for i, X in enumerate(model.screws_body):
        frame, axis = prefix + model.body_names[i], arrays.screw_axis(X)
        for k, marker in enumerate(_screw(axis, length)):
            markers.append(_placed(marker, frame, "joint_screws", 3 * i + k, COLORS[glyphs.kind_of(axis)]))
        if masses[i] > 0.0:
            radius = 0.1 * length * (0.4 + 0.6 * (masses[i] / masses.max()) ** (1 / 3))
            sphere = Marker(type=Marker.SPHERE, scale=_vector(np.full(3, 2.0 * radius)))
            sphere.pose.position = _point(centers[i])
            markers.append(_placed(sphere, frame, "centers_of_mass", i, CENTER))
    return MarkerArray(markers=markers)


def effort_markers(model: Model, efforts: np.ndarray, length: float, prefix: str = "") -> MarkerArray:
    """Return efforts (n,) as arrows along the joint axes. The arrow at a joint's effort limit has the given length (m).

    For joints without a limit, the largest finite effort has that length. An effort that is not finite has no arrow."""
    finite = np.where(np.isfinite(efforts), efforts, 0.0)
    scale = np.where(np.isfinite(model.effort_limit), model.effort_limit, np.abs(finite).max(initial=0.0))
    shares = np.divide(finite, scale, out=np.zeros_like(finite), where=scale > 0.0)
    markers = []
    for i, X in enumerate(model.screws_body):
        k = int(model.coordinates[i])
        if model.joint_names[k] == model.body_joints[i]:    # not for mimic joints
            axis = arrays.screw_axis(X)
            way = float(np.clip(shares[k], -1.5, 1.5)) * length
            arrow = _arrow(axis.point, axis.point + way * axis.direction, 0.08 * length)
            arrow.action = Marker.ADD if abs(way) > 1e-3 * length else Marker.DELETE
            markers.append(_placed(arrow, prefix + model.body_names[i], "efforts", i, EFFORT))
    return MarkerArray(markers=markers)


def _screw(axis: arrays.ScrewAxis, length: float) -> Iterator[Marker]:
    tip = axis.point + length * axis.direction
    yield _arrow(axis.point - 0.3 * length * axis.direction, tip, 0.045 * length)
    if (kind := glyphs.kind_of(axis)) == "slides":
        yield _arrow(tip, axis.point, 0.045 * length)
        return
    turns, pitch = TURNS[kind]
    angle = np.linspace(0.0, 2.0 * np.pi * turns, int(24 * turns) + 1)
    local = np.stack([0.17 * np.cos(angle), 0.17 * np.sin(angle), 0.5 + (angle / 2.0 / np.pi - turns / 2.0) * pitch], 1)
    C = arrays.pose_along(axis.direction, axis.point)
    points = length * local @ C[:3, :3].T + C[:3, 3]
    yield Marker(type=Marker.LINE_STRIP, points=[_point(p) for p in points], scale=Vector3(x=0.03 * length))


def _arrow(start: np.ndarray, end: np.ndarray, shaft: float) -> Marker:
    return Marker(type=Marker.ARROW, points=[_point(start), _point(end)], scale=Vector3(x=shaft, y=2.4 * shaft))


def _placed(marker: Marker, frame: str, namespace: str, number: int, color: tuple[float, float, float]) -> Marker:
    """Return the marker with its frame, name and color. It moves with the frame (frame_locked, at the latest
    transform)."""
    marker.header.frame_id, marker.frame_locked = frame, True
    marker.ns, marker.id = namespace, number
    marker.color = ColorRGBA(r=color[0], g=color[1], b=color[2], a=1.0)
    marker.pose.orientation.w = 1.0
    return marker


def _point(p: np.ndarray) -> Point:
    return Point(x=float(p[0]), y=float(p[1]), z=float(p[2]))


def _vector(v: np.ndarray) -> Vector3:
    return Vector3(x=float(v[0]), y=float(v[1]), z=float(v[2]))
