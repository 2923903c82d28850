"""Control laws that robots are often run by: a function each, with its parameters."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from screw_dynamics.algorithms.solvers import factorize, solve_symmetric, substitute
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import kernel

from .law import Law, law, parameter


@dataclass(frozen=True)
class GravityCompensation:
    """Parameters of `gravity_compensation`."""

    damping: float = parameter(0.0, "damping of the joints", "N m s/rad or N s/m", lower=0.0, per_joint=True)


@law(parameters=GravityCompensation)
def gravity_compensation(robot: Any, t: Any, q: Any, qd: Any, reference: Any, state: Any, parameters: Any) -> Any:
    """Gravity compensation with damping: tau = g(q) - D qd."""
    return robot.gravity_torque(q) - parameters.damping * qd


@dataclass(frozen=True)
class PdWithGravity:
    """Parameters of `pd_with_gravity`."""

    stiffness: float = parameter(40.0, "stiffness of the joints", "N m/rad or N/m", lower=0.0, per_joint=True)
    damping: float = parameter(8.0, "damping of the joints", "N m s/rad or N s/m", lower=0.0, per_joint=True)


@law(parameters=PdWithGravity, reference=("position", "velocity"))
def pd_with_gravity(robot: Any, t: Any, q: Any, qd: Any, reference: Any, state: Any, parameters: Any) -> Any:
    """PD control with gravity compensation: tau = g(q) + K (q_d - q) + D (qd_d - qd)."""
    return (robot.gravity_torque(q) + parameters.stiffness * (reference.position - q)
            + parameters.damping * (reference.velocity - qd))


@dataclass(frozen=True)
class ComputedTorque:
    """Parameters of `computed_torque`."""

    stiffness: float = parameter(100.0, "acceleration for each unit of the error", "1/s^2", lower=0.0, per_joint=True)
    damping: float = parameter(20.0, "acceleration for each unit of its rate", "1/s", lower=0.0, per_joint=True)


@law(parameters=ComputedTorque, reference=("position", "velocity", "acceleration"))
def computed_torque(robot: Any, t: Any, q: Any, qd: Any, reference: Any, state: Any, parameters: Any) -> Any:
    """Computed torque: e'' + D e' + K e = 0, with the error e of each joint."""
    a = (reference.acceleration + parameters.stiffness * (reference.position - q)
         + parameters.damping * (reference.velocity - qd))
    return robot.inverse_dynamics(q, qd, a)


@dataclass(frozen=True)
class JointImpedance:
    """Parameters of `joint_impedance`."""

    stiffness: float = parameter(40.0, "stiffness of the joints", "N m/rad or N/m", lower=0.0, per_joint=True)
    damping: float = parameter(8.0, "damping of the joints", "N m s/rad or N s/m", lower=0.0, per_joint=True)


@law(parameters=JointImpedance, reference=("position", "velocity", "acceleration"))
def joint_impedance(robot: Any, t: Any, q: Any, qd: Any, reference: Any, state: Any, parameters: Any) -> Any:
    """Joint impedance along a motion: M e'' + (C + D) e' + K e = external efforts, with the robot's own inertia.

    B. Paden, R. Panja, "Globally asymptotically stable PD+ controller for robot manipulators", Int. J. Control 47,
    1988."""
    rate = reference.velocity - qd
    return (robot.inverse_dynamics(q, qd, reference.acceleration) + robot.coriolis_matrix(q, qd) @ rate
            + parameters.stiffness * (reference.position - q) + parameters.damping * rate)


@dataclass(frozen=True)
class CartesianImpedance:
    """Parameters of `cartesian_impedance`."""

    translational_stiffness: float = parameter(400.0, "stiffness of the link's origin", "N/m", lower=0.0)
    rotational_stiffness: float = parameter(30.0, "stiffness of its orientation", "N m/rad", lower=0.0)
    translational_damping: float = parameter(40.0, "damping of the link's origin", "N s/m", lower=0.0)
    rotational_damping: float = parameter(3.0, "damping of its rotation", "N m s/rad", lower=0.0)
    posture_stiffness: float = parameter(10.0, "stiffness of the posture in the null space", "N m/rad or N/m",
                                         lower=0.0, per_joint=True)
    posture_damping: float = parameter(2.0, "damping of the posture in the null space", "N m s/rad or N s/m",
                                       lower=0.0, per_joint=True)


def cartesian_impedance(link: str) -> Law:
    """Return the law of a Cartesian impedance of a link, with a posture in its null space.

    A spring and a damper pull the link to the reference `pose`. The spring of the orientation has the potential k / 2
    tr(1 - R^T R_d). Joint springs and dampers toward the reference `position` act in the null space, dynamically
    consistently: they do not accelerate the link (O. Khatib, IEEE J. Robotics and Automation 3(1), 1987)."""
    @law(parameters=CartesianImpedance, reference=("pose", "position"), link=link)
    def cartesian_impedance(robot: Any, t: Any, q: Any, qd: Any, reference: Any, state: Any, parameters: Any) -> Any:
        """A spring and a damper between a link and a pose, and joint springs in its null space."""
        J, T = robot.jacobian(q, link, "hybrid"), robot.forward_kinematics(q, link)
        twist = J @ qd
        torque = (parameters.rotational_stiffness * rotation_between(T, reference.pose)
                  - parameters.rotational_damping * twist[:3])
        force = (parameters.translational_stiffness * (reference.pose[:3, 3] - T[:3, 3])
                 - parameters.translational_damping * twist[3:])
        posture = parameters.posture_stiffness * (reference.position - q) - parameters.posture_damping * qd
        return (robot.gravity_torque(q) + J[:3].T @ torque + J[3:].T @ force
                + in_null_space(robot.mass_matrix(q), J, posture))
    return cartesian_impedance


@kernel
def rotation_between(T: np.ndarray, T_d: np.ndarray) -> np.ndarray:
    """Return half the sum of r_i x r_di over the columns of two rotations: the axis times the sine of the angle."""
    found = 0.0 * T[:3, 3]
    for i in range(3):
        found[0] += 0.5 * (T[1, i] * T_d[2, i] - T[2, i] * T_d[1, i])
        found[1] += 0.5 * (T[2, i] * T_d[0, i] - T[0, i] * T_d[2, i])
        found[2] += 0.5 * (T[0, i] * T_d[1, i] - T[1, i] * T_d[0, i])
    return found


@kernel
def in_null_space(M: np.ndarray, J: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return (1 - J^T (J M^-1 J^T + 1e-6)^-1 J M^-1) tau: finite at singularities, too."""
    X = J.T.copy()
    factorize(M, len(tau))
    substitute(M, X)
    mobility = J @ X
    for i in range(6):
        mobility[i, i] += 1e-6
    force = X.T @ tau
    solve_symmetric(mobility, force)
    return tau - J.T @ force


@dataclass(frozen=True)
class CollisionReaction:
    """Parameters of `collision_reaction`."""

    stiffness: float = parameter(40.0, "stiffness of the joints", "N m/rad or N/m", lower=0.0, per_joint=True)
    damping: float = parameter(8.0, "damping of the joints", "N m s/rad or N s/m", lower=0.0, per_joint=True)
    observer_gain: float = parameter(50.0, "rate of the observer", "1/s", lower=1e-3)
    threshold: float = parameter(10.0, "external effort of a joint that is a collision", "N m or N", lower=0.0,
                                 per_joint=True)
    reflex: float = parameter(1.0, "effort after a collision for each unit of the external effort", "", lower=0.0)


@law(parameters=CollisionReaction, reference=("position", "velocity"),
     state={"external": "joint", "momentum": "joint", "collided": 1, "started": 1})
def collision_reaction(robot: Any, t: Any, q: Any, qd: Any, reference: Any, state: Any, parameters: Any) -> Any:
    """PD control with gravity compensation until a collision, then a reflex away from it.

    The generalized-momentum observer finds the external efforts r by r' = K (tau_external - r), without accelerations,
    from r = 0 in the first cycle on. From the first |r| above the threshold on, until a reset, tau = g + reflex r - D
    qd: the robot floats, and gives way to what pushes it (A. De Luca, A. Albu-Schaeffer, S. Haddadin, G. Hirzinger,
    IROS 2006)."""
    K, gravity = parameters.observer_gain, robot.gravity_torque(q)
    momentum = robot.mass_matrix(q) @ qd
    before = 1.0 * state.momentum
    for k in range(len(q)):
        before[k] = where(state.started[0] > 0.5, before[k], momentum[k])
    external = K * (momentum - before)
    collided = 1.0 * state.collided
    for k in range(len(q)):
        collided[0] = where(external[k] > parameters.threshold[k], 1.0, where(
            -external[k] > parameters.threshold[k], 1.0, collided[0]))
    held = (parameters.stiffness * (reference.position - q) + parameters.damping * (reference.velocity - qd))
    reflex = parameters.reflex * external - parameters.damping * qd
    tau = gravity + (1.0 - collided[0]) * held + collided[0] * reflex
    expected = before + state.dt * (tau + robot.coriolis_matrix(q, qd).T @ qd - gravity + external)
    return tau, (external, expected, collided, 1.0 + 0.0 * state.started)


@dataclass(frozen=True)
class Admittance:
    """Parameters of `admittance`."""

    mass: float = parameter(1.0, "apparent inertia of the joints", "kg m^2 or kg", lower=1e-6, per_joint=True)
    damping: float = parameter(20.0, "apparent damping of the joints", "N m s/rad or N s/m", lower=0.0, per_joint=True)
    stiffness: float = parameter(100.0, "apparent stiffness of the joints", "N m/rad or N/m", lower=0.0, per_joint=True)
    tracking_stiffness: float = parameter(400.0, "acceleration for each unit of the tracking error", "1/s^2", lower=0.0,
                                          per_joint=True)
    tracking_damping: float = parameter(40.0, "acceleration for each unit of its rate", "1/s", lower=0.0,
                                        per_joint=True)


def admittance(link: str) -> Law:
    """Return the law of an admittance: joints yield to a measured wrench as masses, dampers and springs do.

    The reference `wrench` is what the environment does to the link, as a force-torque sensor there measures it. The
    joints follow the reference motion plus the displacement x of mass x'' + damping x' + stiffness x = J^T wrench, by
    computed torque that compensates the wrench."""
    @law(parameters=Admittance, reference=("position", "velocity", "acceleration", "wrench"),
         state={"displacement": "joint", "rate": "joint"}, link=link)
    def admittance(robot: Any, t: Any, q: Any, qd: Any, reference: Any, state: Any, parameters: Any) -> Any:
        """Joints that yield to a measured wrench as masses, dampers and springs do."""
        external = robot.jacobian(q, link).T @ reference.wrench
        x, v = state.displacement, state.rate
        a = (external - parameters.damping * v - parameters.stiffness * x) / parameters.mass
        qdd = (reference.acceleration + a + parameters.tracking_stiffness * (reference.position + x - q)
               + parameters.tracking_damping * (reference.velocity + v - qd))
        v_next = v + state.dt * a
        return robot.inverse_dynamics(q, qd, qdd) - external, (x + state.dt * v_next, v_next)
    return admittance
