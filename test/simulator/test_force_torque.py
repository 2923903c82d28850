"""Force-torque sensors in moving and fixed joints: weights, pushes, Newton's law, Pinocchio and MuJoCo."""
import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import tool_arm as tool
from support.real_robots import PATHS, real_robot
from support.simulations import FREE

CARRIED = {     # joint: its child link, and the links that it carries
    "flange_to_tool": ("tool", ("tool", "blade")),
    "forearm_to_flange": ("flange", ("flange", "tool", "blade")),
    "tool_to_blade": ("blade", ("blade",)),
}
PANDA = "panda_description/urdf/panda.urdf"


def sensing(joints=tuple(CARRIED), robot=None, source=None, **settings):
    """A simulation with force-torque sensors in these joints."""
    robot = robot or sd.Robot.from_urdf(tool.urdf())
    instrumented = sd.Robot(model_of(source or tool.urdf(), apart=joints), robot.gravity)
    return Simulation(robot, Settings(force_torques=joints, **settings), instrumented=instrumented)


def moving(**settings):
    """The arm in motion under efforts and two pushes, one on a link that some joints carry, one on what none does."""
    simulation = sensing(**FREE, **settings)
    simulation.reset_to(simulation.robot.joint_names, (0.3, -0.4, 0.8), (1.0, -2.0, 3.0))
    simulation.command(np.array([15.0, 4.0, 0.2]))
    simulation.push("blade", (0.1, 0.2, -0.3, 1.0, 2.0, 3.0))
    simulation.push("upper_arm", (0.5, 0.2, 0.1, 4.0, -2.0, 1.0))
    simulation.advance(60)
    return simulation


def test_a_tool_at_rest_hangs_on_its_joint_with_its_weight():
    simulation = sensing()
    simulation.reset_to(("shoulder", "elbow"), (0.3, 0.4))
    q, robot = simulation.q, simulation.robot
    for joint, (child, links) in CARRIED.items():
        measured = tool.in_root(robot, q, child, simulation.force_torque(joint))
        assert np.allclose(measured, tool.weight(robot, q, links), atol=1e-12)
        assert measured[5] < 0.0      # downwards


def test_a_payload_weighs_on_the_sensors_of_the_joints_that_carry_it():
    """A point of 0.5 kg at the origin of the tool's frame: its weight, and no torque about that point."""
    simulation = sensing()
    simulation.reset_to(("shoulder", "elbow"), (0.3, 0.4))
    before = {joint: simulation.force_torque(joint) for joint in CARRIED}

    def loaded(robot):
        return robot.with_payload("tool", 0.5)

    simulation.carry(loaded(simulation.robot), loaded)
    for joint, (child, links) in CARRIED.items():
        change = simulation.force_torque(joint) - before[joint]
        at_tool = simulation.robot.forward_kinematics(simulation.q, "tool")[:3, 3]
        down = np.array([0.0, 0.0, -0.5 * 9.81])
        expected = np.concatenate((np.cross(at_tool, down), down)) if "tool" in links else np.zeros(6)
        assert np.allclose(tool.in_root(simulation.robot, simulation.q, child, change), expected, atol=1e-12)
    simulation.carry(sensing().robot, lambda robot: robot)
    assert all(np.allclose(simulation.force_torque(joint), before[joint], atol=1e-12) for joint in CARRIED)


def test_a_push_on_what_the_joint_carries_reads_as_this_push():
    simulation = sensing()
    before = {joint: simulation.force_torque(joint) for joint in CARRIED}
    wrench = np.array([0.1, 0.2, -0.3, 1.0, 2.0, 3.0])
    simulation.push("tool", wrench)
    for joint, (child, links) in CARRIED.items():
        change = simulation.force_torque(joint) - before[joint]
        expected = tool.in_root(simulation.robot, simulation.q, "tool", wrench) if "tool" in links else 0.0
        assert np.allclose(tool.in_root(simulation.robot, simulation.q, child, change), expected, atol=1e-12)


def test_newton_the_wrench_is_gravity_and_pushes_less_the_rate_of_momentum():
    """The momentum is that of single links, and its rate a difference over the motion's own acceleration."""
    simulation = moving()
    robot, q, qd, qdd = simulation.robot, simulation.q, simulation.qd, simulation.snapshot().qdd
    h = 1e-4
    for joint, (child, links) in CARRIED.items():
        after, before = (tool.momentum(robot, q + s * qd + 0.5 * s * s * qdd, qd + s * qdd, links) for s in (h, -h))
        pushed = tool.in_root(robot, q, "blade", (0.1, 0.2, -0.3, 1.0, 2.0, 3.0))
        expected = tool.weight(robot, q, links) + pushed - (after - before) / (2 * h)
        measured = tool.in_root(robot, q, child, simulation.force_torque(joint))
        assert np.allclose(measured, expected, atol=1e-7), joint
        assert np.abs(after - before).max() / (2 * h) > 0.5


def test_impulse_of_the_sensor_is_the_change_of_momentum_over_a_run():
    """To the order of the integrator: the state is that of the simulation, step by step, with friction and brakes."""
    simulation = sensing(dt=1e-4)
    simulation.reset_to(("shoulder", "elbow"), (0.3, -0.4))
    simulation.command(np.array([12.0, 3.0, 0.05]))
    simulation.inject("joint_stuck", "elbow", delay=0.05)
    robot, impulse = simulation.robot, np.zeros(6)
    child, links = CARRIED["flange_to_tool"]
    before = tool.momentum(robot, simulation.q, simulation.qd, links)
    for _ in range(1000):
        q, measured = simulation.q, simulation.force_torque("flange_to_tool")
        impulse += 1e-4 * (tool.weight(robot, q, links) - tool.in_root(robot, q, child, measured))
        simulation.advance(1)
    change = tool.momentum(robot, simulation.q, simulation.qd, links) - before
    assert np.allclose(impulse, change, atol=2e-4) and np.abs(change).max() > 0.1


def test_about_the_axis_of_a_joint_it_reads_the_effort_of_its_actuator():
    simulation = moving()
    axis = np.array([0.6, 0.0, 0.8])
    assert simulation.force_torque("tool_to_blade")[:3] @ axis == pytest.approx(-0.2, abs=1e-12)


def test_panda_with_its_mimicking_gripper_agrees_with_pinocchio():
    joints = ("panda_joint2", "panda_joint4", "panda_joint7", "panda_finger_joint1")
    robot = real_robot(PANDA)
    simulation = sensing(joints, robot, PATHS[PANDA], **FREE)
    simulation.reset_to(robot.joint_names, np.linspace(-1.0, 0.5, robot.n), np.linspace(1.0, -0.5, robot.n))
    simulation.command(robot.gravity_torque(simulation.q) + np.linspace(3.0, -1.0, robot.n))
    simulation.advance(40)
    model = pin.buildModelFromUrdf(str(PATHS[PANDA]))
    data = model.createData()
    full = [np.append(x, x[-1]) for x in (simulation.q, simulation.qd, simulation.snapshot().qdd)]
    assert tuple(model.names[1:-1]) == robot.joint_names and [*robot.model.mimics] == [model.names[model.njoints - 1]]
    pin.rnea(model, data, *full)
    for joint in joints:
        f = data.f[model.getJointId(joint)]
        assert np.allclose(simulation.force_torque(joint), -np.concatenate([f.angular, f.linear]), atol=1e-9), joint


def test_a_fixed_joint_in_motion_agrees_with_mujoco():
    """MuJoCo's sensors have the force of the parent on the child, in the axes of a site on the child."""
    mujoco = pytest.importorskip("mujoco")
    simulation = moving()
    spec = mujoco.MjSpec.from_string(tool.urdf())
    spec.compiler.fusestatic, spec.compiler.boundmass = False, 0.0
    spec.delete(spec.equalities[0])
    spec.delete(spec.joint("finger"))       # massless, which MuJoCo refuses to move
    spec.body("tool").add_site(name="joint")
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="joint")
    for joint in spec.joints:
        joint.damping, joint.frictionloss, joint.limited = np.zeros((3, 1)), 0.0, False
    model = spec.compile()
    data = mujoco.MjData(model)
    for name, angle, rate, effort in zip(simulation.robot.joint_names, simulation.q, simulation.qd, (15, 4, 0.2),
                                         strict=True):
        joint = model.joint(name)
        data.qpos[joint.qposadr], data.qvel[joint.dofadr], data.qfrc_applied[joint.dofadr] = angle, rate, effort
    for link, wrench in simulation.snapshot().wrenches.items():
        C = simulation.robot.forward_kinematics(simulation.q, link)
        R, i = C[:3, :3], model.body(link).id
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        arm = data.xipos[i] - C[:3, 3]
        force = R @ wrench[3:]
        data.xfrc_applied[i] = *force, *(R @ wrench[:3] - np.cross(arm, force))
    mujoco.mj_forward(model, data)
    measured = simulation.force_torque("flange_to_tool")
    assert np.allclose(measured, -np.concatenate([data.sensordata[3:], data.sensordata[:3]]), atol=1e-9)


@pytest.mark.slow
def test_errors_of_the_sensor():
    simulation = sensing(force_noise=0.2, torque_noise=0.05, force_bias=(1.0, 0.0, 0.0), torque_bias=(0.0, 0.5, 0.0))
    exact = {joint: sensing().force_torque(joint) for joint in CARRIED}
    seen = {joint: [] for joint in CARRIED}
    for _ in range(1500):
        for joint in CARRIED:
            measured = simulation.force_torque(joint)
            assert np.array_equal(measured, simulation.force_torque(joint))
            seen[joint].append(measured - exact[joint])
        simulation.advance(1)
    for errors in seen.values():
        assert np.allclose(np.std(errors, axis=0), [0.05] * 3 + [0.2] * 3, rtol=0.1)
        assert np.allclose(np.mean(errors, axis=0), (0, 0.5, 0, 1, 0, 0), atol=0.03)


def test_it_follows_other_gravity_and_faults():
    simulation = sensing()
    weight = simulation.force_torque("flange_to_tool")
    simulation.inject("sensor_offset", "force_torque/flange_to_tool", 2.0)
    assert np.allclose(simulation.force_torque("flange_to_tool"), weight + [0, 0, 0, 2, 2, 2])
    simulation.inject("sensor_frozen", "force_torque/flange_to_tool", duration=0.01)
    simulation.robot = simulation.robot.with_gravity((0, 0, 0))
    assert np.allclose(simulation.force_torque("flange_to_tool"), weight + [0, 0, 0, 2, 2, 2])
    simulation.advance(10)
    assert np.allclose(simulation.force_torque("flange_to_tool"), [0, 0, 0, 2, 2, 2])
    simulation.inject("sensor_dropped", "force_torque/flange_to_tool", 1.0)
    assert simulation.force_torque("flange_to_tool") is None


def test_unknown_joints_are_refused_with_what_there_is():
    with pytest.raises(sd.UrdfError, match="joint 'wing' does not exist in the part of the tree.*'flange_to_tool'"):
        model_of(tool.urdf(), apart=("wing",))
    with pytest.raises(ValueError, match="no model in which joint 'wing' can come apart is given"):
        Simulation(sd.Robot.from_urdf(tool.urdf()), Settings(force_torques=("wing",)))
