"""The laws of dynamics on random trees of all kinds of joints; derivatives are complex steps, thus exact."""
import re

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.screws.arrays import Ad_matrix
from support.matrices import error
from support.plain import ENTRIES, gradient, plain, rate, rates_of_numbers
from support.random_trees import GROUPS, KINDS, model_of, random_pose, random_tree, rerooted
from support.scalar_kinds import slope
from support.structure_constants import connection

BOUND = 1e-12
ALL = (*GROUPS, *KINDS)
TREES = {"3 joints": (3, 0), "7 joints": (7, 0), "12 joints": (12, 0), "9 joints, 2 mimic": (9, 2),
         "6 joints of all kinds": (6, 0, ALL), "7 joints of all kinds, 1 mimic": (7, 1, ALL)}


class Case:
    """A robot, the parts it is made of, and a state."""

    def __init__(self, joints, mimics, of=KINDS):
        rng = np.random.default_rng(joints)
        self.parts = random_tree(rng, joints, mimics, of)
        self.robot = sd.Robot(model_of(self.parts), gravity=(1.0, -2.0, -9.0))
        self.q, self.qd, self.qdd = rng.uniform(-2, 2, self.robot.nq), *rng.uniform(-2, 2, (2, self.robot.n))

    def efforts(self, parts=None, gravity=(1.0, -2.0, -9.0)):
        """The efforts of the motion, for the robot or for another description of it."""
        robot = sd.Robot(model_of(parts), gravity) if parts else self.robot
        return robot.inverse_dynamics(self.q, self.qd, self.qdd)


@pytest.fixture(scope="module", params=TREES.values(), ids=TREES.keys())
def case(request):
    return Case(*request.param)


# ------------------------------------------------------------------------------------------------- mass matrix
def test_mass_matrix_is_symmetric_and_positive_definite(case):
    M = case.robot.mass_matrix(case.q)
    assert (M == M.T).all() and np.linalg.eigvalsh(M)[0] > 0


def test_mass_matrix_is_the_slope_of_the_efforts_by_acceleration(case):
    at_rest = case.robot.inverse_dynamics(case.q, case.qd, 0 * case.qdd)
    columns = [case.robot.inverse_dynamics(case.q, case.qd, row) - at_rest for row in np.eye(case.robot.n)]
    assert error(np.transpose(columns), case.robot.mass_matrix(case.q)) < BOUND


def test_kinetic_energy_is_its_quadratic_form(case):
    T = case.robot.kinetic_energy(case.q, case.qd)
    assert error(T, case.qd @ case.robot.mass_matrix(case.q) @ case.qd / 2) < BOUND


# ------------------------------------------------------------------------------------------------- Coriolis matrix
@pytest.mark.parametrize("name", [name for name in ENTRIES if name.startswith("coriolis_matrix")])
def test_coriolis_matrix_is_that_of_the_christoffel_symbols(case, name):
    """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2, or of the same connection in other velocities; by
    each of the recursions, of which a robot takes one, symbols and straight lines another."""
    found = np.asarray(plain(case.robot, name, case.q, case.qd), dtype=float)
    assert error(found, connection(case.robot, case.q) @ case.qd) < BOUND


def test_rate_of_the_mass_matrix_less_twice_the_coriolis_matrix_is_skew(case):
    C = case.robot.coriolis_matrix(case.q, case.qd)
    S = rate(case.robot, "mass_matrix", case.q, case.qd) - 2 * C
    assert np.abs(S + S.T).max() < BOUND * np.abs(C).max()


def test_coriolis_torque_is_the_coriolis_matrix_times_the_rates(case):
    expected = case.robot.coriolis_matrix(case.q, case.qd) @ case.qd
    assert error(case.robot.coriolis_torque(case.q, case.qd), expected) < BOUND


# ------------------------------------------------------------------------------------------------- gravity and power
def test_gravity_torque_is_the_gradient_of_the_potential_energy(case):
    assert error(case.robot.gravity_torque(case.q), gradient(case.robot, "potential_energy", case.q)[0]) < BOUND


def test_gravity_torque_is_the_effort_at_rest(case):
    still = np.zeros(case.robot.n)
    assert error(case.robot.gravity_torque(case.q), case.robot.inverse_dynamics(case.q, still, still)) < 1e-14


def test_gravity_is_a_wrench_on_every_link(case):
    """The weights, as external wrenches at the centers of mass, are what the gravity torques hold up."""
    weights = {}
    for part in case.parts:
        R = case.robot.forward_kinematics(case.q, part.link)[:3, :3]
        weight = part.mass * R.T @ case.robot.gravity
        weights[part.link] = np.r_[np.cross(part.com, weight), weight]
    assert error(-case.robot.external_torque(case.q, weights), case.robot.gravity_torque(case.q)) < BOUND


def test_efforts_are_the_sum_of_their_terms(case):
    q, qd, qdd, robot = case.q, case.qd, case.qdd, case.robot
    terms = robot.mass_matrix(q) @ qdd + robot.coriolis_torque(q, qd) + robot.gravity_torque(q)
    assert error(case.efforts(), terms) < BOUND


def test_power_of_the_efforts_is_the_rate_of_the_energy(case):
    robot, nq = case.robot, case.robot.nq

    def energy(state):
        return plain(robot, "kinetic_energy", state[:nq], state[nq:]) + plain(robot, "potential_energy", state[:nq])
    power = slope(energy, np.r_[case.q, case.qd], np.r_[rates_of_numbers(robot, case.q, case.qd), case.qdd])
    assert error(case.efforts() @ case.qd, power) < BOUND


# ------------------------------------------------------------------------------------------------- forward dynamics
def test_forward_dynamics_undoes_inverse_dynamics(case):
    assert error(case.robot.forward_dynamics(case.q, case.qd, case.efforts()), case.qdd) < 1e-10


@pytest.mark.parametrize("name", [name for name in ENTRIES if name.startswith("forward_dynamics")])
def test_every_recursion_of_forward_dynamics_undoes_that_of_inverse_dynamics(case, name):
    """In each representation, by articulated bodies and by the mass matrix; the former need a coordinate a joint."""
    if case.robot.model.shares_coordinates and "mass_matrix" not in name:
        taken = case.robot._forward_dynamics.entry.name                         # robots take another
        assert taken.startswith("forward_dynamics.mass_matrix")
        return
    found = np.asarray(plain(case.robot, name, case.q, case.qd, case.efforts()), dtype=float)
    assert error(found, case.qdd) < 1e-10


@pytest.mark.parametrize("name", [name for name in ENTRIES if re.fullmatch(r"inverse_dynamics_[a-z]+", name)
                                  and name != "inverse_dynamics_derivatives"])
def test_every_recursion_of_inverse_dynamics_gives_the_sum_of_terms(case, name):
    q, qd, qdd, robot = case.q, case.qd, case.qdd, case.robot
    terms = robot.mass_matrix(q) @ qdd + connection(robot, q) @ qd @ qd + robot.gravity_torque(q)
    assert error(np.asarray(plain(robot, name, q, qd, qdd), dtype=float), terms) < BOUND


def test_external_wrenches_do_virtual_work(rng, case):
    """The efforts J^T W of a wrench have its power on every motion, and add to the efforts of the joints."""
    robot, q, qd, qdd = case.robot, case.q, case.qd, case.qdd
    wrenches = {link: rng.normal(size=6) for link in robot.link_names[::2]}
    efforts = robot.external_torque(q, wrenches)
    power = sum(W @ robot.jacobian(q, link) @ qd for link, W in wrenches.items())
    assert error(efforts @ qd, power) < BOUND
    tau = robot.inverse_dynamics(q, qd, qdd, wrenches)
    assert error(tau, case.efforts() - efforts) < BOUND
    assert error(robot.forward_dynamics(q, qd, tau, wrenches), qdd) < 1e-10


# ------------------------------------------------------------------------------------------------- invariance
def test_efforts_do_not_depend_on_the_base_frame(rng, case):
    """Describe the same robot and gravity in a world frame elsewhere."""
    T = random_pose(rng)
    moved = [p._replace(placement=T @ p.placement) if p.parent == "root" else p for p in case.parts]
    assert error(case.efforts(moved, T[:3, :3] @ case.robot.gravity), case.efforts()) < BOUND


def test_efforts_do_not_depend_on_the_body_frames(rng, case):
    """Describe every link in another frame of its own."""
    frames, moved = {"root": np.eye(4)}, []
    for part in case.parts:
        D = frames[part.link] = random_pose(rng)
        back, R = np.linalg.inv(D), D[:3, :3]
        moved.append(part._replace(
            placement=np.linalg.inv(frames[part.parent]) @ part.placement @ D, joint_frame=back @ part.joint_frame,
            com=R.T @ (part.com - D[:3, 3]), rotational=R.T @ part.rotational @ R))
    assert error(case.efforts(moved), case.efforts()) < BOUND


def test_efforts_do_not_depend_on_the_order_of_the_links(case):
    """Depth first instead of as they came; coordinates go by name."""
    ordered = []

    def visit(parent):
        for part in case.parts:
            if part.parent == parent:
                ordered.append(part)
                visit(part.link)
    visit("root")
    other = sd.Robot(model_of(ordered), case.robot.gravity)
    in_q, order = (np.concatenate([np.r_[slices[name]] for name in other.joint_names])
                   for slices in (case.robot.q_slices, case.robot.v_slices))
    efforts = other.inverse_dynamics(case.q[in_q], case.qd[order], case.qdd[order])
    assert error(efforts, case.efforts()[order]) < BOUND


# ------------------------------------------------------------------------------------------------- floating robots
def floating(seed):
    """The parts of a tree whose first link floats and carries all others, and its Robot."""
    rng = np.random.default_rng(seed)
    base, *others = random_tree(rng, 5, of=("free", "spherical", "revolute", "planar", "helical"))
    others = [part._replace(parent=base.link if part.parent == "root" else part.parent) for part in others]
    return [base._replace(kind="free"), *others]


def pose_numbers(C):
    """The numbers in q of a free joint at a pose."""
    w = sd.so3.log(C[:3, :3])
    angle = np.linalg.norm(w)
    return np.r_[C[:3, 3], np.sin(angle / 2) * w / angle, np.cos(angle / 2)]


@pytest.mark.parametrize("seed", range(3))
def test_a_floating_robot_that_is_moved_with_gravity_takes_the_same_efforts(seed, rng):
    robot = sd.Robot(model_of(floating(seed)), gravity=(1.0, -2.0, -9.0))
    q, (v, vd), T = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n)), random_pose(rng)
    base = robot.model.body_names[5]
    F = robot.model.joint_frames[robot.joint_names[0]]
    at = robot.forward_kinematics(robot.neutral(), base) @ F                        # C = at g F^-1
    moved = q.copy()
    moved[:7] = pose_numbers(np.linalg.inv(at) @ T @ robot.forward_kinematics(q, base) @ F)
    turned = robot.with_gravity(T[:3, :3] @ robot.gravity)
    tau = robot.inverse_dynamics(q, v, vd)
    assert error(turned.inverse_dynamics(moved, v, vd), tau) < BOUND
    assert error(turned.forward_dynamics(moved, v, tau), vd) < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_the_same_tree_rooted_at_another_link_moves_the_same(seed, rng):
    """Under the same efforts of the joints, and the wrench on the first link as an external one. Joints on the way are
    turned about: their g is g^-1, their V is -Ad_g V, and so are V' and, dually, efforts."""
    parts = floating(seed)
    one, last = sd.Robot(model_of(parts), gravity=(1.0, -2.0, -9.0)), parts[-1].link
    other, child = sd.Robot(model_of(rerooted(parts, last)), one.gravity), {
        part.joint: part.link for part in rerooted(parts, last)}
    q, (v, vd) = one.random_configuration(seed=rng), rng.standard_normal((2, one.n))
    tau, base, name = one.inverse_dynamics(q, v, vd), parts[0].link, parts[0].joint
    x, w, wd, expected = (np.zeros(k) for k in (other.nq, other.n, other.n, other.n))
    for part in parts[1:]:
        if part.kind == "fixed":
            continue
        g, of, there = q[one.q_slices[part.joint]], one.v_slices[part.joint], other.v_slices[part.joint]
        Ad = -np.eye(len(v[of]))                            # for axes, which are turned about instead
        if child[part.joint] != part.link and part.kind in GROUPS:
            g, Ad = inverted(part.kind, g)
        x[other.q_slices[part.joint]] = g
        w[there], wd[there], expected[there] = -Ad @ v[of], -Ad @ vd[of], -np.linalg.solve(Ad.T, tau[of])
    free, moves = other.q_slices[name], other.v_slices[name]
    J = one.jacobian(q, last)
    x[free] = pose_numbers(one.forward_kinematics(q, last))
    w[moves], wd[moves] = J @ v, J @ vd + one.jacobian_derivative(q, v, last) @ v
    to_base = Ad_matrix(parts[0].joint_frame)               # efforts of the free joint, as a wrench on its link
    wrench = {base: np.linalg.solve(to_base.T, tau[one.v_slices[name]])}
    assert any(child[part.joint] != part.link for part in parts[1:])
    assert np.abs(other.inverse_dynamics(x, w, wd, wrench) - expected).max() < 1e-11 * np.abs(tau).max()
    assert error(other.forward_dynamics(x, w, expected, wrench), wd) < 1e-9


def inverted(kind, g):
    """The numbers of g^-1, and Ad_g on the velocities of a Lie-group joint."""
    if kind == "planar":
        c, s = np.cos(g[2]), np.sin(g[2])
        R = np.array([[c, -s], [s, c]])
        return np.r_[-R.T @ g[:2], -g[2]], np.block([[np.eye(1), np.zeros((1, 2))], [np.array([[g[1]], [-g[0]]]), R]])
    quaternion = g[-4:] * (-1, -1, -1, 1)
    R = sd.so3.exp(2 * np.arctan2(np.linalg.norm(g[-4:-1]), g[-1]) * g[-4:-1] / np.linalg.norm(g[-4:-1]))
    return quaternion, R
