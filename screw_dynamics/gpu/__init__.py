"""A robot's functions on a GPU, a thread for each state of a batch, on arrays that stay there; docs/gpu.md.

`on_gpu` is the way in. The text of a kernel is that of the exported C, which c_code prints."""
from .gpu_robot import GpuRobot, on_gpu

__all__ = ["GpuRobot", "on_gpu"]
