"""From a source, which is a path or XML text, to decoded text."""
import codecs
import os
import re

from .error import UrdfError, fault, quote

Source = str | os.PathLike | bytes | bytearray | memoryview
LARGEST_SOURCE = 16 * 2**20     # bytes; robots with every part of them in the file stay below 1 MB

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
          (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]*)["']""")
# Those whose ASCII part is ASCII, so that the declaration itself can be read.
_ENCODINGS = {"utf-8", "ascii", "cp1252", "utf-16", "utf-16-le", "utf-16-be"} | {f"iso8859-{i}" for i in range(1, 17)}


def path_of(source: Source) -> str | None:
    """The path that a source is, or None if it is XML text.

    Bytes are text; a str is text if its first character, after white space and a byte order mark, is `<`."""
    if isinstance(source, os.PathLike):
        return os.fspath(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return None
    if not isinstance(source, str):
        raise TypeError(f"a URDF is a path or XML text, not {type(source).__name__}")
    start = source.lstrip("\ufeff \t\r\n")[:1]
    return source if start not in ("<", "") else None


def read_source(source: Source) -> str:
    """The text of a source: of the file, if it is a path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return decode(bytes(source))
    path = path_of(source)
    if path is not None:
        return decode(_read_file(path))
    text = str(source)
    if len(text) > LARGEST_SOURCE:
        raise _too_large()
    return text.removeprefix("\ufeff")


def _read_file(path):
    try:
        # Opening a named pipe, say, would wait for its other end.
        if os.path.exists(path) and not os.path.isfile(path):
            raise UrdfError("not a file")
        with open(path, "rb") as file:
            return file.read(LARGEST_SOURCE + 1)
    except UrdfError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UrdfError(f"neither XML text nor the path of a readable file ({reason})") from None


def decode(data: bytes) -> str:
    """The text of bytes: by byte order mark, else by the XML declaration, else UTF-8."""
    if len(data) > LARGEST_SOURCE:
        raise _too_large()
    encoding = _encoding(data)
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault(f"not {encoding} text: byte 0x{data[error.start]:02x} ({error.reason})", line) from None


def _encoding(data):
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    declared = _DECLARED.match(data[:1000])
    if not declared:
        return "utf-8"
    name = declared[1].decode("ascii", "replace")
    try:
        encoding = codecs.lookup(name).name
    except (LookupError, ValueError):
        encoding = ""
    if encoding not in _ENCODINGS:
        raise UrdfError(f"encoding {quote(name)} is not supported: save the file as UTF-8")
    if encoding.startswith("utf-16"):
        raise UrdfError(f"encoding {quote(name)} is declared, in a text that is not")
    return encoding


def _too_large():
    return UrdfError(f"the URDF is larger than {LARGEST_SOURCE} bytes")
