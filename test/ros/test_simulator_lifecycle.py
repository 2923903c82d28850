"""The life of simulator_node whose description comes late, over real DDS, and bad parameters at its start."""
import signal
import subprocess
import sys

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from std_srvs.srv import Trigger

from screw_dynamics_interfaces.srv import Step
from support import planar_arm as arm
from support.graph import PATIENCE, NodeProcess
from support.simulator_driver import MODULE, Simulator, nanoseconds

pytestmark = pytest.mark.slow


def test_life_of_a_simulator_whose_description_comes_late(start):
    node = start(Simulator, "late", {
        "autostart": "false", "initial_positions.elbow": "2", "command_mode": "position",
        "joint_trajectory_controller.constraints.wrist.goal": "-1"}, end=signal.SIGTERM)

    def change(transition):
        return node.call(ChangeState, "~/change_state", transition=Transition(id=transition)).success

    def reports(level, text):
        return node.status(lambda status, values: status.level == level and text in status.message)

    reports(DiagnosticStatus.WARN, "unconfigured")
    assert change(Transition.TRANSITION_CONFIGURE)
    answer = node.call(Step, "~/step", steps=1)
    assert not answer.success and "inactive" in answer.message
    assert change(Transition.TRANSITION_ACTIVATE)
    reports(DiagnosticStatus.WARN, "waiting for robot_description")
    assert "no robot" in node.call(Trigger, "~/reset").message

    node.describe("<robot name='broken'><link name='base'></robot>")
    reports(DiagnosticStatus.ERROR, "refused")
    tight = '<limit lower="-3" upper="1" effort="50"'
    node.describe(arm.urdf().replace('<limit lower="-3" upper="3" effort="50"', tight))
    reports(DiagnosticStatus.ERROR, "'elbow'")          # initial_positions.elbow is 2
    assert not node.states
    assert node.set_parameter("initial_positions.elbow", 0.5) == ""
    assert node.fresh().position[1] == 0.5

    before = node.node.get_clock().now().nanoseconds
    stamp = nanoseconds(node.fresh(lambda state: nanoseconds(state.header.stamp) >= before).header.stamp)
    assert stamp <= node.node.get_clock().now().nanoseconds   # the system's time: no /clock here
    node.command(position=[0.2, 0.1])
    node.fresh(lambda state: np.allclose(state.position[:2], (0.2, 0.1), atol=1e-3))

    node.describe("<robot name='broken'/>")
    reports(DiagnosticStatus.WARN, "the previous robot stays in use")
    assert np.allclose(node.fresh().position[:2], (0.2, 0.1), atol=1e-3)
    massless = arm.urdf().replace('<mimic joint="elbow" multiplier="-0.5"/>', "")
    node.describe(massless)
    reports(DiagnosticStatus.WARN, "'finger'")          # no longer a mimic, and it moves a link without mass
    node.describe(arm.urdf(elbow="wrist"))              # whose tolerance is negative
    reports(DiagnosticStatus.WARN, "constraints.wrist.goal is -1")
    node.command(position=[0.3, 0.1])                   # to the robot before, which goes on
    node.fresh(lambda state: "elbow" in state.name and np.allclose(state.position[:2], (0.3, 0.1), atol=1e-3))
    node.describe(arm.urdf(elbow="hinge"))           # another robot starts at its own initial positions
    state = node.fresh(lambda state: "hinge" in state.name)
    assert dict(zip(state.name, state.position, strict=True)) == {"shoulder": 0.0, "hinge": 0.0, "finger": 0.0}
    reports(DiagnosticStatus.OK, "running")

    assert change(Transition.TRANSITION_DEACTIVATE)
    deactivated = node.node.get_clock().now().nanoseconds
    assert "inactive" in node.call(Trigger, "~/reset").message
    reports(DiagnosticStatus.WARN, "inactive")
    assert max(nanoseconds(state.header.stamp) for state in node.states) < deactivated
    assert change(Transition.TRANSITION_ACTIVATE)
    node.fresh(lambda state: nanoseconds(state.header.stamp) > deactivated)
    assert change(Transition.TRANSITION_DEACTIVATE) and change(Transition.TRANSITION_CLEANUP)
    reports(DiagnosticStatus.WARN, "unconfigured")
    cleaned_up = node.node.get_clock().now().nanoseconds
    assert change(Transition.TRANSITION_CONFIGURE) and change(Transition.TRANSITION_ACTIVATE)
    assert "hinge" in node.fresh(lambda state: nanoseconds(state.header.stamp) > cleaned_up).name     # latched
    assert "WARN" in node.process.output()

    # Without a description there is no joint whose initial position could be followed.
    assert change(Transition.TRANSITION_DEACTIVATE) and change(Transition.TRANSITION_CLEANUP)
    node.node.destroy_publisher(node.publishers.pop("robot_description"))
    assert change(Transition.TRANSITION_CONFIGURE)
    assert node.set_parameter("initial_positions.hinge", 0.1) == ""
    reports(DiagnosticStatus.WARN, "waiting for robot_description")

    # A shutdown answers the steps that are under way.
    node.describe(arm.urdf())
    assert change(Transition.TRANSITION_ACTIVATE)
    node.fresh(lambda state: "elbow" in state.name)
    assert node.set_parameter("real_time_factor", 1e-310) != "" and node.set_parameter("real_time_factor", 1e-6) == ""
    node.pause()
    steps = node.begin(Step, "~/step", steps=10**9)
    reports(DiagnosticStatus.OK, "stepping")
    assert change(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    node.wait(steps.done, "the answer to steps that were under way")
    assert not steps.result().success and "the simulator was shut down" in steps.result().message


@pytest.mark.parametrize("module", ["simulator.node", "dynamics.node", "view.markers_node", "view.recorder_node"])
@pytest.mark.parametrize(("given", "code", "message"), [
    (["--help"], 0, "usage:"), (["urdf:=arm.urdf"], 2, "urdf:=arm.urdf. Parameters and remappings follow --ros-args"),
    (["-p", "urdf:=arm.urdf"], 2, "-p urdf:=arm.urdf.")])
def test_arguments_that_are_not_used_end_it_with_its_usage(module, given, code, message):
    command = [sys.executable, "-m", f"screw_dynamics.ros.{module}", *given]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == code and "usage:" in ended.stdout + ended.stderr
    assert message in " ".join((ended.stdout + ended.stderr).split())


def test_settings_without_effect_are_logged(tmp_path, ros):
    parameters = {"robot_description": f"'{arm.urdf()}'", "bumpers": "[shoulder]", "dt": 0.01, "publish_rate": 1000.0}
    with NodeProcess(MODULE, "idle", tmp_path / "log", parameters) as process:
        Simulator("idle").status(lambda status, values: status.message == "running")
    assert "parameter bumpers is not used: there is no scene" in process.output()
    assert "publish_rate is 1000 Hz, but the simulation has 100 steps a second" in process.output()


@pytest.mark.parametrize(
    ("parameter", "message"),
    [("dt:=-0.001", "parameter dt"), ("command_mode:=torque", "command_mode"), ("servo_bandwidth:=1e3", "servo")],
)
def test_bad_parameter_ends_it_at_once_with_its_name(parameter, message):
    command = [sys.executable, "-m", "screw_dynamics.ros.simulator.node", "--ros-args", "-p", parameter]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 1 and message in ended.stderr and "Traceback" not in ended.stderr
