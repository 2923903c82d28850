"""The robots that nobody here wrote: every URDF of example-robot-data."""
import warnings
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from support.skipped import SET_UP

_FOLDER = "share/example-robot-data/robots/"


class Robots(dict):
    """{name, from the folder of robots on: path}. Where they are not installed, by pip, the test of one is skipped."""

    def __missing__(self, name):
        if self:
            raise KeyError(name)
        pytest.skip("example-robot-data is not installed", allow_module_level=True)


try:
    _FILES = files("example-robot-data")
except PackageNotFoundError:
    if SET_UP:
        raise
    _FILES = []
PATHS = Robots({str(file).partition(_FOLDER)[2]: Path(file.locate()).resolve()
                for file in sorted(_FILES, key=str) if file.suffix == ".urdf"})

# Those that are no robot, with what the reader says of them.
REFUSED = {
    # What is left of a xacro file of macros alone.
    "ur_description/urdf/ur3.urdf": "robot: there is no <link>",
}
LOADED = Robots({name: path for name, path in PATHS.items() if name not in REFUSED})
# The last of each folder: others there are the same robot with other limits, hands, masses or fewer joints.
ONE_OF_EACH = tuple({name.partition("/")[0]: name for name in LOADED}.values())


def real_robot(name, **options):
    """The robot, read by Robot.from_urdf without the warnings that its file, or the part in use, is known to give."""
    # Not above: conftest.py reads this file before it sets the environment.
    import screw_dynamics as sd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.UrdfWarning)
        return sd.Robot.from_urdf(PATHS[name], **options)
