"""Whether ROS 2 is here. Only its tests may be left out, and never where the set-up has installed it."""
import platform
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

MACHINE = platform.machine()
PACKAGES = "rclpy", "screw_dynamics_interfaces"


def reason_to_skip(find=find_spec, machine=MACHINE):
    """Why the tests of nodes cannot run, or None. In the environment that tools/setup makes on Linux on x86-64 they
    have to: there a missing package is a fault, and importing it says so."""
    missing = [name for name in PACKAGES if find(name) is None]
    if not missing or (machine, sys.platform) == ("x86_64", "linux") and Path(sys.prefix, "setup.json").is_file():
        return None
    return f"{' and '.join(missing)} cannot be imported: the nodes need ROS 2"


REASON = reason_to_skip()
needs_ros = pytest.mark.skipif(REASON is not None, reason=REASON or "")
