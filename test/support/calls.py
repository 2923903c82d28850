"""Functions of the package that have options or take arrays, each with arguments with which it works."""
import functools
import inspect
import os
import tempfile

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.identification.exact_base_parameters import exact_base_parameters
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint
from support.paths import URDF
from support.random_trees import model_of, random_tree

ARM = sd.Robot.from_urdf(URDF / "spherical_arm.urdf")
TEXT = (URDF / "spherical_arm.urdf").read_text()
FLOATING = sd.Robot.from_urdf(TEXT, floating_base=True)
TREE = sd.Robot(model_of(random_tree(np.random.default_rng(5), joints=3)))
Q, QD, QDD = 0.1 * np.ones((3, ARM.n))
T, QS = np.linspace(0.0, 1.0, 5), np.zeros((5, ARM.n))
POSE = ARM.forward_kinematics(Q, "gripper")
LOOPS = ClosedLoopRobot(ARM, [LoopJoint("loop", "spherical", "gripper")])
MJCF = """<mujoco><worldbody><body><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</worldbody></mujoco>"""


def builder():
    """A builder with two links."""
    made = sd.ModelBuilder("base")
    made.add_joint("j", "a", "base", [0, 0, 1, 0, 0, 0], inertia=np.eye(6))
    return made


def adding(name):
    """A method of ModelBuilder, of a builder of its own at each call."""
    method = getattr(sd.ModelBuilder, name)

    @functools.wraps(method)
    def add(**given):
        return method(builder(), **given)
    return add


def cost(t, q, qd, tau):
    return q.sum(), np.ones(qd.shape)


STATE = {"q": Q, "qd": QD, "qdd": QDD, "qddd": QD, "qdddd": QDD, "tau": QD}
MOTION = {"t": T, "q": QS, "qd": QS}
# Arguments by name, or those of STATE that a method takes.
ROBOT = {
    "energy_balance": MOTION, "plot": MOTION, "external_torque": {"q": Q, "external": {}}, "hybrid_dynamics": {
        **{name: STATE[name] for name in ("q", "qd", "qdd", "tau")}, "driven": ["lift"]},
    "inverse_kinematics": {"pose": POSE, "link": "gripper"},
    "rollout": {"q0": Q, "qd0": QD, "steps": 10}, "rollout_derivatives": {"q0": Q, "qd0": QD, "steps": 10},
    "rollout_gradient": {"cost": cost, "q0": Q, "qd0": QD, "steps": 10},
    "step": {"q": Q, "qd": QD, "effort": QDD, "dt": 1e-3}, "from_urdf": {"source": TEXT}, "from_mjcf": {"source": MJCF},
    "with_payload": {"link": "gripper", "mass": 1.0}, "random_configuration": {"seed": 0}, "interpolate": {
        "q0": Q, "q1": QD, "s": 0.5}, "difference": {"q0": Q, "q1": QD}, "distance": {"q0": Q, "q1": QD},
    "integrate": {"q": Q, "v": QD}, "with_armature": {"armature": {"lift": 0.1}}, "total_force": {"forces": []},
    "export_c": {"folder": os.path.join(tempfile.mkdtemp(), "arm"), "quantities": ["gravity_torque"]}}


def calls():
    """(function, arguments with which it works) of all that have options."""
    for name, method in public(sd.Robot):
        taken = inspect.signature(method).parameters
        if name == "momentum_balance":
            yield FLOATING.momentum_balance, {"t": T, "q": np.tile(FLOATING.neutral(), (5, 1)),
                                              "qd": np.zeros((5, FLOATING.n))}
        else:
            given = ROBOT.get(name) or {x: STATE[x] for x in taken if x in STATE and taken[x].default in (
                inspect.Parameter.empty, None)} | ({"link": "gripper"} if "link" in taken else {})
            yield getattr(ARM, name), given
    joint = {"joint": "k", "link": "b", "parent": "a"}
    for name, given in {                                    # a builder keeps what it is given: a new one for each call
            "add_joint": {**joint, "screw": [0, 0, 1, 0, 0, 0]}, "add_fixed": {"link": "b", "parent": "a"},
            "add_screw": {**joint, "axis": [0, 0, 1], "mass": 1.0}, "add_macro_joint": {"kind": "cylindrical", **joint},
            "add_group_joint": {"kind": "free", **joint},
            "add_loop_joint": {"name": "loop", "kind": "spherical", "link": "a"},
            "add_distance": {"name": "rod", "link": "a"}, "add_gear": {"name": "gear", "ratios": {"j": 1.0}}}.items():
        yield adding(name), given
    yield sd.Robot, {"model": ARM.model}
    yield sd.ModelBuilder, {"root": "base"}
    yield sd.absolute_coordinates.Body, {"name": "body", "inertia": np.eye(6)}
    yield sd.read_urdf, {"source": TEXT}
    yield ClosedLoopRobot.from_urdf, {"source": TEXT}
    yield ClosedLoopRobot.from_mjcf, {"source": MJCF}
    yield LOOPS.project, {"q": Q}
    yield LOOPS.rollout, {"q0": 0 * Q, "qd0": 0 * QD, "steps": 3}       # closed there, without a kernel that says so
    yield sd.inertia_matrix, {"mass": 1.0, "com": np.zeros(3), "rotational": np.eye(3)}
    yield sd.differential_inverse_kinematics.velocities, {
        "robot": ARM, "q": Q, "tasks": [sd.differential_inverse_kinematics.PostureTask(Q)], "dt": 1e-3}
    yield sd.estimation.MomentumObserver, {"robot": ARM, "gain": 10.0}
    yield sd.estimation.identify_payload, {"robot": ARM, "link": "gripper", "t": T, "q": QS, "tau": QS}
    yield sd.estimation.contact_wrench, {"robot": ARM, "q": Q, "torque": QD, "link": "gripper"}
    yield sd.identification.base_parameters, {"robot": ARM}
    yield exact_base_parameters, {"robot": ARM}
    yield sd.identification.exciting_trajectory, {"robot": TREE, "iterations": 0}
    yield sd.identification.identify, {"robot": ARM, "t": T, "q": QS, "tau": QS}
    yield sd.calibration.geometric_sensitivities, {"robot": ARM, "q": Q, "link": "gripper"}
    yield sd.calibration.GeometricParameters, {"robot": ARM, "link": "gripper"}
    yield sd.macro_joints.degrees, {"kind": "spherical"}
    yield sd.macro_joints.coordinates, {"kind": "spherical", "D": np.eye(4)}
    yield sd.symbolic.equations_of_motion, {"robot": sd.Robot.from_urdf(URDF / "double_pendulum.urdf")}
    system = sd.absolute_coordinates.of_robot(ARM, Q)
    yield sd.absolute_coordinates.simulate, {"system": system, "duration": 0.0, "dt": 1e-3}
    yield system.initial, {}


def public(kind):
    """Its methods by name, and none that stands for another library's."""
    return [(name, getattr(kind, name)) for name in dir(kind)
            if not name.startswith("_") and inspect.isroutine(getattr(kind, name, None))]


def label(function):
    """What a test calls a function."""
    return getattr(function, "__qualname__", str(function))


# ------------------------------------------------------------------------------------------------- arrays
# Values of arguments that a call works without.
OPTIONAL = {
    "q_rest": np.zeros(3), "rest_weight": np.ones(3), "gravity": np.array([0.0, 0.0, -9.81]), "placement": np.eye(4),
    "frame": np.eye(4), "frame_on": np.eye(4), "pose": np.eye(4), "inertia": np.eye(6), "com": np.zeros(3),
    "point": np.zeros(3), "point_on": np.zeros(3), "q0": np.zeros(3), "effort": np.zeros(3), "tau": np.zeros(3),
    "acceleration_limit": np.ones(3), "weights": np.ones(3), "preferred": np.zeros(3), "velocity": np.ones(3),
    "acceleration": np.ones(3), "driven": np.zeros(3), "twist": np.zeros(6), "qdd": np.zeros(3), "qd": np.zeros(3),
    "q": np.zeros(3), "qdddd": np.zeros(3)}
OF_A_LINK = {"add_screw": {"inertia": np.eye(3)}, "with_payload": {"inertia": np.eye(3)}}


def arrays():
    """(function, its arguments, name of an argument that is an array, and the array)."""
    for function, given in calls():
        for name, parameter in inspect.signature(function).parameters.items():
            if "ArrayLike" in str(parameter.annotation) and "Mapping" not in str(parameter.annotation):
                value = given.get(name, {**OPTIONAL, **OF_A_LINK.get(function.__name__, {})}.get(name))
                if isinstance(value, (list, np.ndarray)) and not isinstance(value[0], str):
                    rest = {"q_rest": OPTIONAL["q_rest"]} if name == "rest_weight" else {}
                    yield function, given | rest, name, np.array(value, dtype=float)


CASES = list(arrays())
# Methods whose kernels make setup does not compile.
RARE = {"torque_regressor", "acceleration_regressor", "momentum_regressor", "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives", "linearize", "rollout_gradient", "base_parameters", "exciting_trajectory",
        "identify", "project", "momentum_balance", "inverse_dynamics_second_derivatives",
        "forward_dynamics_second_derivatives",
        "hybrid_dynamics", "inverse_dynamics_time_derivatives", "link_acceleration", "link_jerk", "link_snap",
        "jacobian_second_derivative", "kinetic_energy_regressor", "potential_energy_regressor", "kinematic_hessian"}


def rare(name):
    """The mark of a test that calls this method."""
    return [pytest.mark.slow] * (name in RARE)
