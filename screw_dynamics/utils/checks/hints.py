"""Hints in error messages for users of other libraries: equivalents of their names here, or alternatives.

Libraries: Pinocchio, MuJoCo, Drake, KDL, PyBullet, Robotics Toolbox, Modern Robotics, RigidBodyDynamics.jl, iDynTree,
yourdfpy."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from types import FunctionType
from typing import Any

import numpy as np

# Names here: names there. Names that Robot itself has are not overridden.
_OURS = {
    "inverse_dynamics(q, qd, qdd)": "rnea rne id ID inverseDynamics InverseDynamics CalcInverseDynamics "
                                    "calculateInverseDynamics mj_inverse mj_rne compute_inverse_dynamics",
    "forward_dynamics(q, qd, tau)": "aba fd FD accel dynamics forwardDynamics ForwardDynamics mj_forward",
    "mass_matrix(q)": "crba inertia M H massMatrix MassMatrix CalcMassMatrix calculateMassMatrix "
                      "mj_fullM JntToMass inertia_matrix joint_space_inertia getFreeFloatingMassMatrix",
    "coriolis_matrix(q, qd)": "coriolis computeCoriolisMatrix getCoriolisMatrix",
    "coriolis_torque(q, qd)": "JntToCoriolis VelQuadraticForces coriolis_term CalcBiasTerm coriolis_force",
    "inverse_dynamics(q, qd, np.zeros(robot.n))": "nonLinearEffects nonlinear_effects nle bias_force bias_forces "
                                                  "bias_torque qfrc_bias dynamics_bias",
    "gravity_torque(q)": "gravload gravity_term gravity_vector computeGeneralizedGravity GravityForces JntToGravity "
                         "CalcGravityGeneralizedForces gravity_torques gravity_compensation",
    "external_torque(q, {link: wrench})": "computeStaticTorque EndEffectorForces pay mj_applyFT",
    "friction_torque(qd)": "friction_force",
    "forward_kinematics(q, link)": "fkine fk FK FKinBody FKinSpace forwardKinematics framePlacement link_fk placement "
                                   "updateFramePlacement updateFramePlacements get_transform getLinkState JntToCart "
                                   "mj_kinematics CalcRelativeTransform EvalBodyPoseInWorld frame_pose",
    "body_poses(q)": "fkine_all link_poses updateGlobalPlacements",
    "jacobian(q, link, representation)": "jacobians jac computeFrameJacobian getFrameJacobian getJointJacobian "
                                         "frameJacobian frame_jacobian geometric_jacobian "
                                         "CalcJacobianSpatialVelocity getFrameFreeFloatingJacobian",
    'jacobian(q, link, "body")': "jacobe JacobianBody computeJointJacobian body_jacobian",
    'jacobian(q, link, "spatial")': "JacobianSpace space_jacobian spatial_jacobian",
    'jacobian(q, link, "hybrid")': "jacob0 JntToJac mj_jac mj_jacBody mj_jacSite calculateJacobian",
    "body_jacobians(q)": "computeJointJacobians",
    "jacobian_derivative(q, qd, link, representation)":
        "jacob_dot jacobian_dot getFrameJacobianTimeVariation getJointJacobianTimeVariation mj_jacDot",
    'jacobian_derivative(q, qd, link, "hybrid")': "jacob0_dot",
    "jacobian(q, link, representation) @ qd": "getFrameVelocity getVelocity frame_velocity CalcSpatialVelocity "
                                              "EvalBodySpatialVelocityInWorld mj_objectVelocity link_velocity",
    "link_acceleration(q, qd, qdd, link, representation)": "getFrameAcceleration getAcceleration frame_acceleration "
                                                           "EvalBodySpatialAccelerationInWorld CalcSpatialAcceleration",
    'link_acceleration(q, qd, qdd, link, "hybrid")': "getFrameClassicalAcceleration getClassicalAcceleration",
    "body_twists(q, qd)": "body_velocities link_velocities",
    "kinetic_energy(q, qd)": "computeKineticEnergy CalcKineticEnergy kineticEnergy",
    "potential_energy(q)": "computePotentialEnergy CalcPotentialEnergy gravitational_potential_energy potentialEnergy",
    "kinetic_energy(q, qd) + robot.potential_energy(q)": "computeTotalEnergy mechanical_energy computeMechanicalEnergy "
                                                         "total_energy energy",
    "rollout(q0, qd0, effort, dt, steps)": "simulate fdyn forward_simulate simulation",
    "step(q, qd, effort, dt)": "mj_step mj_Euler stepSimulation",
    "from_urdf(source), a classmethod": "from_file load load_urdf loadURDF URDF BuildFromURDF buildModelFromUrdf "
                                        "buildModelFromXML initFromURDF from_string from_xml from_urdf_string "
                                        "from_urdf_file",
    "from_mjcf(source), a classmethod": "from_xml_path from_xml_string MJCF from_mjcf_file buildModelFromMJCF",
    "with_gravity(gravity)": "set_gravity setGravity",
    "with_payload(link, mass, com, inertia)": "payload set_payload add_payload",
    "specialize()": "compile jit codegen",
    "n": "nv nu njoints njnt dof ndof ndofs dofs num_joints n_joints num_dofs num_dof num_positions num_velocities "
         "numJoints getNrOfDOFs",
    "neutral()": "zero_configuration qz",
    "linearize(q, qd, tau, dt)": "mjd_transitionFD",
    "integrate(q, v)": "mj_integratePos",
    "random_configuration(seed=rng)": "randomConfiguration random_q rand",
    "total_mass": "computeTotalMass getTotalMass mass CalcTotalMass",
    "center_of_mass(q)": "com centerOfMass CoM_position CalcCenterOfMassPositionInWorld subtree_com "
                         "getCenterOfMassPosition",
    "center_of_mass_jacobian(q)": "jacobianCenterOfMass com_jacobian CoM_jacobian mj_jacSubtreeCom jacobian_com",
    "center_of_mass_velocity(q, qd)": "com_velocity getComVelocity mj_subtreeVel",
    "center_of_mass_acceleration(q, qd, qdd)": "com_acceleration",
    "composite_inertia(q)": "locked_inertia centroidal_inertia",
    "average_twist(q, qd)": "average_spatial_velocity average_velocity",
    "centroidal_momentum_matrix(q)": "ccrba computeCentroidalMap momentum_matrix CMM",
    "centroidal_momentum_matrix_derivative(q, qd)": "dccrba computeCentroidalMapTimeVariation dAg",
    "centroidal_momentum_rate(q, qd, qdd)": "computeCentroidalMomentumTimeVariation momentum_rate",
    "centroidal_momentum(q, qd)": "computeCentroidalMomentum momentum CalcSpatialMomentumInWorldAboutPoint",
    "inverse_dynamics_derivatives(q, qd, qdd)": "computeRNEADerivatives rnea_derivatives mjd_inverseFD",
    "inverse_dynamics_second_derivatives(q, qd, qdd)": "ComputeRNEASecondOrderDerivatives",
    "forward_dynamics_second_derivatives(q, qd, tau)": "ComputeFDSecondOrderDerivatives",
    "forward_dynamics_derivatives(q, qd, tau)": "computeABADerivatives aba_derivatives",
    "torque_regressor(q, qd, qdd)": "computeJointTorqueRegressor regressor dynamics_regressor "
                                     "inverseDynamicsInertialParametersRegressor",
    "kinetic_energy_regressor(q, qd)": "computeKineticEnergyRegressor",
    "potential_energy_regressor(q)": "computePotentialEnergyRegressor",
    "kinematic_hessian(q, link)": "hessian0 hessiane getFrameHessian getJointKinematicHessian hessian",
    "inverse_kinematics(pose, link)": "ikine ik IK ikine_LM ikine_GN ikine_NR ik_LM IKinBody IKinSpace CartToJnt "
                                      "calculateInverseKinematics computeIK solve_ik",
    "joint_names": "names joints jointNames joint_map actuated_joint_names actuated_joints joint_name_list",
    "joint_names.index(joint)": "getJointId joint_index joint_id",
    "link_names": "links link_map frames bodies linkNames frame_names",
    "limits.lower and robot.limits.upper": "qlim joint_limits lowerPositionLimit upperPositionLimit q_min q_max "
                                           "lower_limits upper_limits jnt_range",
    "limits.velocity": "velocityLimit velocity_limits", "limits.effort": "effortLimit effort_limits torque_limits",
    "model.inertias": "inertias body_inertia",
    "model.damping and robot.model.friction": "damping friction dof_damping dof_frictionloss",
    "armature and robot.with_armature({joint: value})": "dof_armature rotor_inertia reflected_inertia rotorInertia",
    "model.root": "root base root_link base_link base_name",
    "model.screws_spatial and robot.model.screws_body": "screws joint_screws screw_axes screw_axis S Slist Blist",
    "model.reference_poses": "home_poses home_configuration Mlist",
    "from_urdf(source, xacro_args={name: value}), a classmethod": "from_xacro xacro",
    "from_urdf(source, lock={joint: position}), a classmethod": "lock reduced buildReducedModel",
}

# Names with a different concept here, and the alternative.
_OTHERWISE = {
    "getFrameId getBodyId existFrame frame_index link_index": "every method takes a link by its name",
    "data createData create_data MakeData makeData": "a Robot needs none: methods take q and return new arrays",
    "q qd qdd qpos qvel qacc state set_state setState": "a Robot holds no state: methods take q, qd and qdd",
    "show teach animate display visualize view viewer initViewer render draw":
        "sd.view(robot) shows it on a web page, robot.plot(t, q) draws a motion",
    "manipulability": "with J = robot.jacobian(q, link) it is np.sqrt(np.linalg.det(J @ J.T))",
    "computeMinverse minverse inverse_mass_matrix mass_matrix_inverse Minv mj_solveM":
        "use np.linalg.solve(robot.mass_matrix(q), b)",
    "constraintDynamics initConstraintDynamics AddWeldConstraint AddBallConstraint AddDistanceConstraint":
        "a Robot is a tree; sd.ClosedLoopRobot(robot, constraints) closes loops",
    "forwardDynamicsContact contact_dynamics computeCollisions collision collisions self_collision contacts":
        "a Robot touches nothing; screw_dynamics.Scene(robot, ...) has contacts, docs/contacts.md",
    "LoopJoint": "here it is sd.closed_loops.LoopJoint",
    "topp toppra TOPPRA": "sd.time_optimal(robot, path) finds the fastest motion along a path",
    "with_limits set_limits":
        "for other limits, arrays (n,), make another robot: sd.Robot(dataclasses.replace(robot.model, lower=lower, "
        "upper=upper), robot.gravity, source=robot.source)",
    "operational_space_inertia cartesian_inertia inertia_x computeOSIM":
        "with M = robot.mass_matrix(q) and J = robot.jacobian(q, link) it is "
        "np.linalg.inv(J @ np.linalg.solve(M, J.T))",
}

# Missing features, and workarounds.
_NOT_YET = {
    "from_sdf SDF buildModelFromSdf from_usd":
        "only URDF, xacro and MJCF are read; convert the description, then Robot.from_urdf(source)",
}


def _hints() -> dict[str, str]:
    texts = {names: f"here it is robot.{ours}" for ours, names in _OURS.items()} | _OTHERWISE
    texts |= {names: f"it does not exist yet: {way}" for names, way in _NOT_YET.items()}
    return {name: text for names, text in texts.items() for name in names.split()}


HINTS = _hints()        # {method or attribute of another library: hint}
_OF_INSTANCES = ("n", "nq", "joint_names", "link_names", "q_slices", "v_slices", "model", "gravity", "source")


def in_part(robot: type, part: str, note: str = "") -> dict[str, str]:
    """Return the hints {name: hint} of a class that has a Robot, for names of the Robot's attributes.

    part: the Robot, such as "scene.robot". note: the end of each hint."""
    return {name: f"here it is {part}.{name}{note}" for name in (*dir(robot), *_OF_INSTANCES) if name[0] != "_"}


class _Absent:
    """An attribute that does not exist; access raises AttributeError with a hint."""

    def __init__(self, name, hint):
        self.name, self.hint = name, hint

    def __get__(self, instance, owner):
        raise AttributeError(f"{owner.__name__!r} has no attribute {self.name!r}; {self.hint}")


def _names(self):
    """Return the names of the attributes of an object, without those that raise."""
    return sorted({*dir(type(self)), *vars(self)})


class WithHints(type):
    """The metaclass of a class whose AttributeErrors for names in `hints`, {name: hint}, include the hint, and whose
    TypeErrors contain the class name: Robot.step(), not the base class that defines the method.

    These names are attributes that raise, hidden from dir(). A __getattr__ would have the same effect, but slow
    down all accesses: a call of Robot by 0.1 us, since Python up to 3.11 does not optimize classes with __getattr__."""

    def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any],
                hints: Mapping[str, str] = HINTS) -> WithHints:
        """Return the class, with hints for names that neither its body nor a base defines."""
        known = any(isinstance(base, meta) for base in bases)
        absent: dict[str, Any] = {} if known else {"__dir__": _names} | {
            lacks: _Absent(lacks, hint) for lacks, hint in hints.items() if not any(hasattr(b, lacks) for b in bases)}
        cls = super().__new__(meta, name, bases, absent | body)
        for part in () if known else cls.__mro__[1:-1]:
            for key, function in vars(part).items():
                if isinstance(function, FunctionType) and getattr(cls, key) is function:
                    # Also the module, which pickle uses.
                    function.__qualname__, function.__module__ = f"{name}.{key}", cls.__module__
        return cls

    def __dir__(cls) -> list[str]:
        """Return the names of existing attributes."""
        return [name for name in super().__dir__() if hasattr(cls, name)]


# ------------------------------------------------------------------------------------------------- values of arguments
_VALUES = {
    "body": "local body_fixed body_frame link tool ee end_effector left_trivialized",
    "spatial": "world space global inertial inertial_fixed base root right_trivialized",
    "hybrid": "local_world_aligned world_aligned lwa mixed_representation geometric",
    "semi_implicit_euler": "euler symplectic_euler mjint_euler",
    "rk4": "mjint_rk4 runge_kutta",
    "rk45": "dopri dopri5 ode45 dormand_prince"}
_MEANS = {name: ours for ours, names in _VALUES.items() for name in names.split()}


def name_hint(value: Any, choices: Collection[str]) -> str:
    """Return a hint about the choice that a name in another case or of another library means; "" if there is none."""
    theirs = str(value).rpartition(".")[2]                  # member of an enumeration, without the class name
    name = theirs.strip().lower().replace("-", "_").replace(" ", "_")
    if name in choices:
        return f'; did you mean "{name}"?'
    ours = _MEANS.get(name) or _MEANS.get(name.removesuffix("_representation"))
    if ours not in choices:
        return ""
    rows = ", and angular rows come first" if ours in ("body", "spatial", "hybrid") else ""
    return f'; what others call {theirs} is "{ours}" here{rows}'


# ------------------------------------------------------------------------------------------------- arrays
def array_hint(x: Any) -> str:
    """Return a description of an array or number of another library and how to convert it; "" if NumPy accepts it.

    The library is detected by type names, since importing it would take seconds."""
    library, name = type(x).__module__.partition(".")[0], type(x).__name__
    if isinstance(x, (list, tuple)):
        return next(filter(None, map(array_hint, x)), "")
    if isinstance(x, np.ndarray):
        return array_hint(x.ravel().tolist()) if x.dtype.kind == "O" else ""
    if library in ("jax", "jaxlib") and "Tracer" in name:
        return (f"a JAX tracer ({name}): jax.jit, grad and vmap cannot trace compiled code; "
                "screw_dynamics.backends.jax.JaxRobot(robot) has dynamics that they can trace; call others outside of "
                "them")
    if library == "torch":
        grad = " that requires grad" if x.requires_grad else ""
        to_float = ".float()" if "bfloat16" in str(x.dtype) else ""
        return (f"a torch tensor of {x.dtype} on {x.device}{grad}: pass tensor.detach().cpu(){to_float}.numpy(); "
                "gradients do not propagate through compiled code")
    if library == "cupy":
        return "a CuPy array: pass array.get()"
    if library == "casadi":
        return "a symbol of CasADi: screw_dynamics.backends.casadi.CasadiRobot(robot) has dynamics that take it"
    if library == "screw_dynamics" and name == "Law":
        return f"the law {x.name}: pass law.controller(robot, ...) or law.loop(robot, period, ...)"
    if library == "sympy":
        return "a symbol of SymPy: screw_dynamics.papers.symbolic has the equations in SymPy"
    return ""


def entry_names(x: Any) -> list | None:
    """Return the names of the entries along the last axis of an array-like of pandas, polars, Arrow or xarray.

    Names are strings or tuples; for numeric or time labels, and without labels, None is returned."""
    if hasattr(x, "coords") and type(x.dims) is tuple:
        found = x.coords[x.dims[-1]].values if x.dims and x.dims[-1] in x.coords else ()
    elif hasattr(x, "iloc"):
        found = getattr(x, "columns", x.index)
    else:
        found = getattr(x, "column_names", getattr(x, "columns", ()))
    if callable(found) or np.asarray(found).dtype.kind in "biufmM":
        return None
    names = list(found)
    return names if any(isinstance(name, (str, bytes, tuple)) for name in names) else None
