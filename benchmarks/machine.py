"""The machine and the software of a run."""
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding as llvm

LEVELS = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX"), ("sse4_2", "SSE4.2"), ("neon", "NEON"))


def describe():
    """Date, processor, its widest vector instructions, cores that this process may use, and what runs below all."""
    features = llvm.get_host_cpu_features()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": f"{processor()} ({llvm.get_host_cpu_name()})",
        "cores": cores(),
        "vector instructions": next((name for flag, name in LEVELS if features.get(flag)), "none known"),
        "memory": f"{memory('MemTotal') / 1e9:.0f} GB",
        "system": platform.platform(terse=True),
        "load": round(load(), 1),
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "Numba": version("numba"),
    }


def load():
    """How many other processes wanted to run, on average over the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def cores():
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor():
    """The processor's name."""
    names = [line.partition(":")[2].strip() for line in read("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def memory(kind):
    """Bytes of memory: MemTotal or MemAvailable; infinite where the system does not say."""
    sizes = [int(line.split()[1]) * 1024 for line in read("/proc/meminfo") if line.startswith(kind + ":")]
    return sizes[0] if sizes else float("inf")


def read(path):
    """The lines of a file of the system; none where there is no such file."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
