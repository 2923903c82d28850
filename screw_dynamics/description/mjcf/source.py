"""Checks of the files named in MJCF, before MuJoCo reads it: MuJoCo opens any file.

Includes, other models, meshes and textures must be files in one folder. As for URDF, XML is untrusted: no document
type, no entities, a size limit."""
import os
import re
from typing import NamedTuple
from xml.parsers import expat

from screw_dynamics.description.urdf.error import UrdfError, quote
from screw_dynamics.description.urdf.location import resolve
from screw_dynamics.description.urdf.source import LARGEST_SOURCE, read_file

_ABSOLUTE = re.compile(r"/|[A-Za-z]:")
# Folders of a <compiler> in which MuJoCo searches an element's files; for other elements, any of them.
_FOLDERS = {"mesh": ("meshdir", "assetdir"), "hfield": ("meshdir", "assetdir"), "texture": ("texturedir", "assetdir")}

# Numeric attributes in which MuJoCo treats NaN as not given.
_NUMBERS = frozenset("""
    anchor armature axis axisangle actuatorfrcrange damping density diaginertia euler friction frictionloss fromto
    fullinertia gravcomp gravity mass polycoef pos quat range ref relpose size springref stiffness xyaxes
    zaxis""".split())
_NAN = re.compile(r"(?<!\S)[+-]?nan(\(\w*\))?(?!\S)", re.IGNORECASE)


class Reference(NamedTuple):
    """A file named in an element."""

    element: str
    file: str

    @property
    def is_model(self) -> bool:
        """True if MuJoCo reads MJCF, which may name other files, from the file."""
        return self.element in ("include", "model")


class Parsed(NamedTuple):
    """The files named in MJCF, and its folders as (kind, folder)."""

    references: list[Reference]
    folders: list[tuple[str, str]]


def is_text(source: str) -> bool:
    """Return True if a source is XML text: its first character after white space and a byte order mark is `<`."""
    return source.lstrip("\ufeff \t\r\n").startswith("<")


def checked_file(location: str, folder: str | None) -> str:
    """Return the path of an MJCF file at a path or URL.

    Raises ValueError if it is not a file, or names files outside `folder`, by default its own folder."""
    try:
        path = os.path.abspath(resolve(location))
    except UrdfError as error:
        raise ValueError(f"MJCF: {location}: {error}") from None
    here = os.path.dirname(path)
    _Files(folder or here).check(parsed(_read(path)), here)
    return path


def check_text(text: str, folder: str | None) -> None:
    """Raise ValueError if MJCF text names files outside `folder`, by default the working folder (MuJoCo's default)."""
    _Files(folder or os.getcwd()).check(parsed(text.encode("utf-8", "replace")), os.getcwd())


class _Files:
    """A check that all files are in one folder. Each MJCF file is read once."""

    def __init__(self, folder):
        self.folder, self._seen = os.path.abspath(folder), set()

    def check(self, model, base):
        """Check all files named in MJCF, by paths relative to `base`; includes first, as parts of the text."""
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
        """Collect the files named in MJCF and its includes; paths in includes are also relative to `base`."""
        references += model.references
        folders += model.folders
        for reference in model.references:
            if reference.element == "include":
                path = self._inside(reference, base, reference.file)
                if self._is_new(path):
                    self._include(parsed(_read(path)), base, references, folders)

    def _is_new(self, path):
        """Return True if a file exists and was not read before; mark it as read. MuJoCo reports missing files."""
        if path in self._seen or not os.path.exists(path):
            return False
        self._seen.add(path)
        return True

    def _inside(self, reference, base, name):
        """Return the path of a file. Raises ValueError if it is outside the folder or not a regular file."""
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
    """Return the files named in MJCF.

    Raises ValueError if the text is too large or not well-formed, or has a document type or a NaN."""
    if len(text) > LARGEST_SOURCE:
        raise ValueError(f"MJCF: the text is larger than {LARGEST_SOURCE} bytes")
    found = Parsed([], [])

    def start(element, attributes):
        for name, value in attributes.items():
            if name.lower().startswith("file") and value:       # also fileright etc. of a texture
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
