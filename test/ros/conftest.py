"""What the tests of nodes share. Where ROS 2 is missing each of their files is skipped, with the reason."""
import pytest

from support.ros import REASON

if REASON is None:
    from support.node_fixtures import ros, running_simulator, simulator, simulator_process  # noqa: F401
else:
    class WithoutRos(pytest.Module):
        """A file of tests that is not imported."""

        def collect(self):
            pytest.skip(REASON, allow_module_level=True)

    def pytest_pycollect_makemodule(module_path, parent):
        return WithoutRos.from_parent(parent, path=module_path)
