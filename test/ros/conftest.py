"""What the tests of nodes share. Where ROS 2 is missing each of their files is skipped, with the reason."""
from support.ros import REASON

if REASON is None:
    from support.node_fixtures import ros, running_simulator, simulator, start, start_for_all  # noqa: F401
else:
    from support.skipped import skipped_file

    def pytest_pycollect_makemodule(module_path, parent):
        return skipped_file(parent, module_path, REASON)
