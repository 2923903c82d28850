"""Conversion of a MuJoCo model, such as MJCF text, to a Model: bodies, joints and equality constraints.

MuJoCo, an extra (pip install mujoco), reads the model. May import urdf's sources and errors, and the packages below
them."""
from .reader import MjcfWarning, compiled, read_mjcf

__all__ = ["MjcfWarning", "compiled", "read_mjcf"]
