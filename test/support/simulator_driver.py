"""A driver of simulator_node for the planar arm, and the same simulation without ROS."""
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics_interfaces.srv import ResetTo, Step
from support import planar_arm as arm
from support.graph import Driver

MODULE = "screw_dynamics.ros.simulator.node"
START = {"shoulder": 0.3, "elbow": -0.4}
SEEDED = {"seed": 7, "initial_noise": 0.01, "position_noise": 1e-3}
MS = 1_000_000


class Simulator(Driver):
    """The driver of a simulator: it collects states, and sends commands.

    A state from before a service was called may come after its answer: what changes a state is waited for in it."""

    MODULE = MODULE

    def __init__(self, namespace):
        super().__init__(namespace, "screw_simulator")
        self.states = self.collect(JointState, f"/{namespace}/joint_states")

    def fresh(self, accept=lambda state: True):
        """The next state that is accepted."""
        self.states.clear()
        return self.wait(lambda: next(filter(accept, self.states), None), "a state")

    def command(self, name=arm.NAMES, **values):
        """Publish a command."""
        self.publisher(JointState, "joint_commands", 1).publish(JointState(name=list(name), **values))

    def effort(self, *values):
        """Command efforts while paused, and wait until they are what acts."""
        self.command(effort=list(values))
        self.fresh(lambda state: list(state.effort[:2]) == list(values))

    def pause(self, paused=True):
        """Pause or run on."""
        answer = self.call(SetBool, "~/set_pause", data=paused)
        assert answer.success, answer.message

    def step(self, steps):
        """Make steps, or none, and return the state after them: the last with the stamp of the answer."""
        answer = self.call(Step, "~/step", steps=steps)
        assert answer.success, answer.message
        return self.wait(
            lambda: next((s for s in reversed(self.states) if s.header.stamp == answer.stamp), None), "the state")

    def reset(self):
        """Back to the start."""
        answer = self.call(Trigger, "~/reset")
        assert answer.success, answer.message

    def reset_to(self, **state):
        """To another state."""
        return self.call(ResetTo, "~/reset_to", state=JointState(**state))

    def drops(self, reason, at_least):
        """Wait until messages were dropped for a reason."""
        self.status(lambda status, values: int(values.get(f"dropped: {reason}", 0)) >= at_least)


def nanoseconds(stamp):
    """A stamp as one number."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def twin(**settings):
    """The simulation of the node, without ROS."""
    return Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(**SEEDED, **settings), START)
