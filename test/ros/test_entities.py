"""The entities of simulation_interfaces in simulator_node: robot and objects, found, placed, spawned and deleted."""
import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Twist, Vector3

from support.simulator_driver import Simulator
from support.touching_robots import GRIPPER, with_collisions

# A node with a scene compiles kernels of contacts at its first start, for a minute or two.
pytestmark = pytest.mark.slow

REASON = "no simulation_interfaces with entities is installed"
msg = pytest.importorskip("simulation_interfaces.msg", reason=REASON)
srv = pytest.importorskip("simulation_interfaces.srv", reason=REASON)
if not hasattr(srv, "SpawnEntity"):
    pytest.skip(REASON, allow_module_level=True)
R, NAN = msg.Result, float("nan")
BALL = "{shape: sphere, radius: 0.05, mass: 0.3}"


@pytest.fixture(scope="module")
def node(start_for_all):
    node = start_for_all(Simulator, "entities", {
        "robot_description": f"'{with_collisions(GRIPPER)}'", "start_paused": "true", "publish_clock": "true",
        "ground": "true"})
    node.wait(lambda: node.states, "the first state")
    return node


@pytest.fixture(autouse=True)
def nothing_spawned(node):
    yield
    for name in names(node)[2:]:
        node.call(srv.DeleteEntity, "~/delete_entity", entity=name)


def names(node, **filters):
    answer = node.call(srv.GetEntities, "~/get_entities", filters=msg.EntityFilters(**filters))
    assert answer.result.result == R.RESULT_OK, answer.result.error_message
    return list(answer.entities)


def spawn(node, name="ball", text=BALL, **fields):
    fields.setdefault("initial_pose", PoseStamped(pose=Pose(position=Point(x=0.5, z=1.0))))
    resource = ({"resource_string": text} if hasattr(srv.SpawnEntity.Request(), "resource_string") else
                {"entity_resource": msg.Resource(resource_string=text)})
    return node.call(srv.SpawnEntity, "~/spawn_entity", name=name, **resource, **fields)


def state(node, name):
    answer = node.call(srv.GetEntityState, "~/get_entity_state", entity=name)
    assert answer.result.result == R.RESULT_OK, answer.result.error_message
    return answer.state


def flagged(state):
    """The fields of SetEntityState that set pose and twist, whatever the version of the package."""
    flags = srv.SetEntityState.Request.get_fields_and_field_types()
    return {"state": state, **{flag: True for flag in ("set_pose", "set_twist") if flag in flags}}


def test_what_is_spawned_is_found_falls_and_is_deleted(node):
    before = names(node)
    assert before == ["gripper", "ground"]
    answer = spawn(node)
    assert (answer.result.result, answer.entity_name) == (R.RESULT_OK, "ball")
    assert spawn(node, allow_renaming=True, initial_pose=PoseStamped(pose=Pose(position=Point(x=1.0, z=1.0)))
                 ).entity_name == "ball_1"
    assert names(node) == [*before, "ball", "ball_1"] and names(node, filter="^ball$") == ["ball"]
    moving = msg.EntityCategory(category=msg.EntityCategory.CATEGORY_DYNAMIC_OBJECT)
    assert names(node, categories=[moving]) == ["ball", "ball_1"]
    node.step(200)
    assert state(node, "ball").twist.linear.z == pytest.approx(-9.81 * 0.2, rel=1e-9)
    states = node.call(srv.GetEntitiesStates, "~/get_entities_states", filters=msg.EntityFilters(filter="ball"))
    assert [s.pose.position.x for s in states.states] == [0.5, 1.0]
    assert node.call(srv.DeleteEntity, "~/delete_entity", entity="ball").result.result == R.RESULT_OK
    assert names(node) == [*before, "ball_1"]
    answer = node.call(srv.ResetSimulation, "~/reset_simulation", scope=srv.ResetSimulation.Request.SCOPE_SPAWNED)
    assert answer.result.result == R.RESULT_OK and names(node) == before


def test_a_state_is_set_in_axes_of_the_world(node):
    """A body that is turned by 90 degrees about z and told to move along x of the world does."""
    spawn(node)
    half = np.sqrt(0.5)
    target = msg.EntityState(pose=Pose(position=Point(z=3.0), orientation=Quaternion(z=half, w=half)),
                             twist=Twist(linear=Vector3(x=2.0)))
    answer = node.call(srv.SetEntityState, "~/set_entity_state", entity="ball", **flagged(target))
    assert answer.result.result == R.RESULT_OK
    found = state(node, "ball")
    assert found.twist.linear.x == pytest.approx(2.0, rel=1e-12) and abs(found.twist.linear.y) < 1e-12
    node.step(100)
    assert state(node, "ball").pose.position.x == pytest.approx(0.2, rel=1e-9)


def test_requests_that_cannot_be_have_their_result_codes(node):
    spawn(node)
    S, E = srv.SpawnEntity.Response, srv.SetEntityState.Response

    def of(answer):
        assert answer.result.error_message
        return answer.result.result
    assert of(spawn(node)) == S.NAME_NOT_UNIQUE and of(spawn(node, "")) == S.NAME_INVALID
    assert of(spawn(node, "other", "")) == S.NO_RESOURCE
    assert of(spawn(node, "other", "<sdf/>")) == S.UNSUPPORTED_FORMAT
    assert of(spawn(node, "other", "{shape: sphere, radius: -1}")) == S.RESOURCE_PARSE_ERROR
    assert of(spawn(node, "other", initial_pose=PoseStamped(pose=Pose(position=Point(x=NAN))))) == S.INVALID_POSE
    assert of(spawn(node, "other", "{shape: sphere, radius: 0.1, mass: 1e99}")) == R.RESULT_OPERATION_FAILED
    assert of(node.call(srv.GetEntityState, "~/get_entity_state", entity="nobody")) == R.RESULT_NOT_FOUND
    assert of(node.call(srv.DeleteEntity, "~/delete_entity", entity="nobody")) == R.RESULT_NOT_FOUND
    assert of(node.call(srv.DeleteEntity, "~/delete_entity", entity=names(node)[0])) == R.RESULT_FEATURE_UNSUPPORTED
    bad = msg.EntityState(pose=Pose(orientation=Quaternion(w=0.0)))
    assert of(node.call(srv.SetEntityState, "~/set_entity_state", entity="ball", **flagged(bad))
              ) == E.INVALID_POSE
    bad = msg.EntityState(twist=Twist(linear=Vector3(x=1.0)))
    assert of(node.call(srv.SetEntityState, "~/set_entity_state", entity="ground", **flagged(bad))
              ) == R.RESULT_OPERATION_FAILED
    assert names(node)[1:] == ["ground", "ball"]
