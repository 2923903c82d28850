"""Robots on arrays of xarray: joints by the names of a coordinate, in any order."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.batches import assert_equal_to_rounding
from support.floating_robots import hopper
from support.paths import URDF

xr = pytest.importorskip("xarray", reason="xarray is not installed: pip install screw_dynamics[xarray]")
ROBOT = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
JOINTS, LINK = list(ROBOT.joint_names), ROBOT.link_names[-1]


def labeled(x, names=JOINTS, **dims):
    """An array (..., n) in the robot's order as a DataArray with its joints in another one."""
    leading = dims.get("dims", ("time",)[:x.ndim - 1])
    found = xr.DataArray(x, dims=(*leading, "joint"), coords={"joint": JOINTS})
    return found.sel(joint=names)


def test_joints_are_taken_by_name_and_results_have_names(rng):
    q, qd, qdd = rng.normal(size=(3, 6, 2))
    tau = ROBOT.inverse_dynamics(labeled(q, JOINTS[::-1]), labeled(qd), labeled(qdd, JOINTS[::-1]))
    assert tau.dims == ("time", "joint") and tau.coords["joint"].values.tolist() == JOINTS
    assert_equal_to_rounding(tau.values, ROBOT.inverse_dynamics(q, qd, qdd))
    M, J = ROBOT.mass_matrix(labeled(q, JOINTS[::-1])), ROBOT.jacobian(labeled(q, JOINTS[::-1]), LINK)
    assert M.dims == ("time", "joint", "by_joint") and J.dims == ("time", "twist", "joint")
    assert_equal_to_rounding(M.sel(joint=JOINTS[1], by_joint=JOINTS[0]).values, ROBOT.mass_matrix(q)[:, 1, 0])
    assert_equal_to_rounding(J.sel(twist="vx", joint=JOINTS[0]).values, ROBOT.jacobian(q, LINK)[:, 3, 0])
    energy = ROBOT.kinetic_energy(labeled(q), labeled(qd, JOINTS[::-1]))
    assert energy.dims == ("time",)
    assert_equal_to_rounding(energy.values, ROBOT.kinetic_energy(q, qd))


def test_axes_are_taken_by_name_too(rng):
    """The joint may come first, and dimensions that only one argument has broadcast."""
    q, qd = rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    found = ROBOT.coriolis_torque(labeled(q).transpose("joint", "time"), labeled(qd, dims=("run",)))
    assert set(found.dims) == {"time", "run", "joint"}
    assert_equal_to_rounding(found.transpose("time", "run", "joint").values, ROBOT.coriolis_torque(q[:, None], qd))


@pytest.mark.slow
def test_derivatives_wrenches_and_several_results(rng):
    q, qd, tau = rng.normal(size=(3, 5, 2))
    lazy = labeled(q, JOINTS[::-1]), labeled(qd), labeled(tau)
    found, expected = ROBOT.forward_dynamics_derivatives(*lazy), ROBOT.forward_dynamics_derivatives(q, qd, tau)
    for a, b in zip(found, expected, strict=True):
        assert a.dims[0] == "time"
        assert_equal_to_rounding(a.values, b)
    W = xr.DataArray(np.arange(6.0)[::-1], dims="wrench", coords={"wrench": ["mx", "my", "mz", "fx", "fy", "fz"][::-1]})
    assert_equal_to_rounding(ROBOT.external_torque(lazy[0], {LINK: W}).values,
                             ROBOT.external_torque(q, {LINK: np.arange(6.0)}))


def test_other_coordinates_are_kept_and_must_agree(rng):
    q = labeled(rng.normal(size=(4, 2))).assign_coords(time=[0.0, 0.1, 0.2, 0.3])
    assert ROBOT.coriolis_torque(q, q).coords["time"].values.tolist() == [0.0, 0.1, 0.2, 0.3]
    with pytest.raises(ValueError, match="time"):
        ROBOT.coriolis_torque(q, q.assign_coords(time=[0.0, 0.1, 0.2, 0.4]))


def test_joints_that_the_robot_has_not_are_left_out(rng):
    q = rng.normal(size=(4, 2))
    more = xr.DataArray(np.insert(q, 1, 9.0, axis=1), dims=("time", "joint"),
                        coords={"joint": [JOINTS[0], "gripper", JOINTS[1]]})
    assert_equal_to_rounding(ROBOT.gravity_torque(more).values, ROBOT.gravity_torque(q))


def test_dask_inside_stays_lazy(rng):
    pytest.importorskip("dask.array")
    q = rng.normal(size=(8, 2))
    found = ROBOT.gravity_torque(labeled(q, JOINTS[::-1]).chunk({"time": 3, "joint": 1}))
    assert found.chunks == ((3, 3, 2), (2,))
    assert_equal_to_rounding(found.compute().values, ROBOT.gravity_torque(q))


def test_robots_on_groups_have_coordinates(rng):
    robot = sd.Robot.from_urdf(hopper(), floating_base=True)
    q, qd = robot.random_configuration(3, rng), rng.normal(size=(3, robot.n))
    names = [axis.labels for axis in (robot_axes(robot).velocity,)][0]
    found = robot.integrate(xr.DataArray(q, dims=("time", "coordinate")),
                            xr.DataArray(qd, dims=("time", "joint"), coords={"joint": list(names)}))
    assert found.dims == ("time", "coordinate")
    assert_equal_to_rounding(found.values, robot.integrate(q, qd))


def robot_axes(robot):
    from screw_dynamics.robot.on_foreign_arrays import Axes
    return Axes(robot)


def test_what_is_no_array_and_axes_without_names_are_refused(rng):
    q = labeled(rng.normal(size=(4, 2)))
    with pytest.raises(ValueError, match="q must be an array of Dask or an xarray.DataArray, not a xarray Dataset"):
        ROBOT.gravity_torque(q.to_dataset(name="q"))
    with pytest.raises(ValueError, match="not a xarray Variable"):
        ROBOT.gravity_torque(q.variable)
    with pytest.raises(ValueError, match=r"qd has shape \(3, 1, 2\), with more leading axes .* name: time"):
        ROBOT.coriolis_torque(q, np.zeros((3, 1, 2)))


@pytest.mark.parametrize("q, message", [
    (xr.DataArray(np.zeros((4, 2)), dims=("time", "motor")),
     "q has the dimensions time, motor, but must have the dimension 'joint'"),
    (xr.DataArray(np.zeros((4, 2)), dims=("time", "joint")), "q has no coordinate 'joint'"),
    (xr.DataArray(np.zeros((4, 1)), dims=("time", "joint"), coords={"joint": JOINTS[:1]}),
     f"q has no joint '{JOINTS[1]}'; its coordinate has {JOINTS[0]}"),
    (xr.DataArray(np.zeros((4, 3)), dims=("time", "joint"), coords={"joint": [*JOINTS, JOINTS[0]]}),
     f"q has joint '{JOINTS[0]}' more than once"),
    (labeled(np.zeros((4, 2), dtype=complex)), "q must be made of real numbers, not complex128 of shape")])
def test_what_does_not_fit_is_named(q, message):
    with pytest.raises(ValueError, match=message):
        ROBOT.gravity_torque(q)
