"""What simulator_node says of servos that no limit keeps from pressing through what is in their way."""
import pytest

import screw_dynamics as sd
from screw_dynamics.ros.simulator.scenes import unlimited_servos
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation

MODES = {"a": "position", "b": "velocity", "c": "effort"}


def simulation(efforts, in_scene=True, **settings):
    builder, parent = sd.ModelBuilder("base"), "base"
    for joint, effort in zip("abc", efforts, strict=True):
        limits = sd.Limits(lower=-1.0, upper=1.0, velocity=1.0, **({} if effort is None else {"effort": effort}))
        builder.add_screw(joint, f"link_{joint}", parent, axis=(0, 1, 0), mass=1.0, com=(0.1, 0, 0), limits=limits)
        parent = f"link_{joint}"
    robot = sd.Robot(builder.build())
    return Simulation(robot, Settings(**settings), scene=sd.Scene(robot, ground=True, shapes={}) if in_scene else None)


@pytest.mark.parametrize("efforts, settings, named", [
    ((None, 5.0, None), {}, "a"), ((None, None, None), {}, "a, b"),
    ((5.0, 5.0, 5.0), {"enforce_limits": False}, "a, b")])
def test_servos_without_a_limit_are_named(efforts, settings, named):
    assert unlimited_servos(simulation(efforts, **settings), MODES).startswith(f"no limit of effort on {named}: what")


@pytest.mark.parametrize("efforts, in_scene", [((5.0, 5.0, None), True), ((None, None, None), False)])
def test_nothing_is_said_of_others_and_without_a_scene(efforts, in_scene):
    assert unlimited_servos(simulation(efforts, in_scene), MODES) == ""
