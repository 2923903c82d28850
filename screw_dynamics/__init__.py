"""Robot dynamics by screw theory: a URDF or a set of screws in, torques, Jacobians and simulated motion out.

Screws and twists are (angular, linear), wrenches (torque, force); SI units, radians.
"""
import importlib

from .arrays import inertia_matrix
from .builder import Limits, Mimic, ModelBuilder
from .model import Model
from .robot import Robot
from .urdf import UrdfError, read_urdf

__all__ = ["Limits", "Mimic", "Model", "ModelBuilder", "Robot", "UrdfError", "inertia_matrix", "read_urdf"]


# Imported when they are first used: few need them, and symbolic takes SymPy, which is an extra and long to import.
_LATER = "counting", "formulations", "symbolic"


def __getattr__(name):
    if name in _LATER:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER})
