"""Robot, the facade of the package: its methods by what they are about, one file each."""
from .robot import GRAVITY, Robot

__all__ = ["GRAVITY", "Robot"]
