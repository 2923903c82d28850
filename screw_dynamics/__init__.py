"""Robot dynamics by screw theory: a URDF or a set of screws in, torques, Jacobians and simulated motion out.

Screws and twists are (angular, linear), wrenches (torque, force); SI units, radians."""
import importlib
from typing import TYPE_CHECKING, Any

from .kernel_cache import dependencies as _dependencies  # noqa: F401  first, as it takes the time of the import
from .mjcf import MjcfWarning, read_mjcf
from .model.builder import Limits, ModelBuilder
from .model.drive import Drive
from .model.mimic import Mimic
from .model.model import Model
from .robot import Robot
from .screws.arrays import inertia_matrix
from .short_names import MODULES
from .simulation.controllers import ControllerError
from .simulation.divergence import DivergenceWarning
from .simulation.limits_left import LimitsWarning
from .simulation.springs import Springs
from .urdf import UrdfError, UrdfWarning, read_urdf

if TYPE_CHECKING:       # what is imported when it is first used, for mypy and editors
    from . import campaigns as campaigns
    from . import closed_loops as closed_loops
    from . import forces as forces
    from . import logs as logs
    from . import optimal as optimal
    from . import paths as paths
    from .algorithms import forward_dynamics as forward_dynamics
    from .algorithms import inverse_dynamics as inverse_dynamics
    from .algorithms import twists as twists
    from .analysis import calibration as calibration
    from .analysis import contacts as contacts
    from .analysis import differential_inverse_kinematics as differential_inverse_kinematics
    from .analysis import elastic_joints as elastic_joints
    from .analysis import estimation as estimation
    from .analysis import geometric_sensitivity as geometric_sensitivity
    from .analysis import identification as identification
    from .analysis import smooth_motion as smooth_motion
    from .analysis.identification.fit import identify as identify
    from .campaigns import campaign as campaign
    from .compiled import counting as counting
    from .gpu import on_gpu as on_gpu
    from .model import drive as drive
    from .model import macro_joints as macro_joints
    from .model.transmission import Transmission as Transmission
    from .optimal import collocate_motion as collocate_motion
    from .optimal import optimize_motion as optimize_motion
    from .papers import absolute_coordinates as absolute_coordinates
    from .papers import formulations as formulations
    from .papers import lie_groups as lie_groups
    from .papers import symbolic as symbolic
    from .paths.fastest_motion import time_optimal as time_optimal
    from .scene import Scene as Scene
    from .screws import arrays as arrays
    from .screws.groups import se3 as se3
    from .screws.groups import so3 as so3
    from .urdf.transmissions import transmissions as transmissions
    from .viewer.page import view as view

# Modules that are offered under a short name, imported when they are first used: few need them, and symbolic takes
# SymPy, which is an extra and long to import.
_MODULES = {**MODULES, **{name.rpartition(".")[2]: name for name in (
    "algorithms.forward_dynamics", "algorithms.inverse_dynamics", "algorithms.twists", "campaigns", "closed_loops",
    "compiled.counting", "forces", "logs", "model.drive", "model.macro_joints", "optimal", "paths", "screws.arrays")}}

# Functions of modules that are imported when they are first used, since they take extras.
_FUNCTIONS = {"Scene": "scene", "on_gpu": "gpu", "optimize_motion": "optimal", "collocate_motion": "optimal",
              "campaign": "campaigns", "view": "viewer.page",
              "identify": "analysis.identification.fit", "Transmission": "model.transmission",
              "transmissions": "urdf.transmissions", "time_optimal": "paths.fastest_motion"}

__all__ = ["ControllerError", "DivergenceWarning", "Drive", "Limits", "LimitsWarning", "Mimic", "MjcfWarning", "Model",
           "ModelBuilder", "Robot", "Springs", "UrdfError", "UrdfWarning", "__version__", "inertia_matrix", "read_mjcf",
           "read_urdf", *_FUNCTIONS, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{_MODULES[name]}", __name__)
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f".{_FUNCTIONS[name]}", __name__), name)
    if name == "__version__":
        from importlib.metadata import version
        return version(__name__)
    from .checks.peers import HINTS
    hint = f"; {HINTS[name].replace('robot.', 'Robot.')}" if name in HINTS else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
