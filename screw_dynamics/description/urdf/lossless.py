"""Lossless editing of XML: everything except the edited elements keeps its text, including comments, order, white space
and quotes."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from xml.parsers import expat

_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")
_ATTRIBUTE = re.compile(r"""\s([^\s=]+)\s*=\s*("[^"]*"|'[^']*')""")
_END = re.compile(r"\s*/?>\Z")
_START_OF_LINE = re.compile(rb"(\r?\n[ \t]*)[^\n]*\Z")
INDENT = "  "


def _quoted(value):
    """Return the quoted text of an attribute's value."""
    from xml.sax.saxutils import quoteattr  # imported on first write, because it imports urllib and ssl

    return quoteattr(value)


class Element:
    """An element: the text of its start tag, its content (texts and elements), and its end tag, "" for <tag/>.

    indent: the line break and white space before the element."""

    def __init__(self, tag: str, attributes: Mapping[str, str] | None = None, parts: Sequence[Element] = (),
                 opening: str = "", indent: str = "\n") -> None:
        self.tag, self.attributes, self.indent = tag, dict(attributes or {}), indent
        self.content: list[str | Element] = [*parts]
        given = "".join(f" {name}={_quoted(value)}" for name, value in self.attributes.items())
        self.opening, self.closing = opening or f"<{tag}{given}{'' if parts else '/'}>", f"</{tag}>" if parts else ""

    def __str__(self) -> str:
        return "".join((self.opening, *map(str, self.content), self.closing))

    def __iter__(self) -> Iterator[Element]:
        """Iterate over the child elements."""
        return (part for part in self.content if isinstance(part, Element))

    def all(self, tag: str) -> list[Element]:
        """Return the child elements with a tag, without a prefix."""
        return [part for part in self if part.tag == tag]

    def set(self, name: str, value: str) -> None:
        """Set an attribute, new or existing."""
        found = next((x for x in _ATTRIBUTE.finditer(self.opening) if x[1] == name), None)
        if found:
            start, end, text = *found.span(2), _quoted(value)
        else:
            start = end = _END.search(self.opening).start()         # type: ignore[union-attr]
            text = f" {name}={_quoted(value)}"
        self.opening = self.opening[:start] + text + self.opening[end:]
        self.attributes[name] = value

    def add(self, new: Element, first: bool = False) -> Element:
        """Insert an element on its own line, at the end or the beginning of the content, and return it."""
        if not self.closing:
            self.opening, self.closing = _END.sub(">", self.opening), f"</{self.tag}>"
        inside = next((part.indent for part in self), self.indent + INDENT)
        new.moved(inside if inside != self.indent else self.indent + INDENT)
        if first:
            self.content[:0] = [new.indent, new]
        else:
            last = str(self.content.pop()) if self.content and isinstance(self.content[-1], str) else ""
            self.content += [last.rstrip(), new.indent, new, last[len(last.rstrip()):] or self.indent]
        return new

    def moved(self, indent: str) -> None:
        """Set the indentation of a newly created element and of the elements in it."""
        self.indent = indent
        if self.content:
            self.content = [x for part in self for x in (indent + INDENT, part)] + [indent]
        for part in self:
            part.moved(indent + INDENT)

    def put(self, part: Element, new: Element) -> None:
        """Replace a child element by a new one."""
        new.moved(part.indent)
        self.content[next(k for k, own in enumerate(self.content) if own is part)] = new

    def remove(self, part: Element) -> None:
        """Remove a child element and the white space before it."""
        at = next(k for k, own in enumerate(self.content) if own is part)
        del self.content[at]
        if at and isinstance(before := self.content[at - 1], str):
            self.content[at - 1] = before.rstrip()


class Document:
    """An XML document without a document type, as for `parse_xml`. `root`: its root element; str(): the edited text."""

    def __init__(self, text: str) -> None:
        declaration = _DECLARATION.match(text)
        self._before = declaration[0] if declaration else ""
        self._body = text[len(self._before):].encode()
        self.root = self._parsed()

    def __str__(self) -> str:
        return f"{self._before}{self._around[0]}{self.root}{self._around[1]}"

    def _parsed(self) -> Element:
        parser, open_ones, ends = expat.ParserCreate("utf-8"), [Element("")], [0]

        def read_to(at):
            """Add the text up to `at` to the innermost open element."""
            if at > ends[0]:
                open_ones[-1].content.append(self._body[ends[0]:at].decode())
            ends[0] = at

        def start(tag, attributes):
            at = parser.CurrentByteIndex
            read_to(at)
            ends[0] = self._end_of_tag(at)
            line = _START_OF_LINE.search(self._body, max(self._body.rfind(b"\n", 0, at) - 1, 0), at)
            new = Element(tag, attributes, (), self._body[at:ends[0]].decode(), line[1].decode() if line else "\n")
            open_ones[-1].content.append(new)
            open_ones.append(new)

        def end(tag):
            if not open_ones[-1].opening.endswith("/>"):
                at = parser.CurrentByteIndex
                read_to(at)
                ends[0] = self._body.index(b">", at) + 1
                open_ones[-1].closing = self._body[at:ends[0]].decode()
            open_ones.pop()

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.Parse(self._body, True)
        read_to(len(self._body))
        root, = open_ones[0]
        at = open_ones[0].content.index(root)
        self._around = "".join(map(str, open_ones[0].content[:at])), "".join(map(str, open_ones[0].content[at + 1:]))
        return root

    def _end_of_tag(self, at: int) -> int:
        """Return the end of a start tag: the index after the first ">" outside attribute values."""
        quote = b""
        while True:
            letter = self._body[at:at + 1]
            at += 1
            if quote:
                quote = b"" if letter == quote else quote
            elif letter in (b'"', b"'"):
                quote = letter
            elif letter == b">":
                return at
