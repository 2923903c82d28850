"""A robot's functions on a GPU for batches of states, one thread per state, with arrays in GPU memory; docs/arrays.md.

The entry point is `on_gpu`. Kernels consist of the exported C code, which c_code generates."""
from .gpu_robot import GpuRobot, on_gpu

__all__ = ["GpuRobot", "on_gpu"]
