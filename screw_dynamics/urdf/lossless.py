"""An XML text as elements that can be changed, of which all else stays as it was written, to the last character:
comments, order, white space, quotes."""
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
    """Return the text of an attribute, in quotes."""
    from xml.sax.saxutils import quoteattr  # when something is written: it imports urllib and ssl

    return quoteattr(value)


class Element:
    """An element: its start tag as text, what is in it, texts and elements in turn, and its end tag, "" of <tag/>.

    indent: the line break and the white space with which its line begins."""

    def __init__(self, tag: str, attributes: Mapping[str, str] | None = None, parts: Sequence[Element] = (),
                 opening: str = "", indent: str = "\n") -> None:
        self.tag, self.attributes, self.indent = tag, dict(attributes or {}), indent
        self.content: list[str | Element] = [*parts]
        given = "".join(f" {name}={_quoted(value)}" for name, value in self.attributes.items())
        self.opening, self.closing = opening or f"<{tag}{given}{'' if parts else '/'}>", f"</{tag}>" if parts else ""

    def __str__(self) -> str:
        return "".join((self.opening, *map(str, self.content), self.closing))

    def __iter__(self) -> Iterator[Element]:
        """The elements in it."""
        return (part for part in self.content if isinstance(part, Element))

    def all(self, tag: str) -> list[Element]:
        """Return the elements with a tag, without a prefix."""
        return [part for part in self if part.tag == tag]

    def set(self, name: str, value: str) -> None:
        """Give an attribute another value, one that it has or a new one."""
        found = next((x for x in _ATTRIBUTE.finditer(self.opening) if x[1] == name), None)
        if found:
            start, end, text = *found.span(2), _quoted(value)
        else:
            start = end = _END.search(self.opening).start()         # type: ignore[union-attr]
            text = f" {name}={_quoted(value)}"
        self.opening = self.opening[:start] + text + self.opening[end:]
        self.attributes[name] = value

    def add(self, new: Element, first: bool = False) -> Element:
        """Put an element into it, on a line of its own: after all that is in it, or before. Returns the element."""
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
        """Begin the lines of an element that was made here, and of those in it, at this indentation."""
        self.indent = indent
        if self.content:
            self.content = [x for part in self for x in (indent + INDENT, part)] + [indent]
        for part in self:
            part.moved(indent + INDENT)

    def put(self, part: Element, new: Element) -> None:
        """Put a new element in the place of one in it."""
        new.moved(part.indent)
        self.content[next(k for k, own in enumerate(self.content) if own is part)] = new

    def remove(self, part: Element) -> None:
        """Take out an element in it, and the white space before it."""
        at = next(k for k, own in enumerate(self.content) if own is part)
        del self.content[at]
        if at and isinstance(before := self.content[at - 1], str):
            self.content[at - 1] = before.rstrip()


class Document:
    """A well-formed text without a document type, as `parse_xml` takes it: `root`, its root element, and str() the
    text with what was changed."""

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
            """Text up to here belongs to the innermost element."""
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
        """Return the end of a start tag: after the first ">" that is in no attribute's value."""
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
