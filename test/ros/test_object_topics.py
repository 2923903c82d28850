"""Topics of the objects of a simulated scene: each moving one has its own, whose name ROS takes."""
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Sphere
from screw_dynamics.scene.file import SceneFile
from screw_dynamics.scene.objects import SceneObject
from support.touching_robots import gripper

pytest.importorskip("rclpy")
from rclpy.validate_full_topic_name import validate_full_topic_name  # noqa: E402

from screw_dynamics.ros.simulator.scenes import LONGEST_NAME, scene_around, token  # noqa: E402


def around(*names, mass=1.0):
    return scene_around(gripper(), SceneFile(objects=tuple(SceneObject(name, Sphere(0.1), mass) for name in names)))


@pytest.mark.parametrize("name", ["box 1", "1", "é", "/", "{x}", "x" * LONGEST_NAME])
def test_ros_takes_the_topic_of_an_object(name):
    assert validate_full_topic_name(f"/a_namespace/objects/{token(name)}/pose") and name in around(name).objects


def test_objects_that_move_have_topics_of_their_own():
    with pytest.raises(ValueError, match="object 'box.1': its poses would be on the topic objects/box_1/pose, as those "
                                         "of 'box 1' are"):
        around("box 1", "box.1")
    assert isinstance(around("box 1", "box.1", mass=None), sd.Scene)        # fixed ones have none
    with pytest.raises(ValueError, match="object 'xxxxxxxxxxxxxxxxxxxx'...: the name has 101 characters, at most 100"):
        around("x" * 101)
    with pytest.raises(ValueError, match="the name has 100000 characters"):     # which a search of names would take
        around("x" * 100_000, mass=None)
