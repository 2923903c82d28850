"""Parsing of XML text to a tree. Text is not trusted: no DTD, no entities, no network, bounded size and depth."""
import re

from lxml import etree

from .error import UNEXPANDED, UrdfError, fault

DEEPEST = 100           # nested elements; a link's or joint's are five deep, a plugin's somewhat more
MOST_MARKS = 100_000    # "<" and "=" in the text, which bound its elements and attributes; a humanoid has 10,000
LONGEST_REASON = 200    # characters of the parser's own message
MOST_FAULTS = 99        # that the parser can be trusted to list; it stops at a hundred

# A document type, and all within which its letters are none. As the parser, leftmost first; an end that is missing is
# that of the text. Before the root element, where alone a document type is well-formed, there is nothing else to skip.
_DOCTYPE = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|(<!DOCTYPE)", re.DOTALL)
_DECLARATION = re.compile(r"[ \t\r\n]*<\?xml[ \t\r\n][^>]*\?>")


def parse_xml(text: str) -> etree._Element:
    """Return the root element of XML text. Raises UrdfError with the line if it is not well-formed, or not safe."""
    if not text.strip():
        raise UrdfError("the URDF is empty")
    # The text is decoded: without its declaration, white space may come first. Lines keep their number.
    declaration = _DECLARATION.match(text)
    if declaration:
        text = "\n" * declaration[0].count("\n") + text[declaration.end():]
    if text.count("<") + text.count("=") > MOST_MARKS:
        raise UrdfError(f"more elements and attributes than a robot has (over {MOST_MARKS})")
    # The one way to declare an entity; found as text, nothing of it is parsed.
    for found in _DOCTYPE.finditer(text):
        if found[1]:
            line = text.count("\n", 0, found.start()) + 1
            raise fault("a document type (DTD) is not allowed, nor are entities", line)
    root = _well_formed(text)
    if _deeper(root, DEEPEST):
        raise UrdfError(f"elements are nested more than {DEEPEST} deep")
    return root


def _well_formed(text):
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise fault(f"text that UTF-8 cannot encode: {error.reason}", text.count("\n", 0, error.start) + 1) from None
    parser = _parser()
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        faults = [entry for entry in parser.error_log if not _undeclared_prefix(entry)]
        if not faults and 0 < len(parser.error_log) <= MOST_FAULTS:
            return etree.fromstring(data, _parser(recover=True))
        # The first fault of the log is the cause; the error itself may be about the last.
        reason, line = (faults[0].message.strip(), faults[0].line) if faults else (error.msg, error.lineno)
        if "prefix xacro" in reason:
            reason = f"this {UNEXPANDED} ({reason})"
        raise fault(f"not well-formed XML: {reason[:LONGEST_REASON]}", line) from error


def _parser(recover=False):
    return etree.XMLParser(encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False,
                           dtd_validation=False, remove_comments=True, remove_pis=True, recover=recover)


def _undeclared_prefix(entry):
    """Return True if a fault is an undeclared prefix, which ROS's own readers accept; but not that of xacro."""
    return entry.type == etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE and "prefix xacro" not in entry.message


def _deeper(root, most):
    """Return True if elements are nested more than `most` deep; level by level, so that no stack overflows."""
    level = [root]
    for _ in range(most):
        level = [child for element in level for child in element]
    return bool(level)
