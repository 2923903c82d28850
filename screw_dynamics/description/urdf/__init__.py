"""Conversion of a URDF to a Model: `read_urdf(source, base_link=None, tip_link=None, lock=None)`.

Errors are `UrdfError`, warnings `UrdfWarning`.

Steps, one module each: source -> text -> XML tree -> elements needed for dynamics -> links and joints, locked or not
-> kinematic tree -> Model.

May import model and the packages below it, and the parsers lxml and urdf_parser_py, which no other package imports."""
from .error import UrdfError, UrdfWarning
from .reader import read_urdf

__all__ = ["UrdfError", "UrdfWarning", "read_urdf"]
