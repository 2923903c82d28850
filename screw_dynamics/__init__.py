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


def __getattr__(name):
    if name == "symbolic":                      # takes SymPy, which is an extra, and long to import
        return importlib.import_module(".symbolic", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
