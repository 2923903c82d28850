"""The one-line message about a missing ROS package, with the command that installs or builds it. Imports no ROS."""

import platform
import sys
from importlib.util import find_spec
from pathlib import Path

INTERFACES = "screw_dynamics_interfaces"
ENDINGS = "_msgs", "_srvs", "_interfaces"
CHECKOUT = Path(__file__).resolve().parents[2]


def advice(program: str, error: ImportError) -> str:
    """Return the reason for which a program that failed with this error does not start, and the remedy; "" if ROS is
    not the cause."""
    name = error.name or ""
    package = name.partition(".")[0]
    if package == INTERFACES:
        found = find_spec(package)
        if found is None or found.origin is None:  # in a checkout the package's folder is an empty namespace package
            return f"{program} needs the package {package}, which is not built: {build_command()}"
        return f"{program} needs the package {package}, which is of another version ({error}): {build_command()}"
    if package != "rclpy" and not package.endswith(ENDINGS):
        return ""
    if name != package or find_spec(package) is not None:
        return (f"{program} needs ROS 2, whose package {package} does not work with this Python "
                f"{platform.python_version()}: {str(error).splitlines()[0]}")
    if find_spec("rclpy") is None:
        return (f"{program} needs ROS 2, and there is no rclpy: source the workspace where screw_dynamics was built, "
                "or take the .venv of make setup (docs/installation.md)")
    return (f"{program} needs the ROS package {package}, which is not installed: "
            f"sudo apt install ros-$ROS_DISTRO-{package.replace('_', '-')}")


def build_command(checkout: Path = CHECKOUT) -> str:
    """Return the command that builds the interfaces: in a checkout, in the source tree of a release, or in a
    workspace."""
    if Path(sys.prefix, "setup.json").is_file():    # tools/setup made this environment
        return "make interfaces"
    if (checkout / INTERFACES / "package.xml").is_file():
        return f"colcon build --paths {checkout} {checkout / INTERFACES}"
    if (checkout.parent / INTERFACES / "package.xml").is_file():
        return f"colcon build --base-paths {checkout.parent}"
    return (f"colcon build --paths src/screw_dynamics src/screw_dynamics/{INTERFACES}, "
            "where the clone is src/screw_dynamics")
