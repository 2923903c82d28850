"""Robot dynamics by screw theory: a URDF or a set of screws in, torques, Jacobians and simulated motion out.

Screws and twists are (angular, linear), wrenches (torque, force); SI units, radians."""
import importlib
from typing import Any

from .kernel_cache import dependencies as _dependencies  # noqa: F401  first, as it takes the time of the import
from .mjcf import MjcfWarning, read_mjcf
from .model.builder import Limits, ModelBuilder
from .model.drive import Drive
from .model.mimic import Mimic
from .model.model import Model
from .robot import Robot
from .screws.arrays import inertia_matrix
from .simulation.divergence import DivergenceWarning
from .simulation.limit_violations import LimitsWarning
from .simulation.springs import Springs
from .urdf import UrdfError, UrdfWarning, read_urdf

# Modules that are attributes of the package, imported at their first use: few users need them, and symbolic imports
# SymPy, an extra that is slow to import.
_MODULES = {name.rpartition(".")[2]: name for name in (
    "algorithms.forward_dynamics", "algorithms.inverse_dynamics", "algorithms.twists", "analysis.calibration",
    "analysis.contacts", "analysis.differential_inverse_kinematics", "analysis.elastic_joints", "analysis.estimation",
    "analysis.geometric_sensitivity", "analysis.identification", "analysis.smooth_motion", "campaigns", "closed_loops",
    "compiled.counting", "contact.shapes", "forces", "logs", "model.drive", "model.macro_joints", "optimal",
    "papers.absolute_coordinates", "papers.formulations", "papers.lie_groups", "papers.symbolic", "paths",
    "screws.arrays", "screws.groups.se3", "screws.groups.so3")}

# Functions and classes of modules that are imported at their first use, as they take extras or are long to import.
_FUNCTIONS = {"Scene": "scene", "ClosedLoopRobot": "closed_loops", "ElasticJoints": "analysis.elastic_joints",
              "Simulation": "simulator.simulation", "on_gpu": "gpu", "optimize_motion": "optimal",
              "collocate_motion": "optimal", "campaign": "campaigns", "view": "viewer.page",
              "identify": "analysis.identification.fit",
              "ControllerError": "simulation.controllers", "Transmission": "model.transmission",
              "transmissions": "urdf.transmissions", "time_optimal": "paths.fastest_motion"}

__all__ = ["DivergenceWarning", "Drive", "Limits", "LimitsWarning", "Mimic", "MjcfWarning", "Model",
           "ModelBuilder", "Robot", "Springs", "UrdfError", "UrdfWarning", "__version__", "inertia_matrix", "read_mjcf",
           "read_urdf", *_FUNCTIONS, *_MODULES]


# Modules of algorithms and counts of operations, which dir() and completion leave out.
_NOT_LISTED = {"counting", "forward_dynamics", "inverse_dynamics", "macro_joints", "twists"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{_MODULES[name]}", __name__)
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f".{_FUNCTIONS[name]}", __name__), name)
    if name == "__version__":
        from importlib.metadata import version
        return version(__name__)
    from .checks.hints import HINTS
    hint = f"; {HINTS[name].replace('robot.', 'Robot.')}" if name in HINTS else ""
    if not name.startswith("_") and name in dir(Robot):
        hint = f"; here it is Robot.{name}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*__all__} - _NOT_LISTED)
