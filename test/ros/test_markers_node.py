"""markers_node publishes what RViz draws: screws along their lines, centers of mass, efforts, in frames of links."""
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from visualization_msgs.msg import Marker, MarkerArray

import screw_dynamics as sd
from screw_dynamics.ros.view.markers import effort_markers, fixed_markers
from support import planar_arm as arm
from support.graph import Driver, NodeProcess
from support.paths import ROOT


def points(marker):
    return np.array([[p.x, p.y, p.z] for p in marker.points])


def test_screws_are_on_their_lines_in_the_frames_of_their_bodies():
    """A point p of the axis of a screw (w, v) moves along it: v + w x p is parallel to w."""
    builder = sd.ModelBuilder("base")
    inertia = sd.inertia_matrix(2.0, np.array([0.1, 0.2, 0.3]), 0.01 * np.eye(3))
    screws = {"turn": [0, 0, 1, 0.2, -0.4, 0], "slide": [0, 0, 0, 0, 0.6, 0.8], "drill": [1, 0, 0, 0.1, 0, 0]}
    for (name, X), parent in zip(screws.items(), ("base", "turn_link", "slide_link"), strict=True):
        builder.add_joint(name, f"{name}_link", parent, X, np.eye(4), inertia)
    markers = fixed_markers(builder.build(), 0.5, "robot/").markers
    assert markers[0].action == Marker.DELETEALL
    for name, X in screws.items():
        arrow, other = (m for m in markers if m.header.frame_id == f"robot/{name}_link" and m.ns == "joint_screws")
        start, end = points(arrow)
        w, v = np.array(X[:3], dtype=float), np.array(X[3:], dtype=float)
        along = w if w.any() else v
        assert np.cross(end - start, along) == pytest.approx(np.zeros(3), abs=1e-12) and (end - start) @ along > 0.0
        if w.any():
            assert np.cross(v + np.cross(w, start), w) == pytest.approx(np.zeros(3), abs=1e-12)
        assert other.type == (Marker.ARROW if name == "slide" else Marker.LINE_STRIP)
    centers = [m for m in markers if m.ns == "centers_of_mass"]
    assert [(m.pose.position.x, m.pose.position.y, m.pose.position.z) for m in centers] == [
        pytest.approx((0.1, 0.2, 0.3))] * 3
    assert len({(m.ns, m.id) for m in markers[1:]}) == len(markers) - 1 and all(m.frame_locked for m in markers[1:])


def test_efforts_are_shares_of_the_limits_and_of_nothing_there_is_no_arrow():
    model = sd.Robot.from_urdf(ROOT / "urdf" / "spherical_arm.urdf").model     # limits 50, 80, 120
    found = effort_markers(model, np.array([25.0, -8.0, np.nan]), 2.0).markers
    ways = [points(m)[1] - points(m)[0] for m in found]
    assert [np.linalg.norm(way) for way in ways] == pytest.approx([1.0, 0.2, 0.0])
    assert ways[1] @ model.screws_body[1, :3] < 0.0
    assert [m.action for m in found] == [Marker.ADD, Marker.ADD, Marker.DELETE]


def test_the_node_marks_the_robot_of_the_graph(ros, tmp_path):
    with NodeProcess("screw_dynamics.ros.view.markers_node", "rviz", tmp_path / "log", {"length": 0.4},
                     params_file=ROOT / "config" / "markers.yaml"):
        driver = Driver("rviz", "screw_markers")
        arrays = driver.collect(MarkerArray, "~/markers")
        driver.describe(arm.urdf())
        states = driver.publisher(JointState, "joint_states")

        def spaces():
            states.publish(JointState(name=[*arm.NAMES, "finger"], position=[0.1, 0.2, -0.1], effort=[5.0, -5.0, 0.0]))
            return {m.ns for array in arrays for m in array.markers}
        driver.wait(lambda: {"joint_screws", "centers_of_mass", "efforts"} <= spaces(), "all kinds of markers")
        frames = {m.header.frame_id for array in arrays for m in array.markers} - {""}
        assert frames == {"upper_arm", "forearm", "fingertip"}
        arrays.clear()
        again = driver.wait(lambda: [m for array in arrays for m in array.markers if "joint_screws" in {
            other.ns for other in array.markers}], "screws and centers of mass once more")
        assert Marker.DELETEALL not in {m.action for m in again}, "what was marked is deleted with another robot alone"
        assert {m.header.frame_id for m in again} == frames
        driver.publisher(JointState, "joint_states").publish(JointState(name=list(arm.NAMES), position=[np.nan, 0.0]))
        _, values = driver.status(lambda status, values: values["dropped messages"] == "1")
        assert not any("extra joint" in key for key in values), "the finger is the robot's own"
