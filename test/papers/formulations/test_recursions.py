"""The recursions of [MD] 4: every form of the accelerations, applied wrenches, and the reactions of the joints."""
import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations import recursions
from screw_dynamics.papers.formulations.closed_form import euler_jourdain
from screw_dynamics.papers.formulations.newton_euler import any_frame
from screw_dynamics.papers.formulations.screw_derivatives import body_fixed, hybrid, spatial
from support.matrices import error
from support.pinocchio_oracle import oracle_of_parts
from support.random_trees import KINDS, model_of, random_tree

BOUND = 1e-12
DERIVATIVES = {"body": body_fixed.twist_derivatives, "spatial": spatial.twist_derivatives,
               "hybrid": hybrid.twist_derivatives}
FORMS = [(name, equation) for name, forms in recursions.BRACKETS.items() for equation in forms]
EVERY = pytest.mark.parametrize("representation", recursions.BRACKETS)


@pytest.fixture(scope="module", params=[(0, 0), (1, 0), (8, 0), (9, 2)],
                ids=["no joint", "1 joint", "8 joints", "9 joints, 2 mimic"])
def case(request):
    """A robot, its parts, a batch of states, and body-fixed wrenches applied to all bodies."""
    rng = np.random.default_rng(request.param)
    parts = random_tree(rng, *request.param, KINDS)
    robot = sd.Robot(model_of(parts), gravity=(1.0, -2.0, -9.0))
    return robot, parts, rng.uniform(-2, 2, (3, 2, robot.n)), rng.normal(size=(2, len(robot.model.parents), 6))


def applied_in(robot, q, applied, representation):
    """Body-fixed wrenches in a representation."""
    C = robot.body_poses(q)
    world = any_frame.represented_wrench(applied, np.linalg.inv(C))
    if representation == "body":
        return applied
    if representation == "spatial":
        return world
    torque, force = (np.einsum("...ij,...j->...i", C[..., :3, :3], x) for x in (applied[..., :3], applied[..., 3:]))
    return np.concatenate([applied[..., :3] if representation == "mixed" else torque, force], axis=-1)


@pytest.mark.parametrize("representation, equation", FORMS)
def test_65_69_72_to_74_are_the_same_accelerations(case, representation, equation):
    """Those of Jacobians differentiated, less gravity; and the efforts that follow from them."""
    robot, _, state, _ = case
    V, Vd = DERIVATIVES[representation](robot, *state)
    _, found, accelerations = recursions.forward_kinematics(robot, *state, representation, equation)
    g = np.broadcast_to(np.r_[0.0, 0.0, 0.0, robot.gravity], Vd.shape)
    if representation == "body":
        g = sd.se3.Ad_inv(robot.body_poses(state[0]), g)
    assert error(found, V) < BOUND and error(accelerations, Vd - g) < BOUND
    tau = recursions.inverse_dynamics(robot, *state, None, representation, equation)
    assert error(tau, robot.inverse_dynamics(*state)) < BOUND


@EVERY
def test_applied_wrenches_enter_67a_71b_76b_with_the_sign_of_77(case, representation):
    """The same efforts as of `Robot.inverse_dynamics` with external wrenches, and less by J^T W^app."""
    robot, _, state, applied = case
    external = {link: applied[:, i] for i, link in enumerate(robot.model.body_names)}
    expected = robot.inverse_dynamics(*state, external=external) if external else robot.inverse_dynamics(*state)
    given = applied_in(robot, state[0], applied, representation)
    assert error(recursions.inverse_dynamics(robot, *state, given, representation), expected) < BOUND


@pytest.mark.parametrize("representation", euler_jourdain.QUANTITIES)
def test_78_with_applied_wrenches_gives_the_efforts_of_the_recursion(case, representation):
    robot, _, state, applied = case
    expected = recursions.inverse_dynamics(robot, *state, applied)
    given = applied_in(robot, state[0], applied, representation)
    assert error(euler_jourdain.euler_jourdain(robot, *state, representation, given), expected) < BOUND


@EVERY
def test_wrenches_through_the_joints_are_those_of_pinocchio(representation):
    rng = np.random.default_rng(8)
    parts = random_tree(rng, 8, 0, KINDS)
    robot = sd.Robot(model_of(parts))
    oracle, (q, qd, qdd) = oracle_of_parts(parts, robot), rng.uniform(-2, 2, (3, robot.n))
    applied = rng.normal(size=(len(robot.model.parents), 6))
    oracle.model.gravity.linear = robot.gravity
    frames = [oracle.model.frames[oracle.model.getFrameId(link)] for link in robot.model.body_names]
    outside = [pin.Force.Zero() for _ in range(oracle.model.njoints)]           # in the frames of its joints
    for frame, W in zip(frames, applied, strict=True):
        outside[frame.parentJoint] = frame.placement.act(pin.Force(W[3:], W[:3]))
    pin.rnea(oracle.model, oracle.data, oracle._q(q), oracle.G @ qd, oracle.G @ qdd, outside)
    through = [frame.placement.actInv(oracle.data.f[frame.parentJoint]) for frame in frames]
    expected = np.array([np.r_[W.angular, W.linear] for W in through])
    found = recursions.joint_wrenches(robot, q, qd, qdd, applied_in(robot, q, applied, representation), representation)
    assert error(found, applied_in(robot, q, expected, representation)) < BOUND


@EVERY
def test_reactions_are_reciprocal_to_the_joint_screws(case, representation):
    """[MD] after (67): no part on the joint; and with the drive's they are the wrench through the joint."""
    robot, _, state, applied = case
    given = applied_in(robot, state[0], applied, representation)
    R = recursions.reactions(robot, *state, given, representation)
    W = recursions.joint_wrenches(robot, *state, given, representation)
    J = recursions.forward_kinematics(robot, *state, representation).J
    assert np.abs(np.sum(J * R, axis=-1)).max(initial=0.0) < BOUND * np.abs(W).max(initial=1.0)
    drives = recursions.drive_wrenches(robot, state[0], np.sum(J * W, axis=-1), representation)
    assert error(R + drives, W) < BOUND


@pytest.mark.parametrize("representation", euler_jourdain.QUANTITIES)
def test_77_constraint_wrenches_balance_every_body_and_have_no_power(case, representation):
    """J^T W^c = 0, and they are the reactions of the body's own joint less those of the joints that it carries."""
    robot, _, state, applied = case
    given = applied_in(robot, state[0], applied, representation)
    Wc = euler_jourdain.constraint_wrenches(robot, *state, representation, given)
    J = robot.body_jacobians(state[0], representation)
    assert np.abs(np.einsum("...ixk,...ix->...k", J, Wc)).max(initial=0.0) < 1e-11 * np.abs(Wc).max(initial=1.0)
    world = applied_in(robot, state[0], applied, "spatial")
    R = recursions.reactions(robot, *state, world, "spatial")
    expected = R.copy()
    for i, p in enumerate(robot.model.parents):
        if p >= 0:
            expected[:, p] -= R[:, i]
    body = any_frame.represented_wrench(expected, robot.body_poses(state[0]))
    assert error(Wc, applied_in(robot, state[0], body, representation)) < 1e-11


def test_arguments_are_checked():
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(0), 2)))
    zero = np.zeros(robot.n)
    with pytest.raises(ValueError, match="representation 'mixed'"):
        recursions.inverse_dynamics(robot, zero, zero, zero, representation="mixed")
    with pytest.raises(ValueError, match="equation '72'"):
        recursions.forward_kinematics(robot, zero, zero, zero, "body", "72")
    with pytest.raises(ValueError, match="applied has the shape"):
        recursions.joint_wrenches(robot, zero, zero, zero, np.zeros((1, 6)))
    with pytest.raises(ValueError, match="applied has the shape"):
        euler_jourdain.euler_jourdain(robot, zero, zero, zero, applied=np.zeros((1, 6)))
