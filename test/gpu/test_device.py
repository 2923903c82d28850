"""What is asked of CuPy, by a stand-in for it: no GPU is needed to see which GPU, memory and library are taken."""
import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.backends.gpu.device import Cuda


class Array(np.ndarray):
    """An array on GPU 0, or on the GPU that its attribute says."""

    gpu = 0

    @property
    def data(self):
        return SimpleNamespace(device_id=self.gpu)


class Elsewhere:
    """An array of another library, on a kind of device of DLPack; dtype and shape are for messages."""

    def __init__(self, kind, error=None):
        self.kind, self.error = kind, error

    def __dlpack_device__(self):
        return self.kind, 0


class Runtime:
    """cupy.cuda.runtime: GPUs, and which is the current one."""

    CUDARuntimeError = type("CUDARuntimeError", (RuntimeError,), {})

    def __init__(self, count):
        self.count, self.here = count, 0

    def getDeviceCount(self):
        if self.count is None:
            raise self.CUDARuntimeError("no driver")
        return self.count

    def getDevice(self):
        return self.here


@pytest.fixture
def cupy(monkeypatch):
    """The stand-in: `launched` has (GPU, blocks, threads, arguments, shared memory) of each launch."""
    found = ModuleType("cupy")
    found.ndarray, found.launched = Array, []
    runtime = Runtime(2)

    def from_dlpack(x):
        if x.error:
            raise BufferError(x.error)
        return np.zeros(3).view(Array)

    @contextmanager
    def at(number):
        before, runtime.here = runtime.here, number
        yield
        runtime.here = before

    def device(number=None):
        attributes = {"MaxSharedMemoryPerBlockOptin": 227 * 1024}
        return SimpleNamespace(attributes=attributes) if number is None else at(number)

    def empty(shape, dtype):
        x = np.empty(shape, dtype).view(Array)
        x.gpu = runtime.here
        return x

    class Kernel:
        max_dynamic_shared_size_bytes = 48 * 1024

        def __call__(self, grid, block, arguments, shared_mem):
            assert shared_mem <= self.max_dynamic_shared_size_bytes
            found.launched.append((runtime.here, grid, block, arguments, shared_mem))
    found.RawModule = lambda code, options: SimpleNamespace(get_function=lambda name: Kernel())
    found.from_dlpack, found.empty = from_dlpack, empty
    found.cuda = SimpleNamespace(runtime=runtime, Device=device)
    monkeypatch.setitem(sys.modules, "cupy", found)
    return found


@pytest.mark.parametrize("count, message", [(0, "CuPy finds no GPU"), (None, "CuPy finds no GPU: no driver")])
def test_no_gpu(cupy, count, message):
    cupy.cuda.runtime.count = count
    with pytest.raises(RuntimeError, match=message):
        Cuda()


def test_arrays_of_gpus_are_taken_and_others_named(cupy):
    device, own = Cuda(), np.zeros(3).view(Array)
    assert device.array("q", own) is own
    assert all(type(device.array("q", Elsewhere(kind))) is Array for kind in (2, 13))
    for x in (Elsewhere(1), np.zeros(3), [0.0], None):
        with pytest.raises(ValueError, match="qd must be an array on the GPU"):
            device.array("qd", x)
    with pytest.raises(ValueError, match="qd cannot be read: it requires grad"):
        device.array("qd", Elsewhere(2, "it requires grad"))


def test_threads_of_a_block_have_the_shared_memory_that_there_is(cupy):
    device = Cuda()
    assert [device.threads(n) for n in (0, 384, 385, 768, 769, 1536, 1537, 7264, 7265)] == [
        128, 128, 64, 64, 32, 32, 32, 32, 0]
    for shared, threads in ((384, 128), (1537, 32)):
        launch = device.launcher("", "of_states", shared, threads)
        launch(np.zeros(3).view(Array), 1000, ["q"])
        _, grid, block, arguments, memory = cupy.launched.pop()
        assert block == (threads,) and memory == shared * threads and arguments == (1000, "q")
        assert 0 <= grid[0] * threads - 1000 < threads


def test_kernels_and_results_are_where_the_arguments_are(cupy):
    device, x = Cuda(), np.zeros(3).view(Array)
    x.gpu = 1
    device.launcher("", "of_states", 0, 128)(x, 1, [])
    assert cupy.launched[0][0] == 1 and device.empty((2,), np.dtype(float), x).gpu == 1 and device.number(x) == 1
    assert cupy.cuda.runtime.here == 0


@pytest.mark.parametrize("module, library", [("torch", "torch"), ("jaxlib.xla_extension", "jax"), ("jax", "jax")])
def test_results_are_of_the_library_of_the_argument(cupy, monkeypatch, module, library):
    theirs = ModuleType(library)
    taken = SimpleNamespace(from_dlpack=lambda x: ("taken over", x))
    theirs.from_dlpack, theirs.numpy = taken.from_dlpack, taken
    monkeypatch.setitem(sys.modules, library, theirs)
    argument = type("Tensor", (), {"__module__": module})()
    assert Cuda().returned("result", argument) == ("taken over", "result")
    assert Cuda().returned("result", np.zeros(3)) == "result"
