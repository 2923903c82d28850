"""Batches: what single states give, for any number of states and any leading axes."""
import dataclasses

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.compiled import workspace
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.robot import evaluation
from support.batches import (
    ARM,
    EACH_METHOD,
    METHODS,
    PENDULUM,
    ROBOTS,
    assert_equal_to_rounding,
    method,
    one_by_one,
    states,
)

ALL_ROBOTS = ROBOTS | {"pendulum, specialized": PENDULUM.specialize()}
# Each kernel of a specialized robot is compiled.
EACH_ROBOT = pytest.mark.parametrize("robot", [
    pytest.param(robot, id=name, marks=[pytest.mark.slow] * ("specialized" in name))
    for name, robot in ALL_ROBOTS.items()])
OTHERS = {"from_urdf", "with_gravity", "with_payload", "specialize", "rollout", "step", "plot", "neutral",
          "integrate", "difference", "interpolate", "distance", "normalize", "random_configuration",
          "hybrid_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "kinematic_hessian",
          "inverse_dynamics_time_derivatives", "inverse_dynamics_second_derivatives",
          "forward_dynamics_second_derivatives", "link_acceleration", "link_jerk", "link_snap",
          "jacobian_second_derivative", "linearize", "rollout_derivatives", "rollout_gradient", "inverse_kinematics",
          "acceleration_regressor", "momentum_regressor", "with_inertial_parameters", "energy_balance",
          "momentum_balance", "configuration_residual", "from_mjcf", "with_root_inertia", "with_armature",
          "total_force", "with_drives", "with_forces", "drive_torque", "drive_energy", "effort_bounds", "to_urdf",
          "export_c"}


def test_every_public_method_of_states_is_here():
    methods = {name for name in dir(sd.Robot) if not name.startswith("_") and callable(getattr(sd.Robot, name))}
    assert methods - OTHERS == {name.partition(",")[0] for name in METHODS}


@EACH_METHOD
@EACH_ROBOT
def test_a_batch_is_its_states_one_by_one(rng, robot, name):
    f, inputs = method(robot, name)
    for lead in ((1,), (7,), (8,), (9,), (2, 5), (3, 1, 7)):
        arrays = states(rng, robot, inputs, *lead)
        assert_equal_to_rounding(f(*arrays), one_by_one(f, arrays))


@EACH_METHOD
@EACH_ROBOT
def test_a_batch_of_no_states_has_no_results(rng, robot, name):
    f, inputs = method(robot, name)
    shape = f(*states(rng, robot, inputs)).shape
    for lead in ((0,), (3, 0), (0, 2)):
        assert f(*states(rng, robot, inputs, *lead)).shape == (*lead, *shape)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "jacobian, hybrid"])
@EACH_ROBOT
def test_4096_states(rng, robot, name):
    f, inputs = method(robot, name)
    arrays = states(rng, robot, inputs, 4096)
    assert_equal_to_rounding(f(*arrays), one_by_one(f, arrays))


def test_contiguous_rows_go_to_the_kernel_at_once(monkeypatch, rng):
    """Where they are of float64 and apart from the result; others are converted in Python."""
    arrays, out = states(rng, ARM, 3, 9), np.empty((9, ARM.n))
    expected = one_by_one(ARM.inverse_dynamics, arrays)
    ARM.inverse_dynamics(*arrays)                                           # makes it ready
    monkeypatch.setattr(evaluation, "evaluate", lambda *arguments: "the longer way")
    assert_equal_to_rounding(ARM.inverse_dynamics(*arrays), expected)
    for threads in (1, 2):
        out[:] = np.nan
        assert ARM.inverse_dynamics(*arrays, out=out, threads=threads) is out
        assert_equal_to_rounding(out, expected)
    q, *others = arrays
    for x, options in ((q.astype(np.float32), {}), (q[::-1], {}), (q.tolist(), {}), (q[None], {}), (q, {"out": q}),
                       (q, {"out": others[1][:]}), (q, {"out": np.asfortranarray(out)}),
                       (np.tile(q, (1000, 1))[:9000:1000], {})):
        assert isinstance(ARM.inverse_dynamics(x, *others, **options), str)


def test_a_million_states(rng):
    q, = states(rng, PENDULUM, 1, 10**6)
    some = np.r_[0:9, 499_999:500_008, 999_990:10**6, rng.integers(0, 10**6, 1000)]
    assert_equal_to_rounding(PENDULUM.gravity_torque(q)[some], one_by_one(PENDULUM.gravity_torque, q[None, some]))


def test_leading_axes_broadcast(rng):
    (q,), (qd,), (qdd,) = states(rng, ARM, 1, 4, 1), states(rng, ARM, 1, 3), states(rng, ARM, 1)
    arrays = np.array(np.broadcast_arrays(q, qd, qdd))
    assert_equal_to_rounding(ARM.inverse_dynamics(q, qd, qdd), one_by_one(ARM.inverse_dynamics, arrays))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("lead, loads", [((), (5,)), ((5,), ()), ((5,), (5,)), ((4, 1), (5,))])
def test_leading_axes_of_external_wrenches_broadcast(rng, name, lead, loads):
    arrays, wrench = states(rng, ARM, 3, *lead), rng.normal(size=(*loads, 6))
    expected = np.empty((*np.broadcast_shapes(lead, loads), ARM.n))
    for index in np.ndindex(expected.shape[:-1]):
        x = [np.broadcast_to(a, expected.shape)[index] for a in arrays]
        w = np.broadcast_to(wrench, (*expected.shape[:-1], 6))[index]
        expected[index] = getattr(ARM, name)(*x, {"panda_link5": w})
    out = np.empty_like(expected)
    assert getattr(ARM, name)(*arrays, {"panda_link5": wrench}, out=out) is out
    assert_equal_to_rounding(out, expected)
    assert_equal_to_rounding(getattr(ARM, name)(*arrays, {"panda_link5": wrench}), expected)


def test_a_state_that_is_not_finite_spoils_no_other(rng):
    q, qd, qdd = states(rng, ARM, 3, 16)
    q[3, 2], qd[4, 0], qdd[9, 6] = np.nan, np.inf, -np.inf
    found = ARM.inverse_dynamics(q, qd, qdd)
    fine = np.setdiff1d(np.arange(16), [3, 4, 9])
    assert not np.isfinite(found[[3, 4, 9]]).all(axis=1).any()
    assert_equal_to_rounding(found[fine], one_by_one(ARM.inverse_dynamics, np.array([q, qd, qdd])[:, fine]))


def test_bodies_may_have_their_coordinates_in_any_order(rng):
    model, order = ROBOTS["tree"].model, np.array([2, 0, 5, 3, 1, 4])
    other, arrays = sd.Robot(dataclasses.replace(model, coordinates=order)), states(rng, ROBOTS["tree"], 3, 9)
    found = other.inverse_dynamics(*arrays)
    assert_equal_to_rounding(found, one_by_one(other.inverse_dynamics, arrays))
    assert_equal_to_rounding(found[:, order], ROBOTS["tree"].inverse_dynamics(*arrays[..., order]))


def test_large_results_need_no_memory_on_lanes():
    """Second derivatives of the efforts of 200 joints are 32 million numbers: states are evaluated one by one."""
    builder, axes = sd.ModelBuilder("link 0"), np.eye(3)
    for k in range(200):
        builder.add_screw(f"joint {k}", f"link {k + 1}", f"link {k}", axis=axes[k % 3])
    robot = sd.Robot(builder.build())
    assert robot._memory.nbytes < 10e6 and robot._on_lanes.take().nbytes < 16 * WIDTH * workspace.LARGE


@pytest.mark.slow
def test_large_results_are_those_of_states_one_by_one(rng):
    """In any layout, and with the same numbers."""
    builder, axes = sd.ModelBuilder("link 0"), np.eye(3)
    for k in range(60):
        builder.add_screw(f"joint {k}", f"link {k + 1}", f"link {k}", axis=axes[k % 3])
    robot = sd.Robot(builder.build())
    q = rng.uniform(-1.0, 1.0, (3, robot.n))
    assert 6 * robot.n**2 * robot.n > workspace.LARGE / WIDTH
    batch = robot.inverse_dynamics_second_derivatives(q, q, q)
    for k in range(3):
        for found, expected in zip(batch, robot.inverse_dynamics_second_derivatives(q[k], q[k], q[k]), strict=True):
            assert (found[k] == expected).all()
