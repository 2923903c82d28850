"""robot_description comes from a node that has read it from a file, unless somebody else publishes it."""
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from std_msgs.msg import String

from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.node import published_description
from support import planar_arm as arm
from support.graph import LATCHED, Driver


@pytest.fixture
def file(tmp_path):
    (tmp_path / "arm.stl").touch()
    file = tmp_path / "arm.urdf"
    shape = '<visual><geometry><mesh filename="arm.stl"/></geometry></visual></link>'
    file.write_text(arm.urdf().replace("</link>", shape, 1))
    return file


@pytest.fixture
def node_of(ros, monkeypatch):
    """Makes a dynamics_node of a file in a namespace, configured, which a driver spins while it waits."""
    monkeypatch.setattr(published_description, "LOOK", 0.2)
    made = []

    def make(file, driver):
        node = DynamicsNode(namespace=driver.node.get_namespace(),
                            parameter_overrides=[Parameter("urdf", value=str(file))])
        made.append(node)
        node.executor_of_test = SingleThreadedExecutor()
        node.executor_of_test.add_node(node)
        node.trigger_configure()
        return node

    yield make
    for node in made:
        node.end()
        node.endpoints.close()
        node.executor_of_test.shutdown()
        node.destroy_node()


def wait(driver, node, condition, what):
    driver.wait(condition, what, lambda: node.executor_of_test.spin_once(0.0))


def publishers(driver):
    return [info.node_name for info in driver.node.get_publishers_info_by_topic(
        driver.node.resolve_topic_name("robot_description"))]


def test_a_late_listener_gets_the_text_with_meshes_that_it_can_find(file, node_of):
    driver = Driver("published", "screw_dynamics")
    node, said = node_of(file, driver), []
    node.log.info = said.append
    wait(driver, node, lambda: publishers(driver) == ["screw_dynamics"], "a publisher of robot_description")
    came = driver.collect(String, "robot_description", LATCHED)
    wait(driver, node, lambda: came, "the description")
    assert came[0].data == node.settings.robot_description
    wait(driver, node, lambda: node.description._topic_text == came[0].data, "its own message")
    assert not any("is not used" in line for line in said)
    assert f'filename="{file.with_name("arm.stl").as_uri()}"' in came[0].data
    node.settings.assign("robot_description", arm.urdf(m2=3.0))
    wait(driver, node, lambda: came[-1].data == arm.urdf(m2=3.0), "the description of another robot")
    wait(driver, node, lambda: node.description.robot is not None and not node.description.loading, "the robot")
    driver.node.destroy_node()


def test_a_description_that_others_publish_has_no_second_publisher(file, node_of):
    driver = Driver("unpublished", "screw_dynamics")
    driver.describe(arm.urdf())
    node = node_of(file, driver)
    said = []
    node.log.info = said.append
    wait(driver, node, lambda: any("does not publish it" in line for line in said), "a line on who publishes")
    line, = (line for line in said if "does not publish it" in line)
    assert "/unpublished/robot_description is published by /unpublished/driver" in line and str(file) in line
    assert publishers(driver) == ["driver"]
    driver.node.destroy_node()
