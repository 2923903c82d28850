"""Force elements that cannot be: each is refused, by its name and the value, before anything is computed."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import forces
from support.random_trees import GROUPS, model_of, random_tree

ARM = """<mujoco><worldbody><body name="upper"><joint name="first" axis="0 1 0"/>
  <inertial pos="0.1 0 0" mass="1.2" diaginertia="0.02 0.03 0.04"/>
  <body name="slider" pos="0.3 0 0.1"><joint name="second" type="slide"/>
    <inertial pos="0 0.1 0" mass="0.7" diaginertia="0.01 0.02 0.015"/>
    <body name="fore" pos="0.2 0 0"><joint name="third" axis="0 0 1"/>
      <inertial pos="0.15 0 0" mass="0.5" diaginertia="0.005 0.01 0.01"/>
  </body></body></body></worldbody></mujoco>"""


def magnet(t, q, qd, p, tau):
    """A force that is good."""
    tau[1] = p[1] * (p[0] - q[1])


def out_of_bounds(t, q, qd, p, tau):
    tau[7] = 1.0


def unknown_name(t, q, qd, p, tau):
    tau[0] = nothing_of_the_kind(q)     # noqa: F821


def without_numbers(t, q, qd, tau):
    pass


def with_a_default(t, q, qd, p, tau=None):
    pass


REFUSED = {
    "there is no joint 'x'; the joints are": forces.Spring("x", 1.0),
    "stiffness of .* is -1, must be finite and >= 0": forces.Spring("first", -1.0),
    "stiffness of .* must be a number, not 'stiff'": forces.Spring("first", "stiff"),
    "stiffness of .* must be a number, not True": forces.Spring("first", True),
    "joint and other of .* are the same": forces.Spring("first", 1.0, other="first"),
    "link 'x' does not exist": forces.Drag("x", 1.0),
    "quadratic of .* is nan, must be finite and >= 0": forces.Drag("fore", quadratic=np.nan),
    "wrench of .* must be 6 finite numbers": forces.LinkWrench("fore", (1.0, 2.0)),
    "frame 'world' must be one of": forces.LinkWrench("fore", (0.0,) * 6, "world"),
    "times of .* must be two or more, and increase": forces.LinkWrench("fore", ((0.0,) * 6,) * 2, times=(1.0, 1.0)),
    r"wrench of .* must be \(2, 6\) finite numbers": forces.LinkWrench("fore", (0.0,) * 6, times=(0.0, 1.0)),
    "stiffness of .* is inf, must be finite and >= 0": forces.Spring("first", np.inf),
    "stiffness of .* is inf, must be finite and > 0": forces.Stop("first", np.inf, lower=0.0),
    "coulomb of .* is inf, must be finite": forces.Friction("first", 0.0, np.inf),
    "rest of .* is -inf, must be finite": forces.Spring("first", 1.0, rest=-np.inf),
    "point of .* must be 3 finite numbers": forces.PointSpring("fore", 1.0, point=(0.0, np.inf, 0.0)),
    "breakaway of .* is 1, must be finite and >= 2": forces.Friction("first", 0.0, 2.0, 1.0),
    "stribeck of .* is 0, must be finite and > 0": forces.Friction("first", 0.0, 2.0, 3.0, 0.0),
    "joint 'first' has no position limits": forces.Stop("first", 1.0),
    "the lower end, 1, must be less than the upper one, 0": forces.Stop("first", 1.0, 0.0, 1.0, 0.0),
    "must be a function.t, q, qd, p, tau.$": forces.Custom(42),
    "without_numbers.*must be a function": forces.Custom(without_numbers),
    "with_a_default.*without defaults": forces.Custom(with_a_default),
    "parameters of .* must be 2 finite numbers": forces.Custom(magnet, (1.0, np.nan)),
    "forces must be elements of screw_dynamics.forces, not": "spring",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_is_refused_by_name_and_value(reason):
    robot = sd.Robot.from_mjcf(ARM)
    with pytest.raises(ValueError, match=reason):
        robot.rollout(np.zeros(3), np.zeros(3), forces=[REFUSED[reason]])


@pytest.mark.parametrize("element", [forces.Spring, forces.Stop, forces.Friction])
@pytest.mark.parametrize("kind", GROUPS)
def test_a_joint_on_a_group_has_no_spring_stop_or_friction(rng, kind, element):
    robot = sd.Robot(model_of(random_tree(rng, 1, 0, (kind,))))
    with pytest.raises(ValueError, match=rf"^{element.__name__}.*is {kind}, not of one degree of freedom"):
        robot.total_force([element(robot.joint_names[0], 1.0)])


def test_what_a_users_force_does_wrong_is_said():
    robot, q = sd.Robot.from_mjcf(ARM), np.zeros(3)
    with pytest.raises(IndexError, match="in the force out_of_bounds"):
        robot.rollout(q, q, forces=[forces.Custom(out_of_bounds)])
    with pytest.raises((ValueError, NameError), match="nothing_of_the_kind"):
        robot.rollout(q, q, forces=[forces.Custom(unknown_name)])
    with pytest.raises(ValueError, match="forces must be a list of elements"):
        robot.rollout(q, q, forces=5)
