"""Force elements in simulator_node: their parameter, and that they act as without ROS."""
import json
import signal

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.model.drive import Hardening
from screw_dynamics.ros.simulator.force_elements import elements
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm
from support import simulator_driver

TEXTS = [json.dumps(x) for x in (
    {"PointSpring": {"link": "flange", "stiffness": 60.0, "damping": 1.0, "other_point": [0.5, 0.2, 0.4]}},
    {"Spring": {"joint": {"shoulder": 1.0, "elbow": -1.0}, "stiffness": 4.0}},
    {"NonlinearSpring": {"joint": "elbow", "spring": {"Hardening": {"coefficients": [3.0, 20.0]}}}},
    {"LinkWrench": {"link": "flange", "wrench": [[0, 0, 0, 1, 2, 3], [0, 0, 0, 0, 0, 2]], "times": [0.0, 0.05]}})]
ACTING = [forces.PointSpring("flange", 60.0, 1.0, other_point=(0.5, 0.2, 0.4)),
          forces.Spring({"shoulder": 1.0, "elbow": -1.0}, 4.0),
          forces.NonlinearSpring("elbow", Hardening((3.0, 20.0))),
          forces.LinkWrench("flange", ((0, 0, 0, 1, 2, 3), (0, 0, 0, 0, 0, 2)), times=(0.0, 0.05))]


def test_texts_are_elements():
    assert elements([*TEXTS, ""]) == ACTING


@pytest.mark.parametrize("text, reason", [
    ("{", "is not valid JSON"), ("[1]", "must be like"), ('{"A": {}, "B": {}}', "must be like"),
    ('{"Custom": {"function": "f"}}',
     "'Custom' in .* must be one of Drag, Friction, GearLoss, LinkWrench, NonlinearSpring, PointSpring, Spring, Stop, "
     "VariableSpring, Winding"),
    pytest.param("[" * 100000, "is not valid JSON", id="deep"),
    ('{"Spring": {"joint": "a", "stiffness": 1, "joint": "b"}}', "'joint' is given twice"),
    ('{"Spring": {"joint": "a", "stiffness": true}}', "stiffness of Spring is True, must not be"),
    ('{"NonlinearSpring": {"joint": "elbow", "spring": {"Rubber": {}}}}', "must be a number, or one of Antagonistic"),
    ('{"Spring": {"joint": "elbow"}}', "lacks 'stiffness'; a Spring has joint, stiffness"),
    ('{"Spring": {"joint": "elbow", "stifness": 3}}', "has no 'stifness'; a Spring has joint, stiffness")])
def test_a_text_that_is_none_is_refused_by_its_name(text, reason):
    with pytest.raises(ValueError, match=f"parameter forces: .*{reason}"):
        elements([text])


def test_the_node_moves_as_the_simulation_without_ros(start):
    parameters = {"robot_description": f"'{arm.urdf()}'", "start_paused": True, "publish_clock": True,
                  "hold_until_first_command": False, "forces": json.dumps(TEXTS)}
    simulator = start(simulator_driver.Simulator, "sprung", parameters, end=signal.SIGTERM)
    simulator.fresh()
    state = simulator.step(100)
    twin = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(hold_until_first_command=False), forces=ACTING)
    twin.advance(100)
    still = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(hold_until_first_command=False))
    still.advance(100)
    assert (np.array(state.position[:2]) == twin.q).all() and (np.array(state.velocity[:2]) == twin.qd).all()
    assert abs(twin.q - still.q).max() > 1e-2


@pytest.mark.parametrize("parameter, text, says", [
    ("forces", '{"Drag": {"link": "tail"}}', "link 'tail' does not exist"),
    ("drives", '{"tail": {"rotor_inertia": 1.0}}', "drive of joint 'tail': the joint does not exist")])
def test_what_does_not_fit_the_robot_is_said(start, parameter, text, says):
    parameters = {"robot_description": f"'{arm.urdf()}'", parameter: json.dumps([text])}
    simulator = start(simulator_driver.Simulator, "tailless", parameters, end=signal.SIGTERM)
    simulator.status(lambda status, values: says in status.message)
