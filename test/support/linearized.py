"""Robots to linearize and their states, and how near results are."""
import numpy as np

import screw_dynamics as sd
from support.differences import of_a_state
from support.random_trees import GROUPS, KINDS, model_of, random_tree

ROBOTS = {"fixed": (0, KINDS), "mimics": (2, KINDS), "groups": (0, (*GROUPS, *KINDS))}


def robot_called(name):
    """A tree with damping and friction under oblique gravity."""
    rng, (mimics, kinds) = np.random.default_rng(7), ROBOTS[name]
    model = model_of(random_tree(rng, 6, mimics, kinds), damping=0.3, friction=0.2)
    return sd.Robot(model, gravity=rng.uniform(-10, 10, 3))


def state(robot, rng, *lead):
    """q, qd, tau; velocities far enough from 0 for friction to be smooth."""
    qd = rng.uniform(0.5, 1.5, (*lead, robot.n)) * rng.choice([-1.0, 1.0], robot.n)
    return robot.random_configuration(lead, rng), qd, rng.standard_normal((*lead, robot.n))


def near(found, expected, bound):
    """Hold a result to a bound, relative to the largest number."""
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= bound * max(1.0, np.abs(expected).max())


def near_a_step(robot, state, dt, bound, h=4e-3, **options):
    """Hold a linear model to differences, of a distance h, of the step that it is of; that step's last velocities."""
    q, qd, tau = state

    def step(dq, dqd, dtau):
        return robot.step(robot.integrate(q, dq), qd + dqd, tau + dtau, dt, **options)
    model = robot.linearize(*state, dt, **options)
    near(np.hstack([model.A, model.B]), of_a_state(robot, step, h), bound)
    return step(*np.zeros((3, robot.n)))[1]
