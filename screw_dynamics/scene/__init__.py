"""Scenes: robots and bodies with contacts.

Imports robots and the packages below."""
from .contact_model import Contacts, ContactWarning, Residuals
from .scene import Scene

__all__ = ["ContactWarning", "Contacts", "Residuals", "Scene"]
