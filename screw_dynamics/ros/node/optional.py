"""Interface packages that a node speaks where they are installed, and goes without elsewhere."""

from importlib import import_module
from types import ModuleType

from .log import BoundedLog


def optional_interfaces(module: str, offers: str, log: BoundedLog) -> ModuleType | None:
    """Return a module of an interface package, "control_msgs.action" say; None, and a line of log, where it is
    missing."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        log.info(f"not offered: {offers}; install the ROS package {package} ({error})")
        return None
