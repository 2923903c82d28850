"""Traps for those who come from another library: errors that name what was given and what to do instead."""
import copy
import pickle
import re
from types import SimpleNamespace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.utils.checks import hints
from support.random_trees import model_of, random_tree


@pytest.fixture(scope="module")
def robot():
    return sd.Robot(model_of(random_tree(np.random.default_rng(5), joints=3)))


Q = np.array([0.1, 0.2, 0.3])


# ------------------------------------------------------------------------------------------------- names of others
@pytest.mark.slow
@pytest.mark.parametrize("name, ours", [
    ("rnea", "robot.inverse_dynamics(q, qd, qdd)"), ("aba", "robot.forward_dynamics(q, qd, tau)"),
    ("crba", "robot.mass_matrix(q)"), ("gravload", "robot.gravity_torque(q)"),
    ("fkine", "robot.forward_kinematics(q, link)"),
    ("jacob0", 'robot.jacobian(q, link, "hybrid")'), ("jacobe", 'robot.jacobian(q, link, "body")'),
    ("JacobianSpace", 'robot.jacobian(q, link, "spatial")'),
    ("getFrameJacobian", "robot.jacobian(q, link, representation)"),
    ("nv", "robot.n"), ("qz", "robot.neutral()"), ("getFrameId", "takes a link by its name"),
    ("computeRNEADerivatives", "robot.inverse_dynamics_derivatives(q, qd, qdd)"),
    ("computeJointTorqueRegressor", "robot.torque_regressor(q, qd, qdd)"),
    ("ikine", "robot.inverse_kinematics(pose, link)"), ("com", "robot.center_of_mass(q)"),
    ("from_sdf", "does not exist yet"), ("constraintDynamics", "ClosedLoopRobot"), ("computeCollisions", "Scene"),
    ("screw_axes", "robot.model.screws_spatial"), ("from_xacro", "xacro_args"), ("bias_torque", "robot.inverse_dynam"),
    ("minverse", "np.linalg.solve"), ("lock", "lock={joint"), ("with_limits", "dataclasses.replace(robot.model, lower"),
    ("toppra", "sd.time_optimal(robot, path)"), ("LoopJoint", "sd.closed_loops.LoopJoint")])
def test_a_name_of_another_library_says_ours(robot, name, ours):
    for given in (robot, robot.specialize(), sd.Robot):
        with pytest.raises(AttributeError, match=f"^'Robot' has no attribute '{name}'; .*{re.escape(ours)}"):
            getattr(given, name)
    with pytest.raises(AttributeError, match=f"^module 'screw_dynamics' has no attribute '{name}'; "):
        getattr(sd, name)


def test_attributes_of_a_robot_are_found_from_what_has_a_robot(robot):
    loops, scene = sd.ClosedLoopRobot(robot), sd.Scene(robot, shapes={})
    for given, name, ours in ((sd, "from_urdf", "Robot.from_urdf"), (sd, "mass_matrix", "Robot.mass_matrix"),
                              (loops, "n", "loops.robot.n, of its tree"), (loops, "plot", "loops.robot.plot, of its"),
                              (scene, "jacobian", "scene.robot.jacobian"), (scene, "add_ball", "scene.add_sphere"),
                              (robot, "view", "sd.view(robot)")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; .*{re.escape(ours)}"):
            getattr(given, name)
        assert name not in dir(given) and getattr(given, name, None) is None
    assert {"jacobian", "closed"} <= set(dir(loops)) and {"linearize", "material"} <= set(dir(scene))
    assert {"Simulation", "shapes"} <= {*dir(sd)} and not {"counting", "twists", "inverse_dynamics"} & {*dir(sd)}
    assert pickle.loads(pickle.dumps(scene)).n == robot.n == pickle.loads(pickle.dumps(loops)).robot.n


def test_what_the_hints_name_exists(robot):
    for name, hint in hints.HINTS.items():
        for attribute in re.findall(r"robot\.([\w.]+)", hint):
            found = robot
            for part in attribute.split("."):
                found = getattr(found, part)
        assert "\n" not in hint and not hasattr(robot, name), name


def test_names_of_others_are_no_attributes(robot):
    assert not hasattr(robot, "rnea") and not hasattr(sd.Robot, "rnea") and getattr(robot, "rnea", None) is None
    assert not set(hints.HINTS) & {*dir(robot), *dir(sd.Robot), *vars(robot)}
    assert {"inverse_dynamics", "joint_names", "gravity", "__repr__"} <= set(dir(robot))
    with pytest.raises(AttributeError, match="^'Robot' object has no attribute 'gohst'$"):
        _ = robot.gohst


def test_a_method_that_robot_has_itself_is_not_hidden():
    class Arm(sd.Robot):
        def rnea(self):
            return "mine"

    class Hand(Arm):
        pass
    for kind in (Arm, Hand):
        assert kind.rnea(None) == "mine" and "rnea" in dir(kind) and "aba" not in dir(kind) and not hasattr(kind, "aba")
    assert not set(hints.HINTS) & {name for name, value in vars(sd.Robot).items() if callable(value)}


# ------------------------------------------------------------------------------------------------- immutability
@pytest.mark.slow
@pytest.mark.parametrize("name, instead", [
    ("gravity", r"robot.with_gravity\(gravity\) returns another Robot"),
    ("model", r"Robot\(model, robot.gravity\) is another"),
    ("representation", r"Robot\(robot.model, robot.gravity, representation\) is another"),
    ("n", "with_gravity, with_payload, with_armature, with_drives, with_forces, with_root_inertia and specialize "
          "return another Robot"),
    ("payload", "with_payload"), ("_memory", "")])
def test_attributes_of_a_robot_cannot_be_set(robot, name, instead):
    message = f"^a Robot is immutable, and its '{name}' cannot be changed: .*{instead}"
    for given in (robot, robot.specialize(), robot.with_gravity((0, 0, 1)), pickle.loads(pickle.dumps(robot))):
        for change in (lambda given=given: setattr(given, name, 1), lambda given=given: delattr(given, name)):
            with pytest.raises(AttributeError, match=message):
                change()


def test_no_attribute_of_a_robot_or_a_model_can_be_set(robot):
    for given in (robot, robot.model):
        for name, value in dict(vars(given)).items():
            with pytest.raises(AttributeError, match="immutable"):
                setattr(given, name, value)
            if isinstance(value, np.ndarray) and not name.startswith("_"):
                assert not value.flags.writeable, name


@pytest.mark.parametrize("change", [lambda m: setattr(m, "damping", 1), lambda m: delattr(m, "damping")])
def test_attributes_of_a_model_cannot_be_set(robot, change):
    with pytest.raises(AttributeError, match=r"immutable.*'damping'.*dataclasses.replace\(model, damping=...\)"):
        change(robot.model)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_work(robot, duplicate):
    twin = duplicate(robot.with_gravity((1.0, 2.0, 3.0)))
    assert (twin.mass_matrix(Q) == robot.mass_matrix(Q)).all() and twin.gravity.tolist() == [1.0, 2.0, 3.0]
    assert (duplicate(robot.model).inertias == robot.model.inertias).all()


# ------------------------------------------------------------------------------------------------- arguments
class Builder:
    """Not ours."""


@pytest.mark.parametrize("given, message", [
    ("arm.urdf", r"not the path 'arm.urdf'; use Robot.from_urdf\('arm.urdf'\)"), (b"arm.urdf", "'arm.urdf'"),
    ("\n<robot name='arm'/>", r"not XML text; use Robot.from_urdf\(text\)"), (None, "not the NoneType None"),
    (sd.ModelBuilder("root"), r"not the ModelBuilder .*; call its build\(\)$"), (Builder(), "not the Builder <")])
def test_a_robot_is_made_of_a_model(given, message):
    with pytest.raises(TypeError, match=rf"^Robot\(model\) takes a Model, .*{message}"):
        sd.Robot(given)


def test_a_robot_is_not_made_of_a_robot_or_a_path(robot, tmp_path):
    with pytest.raises(TypeError, match="; pass its model$"):
        sd.Robot(robot)
    with pytest.raises(TypeError, match=re.escape(f"use Robot.from_urdf({str(tmp_path / 'arm.urdf')!r})")):
        sd.Robot(tmp_path / "arm.urdf")


@pytest.mark.parametrize("external", [[0.0] * 6, np.zeros(6), [("link 0", np.zeros(6))], [], 1.0])
def test_external_wrenches_are_a_mapping(robot, external):
    message = rf"^external must map links to wrenches \(6,\).*{{'{robot.link_names[-1]}': \["
    for method in (robot.inverse_dynamics, robot.forward_dynamics):
        with pytest.raises(ValueError, match=message):
            method(Q, Q, Q, external)
    with pytest.raises(ValueError, match="^external must map"):
        robot.external_torque(Q, external)


@pytest.mark.slow
@pytest.mark.parametrize("jacobians", [["link 0"], "link 0", ("link 0", "body"), [("link 0",)], ["ab"],
                                       [("link 0", "body"), "link 0"], 3, [("link 0", "body", None, 1)]])
def test_jacobians_to_specialize_are_pairs(robot, jacobians):
    message = r"^jacobians must be \(link, representation\) pairs, as \[\('link \d', 'body'\)\], .*not"
    with pytest.raises(ValueError, match=message):
        robot.specialize(jacobians)


LOCAL_WORLD_ALIGNED = "what others call LOCAL_WORLD_ALIGNED is \"hybrid\" here, and angular rows come first"


@pytest.mark.slow
@pytest.mark.parametrize("given, message", [
    ("LOCAL_WORLD_ALIGNED", LOCAL_WORLD_ALIGNED), (SimpleNamespace, "must be one of body, spatial, hybrid, mixed$"),
    ("LOCAL", '"body" here, and'), ("WORLD", '"spatial" here, and'), ("Body", 'mixed; did you mean "body"\\?$'),
    ("world-aligned", '"hybrid"'), ("Representations.MIXED_REPRESENTATION", 'MIXED_REPRESENTATION is "hybrid"'),
    ("euler", "must be one of body, spatial, hybrid, mixed$"), (Q, r"float64 of shape \(3,\) must be one of")])
def test_representations_of_others_say_ours(robot, given, message):
    for call in (lambda: robot.jacobian(Q, "root", given), lambda: robot.jacobian_derivative(Q, Q, "root", given),
                 lambda: robot.body_twists(Q, Q, given), lambda: robot.body_jacobians(Q, given),
                 lambda: sd.Robot(robot.model, representation=given), lambda: robot.specialize([("root", given)])):
        with pytest.raises(ValueError, match=f"^representation .*{message}"):
            call()


def test_pinocchio_s_reference_frames_say_ours(robot):
    frames = pytest.importorskip("pinocchio").ReferenceFrame
    for frame, ours in ((frames.LOCAL_WORLD_ALIGNED, "hybrid"), (frames.LOCAL, "body"), (frames.WORLD, "spatial")):
        with pytest.raises(ValueError, match=f'what others call {frame} is "{ours}" here'):
            robot.jacobian(Q, "root", frame)


def test_integrators_of_others_say_ours(robot):
    for given, ours in (("mjINT_RK4", "rk4"), ("dopri5", "rk45"), ("euler", "semi_implicit_euler")):
        with pytest.raises(ValueError, match=f'what others call {given} is "{ours}" here$'):
            robot.rollout(Q, Q, integrator=given)
    with pytest.raises(ValueError, match='one of .*, rk45, .*; did you mean "rk45"\\?$'):
        robot.rollout(Q, Q, integrator="RK45")


def test_arguments_in_the_wrong_order(robot):
    with pytest.raises(ValueError, match=r"^link float64 of shape \(3,\) does not exist"):
        robot.jacobian("root", Q)
    with pytest.raises(ValueError, match=r"^link \['root', 'link 0'\] must be one name"):
        robot.forward_kinematics(Q, ["root", "link 0"])


def test_a_long_argument_is_cut(robot):
    with pytest.raises(ValueError, match=r"^q must be made of real numbers, not \[None, .*\.\.\.$") as raised:
        robot.gravity_torque([None] * 10_000)
    assert len(str(raised.value)) < 400


# ------------------------------------------------------------------------------------------------- arrays of others
class Tensor:
    """Converts itself as a torch tensor does: with gradients a RuntimeError, on another device a TypeError."""

    __module__ = "torch"

    def __init__(self, x, dtype="torch.float32", device="cpu", requires_grad=False):
        self.x, self.dtype, self.device, self.requires_grad = np.array(x, np.float32), dtype, device, requires_grad

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy.")
        return self.x if dtype is None else self.x.astype(dtype)


class DynamicJaxprTracer:
    """Converts itself as a tracer of JAX does: TracerArrayConversionError, a TypeError."""

    __module__ = "jax._src.interpreters.partial_eval"

    def __array__(self, dtype=None, copy=None):
        raise TypeError("The numpy.ndarray conversion method __array__() was called on traced array")


DETACH = re.escape("pass tensor.detach().cpu().numpy()")
TRACER = r"a JAX tracer \(DynamicJaxprTracer\): .*screw_dynamics.backends.jax.JaxRobot\(robot\).* outside of them$"


def test_a_tensor_of_the_cpu_without_gradients_simply_works(robot):
    found = robot.gravity_torque(Tensor(Q))
    assert isinstance(found, np.ndarray) and (found == robot.gravity_torque(Q.astype(np.float32))).all()


@pytest.mark.parametrize("given, message", [
    (Tensor(Q, requires_grad=True), f"a torch tensor of torch.float32 on cpu that requires grad: {DETACH}"),
    (Tensor(Q, device="cuda:0"), f"a torch tensor of torch.float32 on cuda:0: {DETACH}"),
    (Tensor(Q, "torch.bfloat16", "cuda:0"), r"a torch tensor.*\.cpu\(\)\.float\(\)\.numpy\(\);"),
    ([Tensor(0.1, requires_grad=True), 0.2, 0.3], f"a torch tensor.*{DETACH}"), (DynamicJaxprTracer(), TRACER),
    ([0.1, DynamicJaxprTracer(), 0.3], TRACER)])
def test_what_cannot_be_converted_says_what_to_do(robot, given, message):
    for call, name in ((lambda: robot.gravity_torque(given), "q"), (lambda: robot.rollout(Q, given, steps=1), "qd0"),
                       (lambda: robot.inverse_dynamics(Q, Q, given), "qdd"),
                       (lambda: robot.with_gravity(given), "gravity"),
                       (lambda: robot.external_torque(Q, {"root": given}), "the wrench on link 'root'"),
                       (lambda: sd.so3.exp(given), "xi")):
        with pytest.raises(ValueError, match=f"^{name} must be made of real numbers, not {message}"):
            call()
    with pytest.raises(ValueError, match=f"^payload: com .* must be made of real numbers, not {message}"):
        robot.with_payload("root", 1.0, given)


def test_tensors_of_torch(robot):
    torch = pytest.importorskip("torch")
    q = torch.tensor(Q)
    assert (robot.gravity_torque(q) == robot.gravity_torque(Q)).all()
    with pytest.raises(ValueError, match=f"on cpu that requires grad: {DETACH}"):
        robot.gravity_torque(q.requires_grad_())
    with pytest.raises(ValueError, match=re.escape(".float().numpy()")):
        robot.gravity_torque(torch.tensor(Q, dtype=torch.bfloat16))


def test_arrays_and_tracers_of_jax(robot):
    jax = pytest.importorskip("jax")
    q = jax.numpy.array(Q)
    assert (robot.gravity_torque(q) == robot.gravity_torque(Q.astype(np.float32))).all()
    assert np.isfinite(robot.gravity_torque(q.astype(jax.numpy.bfloat16))).all()
    exp = jax.jit(lambda q: sd.so3.exp([*q]))
    for traced in (jax.jit(robot.gravity_torque), jax.grad(robot.potential_energy), exp):
        with pytest.raises(ValueError, match="not a JAX tracer.*JaxRobot"):
            traced(q)


@pytest.mark.parametrize("library, symbols, says", [
    ("sympy", lambda sympy: (sympy.symbols("a b c"), np.array(sympy.symbols("a b c"))),
     "SymPy: screw_dynamics.papers.symbolic has"),
    ("casadi", lambda casadi: (casadi.MX.sym("q", 3), casadi.SX.sym("q", 3)),
     "CasADi: screw_dynamics.backends.casadi.CasadiRobot")], ids=["SymPy", "CasADi"])
def test_symbols_say_where_their_robots_are(robot, library, symbols, says):
    for given in symbols(pytest.importorskip(library)):
        with pytest.raises(ValueError, match=f"not a symbol of {says}"):
            robot.gravity_torque(given)


def test_errors_name_the_class_that_is_called(robot):
    """And not the base that has the method: a word that a user has never seen."""
    with pytest.raises(TypeError, match=r"^Robot\.inverse_dynamics\(\) missing 1 required positional argument: 'qdd'"):
        robot.inverse_dynamics(robot.neutral(), robot.neutral())
    with pytest.raises(TypeError, match=r"^Robot\.step\(\) got an unexpected keyword argument 'tau'"):
        robot.step(robot.neutral(), robot.neutral(), tau=robot.neutral(), dt=1e-3)
    assert pickle.loads(pickle.dumps(sd.Robot.step)) is sd.Robot.step
    assert pickle.loads(pickle.dumps(robot.mass_matrix))(robot.neutral()).shape == (robot.n, robot.n)
