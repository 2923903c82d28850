"""From a URDF to a Model: `read_urdf(source, base_link=None, tip_link=None, lock=None)`.

Every refusal is a `UrdfError`, every remark a `UrdfWarning`.

source -> text -> XML tree -> the part that dynamics needs -> links and joints, locked or not -> tree -> Model, a module
a step.
May import model and the packages below it, and the parsers lxml and urdf_parser_py, which no other package does."""
from .error import UrdfError, UrdfWarning
from .reader import read_urdf

__all__ = ["UrdfError", "UrdfWarning", "read_urdf"]
