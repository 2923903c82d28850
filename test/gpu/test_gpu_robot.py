"""Kernels for GPUs: on one where there is one, and compiled for the host everywhere."""
import importlib.util
import inspect
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.backends.gpu import GpuRobot
from screw_dynamics.backends.gpu.device import Cuda
from support import planar_arm
from support.floating_robots import hopper
from support.host_cuda import HostCuda
from support.real_robots import real_robot

pytestmark = pytest.mark.slow          # of Robot's methods, with which these are compared
TOLERANCE = {"float64": 1e-12, "float32": 2e-4}
PANDA, BOLT = "panda_description/urdf/panda.urdf", "bolt_description/robots/bolt.urdf"
ARM = sd.Robot.from_urdf(planar_arm.urdf())
ROBOTS = {"arm": (ARM, "flange", "upper_arm"),
          "hopper": (sd.Robot.from_urdf(hopper(), floating_base=True), "shin", "imu")}
LONG = {"Panda, a finger mimics": (real_robot(PANDA), "panda_hand", "panda_link2"),
        "Bolt, floating": (real_robot(BOLT, floating_base=True), "FL_FOOT", "FR_UPPER_LEG")}


def found_gpu():
    """Cuda, or a skip that says why there is none."""
    try:
        return Cuda()
    except (ImportError, RuntimeError) as error:
        pytest.skip(str(error))


@pytest.fixture(params=["host", "gpu"])
def place(request):
    """Where kernels run: device, and how arrays get there and back."""
    if request.param == "host":
        return SimpleNamespace(device=HostCuda(), there=np.array, back=np.array)
    device = found_gpu()
    import cupy
    return SimpleNamespace(device=device, there=cupy.asarray, back=cupy.asnumpy)


@pytest.fixture(params=ROBOTS)
def name(request):
    return request.param


def compared(place, robot, link, other, dtype, rng):
    """{(method, number of the result): error} of those that are not what Robot answers."""
    gpu, numbers = GpuRobot(robot, place.device), states(robot, rng, 2, 3, dtype=dtype)
    wrong = {}
    here = arguments(link, other, *(x.astype(float) for x in numbers))
    for method, given in arguments(link, other, *map(place.there, numbers)).items():
        found, wanted = (several(getattr(of, method)(*x)) for of, x in ((gpu, given), (robot, here[method])))
        for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
            a = place.back(a) if k or method != "rollout" else a
            assert a.dtype == (float if method == "rollout" and not k else dtype) and a.shape == b.shape
            if not np.abs(a - b).max() <= TOLERANCE[dtype] * max(np.abs(b).max(), 1.0):
                wrong[method, k] = float(np.abs(a - b).max())
    return wrong


def states(robot, rng, *shape, dtype=float):
    """q, qd and what else there is one of for each velocity."""
    q = robot.random_configuration(shape, rng)
    return [x.astype(dtype) for x in (q, *rng.uniform(-1.0, 1.0, (2, *shape, robot.n)))]


def arguments(link, other, q, qd, x):
    """{method: the arguments of a call}."""
    return {"inverse_dynamics": (q, qd, x), "gravity_torque": (q,), "coriolis_torque": (q, qd),
            "forward_dynamics": (q, qd, x), "mass_matrix": (q,), "coriolis_matrix": (q, qd),
            "forward_kinematics": (q, link, other), "jacobian": (q, link, "mixed", other),
            "jacobian_derivative": (q, qd, link, "hybrid"), "inverse_dynamics_derivatives": (q, qd, x),
            "forward_dynamics_derivatives": (q, qd, x), "torque_regressor": (q, qd, x), "drive_torque": (q, qd),
            "step": (q, qd, x, 1e-3), "rollout": (q, qd, x, 1e-3, 6)}


def several(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_methods_answer_as_those_of_robot(place, name, dtype, rng):
    assert not compared(place, *ROBOTS[name], dtype, rng)


@pytest.mark.slow
@pytest.mark.parametrize("of, dtype", [*((of, "float64") for of in LONG), ("Panda, a finger mimics", "float32")])
def test_methods_of_real_robots(place, of, dtype, rng):
    assert not compared(place, *LONG[of], dtype, rng)


def test_what_robot_has_under_other_names(place, rng):
    robot = ARM
    gpu, (q, qd, _) = GpuRobot(robot, place.device), states(robot, rng, 4)
    bias = place.back(gpu.bias_torque(*map(place.there, (q, qd))))
    np.testing.assert_allclose(bias, robot.inverse_dynamics(q, qd, np.zeros(robot.n)), atol=1e-12)
    inverse = place.back(gpu.mass_matrix_inverse(place.there(q)))
    np.testing.assert_allclose(inverse @ robot.mass_matrix(q), np.broadcast_to(np.eye(robot.n), inverse.shape),
                               atol=1e-10)


def test_every_method_is_compared(rng):
    public = {name for name, x in inspect.getmembers(GpuRobot, inspect.isfunction) if not name.startswith("_")}
    assert public == {*arguments("", "", *states(ARM, rng)), "bias_torque", "mass_matrix_inverse"}


@pytest.mark.parametrize("strided", [
    lambda x: x[::-1], lambda x: x[:, ::2], lambda x: x.swapaxes(0, 1), lambda x: x[:1], lambda x: x[0, 0],
    lambda x: x[:, :1], lambda x: x.T.copy().T], ids=["backwards", "every second", "swapped", "one row", "one state",
                                                      "one column", "coordinate after coordinate"])
def test_batches_in_any_strides_that_broadcast(place, strided, rng):
    robot = ARM
    gpu, (q, qd, qdd) = GpuRobot(robot, place.device), states(robot, rng, 4, 4)
    qd, there = strided(qd), strided(place.there(qd))
    if qd.ndim == 3:
        q, qdd = q[:qd.shape[0] if qd.shape[0] > 1 else None], qdd[0, 0]
        q = q[:, :qd.shape[1] if qd.shape[1] > 1 else None]
    found = place.back(gpu.inverse_dynamics(place.there(q), there, place.there(qdd)))
    np.testing.assert_allclose(found, robot.inverse_dynamics(q, qd, qdd), rtol=0, atol=1e-11)


@pytest.mark.parametrize("first", [0, 1])
def test_views_whose_numbers_lie_between_others_are_refused(place, first):
    """Pairs of single precision, taken as numbers of double precision: a GPU cannot read, nor copy, these."""
    row = np.zeros((4, 5 + first), np.float32)
    there = place.there(row)[:, first:first + 4].view(float)
    with pytest.raises(ValueError, match=r"q must be aligned .* has the strides \(2[04], 8\)"):
        GpuRobot(ARM, place.device).gravity_torque(there)


def test_external_wrenches(place, name, rng):
    robot, link, other = ROBOTS[name]
    gpu, numbers = GpuRobot(robot, place.device), states(robot, rng, 3)
    external = {link: rng.uniform(-9.0, 9.0, (3, 6)), other: rng.uniform(-9.0, 9.0, 6)}
    there = {on: place.there(x) for on, x in external.items()}
    for method in "inverse_dynamics", "forward_dynamics":
        found = place.back(getattr(gpu, method)(*map(place.there, numbers), there))
        wanted = getattr(robot, method)(*numbers, external)
        assert np.abs(found - wanted).max() < 1e-11 * np.abs(wanted).max()
    q, qd, tau = numbers
    after = place.back(gpu.step(*map(place.there, numbers), 1e-3, there)[1])
    np.testing.assert_allclose(after, qd + 1e-3 * robot.forward_dynamics(q, qd, tau, external), atol=1e-11)


def test_external_wrenches_on_what_does_not_move_do_nothing(place, rng):
    """But their leading axes are those of the results, as Robot's."""
    numbers, root = states(ARM, rng), ARM.model.root
    gpu, there = GpuRobot(ARM, place.device), list(map(place.there, numbers))
    external = {root: rng.uniform(-9.0, 9.0, (3, 6)), "flange": rng.uniform(-9.0, 9.0, 6)}
    for links in ([root, "flange"], [root], ["flange"]):
        given = {link: external[link] for link in links}
        on_gpu = {link: place.there(W) for link, W in given.items()}
        for method in "inverse_dynamics", "forward_dynamics":
            wanted = getattr(ARM, method)(*numbers, given)
            found = place.back(getattr(gpu, method)(*there, on_gpu))
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
    with pytest.raises(ValueError, match=f"external_{root} has shape"):
        gpu.inverse_dynamics(*there, {root: there[0]})


@pytest.mark.parametrize("shape", [(2, 8, -1), (1, 8, -1), (8, -1), (2, 1, -1), (-1,), None], ids=str)
def test_rollouts_under_efforts(place, name, shape, rng):
    robot, *_ = ROBOTS[name]
    gpu, (q, qd, _) = GpuRobot(robot, place.device), states(robot, rng, 2)
    effort = None if shape is None else rng.uniform(-5.0, 5.0, [robot.n if k < 0 else k for k in shape])
    there = None if effort is None else place.there(effort)
    found = gpu.rollout(place.there(q), place.there(qd), there, 1e-3, 8, every=4)
    wanted = robot.rollout(q, qd, effort, 1e-3, 8, every=4, limits=False)
    for a, b in zip((found[0], *map(place.back, found[1:])), wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_no_states(place):
    robot = ARM
    gpu, none = GpuRobot(robot, place.device), place.there(np.zeros((3, 0, robot.n)))
    assert gpu.mass_matrix(none).shape == (3, 0, robot.n, robot.n)
    assert gpu.rollout(none, none, steps=4)[1].shape == (3, 0, 5, robot.n)


def test_results_for_which_a_block_has_no_room(rng):
    gpu, (q, qd, qdd) = GpuRobot(ARM, HostCuda(shared=8)), states(ARM, rng, 5)
    np.testing.assert_allclose(gpu.inverse_dynamics(q, qd, qdd), ARM.inverse_dynamics(q, qd, qdd), atol=1e-12)
    for found, wanted in zip(gpu.inverse_dynamics_derivatives(q, qd, qdd),
                             ARM.inverse_dynamics_derivatives(q, qd, qdd), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_kernels_are_compiled_once(place, rng):
    robot = ARM
    q, qd, tau = map(place.there, states(robot, rng))
    gpu = GpuRobot(robot, place.device)
    launchers = []
    launcher = place.device.launcher
    place.device.launcher = lambda *given: launchers.append(given) or launcher(*given)
    for _ in range(2):
        gpu.jacobian(q, "flange")
        gpu.jacobian(q, "flange", "hybrid")
        gpu.step(q, qd, tau, 1e-3)
        gpu.rollout(q, qd, tau, steps=2)
    assert [name for _, name, *_ in launchers] == ["of_states"] * 3 + ["rollout"]
    for text, name, shared, _ in launchers:     # results go by the memory of a block, but for those of each step
        assert ("__shared__" in text) == (shared > 0) == (name == "of_states")


@pytest.mark.parametrize("call, message", [
    (lambda gpu, q: gpu.gravity_torque([0.0] * 2), r"q must be an array on the GPU"),
    (lambda gpu, q: gpu.gravity_torque(q[:1]), r"q has shape \(1,\), but must end in 2"),
    (lambda gpu, q: gpu.gravity_torque(q[:1].reshape(())), r"q has shape \(\), but must end in 2"),
    (lambda gpu, q: gpu.gravity_torque(q.astype(int)), "q must be float64 or float32, not int64"),
    (lambda gpu, q: gpu.gravity_torque(q.astype(complex)), "q must be float64 or float32, not complex128"),
    (lambda gpu, q: gpu.coriolis_torque(q, q.astype("float32")),
     "qd is float32, and q float64: all must have the same precision"),
    (lambda gpu, q: gpu.coriolis_torque(gpu.mass_matrix(q), gpu.jacobian(q, "flange")),
     r"the leading axes do not broadcast: q \(2, 2\), qd \(6, 2\)"),
    (lambda gpu, q: gpu.jacobian(q, "hand"), "hand"),
    (lambda gpu, q: gpu.jacobian(q, ["flange"]), "flange"),
    (lambda gpu, q: gpu.jacobian(q, "flange", "inertial"), "representation"),
    (lambda gpu, q: gpu.jacobian_derivative(q, q, "flange", None), "representation None must be one of"),
    (lambda gpu, q: gpu.step(q, q, q, 0.0), "dt"),
    (lambda gpu, q: gpu.step(q, q, q, np.nan), "dt"),
    (lambda gpu, q: gpu.step(*[q.astype("float32")] * 3, 1e-50), "dt"),
    (lambda gpu, q: gpu.rollout(*[q.astype("float32")] * 2, dt=1e50), "dt"),
    (lambda gpu, q: gpu.inverse_dynamics(q, q, q, [1.0]), "external must map links to wrenches"),
    (lambda gpu, q: gpu.inverse_dynamics(q, q, q, {"hand": gpu.jacobian(q, "flange").reshape(2, 6)}), "hand"),
    (lambda gpu, q: gpu.inverse_dynamics(q, q, q, {"flange": q}), "external_flange has shape"),
    (lambda gpu, q: gpu.rollout(q, q, q[:1]), r"effort has shape \(1,\), but must end in 2"),
    (lambda gpu, q: gpu.rollout(q, q, steps=5, every=2), "steps 5 must be a multiple of every = 2"),
    (lambda gpu, q: gpu.rollout(q, q, steps=-1), "steps"),
    (lambda gpu, q: gpu.rollout(q, q, gpu.mass_matrix(q), steps=5),
     r"effort has shape \(2, 2\), but must have \(2,\) or \(5, 2\)"),
    (lambda gpu, q: gpu.rollout(gpu.mass_matrix(q), gpu.mass_matrix(q), gpu.mass_matrix(q), steps=2), "as many states"),
], ids=count())
def test_what_does_not_fit_is_named(place, call, message):
    gpu = GpuRobot(ARM, place.device)
    with pytest.raises(ValueError, match=message):
        call(gpu, place.there(np.zeros(2)))


def test_mechanisms_and_scenes_are_refused(place):
    mechanism = sd.closed_loops.ClosedLoopRobot(ARM, ())
    for other in (mechanism, sd.Scene(ARM, ground=True), ARM.model):
        with pytest.raises(TypeError, match=f"on_gpu takes a Robot, not the {type(other).__name__}"):
            GpuRobot(other, place.device)


def test_a_function_that_is_too_long_is_named(place, monkeypatch):
    monkeypatch.setattr("screw_dynamics.c_code.export.LONGEST", 10)
    with pytest.raises(ValueError, match="gravity_torque takes more than 10 operations"):
        GpuRobot(ARM, place.device).gravity_torque(place.there(np.zeros(2)))


def test_arrays_on_two_gpus_are_refused():
    device = HostCuda()
    first, second = np.zeros(2), np.zeros(2)
    device.number = lambda x: int(x is second)
    with pytest.raises(ValueError, match="qd is on GPU 1, and q on GPU 0: all must be on the same"):
        GpuRobot(ARM, device).coriolis_torque(first, second)


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_without_cupy_it_is_said_what_to_install():
    with pytest.raises(ImportError, match=r"pip install 'screw_dynamics\[cuda13\]'"):
        sd.on_gpu(ARM)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_other_libraries_come_back_as_such(library, rng):
    found_gpu()
    robot = ARM
    q, qd, qdd = states(robot, rng, 5, dtype="float32")
    if library == "torch":
        torch = pytest.importorskip("torch")
        kind, there = torch.Tensor, [torch.from_numpy(x).cuda() for x in (q, qd, qdd)]
        with pytest.raises(ValueError, match="q cannot be read: .*gradient"):
            sd.on_gpu(robot).gravity_torque(there[0].clone().requires_grad_())
        with pytest.raises(ValueError, match="q must be an array on the GPU"):
            sd.on_gpu(robot).gravity_torque(there[0].cpu())
    else:
        jax = pytest.importorskip("jax")
        kind, there = jax.Array, [jax.numpy.asarray(x) for x in (q, qd, qdd)]
    found = sd.on_gpu(robot).inverse_dynamics(*there)
    assert isinstance(found, kind) and str(found.device).startswith("cuda")
    found = found.cpu().numpy() if library == "torch" else np.asarray(found)
    wanted = robot.inverse_dynamics(*(x.astype(float) for x in (q, qd, qdd)))
    assert np.abs(found - wanted).max() < 2e-4 * np.abs(wanted).max()


def test_work_of_other_streams_is_waited_for(rng):
    found_gpu()
    torch = pytest.importorskip("torch")
    robot = ARM
    gpu, (q, *_) = sd.on_gpu(robot), states(robot, rng, 1000)
    gpu.gravity_torque(torch.from_numpy(q).cuda())                      # compiled
    with torch.cuda.stream(torch.cuda.Stream()):
        long = torch.ones((8192, 8192), device="cuda")
        for _ in range(20):
            long = long @ long * 1e-4
        late = torch.from_numpy(q).cuda() + 0.0 * long[0, 0].nan_to_num(0.0, 0.0, 0.0)
        found = gpu.gravity_torque(late) + 0.0
    torch.cuda.synchronize()
    np.testing.assert_allclose(found.cpu().numpy(), robot.gravity_torque(q), atol=1e-11)
