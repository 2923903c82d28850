"""Symbolic equations of motion and kinematics of small robots: the package's kernels, run on SymPy symbols.

SymPy is an extra: pip install "screw_dynamics[symbolic]". It is imported with this module, not with the package.
May import robot and all packages below it; only this package imports SymPy."""
try:
    import sympy  # noqa: F401
except ImportError:
    raise ImportError('screw_dynamics.papers.symbolic needs SymPy: pip install "screw_dynamics[symbolic]"') from None

from .equations import EquationsOfMotion, equations_of_motion
from .parameters import named_parameters

__all__ = ["EquationsOfMotion", "equations_of_motion", "named_parameters"]
