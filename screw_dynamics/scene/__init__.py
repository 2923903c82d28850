"""Scenes: robots and bodies that touch.

Imports robots and what is below them."""
from .contact_model import Contacts, ContactWarning, Residuals
from .scene import Scene

__all__ = ["ContactWarning", "Contacts", "Residuals", "Scene"]
