"""The short names of packages that lie deeper: screw_dynamics.calibration is screw_dynamics.analysis.calibration, the
same module, as an attribute and in imports."""
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType

PACKAGE = __name__.rpartition(".")[0]
# What users have under a short name, and where it lies.
MODULES = {name.rpartition(".")[2]: name for name in (
    "analysis.calibration", "analysis.contacts", "analysis.differential_inverse_kinematics", "analysis.elastic_joints",
    "analysis.estimation", "analysis.geometric_sensitivity", "analysis.identification", "papers.absolute_coordinates",
    "analysis.smooth_motion", "papers.formulations", "papers.lie_groups", "papers.symbolic", "screws.groups.se3",
    "screws.groups.so3")}
# What they import or run alone: no attributes of the package, as import * would hand them out.
_LIES_AT = {**MODULES, "inspect": "viewer.inspect", "simulator": "simulated_robot"}


class ShortNames(MetaPathFinder, Loader):
    """Finds a module, and what is in it, under its short name."""

    @staticmethod
    def _lies_at(name):
        """Return the full name of a module of the package, "" if its name is not a short one."""
        package, _, inside = name.partition(".")
        first, dot, below = inside.partition(".")
        return f"{PACKAGE}.{_LIES_AT[first]}{dot}{below}" if package == PACKAGE and first in _LIES_AT else ""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """A specification for short names alone."""
        return ModuleSpec(fullname, self) if self._lies_at(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself; its own specification is kept for the while in which it has that of the short name."""
        module = import_module(self._lies_at(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It ran when it was created."""
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname: str) -> CodeType:
        """Return the code that python -m runs."""
        name = self._lies_at(fullname)
        return find_spec(name).loader.get_code(name)


sys.meta_path.insert(0, ShortNames())
