"""Simulations of a robot without ROS."""
import numpy as np

from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation

NAN = float("nan")
FREE = {"hold_until_first_command": False, "joint_friction": False, "enforce_limits": False}
DT = 1e-3       # the default


def simulate(robot, initial_positions=None, **settings):
    """A simulation with these settings."""
    return Simulation(robot, Settings(**settings), initial_positions)


def commanded(robot, command, steps=0, initial_positions=None, **settings):
    """The same under a command, after some steps."""
    simulation = simulate(robot, initial_positions, **settings)
    simulation.command(np.array(command, dtype=float))
    simulation.advance(steps)
    return simulation


def track(simulation, steps):
    """Positions (steps + 1, n) of a simulation advanced step by step."""
    positions = [simulation.q]
    for _ in range(steps):
        simulation.advance(1)
        positions.append(simulation.q)
    return np.array(positions)
