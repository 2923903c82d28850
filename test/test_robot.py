"""The facade on one state: whatever can be numbers is taken, what cannot is refused by name, and nothing is spoilt."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.random_trees import model_of, random_tree

N = 5


@pytest.fixture(scope="module")
def robot():
    return sd.Robot(model_of(random_tree(np.random.default_rng(5), joints=N)))


@pytest.fixture
def state():
    return np.random.default_rng(6).uniform(-1, 1, (3, N))


METHODS = {
    "inverse_dynamics": 3, "gravity_torque": 1, "coriolis_torque": 2, "forward_dynamics": 3, "mass_matrix": 1,
    "coriolis_matrix": 2, "kinetic_energy": 2, "potential_energy": 1, "body_poses": 1, "friction_torque": 1}
CONVERSIONS = {
    "list": list, "tuple": tuple, "Python floats": lambda x: x.tolist(), "strided": lambda x: np.repeat(x, 2)[::2],
    "other byte order": lambda x: x.astype(">f8"), "backwards": lambda x: x[::-1].copy()[::-1]}


def call(robot, name, state):
    """The method on as many rows of a state as it takes."""
    return getattr(robot, name)(*state[:METHODS[name]])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS)
def test_what_holds_the_same_numbers_gives_the_same(robot, state, name, convert):
    assert (call(robot, name, [convert(x) for x in state]) == call(robot, name, state)).all()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, bool])
def test_other_kinds_of_numbers_are_converted(robot, state, name, dtype):
    numbers = (3 * state).astype(dtype)
    assert (call(robot, name, numbers) == call(robot, name, numbers.astype(float))).all()


@pytest.mark.parametrize("name", METHODS)
def test_inputs_are_left_alone_and_results_are_new(robot, state, name):
    before = state.copy()
    state.setflags(write=False)
    first = call(robot, name, state)
    kept = first.copy()
    call(robot, name, state + 1.0)
    assert (state == before).all() and (first == kept).all()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize("wrong, message", [
    (np.zeros(N - 1), rf"\({N - 1},\).*{N}"), (np.zeros(N + 1), rf"\({N + 1},\).*{N}"),
    (np.zeros((N, N + 1)), "must end in"), (0.0, r"\(\)"), ("up", "'up'"), ([1.0, None, 0.0, 0.0, 0.0], "None"),
    (np.zeros(N, complex), "complex"), (None, "None"), ([[1.0], [1.0, 2.0]], "real numbers")])
def test_wrong_arrays_are_refused_by_name(robot, state, name, position, wrong, message):
    if position >= METHODS[name]:
        return
    arguments = list(state)
    arguments[position] = wrong
    names = {"friction_torque": ["qd"], "forward_dynamics": ["q", "qd", "tau"]}.get(name, ["q", "qd", "qdd"])
    with pytest.raises(ValueError, match=rf"^{names[position]} .*{message}"):
        call(robot, name, arguments)


@pytest.mark.parametrize("call, message", [
    (lambda r, q: r.forward_kinematics(q, "ghost"), "'ghost'.*link 0"),
    (lambda r, q: r.forward_kinematics(q, None), "None"), (lambda r, q: r.jacobian(q, None), "None"),
    (lambda r, q: r.forward_kinematics(q, ["root"]), "root"),
    (lambda r, q: r.forward_kinematics(q, "root", "ghost"), "'ghost'"), (lambda r, q: r.jacobian(q, 3), "3"),
    (lambda r, q: r.jacobian(q, "root", "bodily"), "'bodily'.*body, spatial, hybrid, mixed"),
    (lambda r, q: r.jacobian(q, "root", None), "None"), (lambda r, q: r.jacobian(q, "root", ["body"]), "body"),
    (lambda r, q: r.jacobian_derivative(q, q, "root", 2), "2"), (lambda r, q: r.body_poses(q, "bodily"), "'bodily'"),
    (lambda r, q: r.inverse_dynamics(q, q, q, {"ghost": np.zeros(6)}), "'ghost'"),
    (lambda r, q: r.inverse_dynamics(q, q, q, {"root": np.zeros(5)}), r"wrench.*'root'.*\(5,\)"),
    (lambda r, q: r.forward_dynamics(q, q, q, {"root": ["a"] * 6}), "wrench.*'root'")])
def test_unknown_names_and_wrong_wrenches_are_refused(robot, state, call, message):
    with pytest.raises(ValueError, match=message):
        call(robot, state[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_propagates(robot, state, bad):
    state[0] = bad
    for name in set(METHODS) - {"friction_torque"}:
        assert np.isnan(call(robot, name, state)).any(), name
    for method in (robot.jacobian, robot.forward_kinematics):
        assert np.isnan(method(state[0], robot.link_names[-1])).any()


def test_a_robot_without_joints():
    builder = sd.ModelBuilder("rock", sd.inertia_matrix(2.0, [0.1, 0.2, 0.3], np.eye(3)))
    builder.add_fixed("moss", "rock")
    rock = sd.Robot(builder.build())
    shapes = {"mass_matrix": (0, 0), "coriolis_matrix": (0, 0), "kinetic_energy": (), "potential_energy": (),
              "body_poses": (0, 4, 4)}
    for name, inputs in METHODS.items():
        assert getattr(rock, name)(*[[]] * inputs).shape == shapes.get(name, (0,))
    assert rock.potential_energy([]) == pytest.approx(2.0 * 9.81 * 0.3)
    assert (rock.forward_kinematics([], "moss") == np.eye(4)).all()
    assert rock.jacobian([], "moss").shape == (6, 0)


def test_names_and_repr(robot):
    assert robot.n == N and len(robot.joint_names) == N and robot.link_names[0] == "root"
    assert f"{N} joints" in repr(robot) and robot.joint_names[0] in repr(robot)


def test_limits_are_those_of_the_joints(robot):
    limits, model = robot.limits, robot.model
    assert limits._fields == ("lower", "upper", "velocity", "effort")
    assert limits.lower is model.lower and limits.upper is model.upper
    assert limits.velocity is model.velocity_limit and limits.effort is model.effort_limit


def test_random_configurations_depend_on_the_seed_alone(robot):
    """A number or a generator, as of NumPy; within limits."""
    q = robot.random_configuration((2, 3), seed=4)
    assert q.shape == (2, 3, N) and robot.random_configuration().shape == (N,)
    np.testing.assert_array_equal(q, robot.random_configuration((2, 3), np.random.default_rng(4)))
    assert (q != robot.random_configuration((2, 3), seed=5)).all()
    assert ((robot.limits.lower <= q) & (q <= robot.limits.upper)).all()
    with pytest.raises(ValueError, match="seed 'x' must be a"):
        robot.random_configuration(seed="x")
