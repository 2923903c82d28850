"""Expansion of a xacro file with arguments to URDF text, by the package xacro."""
import shlex
from collections.abc import Mapping

from .error import UrdfError, listed, quote

ENDING = ".xacro"


def is_xacro(path: str) -> bool:
    """Return True if a path is that of a xacro file: by its suffix, as in all ROS tools."""
    return path.endswith(ENDING)


def xacro_arguments(text: str) -> dict[str, str]:
    """Return the arguments in a text "name:=value name:='a value'", the form of xacro's command line.

    Raises ValueError for an argument of another form, or a name that is given twice."""
    found: dict[str, str] = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"xacro_args is {text!r}: {error}") from None
    for word in words:
        name, assigned, value = word.partition(":=")
        if not assigned or not name:
            raise ValueError(f"xacro_args has {word!r}, must be name:=value")
        if name in found:
            raise ValueError(f"xacro_args gives {quote(name)} twice")
        found[name] = value
    return found


def expand(path: str, arguments: Mapping[str, str] | None = None) -> str:
    """Return the URDF text of a xacro file; arguments are {name: value}.

    Raises UrdfError naming the file if xacro is not installed or rejects the file, or if the file lacks an argument."""
    try:
        import xacro
    except ImportError:
        raise UrdfError(f"urdf: {path} needs xacro, which is not installed (package xacro)") from None
    given = _Arguments({str(name): str(value) for name, value in (arguments or {}).items()})
    try:
        text = xacro.process_file(path, mappings=given).toxml()
    except Exception as error:  # xacro raises errors of many types, some of other libraries
        reason = str(error) or type(error).__name__
        hint = "; xacro_args gives a file its arguments" if "substitution argument" in reason else ""
        misspelt = f"; it had not asked for the argument {listed(given.unused)} until then" if given.unused else ""
        raise UrdfError(f"urdf: {path}: xacro refuses it: {reason}{hint}{misspelt}") from error
    if given.unused:
        has = f"its arguments are {listed(given.asked)}" if given.asked else "it has none"
        raise UrdfError(f"urdf: {path}: the file has no argument {listed(given.unused)}: {has}")
    return text


class _Arguments(dict):
    """Arguments of xacro that record which of them are read; xacro itself ignores unused ones."""

    def __init__(self, values):
        super().__init__(values)
        self.given, self.asked = set(values), set()

    @property
    def unused(self):
        """The arguments that were given but not read."""
        return self.given - self.asked

    def __contains__(self, name):
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)
