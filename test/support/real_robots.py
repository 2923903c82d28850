"""The robots that nobody here wrote: every URDF of example-robot-data."""
from importlib.metadata import files
from pathlib import Path

_FOLDER = "share/example-robot-data/robots/"

# Name, from the folder of robots on: path.
PATHS = {str(file).partition(_FOLDER)[2]: Path(file.locate()).resolve()
         for file in sorted(files("example-robot-data"), key=str) if file.suffix == ".urdf"}

# Those that are no robot, with what the reader says of them.
REFUSED = {
    # The leaders of its mimic joints have lost their prefix, index_q1 for Left_index_q1: who follows whom is a guess.
    "alex_description/urdf/alex_psyonic_hands.urdf": "mimic of joint 'index_q1', which does not exist",
    # What is left of a xacro file of macros alone.
    "ur_description/urdf/ur3.urdf": "robot: there is no <link>",
}
LOADED = {name: path for name, path in PATHS.items() if name not in REFUSED}
