"""Robots on arrays of Dask: what the same call gives on NumPy's arrays, later."""
import gc
import pickle

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.on_foreign_arrays import EntryOnBlocks, MethodOnBlocks
from support.batches import EACH_METHOD, ROBOTS, assert_equal_to_rounding, method, states
from support.floating_robots import hopper
from support.paths import URDF

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install screw_dynamics[logs]")
da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install screw_dynamics[logs]")
TREE = ROBOTS["tree"]
PENDULUM = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
LINK = PENDULUM.link_names[-1]
WRENCH = np.arange(6.0)
# What is no entry point alone: several results, several calls, wrenches, points; each with how many (..., n) it takes.
OTHERS = {
    "hybrid_dynamics": (4, dict(driven=[PENDULUM.joint_names[0]])),
    "hybrid_dynamics, loaded": (4, dict(driven=[PENDULUM.joint_names[0]], external={LINK: WRENCH})),
    "inverse_dynamics_derivatives": (3, {}),
    "inverse_dynamics_derivatives, loaded": (3, dict(external={LINK: WRENCH})),
    "forward_dynamics_derivatives": (3, {}),
    "forward_dynamics_derivatives, loaded": (3, dict(external={LINK: WRENCH})),
    "inverse_dynamics_time_derivatives": (4, {}),
    "inverse_dynamics_time_derivatives, loaded": (5, dict(external={LINK: WRENCH})),
    "inverse_dynamics_second_derivatives": (3, {}), "forward_dynamics_second_derivatives": (3, {}),
    "inverse_dynamics_second_derivatives, loaded": (3, dict(external={LINK: WRENCH})),
    "torque_regressor": (3, dict(friction=True)), "momentum_regressor": (2, {}),
    "acceleration_regressor": (3, dict(friction=True)), "kinematic_hessian": (1, dict(link=LINK)),
    "link_acceleration": (3, dict(link=LINK)), "link_jerk": (4, dict(link=LINK)), "link_snap": (5, dict(link=LINK)),
    "forward_kinematics": (1, dict(link=LINK, point=[0.1, 0.2, 0.3])),
    "jacobian": (1, dict(link=LINK, representation="hybrid", point=[0.1, 0.2, 0.3])),
    "jacobian_second_derivative": (3, dict(link=LINK, point=[0.1, 0.2, 0.3])),
    "link_jerk, point": (4, dict(link=LINK, representation="mixed", point=[0.1, 0.2, 0.3])),
    "kinematic_hessian, point": (1, dict(link=LINK, point=[0.1, 0.2, 0.3])),
    "integrate": (2, {}), "difference": (2, {}), "distance": (2, {}), "normalize": (1, {}),
    "centroidal_momentum": (2, {}), "average_twist": (2, {}), "friction_torque": (1, {}),
}
COMPILED_FOR_IT = {"acceleration_regressor", "inverse_dynamics_second_derivatives",
                   "forward_dynamics_second_derivatives", "inverse_dynamics_second_derivatives, loaded",
                   "inverse_dynamics_time_derivatives", "inverse_dynamics_time_derivatives, loaded", "link_snap",
                   "link_jerk", "link_jerk, point", "torque_regressor", "momentum_regressor", "average_twist",
                   "hybrid_dynamics", "hybrid_dynamics, loaded", "jacobian_second_derivative"}
EACH_OTHER = pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in COMPILED_FOR_IT))
                                              for name in OTHERS])


def chunked(arrays):
    """The first as Dask has it, in chunks of 5 states and single joints; the second in chunks of 4; others NumPy's."""
    first, *others = arrays
    return [da.from_array(first, chunks=(5, 1)), *(da.from_array(x, chunks=(4, -1)) for x in others[:1]), *others[1:]]


@EACH_METHOD
def test_a_method_is_lazy_and_gives_what_it_gives_on_numpy(rng, name):
    f, inputs = method(TREE, name)
    arrays = states(rng, TREE, inputs, 12)
    expected, found = f(*arrays), f(*chunked(arrays))
    assert isinstance(found, da.Array) and found.shape == expected.shape and found.dtype == float
    leading = (5, 5, 2) if inputs == 1 else (4, 1, 3, 2, 2)       # what chunks of 5 and of 4 have in common
    assert found.chunks == (leading, *((n,) for n in expected.shape[1:]))
    assert_equal_to_rounding(found.compute(), expected)


@pytest.mark.slow
@EACH_OTHER
def test_methods_of_several_results_and_calls(rng, name):
    inputs, options = OTHERS[name]
    f, arrays = getattr(PENDULUM, name.partition(",")[0]), states(rng, PENDULUM, inputs, 12)
    expected, found = f(*arrays, **options), f(*chunked(arrays), **options)
    several = isinstance(expected, tuple)
    assert type(found) is type(expected) if several else True
    for a, b in zip(found, expected, strict=True) if several else [(found, expected)]:
        assert isinstance(a, da.Array) and a.shape == b.shape
        assert_equal_to_rounding(a.compute(), b)


def test_leading_axes_broadcast_across_libraries(rng):
    q, qd, qdd = rng.normal(size=(4, 1, 2)), rng.normal(size=(3, 2)), rng.normal(size=2)
    expected = PENDULUM.inverse_dynamics(q, qd, qdd)
    for given in ((da.from_array(q, chunks=2), qd, qdd), (q, da.from_array(qd, chunks=2), qdd.tolist()),
                  (q, qd, da.from_array(qdd, chunks=1))):
        found = PENDULUM.inverse_dynamics(*given)
        assert isinstance(found, da.Array) and found.shape == (4, 3, 2)
        assert_equal_to_rounding(found.compute(), expected)


def test_one_state_no_states_and_states_of_unknown_number(rng):
    q = rng.normal(size=(9, 2))
    assert_equal_to_rounding(PENDULUM.gravity_torque(da.from_array(q[0])).compute(), PENDULUM.gravity_torque(q[0]))
    assert PENDULUM.gravity_torque(da.zeros((0, 2))).compute().shape == (0, 2)
    x = da.from_array(q, chunks=(4, 2))
    found = PENDULUM.mass_matrix(x[x[:, 0] > 0.0])
    assert np.isnan(found.shape[0])
    assert_equal_to_rounding(found.compute(), PENDULUM.mass_matrix(q[q[:, 0] > 0.0]))


def test_wrenches_and_points_of_dask(rng):
    q, W, p = rng.normal(size=(7, 2)), rng.normal(size=(7, 6)), rng.normal(size=(7, 3))
    found = PENDULUM.external_torque(q, {LINK: da.from_array(W, chunks=(3, 6)), PENDULUM.model.root: np.ones(6)})
    assert isinstance(found, da.Array)
    assert_equal_to_rounding(found.compute(), PENDULUM.external_torque(q, {LINK: W}))
    found = PENDULUM.jacobian(q, LINK, point=da.from_array(p, chunks=(3, 3)))
    assert isinstance(found, da.Array)
    assert_equal_to_rounding(found.compute(), PENDULUM.jacobian(q, LINK, point=p))
    assert_equal_to_rounding(PENDULUM.interpolate(q[0], q[1], da.linspace(0.0, 1.0, 5, chunks=2)).compute(),
                             PENDULUM.interpolate(q[0], q[1], np.linspace(0.0, 1.0, 5)))


def test_rollouts(rng):
    q0, qd0 = states(rng, PENDULUM, 2, 6)
    for options in (dict(steps=20, every=5), dict(steps=20, integrator="rk4", effort=rng.normal(size=(20, 2))),
                    dict(steps=4, effort=rng.normal(size=(4, 2)))):         # as many as a block has states
        t, q, qd = PENDULUM.rollout(da.from_array(q0, chunks=(4, 1)), qd0, **options)
        expected = PENDULUM.rollout(q0, qd0, **options)
        assert isinstance(q, da.Array) and isinstance(qd, da.Array) and np.array_equal(t, expected[0])
        assert_equal_to_rounding(q.compute(), expected[1])
        assert_equal_to_rounding(qd.compute(), expected[2])
    with pytest.raises(ValueError, match="effort: for states in arrays of Dask it must be the same"):
        PENDULUM.rollout(da.from_array(q0), qd0, da.from_array(qd0))
    with pytest.raises(ValueError, match="record"):
        PENDULUM.rollout(da.from_array(q0), qd0, record="energy")


def test_inverse_kinematics(rng):
    q = PENDULUM.random_configuration(6, rng)
    poses = PENDULUM.forward_kinematics(q, LINK)
    for q0 in (None, q + 0.1):
        found = PENDULUM.inverse_kinematics(da.from_array(poses, chunks=(4, 2, 4)), LINK, q0)
        expected = PENDULUM.inverse_kinematics(poses, LINK, q0)
        points = PENDULUM.inverse_kinematics(da.from_array(poses[..., :3, 3], chunks=4), LINK, q0, parts="position")
        there = PENDULUM.inverse_kinematics(poses[..., :3, 3], LINK, q0, parts="position")
        np.testing.assert_array_equal(points.q.compute(), there.q)
        assert isinstance(found.q, da.Array) and expected.success.all()
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype and np.allclose(a.compute(), b, atol=1e-9)


@pytest.mark.slow
def test_robots_on_groups(rng):
    robot = sd.Robot.from_urdf(hopper(), floating_base=True)
    q, qd = robot.random_configuration(6, rng), rng.normal(size=(6, robot.n))
    lazy = da.from_array(q, chunks=(4, -1))
    assert_equal_to_rounding(robot.kinetic_energy(lazy, qd).compute(), robot.kinetic_energy(q, qd))
    moved = robot.integrate(lazy, da.from_array(qd, chunks=(3, -1)))
    assert moved.shape == q.shape
    assert_equal_to_rounding(moved.compute(), robot.integrate(q, qd))


@pytest.mark.parametrize("given, options", [
    ([np.zeros((4, 3)), np.zeros((4, 2)), np.zeros((4, 2))], {}),
    ([np.zeros((4, 2)), np.zeros((3, 2)), np.zeros((4, 2))], {}),
    ([np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 2), dtype=complex)], {}),
    ([np.zeros((4, 2)), np.zeros((4, 2)), np.array([["a", "b"]])], {}),
    ([np.zeros((4, 2)), np.zeros((4, 2)), np.zeros(())], {}),
    ([np.zeros((4, 2))] * 3, {"external": {LINK: np.zeros((4, 5))}}),
    ([np.zeros((4, 2))] * 3, {"external": {"nowhere": np.zeros((4, 6))}}),
    ([np.zeros((4, 2))] * 3, {"external": np.zeros(6)})])
def test_refusals_are_those_of_numpy(given, options):
    """When the call is made, and not when it is computed."""
    with pytest.raises(ValueError) as expected:
        PENDULUM.inverse_dynamics(*given, **options)
    with pytest.raises(ValueError) as found:
        PENDULUM.inverse_dynamics(*map(da.asarray, given), **options)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("method", [
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "inverse_dynamics_second_derivatives",
    "forward_dynamics_second_derivatives", "hybrid_dynamics"])
@pytest.mark.parametrize("external", [[1], [], np.zeros(6), da.zeros(6)])
def test_wrenches_that_are_no_mapping_are_refused(method, external):
    given = [np.zeros(2)] * 3 if method != "hybrid_dynamics" else [np.zeros(2)] * 4 + [[PENDULUM.joint_names[0]]]
    for first in np.zeros(2), da.zeros(2):
        with pytest.raises(ValueError, match="external must map links to wrenches"):
            getattr(PENDULUM, method)(first, *given[1:], external=external)


def test_other_collections_of_dask_are_refused():
    for x in dask.delayed(np.zeros(2)), dask.delayed(np.zeros(2), nout=2):
        with pytest.raises(ValueError, match="q must be an array of Dask or an xarray.DataArray, not a dask Delayed"):
            PENDULUM.gravity_torque(x)


def test_blocks_of_unknown_lengths_do_not_broadcast(rng):
    # NumPy refuses arrays of 3 and of 9 states; so does a block of one state that would stand for several.
    x = rng.normal(size=(9, 2))
    q = da.from_array(x, chunks=(4, 2))
    few, many = q[da.from_array(np.isin(np.arange(9), (0, 5, 8)), chunks=4)], q[q[:, 0] > -99.0]
    with pytest.raises(ValueError, match=r"lengths do not agree: q \(1, 2\), qd \(4, 2\)"):
        PENDULUM.coriolis_torque(few, many).compute()
    for qd in (many, x[0], x[:1]):
        assert_equal_to_rounding(PENDULUM.coriolis_torque(many, qd).compute(),
                                 PENDULUM.coriolis_torque(x, x if qd is many else x[0]))


@pytest.mark.parametrize("call", [
    lambda q, out: PENDULUM.inverse_dynamics(q, q, q, out=out), lambda q, out: PENDULUM.friction_torque(q, out=out),
    lambda q, out: PENDULUM.potential_energy(q, out=out)])
def test_out_is_refused(call):
    with pytest.raises(ValueError, match="out must be None"):
        call(da.zeros((4, 2)), np.zeros((4, 2)))


def test_the_same_call_has_the_same_name_and_another_robot_another(rng):
    """By which Dask knows what it has computed."""
    q = da.from_array(rng.normal(size=(4, 2)), chunks=2)
    name = PENDULUM.gravity_torque(q).name
    assert name.startswith("gravity_torque-") and PENDULUM.gravity_torque(q).name == name
    assert len({name, PENDULUM.with_gravity([0.0, 0.0, -1.6]).gravity_torque(q).name,
                PENDULUM.gravity_torque(q, threads=2).name, PENDULUM.gravity_torque(2.0 * q).name}) == 4


def test_blocks_go_to_other_processes(rng):
    """With one robot there for all of them, and the same bits."""
    q, qd, tau = states(rng, PENDULUM, 3, 8)
    entry = EntryOnBlocks(PENDULUM, PENDULUM._forward_dynamics.entry, ("q", "qd", "tau"), 1, ())
    bodies = EntryOnBlocks(PENDULUM, PENDULUM._of(sd.twists.BODY_TWISTS_IN["spatial"]).entry, ("q", "qd"), 1,
                           (PENDULUM._root,))
    loaded = MethodOnBlocks(PENDULUM, "forward_dynamics", ("q", "qd", "tau"), (LINK,), 0, (("threads", 1),))
    sent = [pickle.loads(pickle.dumps(function)) for function in (entry, bodies, loaded)]
    assert sent[0].robot is sent[1].robot is sent[2].robot is not PENDULUM
    assert np.array_equal(sent[0](q, qd, tau), PENDULUM.forward_dynamics(q, qd, tau, threads=1))
    assert np.array_equal(sent[1](q, qd), PENDULUM.body_twists(q, qd, "spatial", threads=1))
    W = rng.normal(size=(8, 6))
    assert np.array_equal(sent[2](q, qd, tau, W), PENDULUM.forward_dynamics(q, qd, tau, {LINK: W}, threads=1))
    again = pickle.loads(pickle.dumps(sent[0]))
    assert np.array_equal(again(q, qd, tau), sent[0](q, qd, tau))


def test_what_was_specialized_stays_in_its_process():
    kernel = EntryOnBlocks(PENDULUM.specialize(), PENDULUM.specialize()._gravity_torque.entry, ("q",), 1, ())
    with pytest.raises(TypeError, match="specialize"):
        pickle.dumps(kernel)


def test_slices_leave_the_garbage_collector_enabled():
    """dask keeps whether it was when dask was imported, which is while pytest collects: conftest.py."""
    da.ones(4, chunks=2)[1:3]
    assert gc.isenabled()
