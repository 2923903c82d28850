"""Identification of inertial parameters from recorded motions: base parameters, physical consistency, exciting motions,
and the fit. No ROS.

May import estimation, robot and lower layers."""
from .base_parameters import BaseParameters, base_parameters
from .exact_base_parameters import exact_base_parameters
from .exciting_trajectory import FourierTrajectory, exciting_trajectory
from .fit import Identification, identify

__all__ = ["BaseParameters", "FourierTrajectory", "Identification", "base_parameters", "exact_base_parameters",
           "exciting_trajectory", "identify"]
