"""Recursions of the comparison that the package does not have, as it computes the same results in other ways.

They are written as the package's kernels are, on the same types, and are counted, compiled and run like these."""
import hashlib
from collections.abc import Callable
from pathlib import Path

from screw_dynamics.compiled.algorithm import CompiledAlgorithm

# Machine code is kept under a name and a fingerprint that covers a function, but not those that it calls.
_STAMP = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


def entry(algorithm: Callable, Table: type, inputs: str, shape: Callable, name: str, targeted: bool = False
          ) -> CompiledAlgorithm:
    """The CompiledAlgorithm of a kernel of this package."""
    return CompiledAlgorithm(algorithm, Table, inputs, shape, targeted, f"comparison.{_STAMP[:8]}.{name}")
