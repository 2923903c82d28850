"""Scenes: robots and bodies that touch.

Imports robots and what is below them."""
from .scene import Scene
from .touching import Contacts, ContactWarning, Residuals

__all__ = ["ContactWarning", "Contacts", "Residuals", "Scene"]
