"""Control laws: functions of the robot and its state that rollouts, simulated robots and exported controllers share.

`Law` declares references, state and parameters of a law; `laws` has the usual ones. `export_controller` writes a
package for ros2_control."""
from screw_dynamics.numbers.scalars import absolute, sincos, sqrt, where

from .law import Law, Loop, law, parameter
from .laws import (
    Admittance,
    CartesianImpedance,
    CollisionReaction,
    ComputedTorque,
    GravityCompensation,
    JointImpedance,
    PdWithGravity,
    admittance,
    cartesian_impedance,
    collision_reaction,
    computed_torque,
    gravity_compensation,
    joint_impedance,
    pd_with_gravity,
)

__all__ = ["Admittance", "CartesianImpedance", "CollisionReaction", "ComputedTorque", "GravityCompensation",
           "JointImpedance", "Law", "Loop", "PdWithGravity", "absolute", "admittance", "cartesian_impedance",
           "collision_reaction", "computed_torque", "gravity_compensation", "joint_impedance", "law", "parameter",
           "pd_with_gravity", "sincos", "sqrt", "where"]
