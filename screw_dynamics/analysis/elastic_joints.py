"""Robots with series elastic joints: a spring between each motor and the joint that it moves. No ROS. May import robot
and what is below it.

M(q) q'' + C(q, q') q' + g(q) = K (theta - q) for the links, B theta'' + D theta' + K (theta - q) = torque for the
motors, whose positions theta, torques and inertias are those at the joint, behind the gear; after Spong (1987), motors
have the kinetic energy of their own spin alone. Such a robot is flat with the output q."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.robot import Robot


class MotorMotion(NamedTuple):
    """Of the motors, (..., n) each: position, velocity and acceleration, the torque that causes them, and the torque of
    the springs, which is the effort of the joints."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray
    spring_torque: np.ndarray


class ElasticJoints:
    """The series elastic joints of a robot, whose joints are all of one degree of freedom.

    stiffness K, N m/rad or N/m, and motor_inertia B, kg m^2 or kg, behind the gear, both > 0; motor_damping D >= 0: one
    number, or (n,). ValueError for others, and for a robot with a joint on a group, which no motor drives."""

    def __init__(self, robot: Robot, stiffness: ArrayLike, motor_inertia: ArrayLike, motor_damping: ArrayLike = 0.0):
        checks.coordinates_alone("ElasticJoints", robot.model)
        self.robot = robot
        self.stiffness = self._of_joints("stiffness", stiffness, False)
        self.motor_inertia = self._of_joints("motor_inertia", motor_inertia, False)
        self.motor_damping = self._of_joints("motor_damping", motor_damping, True)

    def _of_joints(self, name, x, may_vanish):
        found = checks.vector(name, checks.each(name, x, self.robot.n), self.robot.n)
        for joint, number in zip(self.robot.joint_names, found.tolist(), strict=True):
            if not (number > 0.0 or may_vanish and number == 0.0):
                raise ValueError(f"{name} of joint {joint!r}: {number!r} must be {'>= 0' if may_vanish else '> 0'}")
        return found

    def feed_forward(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike,
                     qdddd: ArrayLike) -> MotorMotion:
        """The motion of the motors, and their torques, that make the links move like this: q with its time derivatives
        up to the fourth, (..., n) each; theta = q + K^-1 tau."""
        K, qdddd = self.stiffness, checks.real_numbers("qdddd", qdddd, self.robot.n)
        tau, rate, second = self.robot.inverse_dynamics_time_derivatives(q, qd, qdd, qddd, qdddd)
        theta, thetad, thetadd = q + tau / K, qd + rate / K, qdd + second / K
        torque = self.motor_inertia * thetadd + self.motor_damping * thetad + tau
        return MotorMotion(theta, thetad, thetadd, torque, tau)

    def accelerations(self, q: ArrayLike, qd: ArrayLike, theta: ArrayLike, thetad: ArrayLike,
                      torque: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The accelerations (qdd, thetadd) of links and motors, (..., n) each, that torques of the motors cause."""
        given = {"q": q, "qd": qd, "theta": theta, "thetad": thetad, "torque": torque}
        q, qd, theta, thetad, torque = checks.broadcast(
            {name: checks.real_numbers(name, x, self.robot.n) for name, x in given.items()})
        spring = self.stiffness * (theta - q)
        rest = torque - spring - self.motor_damping * thetad
        return self.robot.forward_dynamics(q, qd, spring), rest / self.motor_inertia
