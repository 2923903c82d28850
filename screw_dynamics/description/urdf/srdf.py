"""Disabled collision pairs of links, from an SRDF as written by MoveIt's setup assistant."""
from collections.abc import Collection
from typing import NamedTuple

from .error import UrdfError, fault, listed, quote
from .file import opened
from .source import Source, path_of, read_source
from .xml import parse_xml


class Disabled(NamedTuple):
    """Disabled collisions of an SRDF, with sorted names in each pair.

    pairs: disabled pairs of links. links: links whose pairs are all disabled, except those in `enabled`."""

    pairs: frozenset[tuple[str, str]] = frozenset()
    links: frozenset[str] = frozenset()
    enabled: frozenset[tuple[str, str]] = frozenset()

    def holds(self, a: str, b: str) -> bool:
        """Return True if collisions of two links are disabled."""
        pair = ordered(a, b)
        return pair in self.pairs or (not self.links.isdisjoint(pair) and pair not in self.enabled)


def ordered(a: str, b: str) -> tuple[str, str]:
    """Return two names in alphabetical order."""
    return (a, b) if a <= b else (b, a)


def read_srdf(source: Source, links: Collection[str]) -> Disabled:
    """Return the disabled collisions of an SRDF (a path, XML text or an open file). links: those of the robot.

    Reads <disable_collisions>, <disable_default_collisions> and <enable_collisions>; other elements are for planning.

    Raises UrdfError naming line, element and value if a link does not exist or is both of a pair, or an attribute is
    missing."""
    path = path_of(source)
    try:
        robot = parse_xml(read_source(opened(source)))
        if robot.tag != "robot":
            raise fault(f"the root element of an SRDF is {quote(robot.tag)}, not 'robot'", robot.sourceline)
        return Disabled(frozenset(_pairs(robot, "disable_collisions", links)),
                        frozenset(_link(element, "link", links) for element in
                                  robot.iterfind("disable_default_collisions")),
                        frozenset(_pairs(robot, "enable_collisions", links)))
    except UrdfError as error:
        raise UrdfError(f"SRDF: {path}: {error}" if path is not None else f"SRDF: {error}") from None


def _pairs(robot, tag, links):
    for element in robot.iterfind(tag):
        a, b = (_link(element, name, links) for name in ("link1", "link2"))
        if a == b:
            raise fault(f"<{tag}>: link1 and link2 are both {quote(a)}", element.sourceline)
        yield ordered(a, b)


def _link(element, attribute, links):
    name = element.get(attribute)
    if name is None:
        raise fault(f"<{element.tag}>: attribute {attribute!r} is missing", element.sourceline)
    if name not in links:
        raise fault(f"<{element.tag}>: {attribute} {quote(name)} does not exist; the links are {listed(links)}",
                    element.sourceline)
    return name
