"""Conversion of a source (a path, XML text or an open file) to decoded text."""
import codecs
import io
import os
import re
from typing import Protocol

from .error import UrdfError, fault, quote
from .location import resolve


class Readable(Protocol):
    """An open file, of text or bytes."""

    def read(self, size: int, /) -> str | bytes:
        """Return up to `size` characters or bytes from the current position."""


Source = str | os.PathLike | bytes | bytearray | memoryview | Readable
LARGEST_SOURCE = 16 * 2**20     # bytes; large robot descriptions stay below 1 MB

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
          (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]*)["']""")
# Encodings that extend ASCII, so that the declaration itself can be read, and UTF-16.
_ENCODINGS = {"utf-8", "ascii", "cp1252", "utf-16", "utf-16-le", "utf-16-be"} | {f"iso8859-{i}" for i in range(1, 17)}


def path_of(source: Source) -> str | None:
    """Return the path or URL of a source or of its open file; None for XML text.

    Bytes are text. A str is text if its first character, after white space and a byte order mark, is `<`."""
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return name if isinstance(name, str) else None
    if isinstance(source, os.PathLike):
        return os.fsdecode(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return None
    if not isinstance(source, str):
        raise TypeError("source: a URDF is a path, XML text (str or bytes) or an open file, "
                        f"not {type(source).__name__}")
    start = source.lstrip("\ufeff \t\r\n")[:1]
    return source if start not in ("<", "") else None


def read_source(source: Source) -> str:
    """Return the text of a source; a path is read."""
    data: object = source
    if hasattr(source, "read"):
        data = source.read(LARGEST_SOURCE + 1)
    elif (path := path_of(source)) is not None:
        data = read_file(path)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return decode(bytes(data))
    if not isinstance(data, str):
        raise TypeError(f"source: read() gives {type(data).__name__}, not str or bytes")
    if len(data) > LARGEST_SOURCE:
        raise _too_large()
    return data.removeprefix("\ufeff")


def kept(source: Source) -> str | None:
    """Return an absolute path, a URL or a text from which the source can be read again; None for an unnamed file."""
    if isinstance(source, io.StringIO):
        return source.getvalue()
    path = path_of(source)
    if path is not None:
        return path if "://" in path else os.path.abspath(os.path.expanduser(path))
    if isinstance(source, str):
        return source
    return decode(bytes(source)) if isinstance(source, (bytes, bytearray, memoryview)) else None


def read_file(location: str) -> bytes:
    """Return the first LARGEST_SOURCE + 1 bytes of a file at a path or URL. Raises UrdfError if it cannot be read."""
    path = resolve(location)
    try:
        # opening a named pipe would block
        if os.path.exists(path) and not os.path.isfile(path):
            raise UrdfError("not a file")
        with open(path, "rb") as file:
            return file.read(LARGEST_SOURCE + 1)
    except UrdfError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        looked = "" if path == location and os.path.isabs(path) else f": {os.path.abspath(path)}"
        raise UrdfError(f"neither XML text nor the path of a readable file ({reason}{looked})") from None


def decode(data: bytes) -> str:
    """Decode bytes by their byte order mark, else by the XML declaration, else as UTF-8."""
    if len(data) > LARGEST_SOURCE:
        raise _too_large()
    encoding = _encoding(data)
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault(f"not {encoding} text: byte 0x{data[error.start]:02x} ({error.reason})", line) from None


def encoded(text: str, source: Source) -> bytes:
    """Encode a text in the encoding of the source's file, with its byte order mark.

    Without a file, the encoding declared in the text is used, else UTF-8. Raises UnicodeEncodeError if a character is
    not in the encoding."""
    path = path_of(source)
    if path is None:
        return text.encode(_declared(text[:1000].encode(errors="replace"))[1])
    data = read_file(path)
    mark = next((mark for mark, _ in _MARKS[:3] if data.startswith(mark)), b"")
    return mark + text.encode(_encoding(data))


def _encoding(data):
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    name, encoding = _declared(data)
    if encoding.startswith("utf-16"):
        raise UrdfError(f"encoding {quote(name)} is declared, but the text is not UTF-16")
    return encoding


def _declared(data):
    """Return the encoding in an XML declaration, as declared and as Python's name."""
    declared = _DECLARED.match(data[:1000])
    if not declared:
        return "utf-8", "utf-8"
    name = declared[1].decode("ascii", "replace")
    try:
        encoding = codecs.lookup(name).name
    except (LookupError, ValueError):
        encoding = ""
    if encoding not in _ENCODINGS:
        raise UrdfError(f"encoding {quote(name)} is not supported: save the file as UTF-8")
    return name, encoding


def _too_large():
    return UrdfError(f"the URDF is larger than {LARGEST_SOURCE} bytes")
