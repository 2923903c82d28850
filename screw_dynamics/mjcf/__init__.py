"""From a model of MuJoCo, MJCF text say, to a Model: bodies, joints and equality constraints. MuJoCo reads it, an extra
(pip install mujoco). May import urdf's sources and errors, and what is below them."""
from .reader import MjcfWarning, compiled, read_mjcf

__all__ = ["MjcfWarning", "compiled", "read_mjcf"]
