"""Robot dynamics by screw theory: a URDF or a set of screws in, torques, Jacobians and simulated motion out.

Screws and twists are (angular, linear), wrenches (torque, force); SI units, radians."""
import importlib
from typing import Any

from .jit.kernel_cache import dependencies as _dependencies  # noqa: F401  first, as it takes the time of the import

# isort: split
from .description.mjcf import MjcfWarning, read_mjcf
from .description.urdf import UrdfError, UrdfWarning, read_urdf
from .model.builder import Limits, ModelBuilder
from .model.drive import Drive
from .model.mimic import Mimic
from .model.model import Model
from .robot import Robot
from .rollout.divergence import DivergenceWarning
from .rollout.limit_violations import LimitsWarning
from .rollout.springs import Springs
from .screws.arrays import inertia_matrix

# Modules that are attributes of the package, imported at their first use: few users need them, and symbolic imports
# SymPy, an extra that is slow to import.
_MODULES = {name.rpartition(".")[2]: name for name in (
    "algorithms.forward_dynamics", "algorithms.inverse_dynamics", "algorithms.twists", "analysis.calibration",
    "analysis.contacts", "analysis.differential_inverse_kinematics", "analysis.elastic_joints", "analysis.estimation",
    "analysis.geometric_sensitivity", "analysis.identification", "analysis.smooth_motion", "collision.shapes",
    "compiled.counting", "control", "forces", "model.drive", "model.macro_joints", "papers.absolute_coordinates",
    "papers.formulations", "papers.lie_groups", "papers.symbolic", "planning.optimal", "planning.paths",
    "recordings.campaigns", "recordings.logs", "robot.closed_loops", "screws.arrays", "screws.groups.se3",
    "screws.groups.so3")}

# Functions and classes of modules that are imported at their first use, as they take extras or are long to import.
_FUNCTIONS = {"Scene": "scene", "ClosedLoopRobot": "robot.closed_loops", "ElasticJoints": "analysis.elastic_joints",
              "on_gpu": "backends.gpu", "optimize_motion": "planning.optimal", "collocate_motion": "planning.optimal",
              "campaign": "recordings.campaigns", "view": "viewer.page", "identify": "analysis.identification.fit",
              "ControllerError": "rollout.controllers", "Transmission": "model.transmission",
              "transmissions": "description.urdf.transmissions", "time_optimal": "planning.paths.fastest_motion",
              "bounds": "analysis.bounds", "BoundsWarning": "analysis.bounds", "export_controller": "control.export",
              "Simulation": "simulator.simulation"}

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
    from .utils.checks.hints import HINTS
    hint = f"; {HINTS[name].replace('robot.', 'Robot.')}" if name in HINTS else ""
    if not name.startswith("_") and name in dir(Robot):
        hint = f"; here it is Robot.{name}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*__all__} - _NOT_LISTED)
