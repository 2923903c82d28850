"""Armature in every algorithm. The law is a rotor, support/wheels.py: all dynamics of a robot with armature are those
of a robot with wheels, whose joints share coordinates, by other recursions. Oracles beside: Pinocchio and MuJoCo."""
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import sympy

import screw_dynamics as sd
from screw_dynamics.algorithms.derivatives import FORWARD_DYNAMICS_DERIVATIVES, INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS
from screw_dynamics.algorithms.energy import KINETIC_ENERGY
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_IN
from screw_dynamics.algorithms.hybrid_dynamics import HYBRID_DYNAMICS
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS, INVERSE_DYNAMICS_CLASSICAL, INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.algorithms.mass_matrix_by_rows import BY_ROWS
from screw_dynamics.algorithms.momenta import MOMENTA
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.algorithms.time_derivatives import INVERSE_DYNAMICS_TIME_DERIVATIVES_IN
from screw_dynamics.compiled.counting import operations, straight_line_operations
from screw_dynamics.compiled.specialize import script
from screw_dynamics.numbers.scalars import sincos
from screw_dynamics.papers.formulations import closed_form, recursions
from support.pinocchio_oracle import oracle_of_urdf
from support.plain import ENTRIES
from support.random_trees import model_of, random_tree
from support.real_robots import PATHS, real_robot
from support.wheels import GRAVITY, TREES, Pair, arm


@pytest.fixture(scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * (name != "tree"))
                                        for name in TREES])
def pair(request):
    """Kernels of the others take long to compile."""
    return Pair(request.param)


@pytest.fixture(scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * (name == "groups"))
                                        for name in TREES])
def plain_pair(request):
    """For what runs in plain Python."""
    return Pair(request.param)


# ------------------------------------------------------------------------------------------------- algorithms
def test_efforts_accelerations_and_matrices(pair):
    q, qd, qdd = pair.q, pair.qd, pair.qdd
    pair.near(lambda r: r.inverse_dynamics(q, qd, qdd))
    pair.near(lambda r: r.forward_dynamics(q, qd, qdd), 1e-10)
    pair.near(lambda r: r.mass_matrix(q))
    pair.near(lambda r: r.kinetic_energy(q, qd))


@pytest.mark.slow
def test_under_wrenches_and_with_some_accelerations_given(pair):
    q, qd, qdd, load = pair.q, pair.qd, pair.qdd, pair.load
    pair.near(lambda r: r.inverse_dynamics(q, qd, qdd, load))
    pair.near(lambda r: r.forward_dynamics(q, qd, qdd, load), 1e-10)
    driven = pair.plain.joint_names[::2]
    pair.near(lambda r: r.hybrid_dynamics(q, qd, qdd, qdd, driven), 1e-10)
    pair.near(lambda r: r.hybrid_dynamics(q, qd, qdd, qdd, driven, load), 1e-10)


def test_what_does_not_accelerate_is_as_without(pair):
    q, qd = pair.q, pair.qd
    for f in (lambda r: r.gravity_torque(q), lambda r: r.coriolis_torque(q, qd), lambda r: r.coriolis_matrix(q, qd),
              lambda r: r.potential_energy(q), lambda r: r.centroidal_momentum(q, qd), lambda r: r.total_mass):
        assert np.array_equal(f(pair.geared), f(pair.plain))


@pytest.mark.parametrize("name", [name for name in ENTRIES if name.startswith(("inverse_dynamics", "forward_dynamics"))
                                  and "derivatives" not in name])
def test_every_recursion(plain_pair, name):
    """In plain Python, those that a robot of this kind does not take too."""
    pair = plain_pair
    model, q, qd, x = pair.geared.model, pair.q, pair.qd, pair.qdd
    if model.shares_coordinates and name.startswith("forward") and "mass_matrix" not in name:
        return                                                  # articulated bodies need a coordinate for each joint
    entry = ENTRIES[name].on_groups if model.on_groups else ENTRIES[name]
    found = entry.plain(model.links(GRAVITY), q, qd, x, pose_sources=model.pose_sources(GRAVITY)).astype(float)
    expected = (pair.wheels.forward_dynamics if name.startswith("forward") else pair.wheels.inverse_dynamics)(q, qd, x)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("shared", HYBRID_DYNAMICS)
def test_efforts_and_accelerations_of_which_some_are_given_belong_together(shared):
    """In plain Python, by inverse dynamics."""
    pair = Pair("mimics" if shared else "tree")
    q, qd, given, driven = pair.q, pair.qd, pair.qdd, np.arange(pair.plain.n) % 2
    qdd, tau = HYBRID_DYNAMICS[shared].plain(pair.geared.model.links(GRAVITY), q, qd, given, driven).astype(float)
    assert np.abs(np.where(driven, qdd, tau) - given).max() < 1e-12
    assert np.abs(pair.wheels.inverse_dynamics(q, qd, qdd) - tau).max() < 1e-10 * np.abs(tau).max()


def test_momenta_are_those_of_the_mass_matrix(plain_pair):
    """In plain Python."""
    pair = plain_pair
    model, entry = pair.geared.model, MOMENTA.on_groups if pair.geared.model.on_groups else MOMENTA
    sources = model.pose_sources(GRAVITY)
    p, *rest = entry.plain(model.links(GRAVITY), pair.q, pair.qd, pose_sources=sources).astype(float)
    expected = pair.wheels.mass_matrix(pair.q) @ pair.qd
    assert np.abs(p - expected).max() < 1e-12 * np.abs(expected).max()
    without = entry.plain(pair.plain.model.links(GRAVITY), pair.q, pair.qd, pose_sources=sources)[1:]
    assert np.array_equal(np.array(rest), without.astype(float))


def chain(n, rng):
    """Of n revolute joints: the robot without armature, with it, and what armature each has."""
    parts = [part._replace(parent=f"link {k - 1}" if k else "root", link=f"link {k}")
             for k, part in enumerate(p for p in random_tree(rng, n, of=("revolute",)) if p.kind != "fixed")]
    plain, a = sd.Robot(model_of(parts), GRAVITY), rng.uniform(0.1, 2.0, n)
    return plain, plain.with_armature(dict(zip(plain.joint_names, a, strict=True))), a


def derivatives_of(plain, a, q, qd, qdd):
    """By the law M = M without it + armature, which nothing else changes: those of inverse dynamics and, at the efforts
    of this motion, of forward dynamics."""
    *by, M = plain.inverse_dynamics_derivatives(q, qd, qdd)
    inverse = np.stack((*by, M + np.diag(a)))
    return inverse, -np.linalg.solve(inverse[2], np.stack((*by, -np.eye(len(a)))))


@pytest.mark.slow
def test_matrices_by_rows_and_every_solver_of_derivatives(rng):
    """In plain Python, of a robot that takes others."""
    plain, geared, a = chain(5, rng)
    links, (q, qd, qdd) = geared.model.links(GRAVITY), rng.uniform(-1.0, 1.0, (3, 5))
    inverse, forward = derivatives_of(plain, a, q, qd, qdd)
    tau = plain.inverse_dynamics(q, qd, qdd) + a * qdd
    for entry, inputs, expected in (
            (BY_ROWS["mass_matrix"], (q,), inverse[2]),
            (INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS, (q, qd, qdd), inverse),
            *((entry, (q, qd, tau), forward) for entry in FORWARD_DYNAMICS_DERIVATIVES.values())):
        found = entry.plain(links, *inputs).astype(float)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max(), entry.name


@pytest.mark.slow
def test_deep_robots_by_rows(rng):
    """Whose matrices are written by other kernels, and derivatives solved by articulated bodies."""
    plain, geared, a = chain(20, rng)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 20))
    for name, entry in (("mass_matrix", BY_ROWS["mass_matrix"]),
                        ("inverse_dynamics_derivatives_of_one", INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS)):
        assert getattr(geared, f"_{name}").entry is entry
    inverse, forward = derivatives_of(plain, a, q, qd, qdd)
    tau = plain.inverse_dynamics(q, qd, qdd) + a * qdd
    for found, expected in ((geared.mass_matrix(q), inverse[2]), (geared.forward_dynamics(q, qd, tau), qdd),
                            (np.stack(geared.inverse_dynamics_derivatives(q, qd, qdd)), inverse),
                            (np.stack(geared.forward_dynamics_derivatives(q, qd, tau)), forward)):
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("form", INVERSE_DYNAMICS_TIME_DERIVATIVES_IN)
def test_time_derivatives_are_those_of_the_bodies_and_of_its_efforts(form):
    """In plain Python."""
    pair = Pair("tree")
    inputs = pair.q, pair.qd, pair.qdd, pair.qddd, pair.qdddd
    entry = INVERSE_DYNAMICS_TIME_DERIVATIVES_IN[form]
    given = inputs[:entry.inputs]
    found, without = (entry.plain(r.model.links(GRAVITY), *given).astype(float) for r in (pair.geared, pair.plain))
    assert np.abs(found - without - pair.geared.armature * given[2:]).max() < 1e-11 * np.abs(without).max()


@pytest.mark.slow
def test_derivatives(pair):
    q, qd, qdd, load = pair.q, pair.qd, pair.qdd, pair.load
    pair.near(lambda r: r.inverse_dynamics_derivatives(q, qd, qdd))
    pair.near(lambda r: r.inverse_dynamics_derivatives(q, qd, qdd, load))
    pair.near(lambda r: r.forward_dynamics_derivatives(q, qd, qdd), 1e-9)
    pair.near(lambda r: r.forward_dynamics_derivatives(q, qd, qdd, load), 1e-9)
    for found, expected in zip(pair.geared.inverse_dynamics_second_derivatives(q, qd, qdd),
                               pair.wheels.inverse_dynamics_second_derivatives(q, qd, qdd), strict=True):
        assert np.abs(found - expected).max() < 1e-11
    for representation in ("body", "hybrid"):
        pair.near(lambda r, form=representation: sd.Robot(r.model, GRAVITY, form).inverse_dynamics_time_derivatives(
            q, qd, qdd, pair.qddd, pair.qdddd), 1e-11)


@pytest.mark.slow
def test_regressors_have_a_column_for_it(pair):
    """With the friction columns: inverse dynamics, and forward dynamics as they depend on it."""
    robot, q, qd, qdd = pair.geared, pair.q, pair.qd, pair.qdd
    Y = robot.torque_regressor(q, qd, qdd, friction=True)
    p = np.concatenate([robot.inertial_parameters, robot.friction_parameters])
    expected = pair.wheels.inverse_dynamics(q, qd, qdd)
    assert np.abs(Y @ p - expected).max() < 1e-11 * np.abs(expected).max()
    names = (*robot.inertial_parameter_names, *robot.friction_parameter_names)
    joint = next(name for name in robot.joint_names if robot.armature[robot.v_slices[name]].any())
    column = robot.acceleration_regressor(q, qd, qdd, friction=True)[:, names.index(f"{joint}.armature")]
    a, h = float(robot.armature[robot.v_slices[joint]][0]), 1e-4
    up, down = (robot.with_armature({joint: a + s * h}).forward_dynamics(q, qd, qdd) for s in (1, -1))
    assert np.abs((up - down) / (2 * h) - column).max() < 1e-6 * np.abs(column).max()


def batch(pair, count=20):
    """Configurations, and two arrays of velocities."""
    q = np.stack([pair.plain.random_configuration(seed=k) for k in range(count)])
    return q, *np.random.default_rng(0).uniform(-1.0, 1.0, (2, count, pair.plain.n))


def test_batches():
    pair = Pair("tree")
    q, qd, x = batch(pair)
    found, without = (robot.inverse_dynamics(q, qd, x) for robot in (pair.geared, pair.plain))
    assert np.abs(found - without - pair.geared.armature * x).max() < 1e-12 * np.abs(without).max()


@pytest.mark.slow
def test_batches_of_what_many_call(pair):
    q, qd, x = batch(pair)
    pair.near(lambda r: r.inverse_dynamics(q, qd, x))
    pair.near(lambda r: r.forward_dynamics(q, qd, x), 1e-10)
    pair.near(lambda r: r.mass_matrix(q))
    pair.near(lambda r: r.rollout(q, qd, x[:, None], dt=1e-3, steps=20, limits=False)[2], 1e-9)


@pytest.mark.slow
def test_batches_of_what_few_call(pair):
    q, qd, x = batch(pair)
    load, driven = pair.load, pair.plain.joint_names[::2]
    pair.near(lambda r: r.kinetic_energy(q, qd))
    pair.near(lambda r: r.inverse_dynamics(q, qd, x, load))
    pair.near(lambda r: r.forward_dynamics(q, qd, x, load), 1e-10)
    pair.near(lambda r: r.hybrid_dynamics(q, qd, x, x, driven), 1e-10)
    pair.near(lambda r: r.inverse_dynamics_derivatives(q, qd, x))
    pair.near(lambda r: r.forward_dynamics_derivatives(q, qd, x), 1e-9)
    pair.near(lambda r: r.inverse_dynamics_time_derivatives(q, qd, x, qd, x), 1e-11)
    pair.near(lambda r: r.rollout(q, qd, x[:, None], dt=1e-3, steps=20, integrator="variational",
                                  limits=False)[2], 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_representations(representation):
    pair = Pair("tree")
    robot = sd.Robot(pair.geared.model, GRAVITY, representation)
    q, qd, qdd = pair.q, pair.qd, pair.qdd
    for name in ("inverse_dynamics", "forward_dynamics"):
        found, expected = (getattr(r, name)(q, qd, qdd) for r in (robot, pair.wheels))
        assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("entry, sums, products", [
    *((entry, 1, 1) for entry in INVERSE_DYNAMICS_IN.values()), (MASS_MATRIX, 1, 0), (KINETIC_ENERGY, 1, 2),
    *((entry, 1, 0) for entry in FORWARD_DYNAMICS_IN.values())], ids=lambda x: getattr(x, "name", None))
def test_operations_of_armature_are_these_of_each_joint(entry, sums, products):
    pair = Pair("tree")
    without, found = (operations(entry, robot.model.links(GRAVITY)) for robot in (pair.plain, pair.geared))
    n = pair.plain.n
    assert found == without._replace(additions=without.additions + sums * n,
                                     multiplications=without.multiplications + products * n)


@pytest.mark.parametrize("entry, sums, products", [
    (INVERSE_DYNAMICS, 1, 1), (INVERSE_DYNAMICS_CLASSICAL, 1, 1), (KINETIC_ENERGY, 1, 2)],
    ids=lambda x: getattr(x, "name", None))
def test_straight_lines_do_operations_for_joints_that_have_some_alone(entry, sums, products):
    plain = Pair("tree").plain
    without, found = (straight_line_operations(entry, robot.model.links(GRAVITY)) for robot in (
        plain, plain.with_armature(dict.fromkeys(plain.joint_names[2:5], 0.5))))
    assert found == without._replace(additions=without.additions + 3 * sums,
                                     multiplications=without.multiplications + 3 * products)


@pytest.mark.parametrize("representation", FORWARD_DYNAMICS_IN)
def test_straight_lines_of_articulated_bodies(representation):
    """In plain Python: what joints without armature leave of inertias is shorter there, and that of others is not."""
    pair = Pair("tree")
    robot = pair.plain.with_armature(dict.fromkeys(pair.plain.joint_names[::2], 0.5))
    inputs = {"q": pair.q, "qd": pair.qd, "tau": pair.qdd}
    body, out = SimpleNamespace(**{name: [0.0, *x.tolist()] for name, x in inputs.items()}), np.zeros(robot.n)
    lines = script(FORWARD_DYNAMICS_IN[representation], robot.model.links(GRAVITY), (), None, 100_000)
    exec("\n".join(lines), {"body": body, "out": out, "sincos": sincos, "null": lambda like: 0.0})
    M = pair.plain.mass_matrix(pair.q) + np.diag(robot.armature)
    expected = np.linalg.solve(M, pair.qdd - pair.plain.inverse_dynamics(pair.q, pair.qd, 0 * pair.qd))
    assert np.abs(out - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.slow       # straight lines of four algorithms
def test_specialized_robots():
    pair = Pair("tree", 3)
    robot, (q, qd, x) = pair.geared.specialize(), (pair.q, pair.qd, pair.qdd)
    for name, inputs in (("inverse_dynamics", (q, qd, x)), ("forward_dynamics", (q, qd, x)), ("mass_matrix", (q,)),
                         ("coriolis_matrix", (q, qd))):
        found, expected = (getattr(r, name)(*inputs) for r in (robot, pair.wheels))
        assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


def test_formulations_contain_it():
    pair = Pair("tree")
    robot, (q, qd, qdd) = pair.geared, (pair.q, pair.qd, pair.qdd)
    tau, M = pair.wheels.inverse_dynamics(q, qd, qdd), pair.wheels.mass_matrix(q)
    for representation in REPRESENTATIONS:
        for found, expected in (
                (closed_form.euler_jourdain.euler_jourdain(robot, q, qd, qdd, representation), tau),
                (closed_form.euler_jourdain.mass_matrix(robot, q, representation), M),
                *([] if representation == "mixed" else [
                    (recursions.inverse_dynamics(robot, q, qd, qdd, representation=representation), tau)])):
            assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    assert np.abs(closed_form.lagrange.mass_matrix(robot, q) - M).max() < 1e-11
    p, h = M @ qd, 1e-5
    rates, pd = closed_form.momentum.phase_space_rate(robot, q, p, tau)
    assert np.abs(rates - qd).max() < 1e-10
    ahead, behind = (pair.wheels.mass_matrix(q + s * h * qd) @ (qd + s * h * qdd) for s in (1, -1))     # of the motion
    assert np.abs((ahead - behind) / (2 * h) - pd).max() < 1e-6 * np.abs(pd).max()


@pytest.mark.parametrize("call", [lambda r, q: sd.absolute_coordinates.of_robot(r, q),
                                  lambda r, q: closed_form.momentum.system_rate(r, q, r.body_twists(q, 0 * q))])
def test_what_is_about_bodies_alone_refuses_it(call):
    pair = Pair("tree")
    with pytest.raises(ValueError, match=r"joint '.*' has armature [\d.]+, which no body has; with_arm"):
        call(pair.geared, pair.q)


def test_symbols_stand_for_it():
    robot = sd.Robot(arm(armature=0.25).build())
    equations = sd.symbolic.equations_of_motion(robot, parameters={"upper": {"armature": "a"}})
    M = sympy.Matrix(equations.M)
    a, q = sympy.Symbol("a"), (0.3, 0.1)
    values = dict(zip(equations.q, q, strict=True)) | {a: 0.25}
    assert M[0, 0].diff(a) == 1
    assert sympy.simplify(sympy.sympify(equations.kinetic_energy).diff(a) - equations.qd[0]**2 / 2) == 0
    assert np.allclose(np.array(M.subs(values), dtype=float), robot.mass_matrix(q))
    plain = sd.symbolic.equations_of_motion(robot)
    assert np.allclose(np.array(sympy.Matrix(plain.M).subs(values), dtype=float), robot.mass_matrix(q))


@pytest.mark.slow
def test_identification_finds_it(rng):
    """And keeps what it is told to keep."""
    robot = sd.Robot(arm().build()).with_armature({"turn": 0.4, "slide": 0.9})
    t = np.linspace(0.0, 10.0, 4001)
    q = np.stack([np.sin(1.3 * t) + 0.3 * np.sin(4.0 * t), 0.3 * np.cos(1.7 * t)], axis=-1)
    qd = np.stack([1.3 * np.cos(1.3 * t) + 1.2 * np.cos(4.0 * t), -0.51 * np.sin(1.7 * t)], axis=-1)
    qdd = np.stack([-1.69 * np.sin(1.3 * t) - 4.8 * np.sin(4.0 * t), -0.867 * np.cos(1.7 * t)], axis=-1)
    tau = robot.inverse_dynamics(q, qd, qdd)
    kept = sd.identify(robot, t, q, tau, qd=qd, qdd=qdd, friction="none")
    assert np.array_equal(kept.robot.armature, robot.armature)
    found = sd.identify(robot.with_armature({"turn": 0.0, "slide": 0.0}), t, q, tau, qd=qd, qdd=qdd, friction="none",
                        armature=True).robot
    assert np.abs(found.inverse_dynamics(q, qd, qdd) - tau).max() < 1e-6 * np.abs(tau).max()
    assert abs(found.armature[1] - 0.9) < 1e-3      # the weight tells the mass; that at the base looks like inertia


# ------------------------------------------------------------------------------------------------- oracles
@pytest.mark.slow
@pytest.mark.parametrize("name, floating", [
    ("ur_description/urdf/ur5_robot.urdf", False), ("anymal_b_simple_description/robots/anymal.urdf", False),
    pytest.param("anymal_b_simple_description/robots/anymal.urdf", True, marks=pytest.mark.slow)])
def test_pinocchio_has_the_same(name, floating, rng):
    robot = real_robot(name, floating_base=floating)
    oracle, axes = oracle_of_urdf(PATHS[name], robot), robot.joint_names[floating:]
    a = dict(zip(axes, rng.uniform(0.1, 2.0, len(axes)), strict=True))
    for joint, value in a.items():
        oracle.model.armature[oracle.model.joints[oracle.model.getJointId(joint)].idx_v] = value
    oracle.data = oracle.model.createData()
    geared, q = robot.with_armature(a), robot.random_configuration(seed=rng)
    qd, x = rng.uniform(-1.0, 1.0, (2, robot.n))
    for method, inputs in (("inverse_dynamics", (q, qd, x)), ("forward_dynamics", (q, qd, x)), ("mass_matrix", (q,)),
                           ("kinetic_energy", (q, qd)), ("inverse_dynamics_derivatives", (q, qd, x)),
                           ("forward_dynamics_derivatives", (q, qd, x))):
        found, expected = (np.asarray(getattr(which, method)(*inputs)) for which in (geared, oracle))
        assert np.abs(found - expected).max() < 1e-10 * max(1.0, np.abs(expected).max()), method


def test_mujoco_accelerates_alike(rng):
    """Of hinges and slides in a tree, by its armature in MJCF."""
    body = '<inertial pos="0.1 0.05 0.2" mass="0.8" diaginertia="0.03 0.02 0.04"/>'
    text = f"""<mujoco><option gravity="0.5 0 -9"/><worldbody><body>{body}<joint axis="0 1 0" armature="0.3"/>
        <body pos="0 0.2 0.4" euler="20 0 50">{body}<joint type="slide" axis="1 0 1" armature="1.5"/>
            <body pos="0.3 0 0">{body}<joint axis="1 2 0" pos="0.05 0 0"/></body></body>
        <body pos="0 -0.2 0.4">{body}<joint axis="0 0 1" armature="0.02"/></body></body></worldbody></mujoco>"""
    model, robot = mujoco.MjModel.from_xml_string(text), sd.Robot.from_mjcf(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = rng.uniform(-1.0, 1.0, (3, 4))
    mujoco.mj_forward(model, data)
    assert robot.armature.tolist() == [0.3, 1.5, 0.0, 0.02]
    np.testing.assert_allclose(robot.forward_dynamics(data.qpos, data.qvel, data.qfrc_applied), data.qacc, rtol=1e-9)
