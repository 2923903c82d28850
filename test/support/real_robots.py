"""The robots that nobody here wrote: every URDF of example-robot-data."""
import warnings
from importlib.metadata import files
from pathlib import Path

_FOLDER = "share/example-robot-data/robots/"

# Name, from the folder of robots on: path.
PATHS = {str(file).partition(_FOLDER)[2]: Path(file.locate()).resolve()
         for file in sorted(files("example-robot-data"), key=str) if file.suffix == ".urdf"}

# Those that are no robot, with what the reader says of them.
REFUSED = {
    # What is left of a xacro file of macros alone.
    "ur_description/urdf/ur3.urdf": "robot: there is no <link>",
}
LOADED = {name: path for name, path in PATHS.items() if name not in REFUSED}


def real_robot(name, **options):
    """The robot, read by Robot.from_urdf without the warnings that its file, or the part in use, is known to give."""
    # Not above: conftest.py reads this file before it sets the environment.
    import screw_dynamics as sd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.UrdfWarning)
        return sd.Robot.from_urdf(PATHS[name], **options)
