"""The topics, services and actions of a node, each defined once in a table, from which the node and the reference
documentation are generated. Imports no ROS."""

from importlib import import_module
from typing import NamedTuple


class Endpoint(NamedTuple):
    """One row: a name, whose parts in <> are filled in at creation; the type package/folder/Type; the content; and the
    condition under which it exists, "" if it always does."""

    name: str
    kind: str
    description: str
    when: str = ""

    @property
    def type(self) -> type:
        """The class of the type. Raises ImportError if its package is not installed."""
        package, folder, name = self.kind.split("/")
        return getattr(import_module(f"{package}.{folder}"), name)

    def named(self, **parts: str) -> str:
        """Return the name with its parts filled in."""
        name = self.name
        for part, text in parts.items():
            name = name.replace(f"<{part}>", text)
        return name


class Interface(NamedTuple):
    """All endpoints of a node. An endpoint without a row cannot be created."""

    publishes: tuple[Endpoint, ...] = ()
    subscribes: tuple[Endpoint, ...] = ()
    serves: tuple[Endpoint, ...] = ()
    acts: tuple[Endpoint, ...] = ()

    def row(self, use: str, name: str) -> Endpoint:
        """Return the row of a name in the table `use`."""
        return next(row for row in getattr(self, use) if row.name == name)


DIAGNOSTICS = Endpoint("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "the health of the node, once a second")
DESCRIPTION = Endpoint("robot_description", "std_msgs/msg/String",
                       "the robot as URDF text, latched; the parameter of the same name comes first")
PUBLISHED_DESCRIPTION = DESCRIPTION._replace(
    description="the robot as URDF text, latched, as it was read from the file; unless another node publishes it",
    when="the parameter `urdf`")
ODOMETRY = Endpoint("odom", "nav_msgs/msg/Odometry", "the state of a floating base, in the frame of its pose",
                    "a floating base")
