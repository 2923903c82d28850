"""Tests of ROS 2 nodes against a simulated robot, in lockstep: bitwise reproducible in every run. See docs/testing.md.

`pytest_screw_dynamics`, beside the package, is the plugin with the fixtures. The modules `recording` and `failure` need
no ROS; the modules that drive the simulator are imported at their first use."""

from .domain import isolate
from .errors import DeadlineError, LockstepError
from .recording import Recording

__all__ = ["DeadlineError", "LockstepError", "Recording", "RobotSimulator", "advance", "isolate"]


def __getattr__(name: str):
    if name in ("RobotSimulator", "advance"):
        from . import simulator
        return getattr(simulator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
