"""Checks of the files that MJCF names, before MuJoCo reads it, which opens any file that a text asks for: includes,
other models, meshes and pictures must be files in one folder. As a URDF's, XML is hostile until parsed: no document
type, no entities, a size limit."""
import os
import re
from typing import NamedTuple
from xml.parsers import expat

from screw_dynamics.urdf.error import UrdfError, quote
from screw_dynamics.urdf.location import resolve
from screw_dynamics.urdf.source import LARGEST_SOURCE, read_file

_ABSOLUTE = re.compile(r"/|[A-Za-z]:")
# In which folders of a <compiler> MuJoCo looks for the files of an element; for those of others in any.
_FOLDERS = {"mesh": ("meshdir", "assetdir"), "hfield": ("meshdir", "assetdir"), "texture": ("texturedir", "assetdir")}

# Attributes with numbers, where MuJoCo takes what is NaN for not given.
_NUMBERS = frozenset("""
    anchor armature axis axisangle actuatorfrcrange damping density diaginertia euler friction frictionloss fromto
    fullinertia gravcomp gravity mass polycoef pos quat range ref relpose size springref stiffness xyaxes
    zaxis""".split())
_NAN = re.compile(r"(?<!\S)[+-]?nan(\(\w*\))?(?!\S)", re.IGNORECASE)


class Reference(NamedTuple):
    """A file that an element names, and whether it is MJCF, which may name others."""

    element: str
    file: str

    @property
    def is_model(self) -> bool:
        """True if MuJoCo reads MJCF from the file."""
        return self.element in ("include", "model")


class Parsed(NamedTuple):
    """The files that MJCF names, and (kind of folder, folder) of where it has them."""

    references: list[Reference]
    folders: list[tuple[str, str]]


def is_text(source: str) -> bool:
    """Return True if a source is XML text, not a path: its first character after white space and a mark is `<`."""
    return source.lstrip("\ufeff \t\r\n").startswith("<")


def checked_file(location: str, folder: str | None) -> str:
    """Return the path of MJCF at a path or address. Raises ValueError if it is no file, or names files outside a
    folder, by default its own."""
    try:
        path = os.path.abspath(resolve(location))
    except UrdfError as error:
        raise ValueError(f"MJCF: {location}: {error}") from None
    here = os.path.dirname(path)
    _Files(folder or here).check(parsed(_read(path)), here)
    return path


def check_text(text: str, folder: str | None) -> None:
    """Raise ValueError if MJCF text names files outside a folder, by default the working folder, where MuJoCo
    looks."""
    _Files(folder or os.getcwd()).check(parsed(text.encode("utf-8", "replace")), os.getcwd())


class _Files:
    """The files that may be read: those of a folder. MJCF among them is looked at once."""

    def __init__(self, folder):
        self.folder, self._seen = os.path.abspath(folder), set()

    def check(self, model, base):
        """Look at all that MJCF names, by paths relative to `base`, includes first: these are parts of it."""
        references, folders = [], []
        self._include(model, base, references, folders)
        for reference in references:
            if reference.element == "model":
                path = self._inside(reference, base, reference.file)
                if self._is_new(path):
                    self.check(parsed(_read(path)), os.path.dirname(path))
            elif not reference.is_model:
                kinds = _FOLDERS.get(reference.element)
                looked = [folder for kind, folder in folders if kinds is None or kind in kinds]
                for folder in looked if looked and kinds else ("", *looked):
                    self._inside(reference, base, os.path.join(folder, reference.file))

    def _include(self, model, base, references, folders):
        """Add what MJCF and all that it includes name; of what is included, too, paths are relative to `base`."""
        references += model.references
        folders += model.folders
        for reference in model.references:
            if reference.element == "include":
                path = self._inside(reference, base, reference.file)
                if self._is_new(path):
                    self._include(parsed(_read(path)), base, references, folders)

    def _is_new(self, path):
        """Return True if a file exists and was not yet looked at, and mark it; MuJoCo reports one that is missing."""
        if path in self._seen or not os.path.exists(path):
            return False
        self._seen.add(path)
        return True

    def _inside(self, reference, base, name):
        """Return the path of a file that may be read, if it is there."""
        name = name.replace("\\", "/")
        path = os.path.normpath(os.path.join(base, name))
        if _ABSOLUTE.match(name) or os.path.commonpath([self.folder, path]) != self.folder:
            raise ValueError(f"MJCF: <{reference.element}> names the file {quote(name)}, which is outside of "
                             f"{self.folder}; folder= must contain all files of the model")
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(f"MJCF: <{reference.element}> names {quote(name)}, which is not a file")
        return path


def _read(path):
    try:
        return read_file(path)
    except UrdfError as error:
        raise ValueError(f"MJCF: {path}: {error}") from None


def parsed(text: bytes) -> Parsed:
    """Return the files that MJCF names.

    Raises ValueError for text that is too large, not well-formed, has a document type, or a number NaN."""
    if len(text) > LARGEST_SOURCE:
        raise ValueError(f"MJCF: the text is larger than {LARGEST_SOURCE} bytes")
    found = Parsed([], [])

    def start(element, attributes):
        for name, value in attributes.items():
            if name.lower().startswith("file") and value:       # fileright, of a texture, too
                found.references.append(Reference(element.lower(), value))
            elif name.lower().endswith("dir"):
                found.folders.append((name.lower(), value))
            elif name.lower() in _NUMBERS and _NAN.search(value):
                raise ValueError(f"MJCF: line {parser.CurrentLineNumber}: {name} of <{element}> is {quote(value)}, "
                                 "must be finite")

    def document_type(*_):
        raise ValueError("MJCF: a document type (DTD) is not allowed, nor are entities")
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, document_type
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ValueError(f"MJCF: not well-formed XML: {error}") from None
    return found
