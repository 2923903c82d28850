"""The topics, services and actions of a node, each stated once in a table that makes them and that the reference of the
documentation is generated from. Imports no ROS."""

from importlib import import_module
from typing import NamedTuple


class Endpoint(NamedTuple):
    """One row: a name, whose parts in <> are filled in when it is made, the type package/folder/Type, what it carries,
    and what it takes that it is there; "": nothing."""

    name: str
    kind: str
    description: str
    when: str = ""

    @property
    def type(self) -> type:
        """The class. Raises ImportError if its package is not installed."""
        package, folder, name = self.kind.split("/")
        return getattr(import_module(f"{package}.{folder}"), name)

    def named(self, **parts: str) -> str:
        """Return the name with its parts filled in."""
        name = self.name
        for part, text in parts.items():
            name = name.replace(f"<{part}>", text)
        return name


class Interface(NamedTuple):
    """All of a node's. A name that is in no row cannot be made."""

    publishes: tuple[Endpoint, ...] = ()
    subscribes: tuple[Endpoint, ...] = ()
    serves: tuple[Endpoint, ...] = ()
    acts: tuple[Endpoint, ...] = ()

    def row(self, use: str, name: str) -> Endpoint:
        """Return the row of a name in one of the tables."""
        return next(row for row in getattr(self, use) if row.name == name)


DIAGNOSTICS = Endpoint("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "the health of the node, once a second")
DESCRIPTION = Endpoint("robot_description", "std_msgs/msg/String",
                       "the robot as URDF text, latched; the parameter of the same name comes first")
PUBLISHED_DESCRIPTION = DESCRIPTION._replace(
    description="the robot as URDF text, latched, as it was read from the file; if nobody else publishes it",
    when="the parameter `urdf`")
ODOMETRY = Endpoint("odom", "nav_msgs/msg/Odometry", "the state of a floating base, in the frame of its pose",
                    "a floating base")
