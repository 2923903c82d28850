"""Model and Robot as values: nothing changes them, they can be sent elsewhere, and copies differ as they should."""
import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.screws import arrays
from screw_dynamics.screws.joint import on_axis
from support import matrices
from support.matrices import error
from support.random_trees import model_of, random_body, random_pose, random_tree


@pytest.fixture(scope="module")
def parts():
    return random_tree(np.random.default_rng(1), joints=7, mimics=1)


@pytest.fixture(scope="module")
def robot(parts):
    return sd.Robot(model_of(parts, limits=sd.Limits(-1, 2, 3, 4), damping=0.1, friction=0.2))


def test_no_array_of_a_model_can_be_written(robot):
    model = robot.model
    arrays = [a for a in vars(model).values() if isinstance(a, np.ndarray)] + [C for _, C in model.frames.values()]
    for array in (*arrays, model.screws_spatial, model.reference_poses, robot.gravity):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_no_array_of_a_constraint_of_a_model_can_be_written():
    builder = sd.ModelBuilder("root")
    builder.add_screw("a", "1", "root", (0, 0, 1))
    builder.add_loop_joint("loop", "spherical", "1", frame=np.eye(4), frame_on=np.eye(4))
    builder.add_distance("rod", "1", None, (1, 0, 0), (0, 2, 0))
    loop, rod = builder.build().constraints
    for array in loop.frame, loop.frame_on, rod.point, rod.point_on:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("kind", GROUPS)
def test_the_links_among_the_bodies_have_the_inertia(kind):
    """A Lie-group joint is several bodies, of which the last one is the link that was asked for."""
    builder = sd.ModelBuilder("root")
    builder.add_screw("first", "upper", "root", (0, 0, 1), mass=1.0)
    builder.add_group_joint(kind, "group", "hand", "upper", inertia=np.eye(6))
    builder.add_screw("last", "finger", "hand", (1, 0, 0), mass=2.0)
    model = builder.build()
    assert [name for name, own in zip(model.body_names, model.is_link, strict=True) if own] == [
        "upper", "hand", "finger"]
    assert (model.inertias.any(axis=(1, 2)) == model.is_link).all()
    doubled = model.with_inertial_parameters(2.0 * model.inertial_parameters)
    assert np.allclose(doubled.inertias, 2.0 * model.inertias, rtol=1e-15)
    with pytest.raises(ValueError, match="must be 0: a body inside a Lie-group joint has no inertia"):
        model.with_inertial_parameters(np.ones_like(model.inertial_parameters))


def test_no_field_of_a_model_can_be_set(robot):
    with pytest.raises(FrozenInstanceError):
        robot.model.root = "other"
    for table in (robot.model.frames, robot.model.mimics):
        with pytest.raises(TypeError):
            table["other"] = None


def test_repr_of_a_model_is_a_line_of_its_joints():
    builder = sd.ModelBuilder("root")
    assert repr(builder.build()) == "<Model of 0 bodies on root>"
    builder.add_screw("a", "1", "root", (0, 0, 1), pitch=0.1)
    builder.add_screw("b", "2", "1", (0, 0, 1))
    builder.add_screw("c", "3", "1", (0, 0, 1), mimic=sd.Mimic("b"))
    assert repr(builder.build()) == "<Model of 3 bodies on root: helical a, revolute b, revolute c>"


def test_a_model_outlives_its_builder():
    builder = sd.ModelBuilder("root")
    builder.add_joint("a", "1", "root", [0, 0, 1, 0, 0, 0])
    model = builder.build()
    builder.add_fixed("2", "1", inertia=np.eye(6))
    builder.add_joint("b", "3", "1", [0, 0, 1, 0, 0, 0])
    assert model.joint_names == ("a",) and not model.inertias.any() and "2" not in model.frames


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_robots_and_models_can_be_copied(robot, copied):
    q, qd, qdd = np.random.default_rng(7).normal(size=(3, robot.n))
    expected = robot.inverse_dynamics(q, qd, qdd)
    for other in (copied(robot), sd.Robot(copied(robot.model), robot.gravity)):
        assert other.joint_names == robot.joint_names and other.model.mimics == robot.model.mimics
        assert (other.inverse_dynamics(q, qd, qdd) == expected).all()
        with pytest.raises(ValueError, match="read-only"):
            other.model.inertias[0] = 0


def test_reference_poses_and_spatial_screws_are_those_at_zero(robot):
    model = robot.model
    at_zero = robot.body_poses(np.zeros(robot.n))
    assert error(model.reference_poses, at_zero) < 1e-15
    for Y, A, X in zip(model.screws_spatial, at_zero, model.screws_body, strict=True):
        assert error(Y, matrices.Ad(A) @ X) < 1e-14


def test_limits_and_friction_are_kept(robot):
    model = robot.model
    for name, value in dict(lower=-1, upper=2, velocity_limit=3, effort_limit=4).items():
        assert getattr(model, name).tolist() == [value] * robot.n
    damping, friction = np.full(robot.n, 0.1), np.full(robot.n, 0.2)
    for leader, multiplier, _ in model.mimics.values():                     # followers rub, too
        damping[model.v_slices[leader]] += 0.1 * multiplier**2
        friction[model.v_slices[leader]] += 0.2 * abs(multiplier)
    assert error(model.damping, damping) < 1e-15 and error(model.friction, friction) < 1e-15
    qd = np.array([-2.0, 0.0, *np.ones(robot.n - 2)])
    assert error(robot.friction_torque(qd), model.damping * qd + model.friction * np.sign(qd)) == 0


def test_a_payload_is_a_fixed_link(robot, parts):
    """with_payload and add_fixed give the same robot, on a moving link, a fixed one, and the root."""
    rng = np.random.default_rng(8)
    assert any(part.kind == "fixed" for part in parts)
    q, qd, qdd = rng.normal(size=(3, robot.n))
    for link in robot.link_names:
        mass, com, rotational = random_body(rng)
        C = random_pose(rng)
        loaded = robot.with_payload(link, mass, C[:3, :3] @ com + C[:3, 3], C[:3, :3] @ rotational @ C[:3, :3].T)
        load = parts[0]._replace(link="load", parent=link, kind="fixed", mimic=None, placement=C,
                                 mass=mass, com=com, rotational=rotational)
        other = sd.Robot(model_of([*parts, load]))
        assert error(loaded.inverse_dynamics(q, qd, qdd), other.inverse_dynamics(q, qd, qdd)) < 1e-13
        assert loaded.potential_energy(q) == pytest.approx(other.potential_energy(q), rel=1e-13)


def test_gravity_enters_linearly(robot):
    q = np.random.default_rng(9).normal(size=robot.n)
    along = [robot.with_gravity(e).gravity_torque(q) for e in np.eye(3)]
    assert error(robot.with_gravity([1.5, -2.0, 3.0]).gravity_torque(q), np.array([1.5, -2.0, 3.0]) @ along) < 1e-14
    assert error(robot.gravity_torque(q), -9.81 * along[2]) < 1e-14
    assert not robot.with_gravity((0, 0, 0)).gravity_torque(q).any()


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-155, 1e155, 1e200])
def test_screws_of_any_size_have_an_axis(size):
    """Also where the square of the size is 0 or infinite: of gravity, and of a joint that hardly follows another."""
    for X in ([0.0, 0.6, -0.8, 0.3, 0.1, 0.2], [0.0, 0.0, 0.0, 0.6, 0.8, 0.0], [1.0, 1e-3, 0.0, 0.0, 1.0, 0.0]):
        X = np.array(X)
        (T, Y), (U, Z) = on_axis(arrays.twist(X)), on_axis(arrays.twist(size * X))
        assert error(arrays.pose_matrix(U), arrays.pose_matrix(T)) < 1e-15
        assert error(arrays.array(Z), size * arrays.array(Y)) < 1e-15


def test_the_least_gravity_is_almost_none(robot):
    tau = robot.with_gravity((5e-324, 0.0, -5e-324)).gravity_torque(np.ones(robot.n))
    assert np.abs(tau).max() < 1e-320


@pytest.mark.parametrize("call, message", [
    (lambda r: r.with_gravity([0, 0]), r"gravity.*\(2,\)"), (lambda r: r.with_gravity([0, 0, np.nan]), "gravity.*nan"),
    (lambda r: r.with_payload("ghost", 1.0), "'ghost'"), (lambda r: r.with_payload("root", -1.0), r"mass -1\.0"),
    (lambda r: r.with_payload("root", np.nan), "mass nan"), (lambda r: r.with_payload("root", "2 kg"), "mass '2 kg'"),
    (lambda r: r.with_payload(None, 1.0), "None"),
    (lambda r: r.with_payload("root", 1.0, com=[0, 1]), r"com.*\(2,\)"),
    (lambda r: r.with_payload("root", 1.0, inertia=[[1.0, 2.0], [3.0, 4.0]]),
     r"inertia has shape \(2, 2\), not \(3, 3\)"),
    (lambda r: r.with_payload("root", 1.0, inertia=np.triu(np.ones((3, 3)))), "inertia.*symmetric"),
    (lambda r: r.with_payload("root", 1.0, inertia=-np.eye(3)), "inertia.*negative")])
def test_wrong_changes_are_refused(robot, call, message):
    with pytest.raises(ValueError, match=message):
        call(robot)
