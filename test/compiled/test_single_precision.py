"""Single precision: results in arrays of float32, by lanes of twice as many places, within a bound of float64's."""
import numpy as np
import pytest
from numba import njit

import screw_dynamics as sd
from screw_dynamics.jit.numba_internals.compiler import FLAGS, start
from screw_dynamics.numbers.lanes import WIDTH, splat_single
from screw_dynamics.numbers.scalars import sincos
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import PLAIN
from support.batches import PENDULUM, method, states
from support.real_robots import real_robot

start()         # functions of these tests are njit's

BOUND = 2.0**-20        # of the greatest number of a batch, docs/benchmarks.md; of accelerations, times the condition
PANDA = "panda_description/urdf/panda.urdf"
REAL = {"panda": (PANDA, "panda_link8"), "ur5": ("ur_description/urdf/ur5_robot.urdf", None),
        "talos": ("talos_data/robots/talos_reduced.urdf", None)}
EACH_REAL = pytest.mark.parametrize("robot", [
    pytest.param(name, marks=pytest.mark.slow) for name in REAL])


def single(x):
    """Numbers as float32 has them, in float64."""
    return np.asarray(x, dtype=np.float32).astype(float)


def in_single(f, arrays, **options):
    """Results of float32, in its precision."""
    expected = f(*arrays)
    out = np.full(expected.shape, np.nan, np.float32)
    assert f(*arrays, out=out, **options) is out
    return out


@pytest.mark.slow
@pytest.mark.parametrize("lead", [(), (1,), (2 * WIDTH - 1,), (2 * WIDTH,), (4 * WIDTH + 1,), (3, 7), (0,)])
@pytest.mark.parametrize("layout", ["float32", "float64", "backwards", "Fortran", "lists"])
def test_results_are_those_of_double_precision_to_a_millionth(rng, lead, layout):
    """Whatever the layout of states and results."""
    q = single(rng.normal(size=(*lead, 2)))
    x = {"float32": q.astype(np.float32), "float64": q, "Fortran": np.asfortranarray(q), "lists": q.tolist() if q.size
         else q, "backwards": q[..., ::-1].copy()[..., ::-1]}[layout]
    expected, wide = PENDULUM.gravity_torque(q), np.zeros((*lead, 4), np.float32)
    for out in (np.full(q.shape, np.nan, np.float32), wide[..., ::2]):
        assert PENDULUM.gravity_torque(x, out=out) is out
        assert np.abs(out - expected).max(initial=0.0) <= BOUND * np.abs(expected).max(initial=0.0)
    assert not wide[..., 1::2].any()


@pytest.mark.slow
def test_threads_do_not_change_a_bit(rng):
    q = rng.normal(size=(20_000, 2)).astype(np.float32)
    one, two = (PENDULUM.gravity_torque(q, out=np.empty_like(q), threads=threads) for threads in (1, 2))
    assert (one == two).all()
    assert (one == PENDULUM.gravity_torque(q[::-1], out=np.empty_like(q))[::-1]).all()      # the longer way
    assert (PENDULUM.gravity_torque(q, out=q) == one).all()                     # in place of the inputs


def test_results_of_other_shapes_and_kinds_are_refused(rng):
    q = rng.normal(size=(9, 2)).astype(np.float32)
    for out in (np.empty((9, 3), np.float32), np.empty((8, 2), np.float32)):
        with pytest.raises(ValueError, match=r"out must be a writable float64 or float32 array of shape \(9, 2\)"):
            PENDULUM.gravity_torque(q, out=out)
    assert PENDULUM.gravity_torque(q).dtype == float                            # float32 is asked for by results alone


@njit(**FLAGS)
def sines_and_cosines(memory):
    lanes = block(splat_single(0.0), (2,), memory, 0)
    lanes[0], lanes[1] = sincos(lanes[0])


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="lanes exist in compiled code only")
@pytest.mark.parametrize("reach", [1e-3, 1.0, 100.0, 8000.0, 1e6])
def test_sines_and_cosines_of_single_precision(rng, reach):
    memory = np.zeros(2 * WIDTH)
    x, found = memory[:WIDTH].view(np.float32), memory.view(np.float32).reshape(2, -1)
    for _ in range(500):
        x[:] = rng.uniform(-reach, reach, len(x))
        exact = x.astype(float)
        sines_and_cosines(memory)
        assert np.abs(found - [np.sin(exact), np.cos(exact)]).max() < 1.2e-7


@EACH_REAL
@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "jacobian, body", "forward_dynamics"])
def test_real_robots_are_within_the_bound(rng, robot, name):
    path, tip = REAL[robot]
    robot = real_robot(path, tip_link=tip) if tip else real_robot(path)
    f, inputs = method(robot, name)
    arrays = single(rng.uniform(-1.5, 1.5, (inputs, 2000, robot.n)))
    expected, found = f(*arrays), in_single(f, arrays)
    bound = BOUND * np.abs(expected).max()
    if name == "forward_dynamics":
        bound *= np.linalg.cond(robot.mass_matrix(arrays[0])).max()
    assert np.abs(found - expected).max() < bound


@pytest.mark.slow
def test_kernels_of_one_robot_are_there_in_single_precision_too(rng):
    robot = sd.Robot(PENDULUM.model)
    assert in_single(robot.gravity_torque, states(rng, robot, 1, 5)).dtype == np.float32
