"""In place of a GPU: kernels compiled for the host by g++, on arrays of NumPy, thread after thread."""
import ctypes
import functools
import itertools
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from screw_dynamics.utils import checks

OPTIONS = "-std=c++17", "-O0", "-Wall", "-Werror", "-Wno-unused", "-pthread", "-shared", "-fPIC"
THREADS = 4             # of a block: they run at a time, and wait for each other
# What CUDA's language has and C++ has not.
LANGUAGE = f"""
#include <math.h>
#include <pthread.h>
#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
static struct {{ int x; }} blockDim = {{{THREADS}}};
static thread_local struct {{ int x; }} blockIdx, threadIdx;
static pthread_barrier_t everybody;
static const int made = pthread_barrier_init(&everybody, nullptr, {THREADS});
extern "C" void meet() {{ pthread_barrier_wait(&everybody); }}
#define __syncthreads meet
extern "C" void at(int block, int thread) {{ blockIdx.x = block; threadIdx.x = thread; }}
"""
C_TYPES = {np.dtype(np.int64): ctypes.c_longlong, np.dtype(np.float64): ctypes.c_double,
           np.dtype(np.float32): ctypes.c_float}


FOLDER = tempfile.TemporaryDirectory()      # until the test run ends
NUMBERS = itertools.count()


@functools.cache
def language():
    """The header of LANGUAGE, compiled ahead: that takes longer than most kernels do."""
    header = Path(FOLDER.name) / "language.hpp"
    header.write_text(LANGUAGE)
    subprocess.run(["g++", *OPTIONS, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return header


@functools.cache
def compiled(text):
    """The library of a kernel: many tests take the same."""
    library = Path(FOLDER.name) / f"kernel{next(NUMBERS)}.so"
    library.with_suffix(".cpp").write_text(text)
    subprocess.run(["g++", *OPTIONS, "-include", language(), library.with_suffix(".cpp"), "-o", library], check=True)
    return ctypes.CDLL(str(library))


class HostCuda:
    """A stand-in for device.Cuda. shared: bytes that a thread may share."""

    def __init__(self, shared=10 ** 6):
        self.shared = shared

    def array(self, name, x):
        if not isinstance(x, np.ndarray):
            raise ValueError(f"{name} must be an array on the GPU, not {checks.described(x)}")
        return x

    def empty(self, shape, dtype, like):
        return np.full(shape, np.nan, dtype)

    def broadcast_to(self, x, shape):
        return np.broadcast_to(x, shape)

    def number(self, x):
        return 0

    def address(self, x):
        return x.ctypes.data

    def threads(self, shared):
        return THREADS if shared <= self.shared else 0

    def returned(self, x, like):
        return x

    def launcher(self, text, name, shared, threads):
        for line in text.splitlines():      # what a GPU's compiler would say, and one for the host does not
            assert not line.startswith(("static ", "void ")) or "__device__" in line, line
        scalar = "double" if "double " in text else "float"
        memory = f"{scalar} shared_memory[{shared * threads // (8 if scalar == 'double' else 4)}];\n" if shared else ""
        loaded = compiled(text + memory)
        kernel = getattr(loaded, name)

        def launch(like, states, arguments):
            given = [ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else C_TYPES[x.dtype](x)
                     for x in arguments]

            def run(thread):
                for block in range(-(-states // threads)):
                    loaded.at(block, thread)
                    kernel(ctypes.c_longlong(states), *given)
                    loaded.meet()           # the next block has the same memory
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(run, range(threads)))
        return launch
