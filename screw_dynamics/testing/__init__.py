"""Tests of ROS 2 nodes against a simulated robot, in lockstep: the same bits in every run. docs/testing.md tells how.

`pytest_screw_dynamics`, beside the package, is the plugin with the fixtures. Its modules `recording` and `failure` need
no ROS; what drives the simulator is imported when it is first used."""

from .domain import isolate
from .errors import DeadlineError, LockstepError
from .recording import Recording

__all__ = ["DeadlineError", "LockstepError", "Recording", "RobotSimulator", "advance", "isolate"]


def __getattr__(name: str):
    if name in ("RobotSimulator", "advance"):
        from . import simulator
        return getattr(simulator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
