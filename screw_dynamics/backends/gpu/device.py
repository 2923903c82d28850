"""A GPU accessed with CuPy: arrays and compiled kernels."""
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from screw_dynamics.utils import checks

THREADS, WARP = 128, 32         # threads of a block, one state each: default and smallest number
SHARED = 48 * 1024              # bytes of shared memory of a block without opt-in
CUDA, CUDA_MANAGED = 2, 13      # device types of DLPack
Launch = Callable[[Any, int, Sequence[Any]], None]
NEEDS = "on_gpu takes CuPy and an NVIDIA GPU: pip install 'screw_dynamics[cuda13]', or [cuda12] for drivers of CUDA 12"
# DLPack imports of other libraries: without a copy, and ordered between both streams.
_IMPORTS: dict[str, Callable[[Any, Any], Any]] = {
    "torch": lambda torch, x: torch.from_dlpack(x),
    "jax": lambda jax, x: jax.numpy.from_dlpack(x),
}


class Cuda:
    """The CUDA GPUs of this machine.

    Raises RuntimeError if there is none, and ImportError if CuPy is not installed."""

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise ImportError(f"{NEEDS} ({error})") from None
        self._cupy = cupy
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RuntimeError(f"CuPy finds no GPU: {error}") from None
        if not count:
            raise RuntimeError("CuPy finds no GPU")

    def array(self, name: str, x: Any) -> Any:
        """Return a CuPy array on the memory of x, a GPU array of CuPy, PyTorch, JAX or another library with DLPack.

        Raises ValueError with the name of the argument for other arrays."""
        if isinstance(x, self._cupy.ndarray):
            return x
        kind = getattr(x, "__dlpack_device__", lambda: (None,))()[0]
        if kind not in (CUDA, CUDA_MANAGED):
            raise ValueError(f"{name} must be an array on the GPU, of CuPy, PyTorch, JAX or with DLPack, as "
                             f"cupy.asarray({name}) makes it, not {checks.described(x)}")
        try:
            return self._cupy.from_dlpack(x)
        except BufferError as error:            # a PyTorch tensor that requires gradients
            raise ValueError(f"{name} cannot be read: {error}") from None

    def number(self, x: Any) -> int:
        """Return the index of an array's GPU."""
        return x.data.device_id

    def address(self, x: Any) -> int:
        """Return the address of the first byte of an array."""
        return x.data.ptr

    def empty(self, shape: tuple[int, ...], dtype: np.dtype, like: Any) -> Any:
        """Return an uninitialized array on the GPU of `like`."""
        with self._at(like):
            return self._cupy.empty(shape, dtype)

    def broadcast_to(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Return a broadcast view of an array."""
        return self._cupy.broadcast_to(x, shape)

    def threads(self, shared: int) -> int:
        """Return the number of threads of a block that each need `shared` bytes of shared memory; 0 if too many."""
        for threads in (THREADS, THREADS // 2, WARP):
            if threads * shared <= SHARED:
                return threads
        most = self._cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        return WARP if WARP * shared <= most else 0

    def launcher(self, text: str, name: str, shared: int, threads: int) -> Launch:
        """Return launch(like, states, arguments), which runs the kernel `name` of a CUDA text on the GPU of `like`.

        It runs in CuPy's current stream, in blocks of `threads` threads with `shared` bytes of shared memory per
        thread. The kernel is compiled at the first launch on a GPU and cached on disk."""
        entry = self._cupy.RawModule(code=text, options=("--std=c++17",)).get_function(name)
        if shared * threads > SHARED:
            entry.max_dynamic_shared_size_bytes = shared * threads

        def launch(like, states, arguments):
            with self._at(like):
                entry((-(-states // threads),), (threads,), (np.int64(states), *arguments),
                      shared_mem=shared * threads)
        return launch

    def _at(self, x):
        """Return a context in which an array's GPU is the current one."""
        here = self._cupy.cuda.runtime.getDevice() == x.data.device_id
        return nullcontext() if here else self._cupy.cuda.Device(x.data.device_id)

    def returned(self, x: Any, like: Any) -> Any:
        """Return a result as an array of the library of `like`."""
        library = type(like).__module__.partition(".")[0].removesuffix("lib")
        return _IMPORTS[library](sys.modules[library], x) if library in _IMPORTS else x
