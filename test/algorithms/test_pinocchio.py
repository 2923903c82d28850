"""Dynamics, energies, poses and Jacobians agree with Pinocchio, on robots of example-robot-data and on random trees."""
from typing import NamedTuple

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from support.pinocchio_oracle import oracle_of_parts, oracle_of_urdf
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import LOADED, PATHS, real_robot

BOUND = 1e-10           # largest error of a state, relative to the largest number Pinocchio gives for it
NOTHING = 1e-3          # and what counts as none at all: errors are never taken relative to less than this
EPS = np.finfo(float).eps
SINGULAR = 1e14         # the condition of a mass matrix from which on there is no forward dynamics to compare
STATES, TREES, FEW, TREE_STATES, LINKS = 20, 200, 60, 4, 4
ROBOTS = [pytest.param(name, marks=[pytest.mark.slow] * (k % 10 > 0)) for k, name in enumerate(LOADED)]


class State(NamedTuple):
    """Coordinates, rates, accelerations and efforts (..., n)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


QUANTITIES = {
    "inverse dynamics": lambda robot, s: robot.inverse_dynamics(s.q, s.qd, s.qdd),
    "gravity torque": lambda robot, s: robot.gravity_torque(s.q),
    "Coriolis torque": lambda robot, s: robot.coriolis_torque(s.q, s.qd),
    "Coriolis matrix": lambda robot, s: robot.coriolis_matrix(s.q, s.qd),
    "mass matrix": lambda robot, s: robot.mass_matrix(s.q),
    "forward dynamics": lambda robot, s: robot.forward_dynamics(s.q, s.qd, s.tau),
    "kinetic energy": lambda robot, s: robot.kinetic_energy(s.q, s.qd),
    "potential energy": lambda robot, s: robot.potential_energy(s.q),
}


def quantities_of(link):
    """What is compared for one link."""
    def jacobian(representation):
        return lambda robot, s: robot.jacobian(s.q, link, representation)

    def derivative(representation):
        return lambda robot, s: robot.jacobian_derivative(s.q, s.qd, link, representation)
    return {f"placement of {link}": lambda robot, s: robot.forward_kinematics(s.q, link),
            **{f"{name} Jacobian of {link}": jacobian(name) for name in REPRESENTATIONS},
            **{f"{name} Jacobian derivative of {link}": derivative(name) for name in REPRESENTATIONS}}


def worst(quantity, robot, oracle, states):
    """The largest relative error of a quantity over the states."""
    def of_each(computed):
        return np.array([quantity(computed, State(*state)) for state in zip(*states, strict=True)])
    # One by one for Lie-group joints, whose kernels for batches would be compiled for this alone.
    found, expected = of_each(robot) if robot.model.on_groups else quantity(robot, states), of_each(oracle)
    axes = tuple(range(1, found.ndim))
    scale = np.maximum(np.abs(expected).max(axis=axes, initial=0.0), NOTHING)
    return (np.abs(found - expected).max(axis=axes, initial=0.0) / scale).max()


def compare(robot, oracle, count):
    """Compare everything on so many random states, and hold it to the bound; the largest error and of what."""
    rng = np.random.default_rng(3)
    states = State(rng.uniform(-3, 3, (count, robot.nq)), *rng.uniform(-3, 3, (3, count, robot.n)))
    links = robot.link_names[::-(-len(robot.link_names) // LINKS)]
    quantities = {**QUANTITIES, **{k: f for link in links for k, f in quantities_of(link).items()}}
    bounds = dict.fromkeys(quantities, BOUND)
    condition = np.linalg.cond([robot.mass_matrix(q) for q in states.q]).max() if robot.n else 1.0
    bounds["forward dynamics"] = max(BOUND, EPS * condition)        # what rounding the mass matrix alone amounts to
    remark = f", condition of the mass matrix {condition:.0e}" if EPS * condition > BOUND else ""
    if condition > SINGULAR:
        del quantities["forward dynamics"]
        remark = "; no forward dynamics, the mass matrix is singular"
    errors = {k: worst(f, robot, oracle, states) for k, f in quantities.items()}
    assert {k: e for k, e in errors.items() if not e <= bounds[k]} == {}
    largest = max(errors, key=errors.get)
    return errors[largest], largest + remark


@pytest.mark.parametrize("name", ROBOTS)
def test_real_robot(name, report):
    robot = real_robot(name)
    report(name, robot.n, *compare(robot, oracle_of_urdf(PATHS[name], robot), STATES))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (real_robot(name).n > 18))
                                  for name in LOADED])
def test_real_robot_with_a_floating_base(name, report):
    robot = real_robot(name, floating_base=True)
    report(f"{name}, floating", robot.n, *compare(robot, oracle_of_urdf(PATHS[name], robot), STATES // 4))


@pytest.mark.parametrize("of", [KINDS, (*GROUPS, *KINDS)], ids=["joints of one degree", "Lie-group joints"])
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= FEW))
                                  for seed in range(TREES)])
def test_random_tree(seed, of, report):
    parts = random_tree(np.random.default_rng(seed), joints=3 + seed % 10, mimics=seed % 3 // 2, of=of)
    robot = sd.Robot(model_of(parts))
    name = f"random tree {seed}{', Lie-group joints' * (of != KINDS)}"
    report(name, robot.n, *compare(robot, oracle_of_parts(parts, robot), TREE_STATES))
