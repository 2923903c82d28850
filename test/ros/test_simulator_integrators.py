"""simulator_node with its other integrators: the parameter chooses, the physics are those without ROS."""
import signal

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm
from support.simulator_driver import SEEDED, START, Simulator

URDF = arm.urdf()        # with dry friction in a joint


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["variational", "implicit_midpoint", "sdirk2"])
def test_implicit_integrators_run_at_the_rate_of_the_node(start, integrator):
    """1 kHz, under efforts and at rest, dry friction and all; and in lockstep, to the bit."""
    parameters = {"robot_description": f"'{URDF}'", "integrator": integrator, "hold_until_first_command": "false",
                  "initial_positions.shoulder": START["shoulder"], "initial_positions.elbow": START["elbow"], **SEEDED}
    simulator = start(Simulator, integrator, parameters, end=signal.SIGTERM)
    simulator.wait(lambda: simulator.states, "the first state")
    simulator.status(lambda status, values: 0.9 < float(values["real-time factor"]) < 1.1)
    simulator.pause()
    simulator.reset()
    reference = Simulation(sd.Robot.from_urdf(URDF), Settings(
        integrator=integrator, hold_until_first_command=False, **SEEDED), START)
    for efforts in ((9.0, 3.0), (-4.0, 2.0)):
        simulator.effort(*efforts)
        reference.command(np.array(efforts))
        found = simulator.step(150)
        reference.advance(150)
        assert np.array_equal(found.position, reference.joint_state().position)
