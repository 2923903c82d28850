"""The executables of the nodes: what ros2 run starts, and pip puts into bin/.

Each imports its node when it is called, so that a missing ROS package is one line, and not a traceback."""

import sys
from importlib import import_module

from .missing import advice

MODULES = {
    "dynamics_node": "screw_dynamics.ros.dynamics.node",
    "simulator_node": "screw_dynamics.ros.simulator.node",
    "markers_node": "screw_dynamics.ros.view.markers_node",
    "recorder_node": "screw_dynamics.ros.view.recorder_node",
    "view_node": "screw_dynamics.ros.view.view_node",
}


def dynamics_node() -> int:
    """Run dynamics_node; the exit code."""
    return _run("dynamics_node")


def simulator_node() -> int:
    """Run simulator_node; the exit code."""
    return _run("simulator_node")


def markers_node() -> int:
    """Run markers_node; the exit code."""
    return _run("markers_node")


def recorder_node() -> int:
    """Run recorder_node; the exit code."""
    return _run("recorder_node")


def view_node() -> int:
    """Run view_node; the exit code."""
    return _run("view_node")


def _run(program: str) -> int:
    try:
        main = import_module(MODULES[program]).main
    except ImportError as error:
        text = advice(program, error)
        if not text:
            raise
        print(text, file=sys.stderr)
        return 1
    return main()
