"""The executables of the nodes: what ros2 run starts and pip puts into bin/; python -m screw_dynamics_nodes <node> too.

Beside the package, which takes a second or more to import: SIGINT and SIGTERM end a program in that time as they do
later, with exit code 0."""

import os
import signal
import sys
from functools import partial
from typing import NoReturn


def run(program: str) -> NoReturn:
    """Run an executable by its name, and end the process with its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os._exit(0))     # until `ros_process` takes them: nothing is begun
    from screw_dynamics.ros.executables import main
    from screw_dynamics.ros.signals import end
    end(main(program))


dynamics_node = partial(run, "dynamics_node")
simulator_node = partial(run, "simulator_node")
markers_node = partial(run, "markers_node")
recorder_node = partial(run, "recorder_node")
view_node = partial(run, "view_node")

if __name__ == "__main__":
    run(sys.argv.pop(1))
