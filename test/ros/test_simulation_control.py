"""simulation_interfaces of simulator_node over real DDS: features, states, resets by scope, steps, and its end."""
from types import SimpleNamespace

import pytest
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header

from screw_dynamics.ros.simulator.entity_control import robot_name
from screw_dynamics_interfaces.srv import ApplyWrench, Step
from support import planar_arm as arm
from support.action_client import Actions
from support.graph import PATIENCE
from support.simulator_driver import MS, Simulator, nanoseconds

pytestmark = pytest.mark.slow

REASON = "simulation_interfaces is not installed"
msg = pytest.importorskip("simulation_interfaces.msg", reason=REASON)
srv = pytest.importorskip("simulation_interfaces.srv", reason=REASON)
SimulateSteps = pytest.importorskip("simulation_interfaces.action", reason=REASON).SimulateSteps
Result, State = msg.Result, msg.SimulationState
SCOPE, SET = srv.ResetSimulation.Request, srv.SetSimulationState.Response


class Controlled(Simulator):
    """A simulator's driver that speaks simulation_interfaces."""

    def __init__(self, namespace):
        super().__init__(namespace)
        self.clock = self.collect(Clock, "/clock")
        self.actions = Actions(self)

    def state(self):
        answer = self.call(srv.GetSimulationState, "~/get_simulation_state")
        assert answer.result.result == Result.RESULT_OK
        return answer.state.state

    def set_state(self, state):
        return self.call(srv.SetSimulationState, "~/set_simulation_state", state=State(state=state)).result

    def reset_scope(self, scope):
        return self.call(srv.ResetSimulation, "~/reset_simulation", scope=scope).result

    def steps(self, steps):
        return self.call(srv.StepSimulation, "~/step_simulation", steps=steps).result

    def published(self, time_ns):
        """The state of a simulated time, which has been published before now."""
        return self.wait(
            lambda: next((s for s in reversed(self.states) if nanoseconds(s.header.stamp) == time_ns), None), "a state")

    def now(self):
        """The simulated time, while paused."""
        answer = self.call(Step, "~/step", steps=0)
        assert answer.success, answer.message
        return nanoseconds(answer.stamp)


PAUSED = {"robot_description": f"'{arm.urdf()}'", "publish_clock": "true", "start_paused": "true"}


@pytest.mark.parametrize("description, objects, name", [
    ("<robot name='panda'/>", (), "panda"), ("<robot/>", (), "panda_link0"), ("<robot name=''/>", (), "panda_link0"),
    ("<!-- <robot name='old'> -->\n<robot name='panda'/>", ("panda",), "panda_link0")])
def test_the_robot_is_an_entity_by_the_name_in_its_description(description, objects, name):
    robot = SimpleNamespace(model=SimpleNamespace(root="panda_link0"), source=description)
    around = SimpleNamespace(objects=dict.fromkeys(objects)) if objects else None
    assert robot_name(SimpleNamespace(robot=robot, base=None, environment=around)) == name


@pytest.fixture(scope="module")
def running(start_for_all):
    node = start_for_all(Controlled, "control", PAUSED)
    node.wait(lambda: node.states, "the first state")
    return node


@pytest.fixture
def node(running):
    running.pause()
    running.reset()
    running.set_state(State.STATE_PLAYING)
    running.set_state(State.STATE_PAUSED)
    running.reset()
    return running


def test_features_are_those_that_are_there(node):
    features = node.call(srv.GetSimulatorFeatures, "~/get_simulator_features").features
    entities = [0, 1, 8, 9, 10, 11, 12] if hasattr(srv, "SpawnEntity") else []
    assert sorted(features.features) == [*entities, 20, 21, 22, 23, 24, 25, 26, 31, 32, 33]
    assert not features.spawn_formats and "screw_dynamics" in features.custom_info


def test_states_and_what_leads_to_them(node):
    assert node.state() == State.STATE_PAUSED
    assert node.set_state(State.STATE_PAUSED).result == SET.ALREADY_IN_TARGET_STATE
    assert node.set_state(State.STATE_PLAYING).result == Result.RESULT_OK
    assert node.state() == State.STATE_PLAYING
    start = nanoseconds(node.fresh().header.stamp)
    node.fresh(lambda state: nanoseconds(state.header.stamp) > start)
    node.effort(0.0, 0.0)
    node.fresh(lambda state: abs(state.position[0]) > 0.1)      # it falls
    assert node.set_state(State.STATE_STOPPED).result == Result.RESULT_OK
    assert node.state() == State.STATE_STOPPED
    node.fresh(lambda state: (tuple(state.position[:2]), nanoseconds(state.header.stamp)) == ((0.0, 0.0), 0))
    refused = node.steps(1)
    assert refused.result == Result.RESULT_OPERATION_FAILED and "stopped" in refused.error_message
    assert node.set_state(State.STATE_PAUSED).result == Result.RESULT_OK
    assert node.state() == State.STATE_PAUSED and node.steps(1).result == Result.RESULT_OK
    assert node.set_state(State.STATE_STOPPED).result == Result.RESULT_OK
    assert node.set_state(State.STATE_PLAYING).result == Result.RESULT_OK
    for state in (State.STATE_NO_WORLD, State.STATE_LOADING_WORLD, 77):
        assert node.set_state(state).result == Result.RESULT_FEATURE_UNSUPPORTED


def test_a_state_that_is_not_finite_is_not_played_from(node):
    wrench = WrenchStamped(header=Header(frame_id="flange"), wrench=Wrench(force=Vector3(z=-1.7e308)))
    wrench.wrench.torque.y = 1.7e308    # and their sum at a joint overflows
    node.effort(0.0, 0.0)
    assert node.call(ApplyWrench, "~/apply_wrench", wrench=wrench).success
    assert node.steps(100).result == Result.RESULT_OPERATION_FAILED
    refused = node.set_state(State.STATE_PLAYING)
    assert refused.result == SET.STATE_TRANSITION_ERROR and "not finite" in refused.error_message
    assert node.set_state(State.STATE_STOPPED).result == Result.RESULT_OK
    assert node.set_state(State.STATE_PLAYING).result == Result.RESULT_OK


def test_our_own_services_are_seen_in_the_state(node):
    node.pause(False)
    assert node.state() == State.STATE_PLAYING
    node.set_state(State.STATE_STOPPED)
    node.step(1)
    assert node.state() == State.STATE_PAUSED


def test_step_is_answered_when_its_state_has_been_published(node):
    start = node.now()
    assert node.steps(7).result == Result.RESULT_OK
    assert node.published(start + 7 * MS)
    assert any(nanoseconds(clock.clock) == start + 7 * MS for clock in node.clock)
    assert node.steps(0).result == Result.RESULT_OK and node.now() == start + 7 * MS
    node.set_state(State.STATE_PLAYING)
    refused = node.steps(1)
    assert refused.result == Result.RESULT_OPERATION_FAILED and "playing" in refused.error_message


def test_steps_of_the_action_come_with_feedback_after_each(node):
    """On its topic: rclpy's client forgets a goal when it sees that it has succeeded, and drops what comes after."""
    feedback = node.collect(SimulateSteps.Impl.FeedbackMessage, "~/simulate_steps/_action/feedback")
    while not feedback:     # it is lost until the node has found its subscription
        node.actions.send(SimulateSteps, "~/simulate_steps", steps=1).result()
    start = node.now()
    sent = node.actions.send(SimulateSteps, "~/simulate_steps", steps=6)
    status, result = sent.result()
    assert (status, result.result.result) == ("succeeded", Result.RESULT_OK)

    def counted():
        return [(f.feedback.completed_steps, f.feedback.remaining_steps)
                for f in feedback if bytes(f.goal_id.uuid) == sent.goal_id]

    node.wait(lambda: len(counted()) == 6, "feedback")
    assert counted() == [(i, 6 - i) for i in range(1, 7)]
    assert node.published(start + 6 * MS)


def test_steps_under_way_can_be_cancelled_and_keep_others_from_stepping(node):
    start = node.now()
    sent = node.actions.send(SimulateSteps, "~/simulate_steps", steps=2**63)
    node.wait(lambda: sent.feedback, "feedback")
    for refused in (node.steps(1).error_message, node.call(Step, "~/step", steps=1).message,
                    node.actions.send(SimulateSteps, "~/simulate_steps", steps=1).result()[1].result.error_message):
        assert "other steps are in progress" in refused
    assert node.set_state(State.STATE_PLAYING).result == SET.STATE_TRANSITION_ERROR
    assert sent.cancel()
    status, result = sent.result()
    assert status == "cancelled" and result.result.result == Result.RESULT_OPERATION_FAILED
    made = int(result.result.error_message.partition("(")[2].split()[0])
    assert made > 0 and node.published(start + made * MS) and node.now() == start + made * MS
    sent = node.actions.send(SimulateSteps, "~/simulate_steps", steps=2**63)
    node.set_state(State.STATE_STOPPED)
    status, result = sent.result()
    assert status == "aborted" and "stopped" in result.result.error_message


def test_steps_of_the_action_need_a_paused_simulation(node):
    node.set_state(State.STATE_PLAYING)
    status, result = node.actions.send(SimulateSteps, "~/simulate_steps", steps=1).result()
    assert (status, result.result.result) == ("aborted", Result.RESULT_OPERATION_FAILED)
    assert "playing" in result.result.error_message


@pytest.mark.parametrize(
    ("scope", "state", "time"),
    [(SCOPE.SCOPE_DEFAULT, True, True), (SCOPE.SCOPE_STATE, True, False), (SCOPE.SCOPE_TIME, False, True),
     (SCOPE.SCOPE_TIME | SCOPE.SCOPE_STATE, True, True), (SCOPE.SCOPE_ALL, True, True)],
)
def test_reset_by_scope(node, scope, state, time):
    node.effort(0.0, 0.0)
    moved = node.step(200)
    assert abs(moved.position[0]) > 0.01
    assert node.reset_scope(scope).result == Result.RESULT_OK
    after = node.step(0)
    assert (after.position[0] == 0.0) == state and (after.position == moved.position) != state
    assert nanoseconds(after.header.stamp) == (0 if time else nanoseconds(moved.header.stamp))
    assert nanoseconds(node.step(10).header.stamp) - nanoseconds(after.header.stamp) == 10 * MS


def test_reset_of_what_is_not_there_is_refused_and_changes_nothing(node):
    node.effort(0.0, 0.0)
    before = node.step(100)
    for scope in (8, SCOPE.SCOPE_TIME | 16):
        refused = node.reset_scope(scope)
        assert refused.result == Result.RESULT_FEATURE_UNSUPPORTED and str(scope) in refused.error_message
    assert node.step(0).position == before.position


def test_client_that_waits_on_the_clock_between_steps_is_not_locked_out(node):
    """It asks for the next step only when /clock shows the time of the last."""
    start = node.now()
    for k in range(1, 6):
        assert node.steps(10).result == Result.RESULT_OK
        node.wait(lambda k=k: nanoseconds(node.clock[-1].clock) == start + 10 * k * MS, "the clock")


def test_without_a_robot_there_is_no_world(start):
    node = start(Controlled, "empty", PAUSED | {"robot_description": "''"})
    assert node.state() == State.STATE_NO_WORLD
    assert node.set_state(State.STATE_PLAYING).result == SET.INCORRECT_TRANSITION
    assert node.reset_scope(0).result == Result.RESULT_INCORRECT_STATE
    refused = node.steps(1)
    assert refused.result == Result.RESULT_INCORRECT_STATE and "no robot" in refused.error_message


def test_quitting_ends_the_process_well(start):
    node = start(Controlled, "quitting", PAUSED)
    node.wait(lambda: node.states, "a state")
    sent = node.actions.send(SimulateSteps, "~/simulate_steps", steps=2**63)
    node.wait(lambda: sent.feedback, "feedback")
    assert node.set_state(State.STATE_QUITTING).result == Result.RESULT_OK
    status, result = sent.result()
    assert status == "aborted" and "quitting" in result.result.error_message
    assert node.process.process.wait(PATIENCE) == 0
    assert "Traceback" not in node.process.output()
