"""Robots with series elastic joints: feed-forward against their equations of motion, and the example."""
import re
import subprocess
import sys

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.elastic_joints import ElasticJoints
from support.floating_robots import hopper
from support.matrices import error
from support.paths import ROOT
from support.random_trees import model_of, random_tree


@pytest.mark.parametrize("mimics", [0, 2])
def test_feed_forward_makes_links_and_motors_move_as_it_says(mimics, rng):
    robot = sd.Robot(model_of(random_tree(rng, 7, mimics)))
    elastic = ElasticJoints(robot, rng.uniform(100.0, 1000.0, robot.n), 0.3, rng.uniform(0.0, 2.0, robot.n))
    q, qd, qdd, *rates = rng.standard_normal((5, robot.n))
    motor = elastic.feed_forward(q, qd, qdd, *rates)
    assert error(motor.spring_torque, robot.inverse_dynamics(q, qd, qdd)) < 1e-13
    found = elastic.accelerations(q, qd, motor.position, motor.velocity, motor.torque)
    for acceleration, expected in zip(found, (qdd, motor.acceleration), strict=True):
        assert error(acceleration, expected) < 1e-10


def test_position_and_velocity_of_the_motors_belong_together(rng):
    """Along q(t) of constant fourth derivative, by differences of order 4."""
    robot = sd.Robot(model_of(random_tree(rng, 4)))
    elastic, x, h = ElasticJoints(robot, 300.0, 0.1), rng.standard_normal((5, robot.n)), 1e-3

    def at(t):
        powers = [1.0, t, t**2 / 2.0, t**3 / 6.0, t**4 / 24.0]
        return elastic.feed_forward(*(sum(c * r for c, r in zip(powers, x[k:], strict=False)) for k in range(5)))
    for name, rate in (("position", "velocity"), ("velocity", "acceleration")):
        ahead, back, far, before = (getattr(at(t), name) for t in (h, -h, 2.0 * h, -2.0 * h))
        assert error((8.0 * (ahead - back) - (far - before)) / (12.0 * h), getattr(at(0.0), rate)) < 1e-8


@pytest.mark.parametrize("arguments, message", [
    ((-1.0, 1.0), r"stiffness of joint 'waist': -1.0 must be > 0"),
    ((1.0, [1.0, 0.0, 1.0]), r"motor_inertia of joint 'lift': 0.0 must be > 0"),
    ((1.0, 1.0, -1e-9), r"motor_damping of joint 'waist': -1e-09 must be >= 0"),
    ((1.0, np.inf), "motor_inertia must be 3 finite numbers"),
    (("a", 1.0), "stiffness must be"), ((np.ones(2), 1.0), "stiffness .*3")])
def test_what_is_no_spring_or_motor_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ElasticJoints(sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf"), *arguments)


def test_arguments_of_other_shapes_are_refused():
    elastic, zero = ElasticJoints(sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf"), 1.0, 1.0), np.zeros(3)
    for call, name in ((lambda: elastic.feed_forward(zero, zero, zero, zero, None), "qdddd must be"),
                       (lambda: elastic.accelerations(zero, zero, zero, zero, np.zeros(4)), "torque has shape")):
        with pytest.raises(ValueError, match=name):
            call()


def test_joints_on_groups_are_refused():
    with pytest.raises(ValueError, match="ElasticJoints.*joint 'floating_base' is free"):
        ElasticJoints(sd.Robot.from_urdf(hopper(), floating_base=True), 1.0, 1.0)


@pytest.mark.slow
def test_the_example_tracks_to_the_accuracy_of_its_integrator(tmp_path):
    picture = tmp_path / "elastic.png"
    command = [sys.executable, ROOT / "examples/elastic_joints.py", "--picture", picture]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240, cwd=ROOT).stdout
    flat, rigid = (float(x) for x in re.findall(r"at most (\S+) rad", printed))
    assert flat < 1e-10 and rigid > 1e-3 and picture.stat().st_size > 20_000
