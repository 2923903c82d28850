"""The executables of the nodes, by name. Each imports its node when it is called, so that a missing ROS package causes
a one-line message instead of a traceback. The module screw_dynamics_nodes, beside the package, starts them."""

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


def main(program: str) -> int:
    """Run an executable and return its exit code."""
    try:
        node = import_module(MODULES[program])
    except ImportError as error:
        text = advice(program, error)
        if not text:
            raise
        print(text, file=sys.stderr)
        return 1
    return node.main()
