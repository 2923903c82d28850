"""Robot, the facade of the package. Its methods are grouped by topic, one file each."""
from .robot import GRAVITY, Robot

__all__ = ["GRAVITY", "Robot"]
