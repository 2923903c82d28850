"""The leg of urdf/closed_loop_leg.urdf, with two closed loops on a floating base, against Pinocchio and MuJoCo."""
import subprocess
import sys
import warnings

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, LoopJoint
from support.paths import ROOT
from support.pinocchio_oracle import Oracle

pytestmark = pytest.mark.slow       # its base floats: some kernels of its own are compiled
URDF = ROOT / "urdf" / "closed_loop_leg.urdf"
MOTORS = "hip_roll", "hip_yaw", "hip_pitch", "knee", "crank"
HEEL, ANKLE = np.array((-0.01, 0.04, 0.02)), np.array((-0.1, 0.04, 0.04))       # the ends of the achilles rod
ROD, TOE = (0.075, 0, -0.285), (-0.055, 0.03, -0.025)


@pytest.fixture(scope="module")
def leg():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ClosedLoopRobot.from_urdf(URDF, floating_base=True)


@pytest.fixture
def moving(leg, rng):
    """A closed configuration with its base anywhere, and admissible velocities."""
    q = leg.robot.integrate(leg.robot.neutral(), np.r_[rng.normal(size=6), 0.2 * rng.normal(size=8)])
    q = leg.project(q, held=("floating_base", "knee", "crank"))
    return q, leg.project_velocity(q, rng.normal(size=leg.robot.n))


def test_its_motors_move_it(leg, moving):
    q, _ = moving
    assert np.abs(leg.residual(leg.robot.neutral())).max() < 1e-15
    for at in (leg.robot.neutral(), q):
        assert leg.mobility(at) == (11, 3, 3, {"plantar": 3}, False)
        assert leg.mobility(at, locked=MOTORS).degrees == 6
        assert leg.mobility(at, locked=("floating_base", *MOTORS)).degrees == 0
        assert leg.mobility(at, locked=("floating_base", *MOTORS[:-1])).degrees == 1


def test_motors_and_the_ground_cause_its_motion_on_the_ground(leg, moving, rng):
    """Efforts of the motors alone, and back; at rest the ground carries the weight."""
    q, rest = moving[0], np.zeros(leg.robot.n)
    standing = ClosedLoopRobot(leg.robot, [LoopJoint("ground", "fixed", "foot")], q)
    assert list(standing.rows) == ["achilles", "plantar", "ground"]
    assert standing.mobility(q).degrees == 5
    qd = standing.project_velocity(q, rng.normal(size=leg.robot.n))
    tau = np.zeros(leg.robot.n)
    for motor in MOTORS:
        tau[leg.robot.v_slices[motor]] = 20.0 * rng.normal()
    there = standing.forward_dynamics(q, qd, tau)
    back = standing.inverse_dynamics(q, qd, there.qdd, actuated=MOTORS)
    scale = np.abs(there.multipliers).max()
    assert np.abs(back.tau - tau).max() < 1e-9 * scale
    for name, wrench in there.wrenches.items():
        assert np.abs(back.wrenches[name] - wrench).max() < 1e-8 * max(1.0, np.abs(wrench).max()), name
    ground = standing.inverse_dynamics(q, rest, rest, actuated=MOTORS).wrenches["ground"]
    force = standing.robot.forward_kinematics(q, "foot")[:3, :3] @ ground[3:]
    mass = sum(M[5, 5] for M in leg.robot.model.inertias)
    assert np.abs(force - (0, 0, 9.81 * mass)).max() < 1e-9 * 9.81 * mass


def of_pinocchio(robot, q, qd, tau):
    """Accelerations by M, h and frames of Pinocchio: M a + h = tau + J^T lambda, J a = -J' v."""
    oracle = Oracle(pin.buildModelFromXML(URDF.read_text(), pin.JointModelFreeFlyer(), "floating_base"), robot)
    model = oracle.model
    ends = [model.addFrame(pin.Frame(f"end of {link}", model.frames[model.getFrameId(link)].parentJoint, 0,
                                     pin.SE3(np.eye(3), np.array(p)), pin.FrameType.OP_FRAME))
            for link, p in (("thigh", HEEL), ("tarsus", ANKLE), ("plantar_rod", ROD), ("foot", TOE))]
    data, v, q = model.createData(), oracle.G @ qd, oracle._q(q)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    p, J, bias = zip(*((data.oMf[end].translation, pin.getFrameJacobian(model, data, end, world)[:3],
                        pin.getFrameClassicalAcceleration(model, data, end, world).linear) for end in ends),
                     strict=True)
    along, speed = p[0] - p[1], (J[0] - J[1]) @ v
    length = np.linalg.norm(along)
    u = along / length
    rows = np.vstack((u @ (J[0] - J[1]), J[2] - J[3]))
    drift = np.r_[u @ (bias[0] - bias[1]) + (speed @ speed - (u @ speed) ** 2) / length, bias[2] - bias[3]]
    assert abs(length - 0.5) < 1e-11 and np.abs(p[2] - p[3]).max() < 1e-11
    M, h = pin.crba(model, data, q), pin.nonLinearEffects(model, data, q, v)
    M = np.triu(M) + np.triu(M, 1).T
    free = np.linalg.solve(M, oracle.G @ tau - h)
    force = np.linalg.lstsq(rows @ np.linalg.solve(M, rows.T), -drift - rows @ free, rcond=1e-12)[0]
    return oracle.G.T @ (free + np.linalg.solve(M, rows.T @ force))


def test_accelerations_are_those_by_pinocchio(leg, moving, rng):
    tau = 10.0 * rng.normal(size=leg.robot.n)
    qdd = leg.forward_dynamics(*moving, tau).qdd
    assert np.abs(of_pinocchio(leg.robot, *moving, tau) - qdd).max() < 1e-10 * np.abs(qdd).max()


def in_mujoco(impedance):
    """MuJoCo's model of the URDF, with loops of its own: a tendon of fixed length, and a connect."""
    text = URDF.read_text().replace("<link name=\"trunk\">", '<mujoco><compiler fusestatic="false"/></mujoco>\n'
                                    '<link name="trunk">')
    spec = mujoco.MjSpec.from_string(text)
    spec.body("trunk").add_freejoint()
    stiff, ends = (impedance, impedance, 0.001, 0.5, 2.0), []
    for name, body, at in (("heel", "thigh", HEEL), ("end", "tarsus", ANKLE)):
        ends.append(spec.body(body).add_site(name=name, pos=at))
    rod = spec.add_tendon(name="achilles")
    for end in ends:
        rod.wrap_site(end.name)
    spec.add_equality(name="achilles", type=mujoco.mjtEq.mjEQ_TENDON, name1="achilles", solimp=stiff)
    pin_joint = spec.add_equality(name="plantar", type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY,
                      name1="plantar_rod", name2="foot", solimp=stiff)
    pin_joint.data[:3] = ROD
    return spec.compile()


def test_accelerations_are_those_of_mujoco_in_the_stiff_limit(leg, rng):
    """Its equalities give way in proportion to 1/d - 1 of their impedance d, which leads to the limit 1. At rest: what
    velocities do to the length of a tendon, J' qd, is no part of its accelerations."""
    q, rest, tau = leg.robot.neutral(), np.zeros(leg.robot.n), 10.0 * rng.normal(size=leg.robot.n)
    found, gives = [], (4e-4, 2e-4, 1e-4)
    for give in gives:
        model = in_mujoco(1.0 / (1.0 + give))
        data = mujoco.MjData(model)
        data.qfrc_applied[:] = np.r_[tau[3:6], tau[:3], tau[6:]]    # in axes of the world, which are the base's
        mujoco.mj_forward(model, data)
        found.append(np.r_[data.qacc[3:6], data.qacc[:3], data.qacc[6:]])
    limit = np.polyfit(gives, found, 2)[-1]
    qdd, free = leg.forward_dynamics(q, rest, tau).qdd, leg.robot.forward_dynamics(q, rest, tau)
    assert np.abs(limit - qdd).max() < 1e-5 * np.abs(free - qdd).max()
    with pytest.warns(match="tendons 'achilles'; equalities 'achilles'"):
        same = ClosedLoopRobot.from_mjcf(model, constraints=[Distance("rod", "thigh", "tarsus", HEEL, ANKLE, 0.5)])
    assert np.abs(same.forward_dynamics(q, rest, tau).qdd - qdd).max() < 1e-9 * np.abs(qdd).max()


def test_energy_is_kept_in_flight(leg, moving):
    motion = leg.rollout(*moving, dt=1e-3, steps=60, integrator="rk4")
    assert np.ptp(motion.energy) < 1e-7 * np.abs(motion.energy[0]) and motion.residual.max() < 1e-12


def test_the_example_runs():
    done = subprocess.run([sys.executable, ROOT / "examples" / "closed_loop_leg.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[1] == "in the air: 11 degrees of freedom, 3 redundant constraints in {'plantar': 3}"
    assert said[5] == "the ground carries 207.48 N, the leg weighs 207.48 N"
