"""Levels of instructions that machine code may have been made for elsewhere, and which of them this processor has."""
import os
import platform
from functools import cache

# By the names that LLVM has for them, the best first, with what Linux calls what they need.
_V3 = {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS: dict[str, dict[str, set[str]]] = {
    "x86_64": {"x86-64-v4": _V4, "x86-64-v3": _V3}, "aarch64": {"generic": {"asimd"}}}


@cache
def levels() -> tuple[str, ...]:
    """The levels that code may have here, the best first: those of this processor; NUMBA_CPU_NAME alone, if it is set.
    None where that cannot be told."""
    chosen = os.environ.get("NUMBA_CPU_NAME")
    return (chosen,) if chosen else levels_with(_instructions())


def levels_with(instructions: set[str]) -> tuple[str, ...]:
    """The levels of this kind of processor that need no other instructions than these."""
    return tuple(level for level, needed in LEVELS.get(platform.machine(), {}).items() if needed <= instructions)


def _instructions():
    """What Linux calls what this processor has."""
    try:
        with open("/proc/cpuinfo") as file:
            found = next((line for line in file if line.startswith(("flags", "Features"))), ":")
    except OSError:
        return set()
    return set(found.partition(":")[2].split())
