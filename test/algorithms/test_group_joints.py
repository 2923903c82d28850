"""Joints whose configuration is an element of a group: laws, and the same joints as chains in a chart."""
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.model import macro_joints
from screw_dynamics.model.configuration_space import continuous, rates, second_rates, velocities
from support.differences import slopes
from support.random_trees import GROUPS, KINDS, model_of, random_pose, random_tree

STEP = 1e-5     # of central differences


@pytest.fixture(scope="module", params=range(3))
def robot(request):
    return sd.Robot(model_of(random_tree(np.random.default_rng(request.param), 8, 1, (*GROUPS, *KINDS))))


@pytest.fixture
def state(robot, rng):
    return robot.random_configuration(seed=rng), *rng.standard_normal((2, robot.n))


def quaternion_numbers(robot):
    """Where in q those of quaternions are."""
    ends = [robot.q_slices[name].stop for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True)
            if kind in ("spherical", "free")]
    return [end - 4 + k for end in ends for k in range(4)]


def rate(f, robot, q, v):
    """The time derivative of f(q) along v."""
    return (f(robot.integrate(q, STEP * v)) - f(robot.integrate(q, -STEP * v))) / (2 * STEP)


def test_numbers_and_velocities_are_where_the_slices_say(robot):
    sizes = {"spherical": (4, 3), "planar": (3, 3), "free": (7, 6)}
    found = [(robot.q_slices[name].stop - robot.q_slices[name].start,
              robot.v_slices[name].stop - robot.v_slices[name].start) for name in robot.joint_names]
    assert found == [sizes.get(kind, (1, 1)) for kind in robot.model.joint_kinds]
    assert robot.nq == sum(k for k, _ in found) and robot.n == sum(k for _, k in found) and robot.nq > robot.n


def test_the_twist_of_a_joint_is_its_velocities(robot, state):
    q, v, _ = state
    for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        if kind in GROUPS:
            link = name.removeprefix("joint of ")
            body = robot.model.body_names.index(link)
            parent = int(robot.model.parents[robot.model.body_joints.index(name)])
            reference = robot.model.root if parent < 0 else robot.model.body_names[parent]
            F = robot.model.joint_frames[name]
            twist = sd.se3.Ad_inv(F, robot.jacobian(q, link, reference=reference) @ v)      # of the joint frame
            expected = {"free": range(6), "spherical": range(3), "planar": (2, 3, 4)}[kind]
            assert np.allclose(twist[list(expected)], v[robot.v_slices[name]], atol=1e-13) and body >= 0
            assert np.allclose(np.delete(twist, list(expected)), 0.0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_dynamics_in_each_representation_and_rates_of_jacobians(robot, state, representation):
    q, v, vd = state
    other = sd.Robot(robot.model, representation=representation)
    tau = robot.inverse_dynamics(q, v, vd)
    assert np.allclose(other.inverse_dynamics(q, v, vd), tau, rtol=1e-11, atol=1e-10)
    assert np.allclose(other.forward_dynamics(q, v, tau), vd, rtol=1e-8, atol=1e-8)
    one, two = robot.link_names[-1], robot.link_names[2]
    for reference in (None, two):
        def jacobian(x, reference=reference):
            return robot.jacobian(x, one, representation, reference)
        found = robot.jacobian_derivative(q, v, one, representation, reference)
        assert np.allclose(found, rate(jacobian, robot, q, v), atol=1e-7 * max(1.0, np.abs(found).max()))


@pytest.mark.slow       # a long kernel of its own
def test_batches_and_quaternions_of_any_length(robot, rng):
    q, v, vd = robot.random_configuration((3, 5), rng), *rng.standard_normal((2, 3, 5, robot.n))
    tau = robot.inverse_dynamics(q, v, vd)
    assert np.allclose(robot.forward_dynamics(q, v, tau), vd, rtol=1e-8, atol=1e-8)
    stretched, out = q.copy(), np.empty_like(tau)
    for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        if kind in ("spherical", "free"):
            stretched[..., robot.q_slices[name]][..., -4:] *= -3.7
    assert robot.inverse_dynamics(stretched, v, vd, out=out) is out and np.allclose(out, tau, rtol=1e-12, atol=1e-11)
    for k in np.ndindex(3, 5):
        assert np.allclose(tau[k], robot.inverse_dynamics(q[k], v[k], vd[k]), rtol=1e-13, atol=1e-12)
    assert np.allclose(robot.normalize(stretched), -robot.normalize(-stretched))
    with pytest.raises(ValueError, match=f"q has shape .* but must end in {robot.nq}"):
        robot.gravity_torque(v)


@pytest.mark.parametrize("kind", GROUPS)
def test_as_a_chain_in_a_chart(kind, rng):
    """The macro joint of the same motions is another parametrization of the same system."""
    frame, body = random_pose(rng), sd.inertia_matrix(2.0, [0.1, -0.2, 0.3], np.diag([0.3, 0.4, 0.5]))
    placement = random_pose(rng)

    def build(group):
        builder = sd.ModelBuilder("root")
        builder.add_joint("first", "arm", "root", [0, 0.6, 0.8, 0, 0, 0], None, body)
        add = builder.add_group_joint if group else builder.add_macro_joint
        add(kind, "ball", "hand", "arm", placement, body, frame=frame)
        builder.add_joint("last", "tool", "hand", [1, 0, 0, 0, 0, 0], random_pose(np.random.default_rng(4)), body)
        return sd.Robot(builder.build())

    group, chain = build(True), build(False)
    x, xd, xdd = rng.uniform(-1, 1, (3, chain.n))
    inner = slice(1, chain.n - 1)

    def configuration(x):
        C = np.linalg.inv(placement) @ chain.forward_kinematics(x, "hand", "arm")
        D = np.linalg.inv(frame) @ C @ frame
        R = D[:3, :3]
        w = np.sqrt(1.0 + np.trace(R)) / 2                                        # no half turn for such small angles
        quaternion = [*(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)), w]
        number = {"spherical": quaternion, "free": [*D[:3, 3], *quaternion],
                  "planar": [*D[:2, 3], np.arctan2(R[1, 0], R[0, 0])]}[kind]
        return np.r_[x[0], number, x[-1]]

    def velocities(x, xd):
        """T(x) x': the velocities of the group joint."""
        twist = sd.se3.Ad_inv(frame, chain.jacobian(x, "hand", reference="arm") @ xd)
        rows = {"spherical": [0, 1, 2], "planar": [2, 3, 4], "free": range(6)}[kind]
        return np.r_[xd[0], twist[list(rows)], xd[-1]]

    q, v, T = configuration(x), velocities(x, xd), np.stack([velocities(x, e) for e in np.eye(chain.n)], axis=1)
    vd = T @ xdd + (velocities(x + STEP * xd, xd) - velocities(x - STEP * xd, xd)) / (2 * STEP)
    assert np.allclose(group.forward_kinematics(q, "tool"), chain.forward_kinematics(x, "tool"), atol=1e-13)
    assert np.allclose(T.T @ group.mass_matrix(q) @ T, chain.mass_matrix(x), atol=1e-12)
    assert np.allclose(T.T @ group.gravity_torque(q), chain.gravity_torque(x), atol=1e-12)
    assert np.allclose(T.T @ group.inverse_dynamics(q, v, vd), chain.inverse_dynamics(x, xd, xdd), atol=1e-7)
    assert group.kinetic_energy(q, v) == pytest.approx(chain.kinetic_energy(x, xd), rel=1e-12)
    assert len(macro_joints.KINDS[kind]) == inner.stop - inner.start


# ------------------------------------------------------------------------------------------------- configuration space
def test_integration_and_difference_are_inverse(robot, rng):
    q0, q1 = robot.random_configuration((2, 40), rng)
    v = robot.difference(q0, q1)
    assert robot.distance(robot.integrate(q0, v), q1).max() < 1e-12
    small = rng.uniform(-0.5, 0.5, (40, robot.n))
    assert np.allclose(robot.difference(q0, robot.integrate(q0, small)), small, atol=1e-13)
    assert np.allclose(robot.distance(q0, robot.interpolate(q0, q1, np.full(40, 0.25))), 0.25 * robot.distance(q0, q1))
    assert np.allclose(robot.integrate(q0, np.zeros(robot.n)), q0, atol=1e-15)


def test_leading_axes_that_do_not_broadcast_are_named(robot, rng):
    q, v = robot.random_configuration(2, rng), np.zeros((3, robot.n))
    with pytest.raises(ValueError, match=r"do not broadcast: q \(2,\), v \(3,\)"):
        robot.integrate(q, v)
    with pytest.raises(ValueError, match=r"do not broadcast: q0 \(2,\), q1 \(3,\)"):
        robot.difference(q, robot.random_configuration(3, rng))


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("angle", [0.0, 1e-8, 0.3, np.pi - 1e-9, 3.0, 5.0])
def test_velocities_lead_where_exponentials_of_matrices_do(kind, angle, rng):
    """By SciPy; quaternions may have any length, and those of results have 1."""
    robot = sd.Robot(model_of(random_tree(rng, 1, of=(kind,))))
    q, v = robot.random_configuration(4, rng), rng.standard_normal((4, robot.n))
    turns = 1 if kind == "planar" else 3
    v[:, :turns] *= angle / np.linalg.norm(v[:, :turns], axis=1, keepdims=True)
    longer = q * np.where(np.isin(np.arange(robot.nq), quaternion_numbers(robot)), -1.7, 1.0)
    ends = robot.integrate(longer, v)
    for start, end, velocity in zip(q, ends, v, strict=True):
        assert np.abs(matrix(kind, start) @ expm(hat(kind, velocity)) - matrix(kind, end)).max() < 1e-13
        assert np.array_equal(robot.integrate(np.float32(start), velocity), robot.integrate(
            np.float32(start).astype(float), velocity))
    if angle < np.pi:
        assert np.abs(robot.difference(q, ends) - v).max() < 1e-13
    shorter = robot.difference(longer, 0.3 * ends if kind == "spherical" else ends)
    assert (np.linalg.norm(shorter[:, :turns], axis=1) <= np.pi + 1e-13).all()
    for start, end, velocity in zip(q, ends, shorter, strict=True):
        assert np.abs(matrix(kind, start) @ expm(hat(kind, velocity)) - matrix(kind, end)).max() < 1e-13
    assert np.allclose(np.linalg.norm(ends[:, quaternion_numbers(robot)], axis=1)[:4 * (turns == 3)], 1.0, atol=1e-15)


def matrix(kind, q):
    """The homogeneous matrix (4, 4) of an element of a group."""
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler("z", q[2]).as_matrix() if kind == "planar" else Rotation.from_quat(
        q[-4:]).as_matrix()
    if kind != "spherical":
        found[:2 if kind == "planar" else 3, 3] = q[:2 if kind == "planar" else 3]
    return found


def hat(kind, v):
    """The matrix (4, 4) of a velocity."""
    w, u = ((0.0, 0.0, v[0]), (*v[1:], 0.0)) if kind == "planar" else (v[:3], v[3:] if kind == "free" else np.zeros(3))
    return np.array([[0.0, -w[2], w[1], u[0]], [w[2], 0.0, -w[0], u[1]], [-w[1], w[0], 0.0, u[2]], [0.0] * 4])


def test_rates_of_numbers_change_along_velocities_by_second_rates(robot, rng):
    q, (u, v) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    change = slopes(lambda x: rates(robot.model, robot.integrate(q, x[0] * u), v), 1)[:, 0]
    assert np.abs(second_rates(robot.model, q, u, v) - change).max() < 1e-12 * np.abs(change).max()


def test_velocities_of_a_curve_of_numbers_lead_along_it(robot, rng):
    """Of quaternions that are not of unit length, along q + t a + t^2 b / 2 at t = 0."""
    q, a, b = robot.random_configuration(seed=rng) * 1.7, *rng.standard_normal((2, robot.nq))
    v, vd = velocities(robot.model, q, a, b)
    step, here = 1e-4, [velocities(robot.model, q + t * a + t * t / 2 * b, a + t * b, b)[0] for t in (-1e-4, 1e-4)]
    ahead, behind = (q + t * a + t * t / 2 * b for t in (step, -step))
    assert np.allclose(robot.difference(behind, ahead) / (2 * step), v, atol=1e-6)
    assert np.allclose((here[1] - here[0]) / (2 * step), vd, atol=1e-6)
    path = robot.interpolate(q, robot.random_configuration(seed=rng), np.linspace(0.0, 1.0, 20)[:, None][:, 0])
    path[::3] = np.where(np.isin(np.arange(robot.nq), quaternion_numbers(robot)), -1.0, 1.0) * path[::3]
    smooth = continuous(robot.model, path)
    assert np.abs(np.diff(smooth, axis=0)[:, quaternion_numbers(robot)]).max() < 0.5
    assert robot.distance(smooth, path).max() < 1e-12


def test_the_neutral_configuration_is_that_of_the_models_poses(robot):
    q = robot.neutral()
    assert np.allclose(robot.body_poses(q), robot.model.reference_poses, atol=1e-13)
    assert np.array_equal(robot.normalize(q), q)


def test_a_quaternion_without_direction_is_refused_with_its_joint(robot):
    q = robot.neutral()
    name = next(n for n, k in zip(robot.joint_names, robot.model.joint_kinds, strict=True) if k == "free")
    q[robot.q_slices[name]] = 0.0
    with pytest.raises(ValueError, match=f"joint '{name}': the quaternion 0 0 0 0"):
        robot.normalize(q)


def test_for_joints_of_one_degree_nothing_changes(rng):
    robot = sd.Robot(model_of(random_tree(rng, 6)))
    q, v = rng.standard_normal((2, robot.n))
    assert robot.nq == robot.n and np.array_equal(robot.integrate(q, v), q + v)
    assert [robot.q_slices[name] for name in robot.joint_names] == [slice(k, k + 1) for k in range(6)]


# ------------------------------------------------------------------------------------------------- motion
@pytest.fixture(scope="module")
def free():
    """A tree in free fall: a floating link that carries ball joints and others."""
    builder, rng = sd.ModelBuilder("world"), np.random.default_rng(5)
    body = sd.inertia_matrix(2.0, [0.1, -0.2, 0.3], np.diag([0.3, 0.4, 0.5]))
    builder.add_group_joint("free", "floating_base", "trunk", "world", None, body)
    builder.add_group_joint("spherical", "hip", "leg", "trunk", random_pose(rng), body)
    builder.add_joint("knee", "shin", "leg", [0, 1, 0, 0, 0, 0], random_pose(rng), body)
    builder.add_group_joint("planar", "shoulder", "arm", "trunk", random_pose(rng), body)
    return sd.Robot(builder.build())


def momentum(robot, q, v):
    """Of the whole robot about the world's origin, (angular, linear)."""
    poses, twists = robot.body_poses(q), robot.body_twists(q, v)
    return sum(sd.se3.Ad_dual(poses[..., k, :, :], twists[..., k, :] @ robot.model.inertias[k])
               for k in range(len(robot.model.parents)))


@pytest.mark.slow
@pytest.mark.parametrize("integrator, bound", [("rk4", 1e-8), ("rk45", 1e-7)])
def test_free_fall_keeps_momentum_and_energy(free, integrator, bound, rng):
    robot, q0, v0 = free.with_gravity((0, 0, 0)), free.random_configuration(seed=rng), rng.standard_normal(free.n)
    t, q, v = robot.rollout(q0, v0, None, 1e-3, 1000, integrator, every=10, rtol=1e-9, atol=1e-10)
    H = momentum(robot, q, v)
    assert np.abs(H - H[0]).max() < bound * np.abs(H[0]).max()
    energy = robot.kinetic_energy(q, v)
    assert np.abs(energy - energy[0]).max() < bound * energy[0]
    for name in ("floating_base", "hip"):
        lengths = np.linalg.norm(q[:, robot.q_slices[name]][:, -4:], axis=1)
        assert np.abs(lengths - 1.0).max() < (1e-15 if integrator == "rk4" else 4e-15)


@pytest.mark.slow
def test_orders_of_the_integrators(free, rng):
    q0, v0 = free.random_configuration(seed=rng), rng.standard_normal(free.n)
    exact = free.rollout(q0, v0, None, 1e-3, 200, "rk4")[1][-1]
    for integrator, order, steps in (("semi_implicit_euler", 1, 200), ("rk4", 4, 10)):
        errors = [free.distance(free.rollout(q0, v0, None, 0.2 / n, n, integrator)[1][-1], exact)
                  for n in (steps, 2 * steps)]
        assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.2)


@pytest.mark.slow
def test_dense_output_is_on_the_group(free, rng):
    q0, v0 = free.random_configuration(seed=rng), rng.standard_normal(free.n)
    options = dict(rtol=1e-8, atol=1e-10)
    coarse = free.rollout(q0, v0, None, 0.25, 2, "rk45", **options)[1]
    fine = free.rollout(q0, v0, None, 0.005, 100, "rk45", **options)[1]
    reference = free.rollout(q0, v0, None, 0.001, 500, "rk4", every=5)[1]
    assert free.distance(fine, reference).max() < 1e-6 and free.distance(coarse, reference[::50]).max() < 1e-6
    assert np.abs(np.linalg.norm(fine[:, 3:7], axis=1) - 1.0).max() < 4e-15


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "rk45"])
def test_batches_move_as_single_states(free, integrator, rng):
    q0, v0 = free.random_configuration(11, rng), rng.standard_normal((11, free.n))
    _, q, v = free.rollout(q0, v0, None, 1e-3, 50, integrator, limits=True)
    for k in (0, 7, 10):
        _, one, rates = free.rollout(q0[k], v0[k], None, 1e-3, 50, integrator, limits=True)
        assert free.distance(one, q[k]).max() < 1e-10 and np.allclose(rates, v[k], atol=1e-9)
    here, rate = free.step(q0[0], v0[0], np.zeros(free.n), 1e-3)
    assert np.array_equal(here, free.rollout(q0[0], v0[0], None, 1e-3, 1)[1][-1]) and rate.shape == (free.n,)


@pytest.mark.slow
def test_a_controller_sees_configuration_and_velocities(free, rng):
    def hold(robot, t, q, qd, tau):
        tau[:] = robot.gravity_torque(q) - 5.0 * qd + 0.0 * (len(q) - robot.nq)

    q0, v0 = free.random_configuration(3, rng), 0.1 * rng.standard_normal((3, free.n))
    _, q, v = free.rollout(q0, v0, hold, 1e-3, 200)
    assert np.abs(v[:, -1]).max() < np.abs(v0).max() and free.distance(q[:, -1], q0).max() < 0.2
    _, one, _ = free.rollout(q0[1], v0[1], hold, 1e-3, 200)
    assert free.distance(one[-1], q[1, -1]) < 1e-11


@pytest.mark.slow
def test_a_stop_blocks_a_joint_beside_groups(rng):
    builder = sd.ModelBuilder("world")
    body = sd.inertia_matrix(1.0, [0.1, 0.2, 0.3], np.diag([0.1, 0.2, 0.3]))
    builder.add_group_joint("free", "floating_base", "trunk", "world", None, body)
    builder.add_joint("knee", "shin", "trunk", [0, 1, 0, 0, 0, 0], None, body, limits=sd.Limits(-0.1, 0.1))
    robot = sd.Robot(builder.build(), (0, 0, 0))
    v0 = np.r_[np.zeros(6), 2.0]
    _, q, v = robot.rollout(robot.neutral(), v0, None, 1e-3, 200, limits=True)
    assert q[-1, 7] == 0.1 and v[-1, 6] == 0.0 and np.abs(v[-1, :6]).max() > 0.1
    H = momentum(robot, q, v)
    assert np.abs(H - H[0]).max() < 1e-2 * np.abs(H[0]).max()     # the integrator is of first order


# ------------------------------------------------------------------------------------------------- building
def test_what_cannot_be_built_is_refused_with_its_joint():
    builder = sd.ModelBuilder("world")
    for arguments, message in (
            (("universal", "ball", "hand", "world"),
             "joint 'ball': kind 'universal' must be one of spherical, planar, free"),
            (("free", "ball", "hand", "wold"), "joint 'ball': parent link 'wold' does not exist"),
            (("free", "", "hand", "world"), "the name of a joint must be")):
        with pytest.raises(ValueError, match=message):
            builder.add_group_joint(*arguments)
    with pytest.raises(ValueError, match="joint 'ball': damping -1.0 must be"):
        builder.add_group_joint("free", "ball", "hand", "world", damping={"rx": -1.0})
    builder.add_group_joint("spherical", "ball", "hand", "world", inertia=np.eye(6), damping={"rz": 0.5},
                            limits=sd.Limits(effort=3.0))
    model = builder.build()
    assert model.damping.tolist() == [0.0, 0.0, 0.5] and model.effort_limit.tolist() == [3.0] * 3
    assert model.joint_names == ("ball",) and tuple(model.frames) == ("world", "hand")
