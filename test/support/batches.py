"""Robots, the methods that take batches of their states, and what single states give."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import URDF
from support.random_trees import model_of, random_tree
from support.real_robots import real_robot

PANDA = "panda_description/urdf/panda.urdf"
ROBOTS = {
    "arm": real_robot(PANDA, tip_link="panda_link8"),
    "arm with fingers, one a mimic": real_robot(PANDA),
    "tree": sd.Robot(model_of(random_tree(np.random.default_rng(4), 6), damping=0.3, friction=0.2)),
    "tree with mimics": sd.Robot(model_of(random_tree(np.random.default_rng(5), 6, mimics=2))),
    "no joint": sd.Robot(sd.ModelBuilder("root", sd.inertia_matrix(1.0, (0.1, 0.2, 0.3), np.eye(3))).build()),
}
ARM, PENDULUM = ROBOTS["arm"], sd.Robot.from_urdf(URDF / "double_pendulum.urdf")

# Methods of states: how many arrays (..., n) each takes, and what else.
REPRESENTATIONS = ("body", "spatial", "hybrid", "mixed")
ABOUT = dict(link=-1, reference=1)
METHODS = {
    "inverse_dynamics": (3, {}), "gravity_torque": (1, {}), "coriolis_torque": (2, {}), "forward_dynamics": (3, {}),
    "mass_matrix": (1, {}), "coriolis_matrix": (2, {}), "kinetic_energy": (2, {}), "potential_energy": (1, {}),
    "friction_torque": (1, {}), "center_of_mass": (1, {}), "center_of_mass_jacobian": (1, {}),
    "center_of_mass_velocity": (2, {}), "center_of_mass_acceleration": (3, {}), "composite_inertia": (1, {}),
    "average_twist": (2, {}), "centroidal_momentum_matrix": (1, {}), "centroidal_momentum": (2, {}),
    "centroidal_momentum_matrix_derivative": (2, {}), "centroidal_momentum_rate": (3, {}),
    "body_poses": (1, {}), "body_poses, spatial": (1, dict(form="spatial")),
    "forward_kinematics": (1, dict(link=-1)), "forward_kinematics, reference": (1, ABOUT),
    "external_torque": (1, dict(external=-1)), "inverse_dynamics, external": (3, dict(external=-1)),
    "forward_dynamics, external": (3, dict(external=-1)), "torque_regressor": (3, {}),
    "kinetic_energy_regressor": (2, {}), "potential_energy_regressor": (1, {}),
    **{f"jacobian, {form}": (1, dict(ABOUT, representation=form)) for form in REPRESENTATIONS},
    **{f"jacobian_derivative, {form}": (2, dict(ABOUT, representation=form)) for form in REPRESENTATIONS},
    **{f"body_twists, {form}": (2, dict(representation=form)) for form in REPRESENTATIONS},
    **{f"body_jacobians, {form}": (1, dict(representation=form)) for form in REPRESENTATIONS}}
# Those with kernels that nothing else compiles.
SLOW = {"center_of_mass_acceleration", "composite_inertia", "average_twist", "centroidal_momentum_matrix_derivative",
        "centroidal_momentum_rate", "torque_regressor", "kinetic_energy_regressor", "potential_energy_regressor",
        "inverse_dynamics, external", "forward_dynamics, external"}
EACH_METHOD = pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW))
                                               for name in METHODS])


def method(robot, name):
    """The method of that name in METHODS with its other arguments, and how many arrays it takes."""
    inputs, options = METHODS[name]
    options = {key: value if isinstance(value, str) else robot.link_names[min(value, len(robot.link_names) - 1)]
               for key, value in options.items()}
    if "external" in options:
        options["external"] = {options["external"]: np.arange(6.0), robot.model.root: np.ones(6)}
    return lambda *states, **more: getattr(robot, name.partition(",")[0])(*states, **options, **more), inputs


def states(rng, robot, inputs, *lead):
    """So many arrays (*lead, n) of random numbers."""
    return rng.normal(size=(inputs, *lead, robot.n))


def one_by_one(f, arrays):
    """f of each state by itself, as an array over the leading axes."""
    lead = arrays.shape[1:-1]
    results = np.array([f(*(x[index] for x in arrays)) for index in np.ndindex(lead)])
    return results.reshape(*lead, *results.shape[1:])


def assert_equal_to_rounding(found, expected):
    """Equal to 1e-12 of the largest number."""
    assert found.shape == expected.shape and found.dtype == float
    assert np.abs(found - expected).max(initial=0.0) <= 1e-12 * np.abs(expected).max(initial=0.0)
