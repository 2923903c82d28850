"""Instruction-set levels for which machine code is compiled, and the levels that this processor has."""
import os
import platform
from functools import cache

# The instructions of each level, by Linux's names; levels by LLVM's names, the best first.
_V3 = {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS: dict[str, dict[str, set[str]]] = {
    "x86_64": {"x86-64-v4": _V4, "x86-64-v3": _V3}, "aarch64": {"generic": {"asimd"}}}
# Settings of Numba that change its machine code.
OTHERS = "NUMBA_BOUNDSCHECK", "NUMBA_CPU_FEATURES", "NUMBA_LOOP_VECTORIZE", "NUMBA_OPT", "NUMBA_SLP_VECTORIZE"


@cache
def levels() -> tuple[str, ...]:
    """Return the levels that this processor has, the best first; only that of NUMBA_CPU_NAME, if it is set to a level.
    Empty if the levels are unknown, or if the environment sets other options of Numba for machine code."""
    chosen = os.environ.get("NUMBA_CPU_NAME")
    if any(map(os.environ.get, OTHERS)):
        return ()
    if chosen:
        return (chosen,) if chosen in LEVELS.get(platform.machine(), {}) else ()
    return levels_with(_instructions())


def levels_with(instructions: set[str]) -> tuple[str, ...]:
    """Return the levels of this machine's architecture that require no other instructions than these."""
    return tuple(level for level, needed in LEVELS.get(platform.machine(), {}).items() if needed <= instructions)


def _instructions():
    """Return the instruction-set flags of this processor, by Linux's names."""
    try:
        with open("/proc/cpuinfo") as file:
            found = next((line for line in file if line.startswith(("flags", "Features"))), ":")
    except OSError:
        return set()
    return set(found.partition(":")[2].split())
