"""Interface packages that a node uses if they are installed."""

from importlib import import_module
from types import ModuleType

from .log import BoundedLog


def optional_interfaces(module: str, offers: str, log: BoundedLog) -> ModuleType | None:
    """Return a module of an interface package, for example "control_msgs.action"; if it is missing, return None and log
    a line."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        log.info(f"not offered: {offers}; install the ROS package {package} ({error})")
        return None
