"""Scenes: robots and bodies that touch.

Imports robots and what is below them."""
from .scene import Scene
from .touching import Contacts, Residuals

__all__ = ["Contacts", "Residuals", "Scene"]
