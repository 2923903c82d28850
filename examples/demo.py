"""A real robot on a live ROS 2 graph: it falls, and dynamics_node's gravity torque holds it up.

    make demo [URDF=path]          or          python examples/demo.py [URDF]

Three processes on real DDS: simulator_node plays the robot, dynamics_node computes, and this one relays dynamics_node's
~/gravity to the simulator's joint_commands, calls the services, and draws build/demo.png.
"""

import argparse
import os
import sys
import time
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

BUILD = Path(__file__).parents[1] / "build"
PANDA = "robots/panda_description/urdf/panda.urdf"
STARTED = time.monotonic()


def say(text=""):
    """Print a line with the seconds since the start."""
    print(f"[{time.monotonic() - STARTED:5.1f} s] {text}" if text else "", flush=True)


def main():
    """Run the demo, and end the process: with exit code 0 if all that it claims was seen."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("urdf", nargs="?", default=os.environ.get("URDF"), metavar="URDF",
                           help="path, package:// address or xacro file; without it the Panda of example-robot-data")
    arguments.add_argument("--picture", type=Path, default=BUILD / "demo.png", help="where the plot goes")
    options = arguments.parse_args()
    # Nodes of this demo discover only each other. Set before rclpy is imported, and inherited by the nodes. The tests
    # have the domains below.
    os.environ["ROS_DOMAIN_ID"] = str(51 + os.getpid() % 50)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    from screw_dynamics.ros.signals import end, interrupted_once
    interrupted_once()      # so that a second Ctrl-C leaves no node behind
    code = 0
    try:
        show(options.urdf, options.picture)
    except (ValueError, OSError) as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        code = 1
    except KeyboardInterrupt:
        code = 130
    end(code)               # where a signal that comes late does not change it


def show(urdf, picture):
    """The demo, step by step; ValueError when something it claims was not seen."""
    import demo_plot
    import demo_robot
    import demo_tables
    from demo_graph import Graph

    urdf = urdf or example_robot()
    say(f"1  Reading {urdf}")
    robot, text = demo_robot.read(urdf)
    name = demo_robot.name(text)
    say(f"   {name}: {robot.n} joints, {len(robot.link_names)} links")
    for warning in robot.warnings:
        say(f"   {warning}")
    graph = Graph(robot.joint_names, BUILD, say)
    try:
        say(f"2  Starting dynamics_node, and publishing robot_description on domain {os.environ['ROS_DOMAIN_ID']}")
        graph.start_dynamics_node(text)
        plan = demo_robot.plan(robot, text, say)
        say("3  Starting simulator_node, and waiting for both")
        graph.start_simulator_node(plan)
        graph.wait_until_ready()
        graph.connect(demo_tables.SERVICES)
        record = graph.run(plan.takeover, lambda q, qd: demo_robot.at_rest(robot, plan.height, q, qd),
                           while_held=lambda: demo_tables.show(graph, robot))
    finally:
        faults = graph.stop()
    kinetic, potential = demo_robot.energies(robot, record.q, record.qd)
    demo_plot.draw(robot, name, record, kinetic, potential, picture)
    say(f"6  Drawn: {picture}. What it shows:")
    for line in demo_robot.findings(robot, record, kinetic, potential):
        say(f"   {line}")
    if faults:
        raise ValueError(f"{', '.join(faults)}: see {BUILD}/demo_*.log")
    say("   Both nodes ended cleanly")


def example_robot():
    """The Panda's URDF; ValueError when the package with it is missing."""
    try:
        return str(next(file for file in files("example-robot-data") if str(file).endswith(PANDA)).locate().resolve())
    except (PackageNotFoundError, StopIteration):
        raise ValueError("example-robot-data, which has the Panda, is not installed: make demo does it") from None


if __name__ == "__main__":
    np.set_printoptions(precision=3, suppress=True, linewidth=110)
    main()
