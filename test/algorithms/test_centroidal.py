"""Center of mass and centroidal momentum: sums over the bodies, laws of free fall, and Pinocchio."""
import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from support.pinocchio_oracle import ANGULAR_FIRST, oracle_of_parts, oracle_of_urdf
from support.plain import rate, target_of
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import LOADED, PATHS, real_robot

ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"


@pytest.fixture(scope="module", params=["one degree", "groups"])
def robot(request):
    of = KINDS if request.param == "one degree" else (*GROUPS, *KINDS)
    model = model_of(random_tree(np.random.default_rng(2), 8, 1, of))
    return sd.Robot(model, (0.3, -0.2, -9.0))


@pytest.fixture(scope="module")
def anymal():
    return real_robot(ANYMAL, floating_base=True)


def each(f, *states):
    """Of states one by one: kernels for batches would be compiled for this alone."""
    return np.stack([f(*state) for state in zip(*states, strict=True)])


def test_they_are_sums_over_the_bodies(robot, rng):
    q, v = robot.random_configuration(7, rng), rng.standard_normal((7, robot.n))
    poses, twists, model = each(robot.body_poses, q), each(robot.body_twists, q, v), robot.model
    masses, moments = model.inertias[:, 5, 5], model.inertias[:, [2, 0, 1], [4, 5, 3]]
    assert robot.total_mass == pytest.approx(masses.sum() + model.root_inertia[5, 5])
    root = model.root_inertia[[2, 0, 1], [4, 5, 3]]
    first = root + np.einsum("nbi,b->ni", poses[..., :3, 3], masses) + np.einsum(
        "nbij,bj->ni", poses[..., :3, :3], moments)
    com = each(robot.center_of_mass, q)
    assert np.allclose(com, first / robot.total_mass, atol=1e-14)
    H = sum(sd.se3.Ad_dual(poses[:, k], twists[:, k] @ model.inertias[k]) for k in range(len(masses)))
    H[:, :3] -= np.cross(com, H[:, 3:])
    assert np.allclose(each(robot.centroidal_momentum, q, v), H, atol=1e-12)
    A = each(robot.centroidal_momentum_matrix, q)
    assert np.allclose(np.einsum("nij,nj->ni", A, v), H, atol=1e-12)
    assert np.allclose(each(robot.center_of_mass_jacobian, q), A[:, 3:] / robot.total_mass, atol=1e-15)


def test_the_composite_inertia_is_that_of_all_links(robot, rng):
    q = robot.random_configuration(seed=rng)
    model, com, to_root = robot.model, np.eye(4), sd.se3.Ad_inv
    com[:3, 3] = robot.center_of_mass(q)
    poses = [np.eye(4), *robot.body_poses(q)]
    expected = sum(np.stack([to_root(np.linalg.inv(com) @ C, e) for e in np.eye(6)]) @ M @ np.stack(
        [to_root(np.linalg.inv(com) @ C, e) for e in np.eye(6)]).T
        for C, M in zip(poses, [model.root_inertia, *model.inertias], strict=True))
    found = robot.composite_inertia(q)
    assert np.allclose(found, expected, atol=1e-13 * np.abs(expected).max()) and np.array_equal(found, found.T)
    assert np.array_equal(found[3:, 3:], found[3, 3] * np.eye(3)) and not found[:3, 3:].any()


def test_the_derivative_of_the_momentum_matrix(robot, rng):
    """By a complex step; and A' v is what the momentum changes by when nothing accelerates."""
    q, (v, vd) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    found = robot.centroidal_momentum_matrix_derivative(q, v)
    expected = rate(robot, "centroidal_momentum_matrix", q, v, target_of(robot, robot.model.root))
    assert np.allclose(found, expected, atol=1e-12 * np.abs(expected).max())
    A, bias = robot.centroidal_momentum_matrix(q), robot.centroidal_momentum_rate(q, v)
    assert np.allclose(found @ v, bias, atol=1e-12 * np.abs(bias).max())
    assert np.allclose(robot.centroidal_momentum_rate(q, v, vd), A @ vd + bias, atol=1e-12 * np.abs(bias).max())


def test_motion_of_the_center_of_mass(robot, rng):
    q, (v, vd) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    target, J = target_of(robot, robot.model.root), robot.center_of_mass_jacobian(q)
    velocity = rate(robot, "center_of_mass", q, v, target)
    assert np.allclose(robot.center_of_mass_velocity(q, v), velocity, atol=1e-13 * np.abs(velocity).max())
    assert np.allclose(J @ v, velocity, atol=1e-13 * np.abs(velocity).max())
    bias = robot.center_of_mass_acceleration(q, v)
    Jd = rate(robot, "centroidal_momentum_matrix", q, v, target)[3:] / robot.total_mass
    assert np.allclose(bias, Jd @ v, atol=1e-12 * np.abs(bias).max())
    assert np.allclose(robot.center_of_mass_acceleration(q, v, vd), J @ vd + bias, atol=1e-12 * np.abs(bias).max())


def test_the_average_twist_has_the_momentum_and_the_least_energy(robot, rng):
    q, v = robot.random_configuration(seed=rng), rng.standard_normal(robot.n)
    V, M = robot.average_twist(q, v), robot.composite_inertia(q)
    momentum = robot.centroidal_momentum(q, v)
    assert np.allclose(M @ V, momentum, atol=1e-12 * np.abs(momentum).max())
    assert V @ M @ V / 2 <= robot.kinetic_energy(q, v)                      # Koenig


def test_without_mass_nothing_has_a_center():
    light = sd.ModelBuilder("root")
    light.add_screw("joint", "link", "root", axis=(0, 0, 1))
    light, q = sd.Robot(light.build()), np.zeros(1)
    for x in (light.center_of_mass(q), light.center_of_mass_velocity(q, q), light.center_of_mass_acceleration(q, q),
              light.average_twist(q, q), light.center_of_mass_jacobian(q)):
        assert np.isnan(x).all()


@pytest.mark.slow
def test_batches_of_rates(robot, rng):
    q, (v, vd) = robot.random_configuration((2, 7), rng), rng.standard_normal((2, 2, 7, robot.n))
    for method, arguments in (("centroidal_momentum_matrix_derivative", (q, v)), ("composite_inertia", (q,)),
                              ("centroidal_momentum_rate", (q, v, vd)), ("center_of_mass_acceleration", (q, v)),
                              ("center_of_mass_velocity", (q, v)), ("average_twist", (q, v))):
        found = getattr(robot, method)(*arguments)
        assert getattr(robot, method)(*arguments, out=np.empty_like(found)) is not found
        for k in np.ndindex(2, 7):
            one, out = getattr(robot, method)(*(x[k] for x in arguments)), np.empty(found.shape[2:])
            assert np.allclose(found[k], one, rtol=1e-11, atol=1e-11 * np.abs(one).max())
            assert getattr(robot, method)(*(x[k] for x in arguments), out=out) is out and np.array_equal(out, one)
    q[1, 2] = np.nan                                                                    # stays where it is
    lost = np.isnan(robot.average_twist(q, v)).any(axis=-1)
    assert lost[1, 2] and lost.sum() == 1


def test_the_jacobian_is_the_derivative_of_the_center_of_mass(robot, rng):
    q, v, h = robot.random_configuration(seed=rng), rng.standard_normal(robot.n), 1e-6
    after, before = (robot.center_of_mass(robot.integrate(q, step * v)) for step in (h, -h))
    rate = (after - before) / (2 * h)
    assert np.allclose(robot.center_of_mass_jacobian(q) @ v, rate, atol=1e-9)


def test_gravity_acts_at_the_center_of_mass(robot, rng):
    q = robot.random_configuration(seed=rng)
    weight = robot.total_mass * robot.gravity
    assert np.allclose(-weight @ robot.center_of_mass_jacobian(q), robot.gravity_torque(q))


@pytest.mark.slow
@pytest.mark.parametrize("integrator, dt, bound", [
    ("rk4", 2e-4, 2e-12), pytest.param("rk4", 2e-3, 2e-8, marks=pytest.mark.slow),
    pytest.param("semi_implicit_euler", 1e-4, 2e-3, marks=pytest.mark.slow)])
def test_angular_momentum_over_a_long_fall(anymal, rng, integrator, dt, bound):
    """Two seconds. No integrator keeps it exactly; the error of rk4, of fourth order, sinks below rounding."""
    steps = round(2.0 / dt)
    q0, v0 = anymal.random_configuration(seed=rng), rng.standard_normal(anymal.n)
    _, q, v = anymal.rollout(q0, v0, None, dt, steps, integrator, limits=False, every=steps // 20)
    angular = anymal.centroidal_momentum(q, v)[:, :3]
    assert np.abs(angular - angular[0]).max() < bound * np.linalg.norm(angular[0])


@pytest.mark.slow
def test_free_fall_of_a_floating_robot(anymal, rng):
    robot = anymal
    q0, v0 = robot.random_configuration(seed=rng), rng.standard_normal(robot.n)
    t, q, v = robot.rollout(q0, v0, None, 1e-3, 400, "rk4", every=40)
    H = robot.centroidal_momentum(q, v)
    assert np.abs(H[:, :3] - H[0, :3]).max() < 1e-8 * np.abs(H[0]).max()
    fall = H[0, 3:] + robot.total_mass * robot.gravity * t[:, None]
    assert np.abs(H[:, 3:] - fall).max() < 1e-9 * np.abs(fall).max()


def test_momentum_changes_by_wrenches_from_outside_alone(anymal, rng):
    """Whatever the joints do: forces between links cancel."""
    robot, links = anymal, ["LF_FOOT", "RH_SHANK"]
    q, (v, tau) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    tau[:6] = 0.0
    external = {link: rng.standard_normal(6) * 20.0 for link in links}
    vd = robot.forward_dynamics(q, v, tau, external)
    com, total = robot.center_of_mass(q), np.r_[np.zeros(3), robot.total_mass * robot.gravity]
    for link, wrench in external.items():
        C = robot.forward_kinematics(q, link)
        torque, force = C[:3, :3] @ wrench[:3], C[:3, :3] @ wrench[3:]
        total += np.r_[torque + np.cross(C[:3, 3] - com, force), force]
    assert np.allclose(robot.centroidal_momentum_rate(q, v, vd), total, atol=1e-11 * np.abs(total).max())
    acceleration = robot.center_of_mass_acceleration(q, v, vd)
    assert np.allclose(acceleration, total[3:] / robot.total_mass, atol=1e-11 * np.abs(acceleration).max())


def test_a_locked_robot_moves_with_its_average_twist(anymal, rng):
    q, v = anymal.random_configuration(seed=rng), np.zeros(anymal.n)
    v[:6] = rng.standard_normal(6)
    R, p = (C := anymal.forward_kinematics(q, "base"))[:3, :3], C[:3, 3]
    w, u = R @ v[:3], R @ v[3:6]
    assert np.allclose(anymal.average_twist(q, v), np.r_[w, u + np.cross(w, anymal.center_of_mass(q) - p)])


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name != ANYMAL)) for name in LOADED])
def test_real_robots_in_motion_as_pinocchio(name):
    robot = real_robot(name, floating_base=True)
    as_pinocchio(robot, oracle_of_urdf(PATHS[name], robot))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 50))])
def test_random_trees_in_motion_as_pinocchio(seed):
    """What is fixed to the root is without mass: Pinocchio leaves it out."""
    parts, still = random_tree(np.random.default_rng(seed), 3 + seed % 10, 1, (*GROUPS, *KINDS)), {"root"}
    for i, part in enumerate(parts):
        if part.kind == "fixed" and part.parent in still:
            still.add(part.link)
            parts[i] = part._replace(mass=0.0, rotational=np.zeros((3, 3)))
    robot = sd.Robot(model_of(parts))
    as_pinocchio(robot, oracle_of_parts(parts, robot))


def as_pinocchio(robot, oracle, states=5):
    """All that is about the center of mass."""
    rng, pair = np.random.default_rng(1), (oracle.model, oracle.data)
    for _ in range(states):
        q, (v, vd) = rng.uniform(-3, 3, robot.nq), rng.standard_normal((2, robot.n))
        x, u, ud = oracle._q(q), oracle.G @ v, oracle.G @ vd
        rate = pin.computeCentroidalMomentumTimeVariation(*pair, x, u, ud).vector[ANGULAR_FIRST]
        derivative = pin.dccrba(*pair, x, u)[ANGULAR_FIRST] @ oracle.G
        inertia = oracle.data.Ig.matrix()[np.ix_(ANGULAR_FIRST, ANGULAR_FIRST)]
        pin.centerOfMass(*pair, x, u, ud)
        for found, expected in (
                (robot.centroidal_momentum_matrix(q), oracle.data.Ag[ANGULAR_FIRST] @ oracle.G),
                (robot.centroidal_momentum_matrix_derivative(q, v), derivative),
                (robot.centroidal_momentum_rate(q, v, vd), rate), (robot.composite_inertia(q), inertia),
                (robot.center_of_mass(q), oracle.data.com[0]),
                (robot.center_of_mass_velocity(q, v), oracle.data.vcom[0]),
                (robot.center_of_mass_acceleration(q, v, vd), oracle.data.acom[0])):
            assert np.allclose(found, expected, rtol=0.0, atol=1e-11 * max(1e-3, np.abs(expected).max()))
