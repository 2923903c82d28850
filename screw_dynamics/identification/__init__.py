"""From recorded motions to the inertial parameters of a robot's links: base parameters, physical consistency, exciting
motions, and the fit. No ROS. May import estimation and what is below it."""
from .base_parameters import BaseParameters, base_parameters
from .exact_base_parameters import exact_base_parameters

__all__ = ["BaseParameters", "base_parameters", "exact_base_parameters"]
