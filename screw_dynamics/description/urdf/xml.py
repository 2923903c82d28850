"""Parsing of untrusted XML text to a tree: no DTD, no entities, no network, bounded size and depth."""
import re

from lxml import etree

from .error import UNEXPANDED, UrdfError, fault

DEEPEST = 100           # nested elements; links and joints have five levels, plugins a few more
MOST_MARKS = 100_000    # largest count of "<" and "=", which bounds elements and attributes; a humanoid has 10,000
LONGEST_REASON = 200    # characters of the parser's message
MOST_FAULTS = 99        # more errors may be missing: the parser lists at most a hundred

# A document type, or a construct whose content is not markup: comment, processing instruction, CDATA. As in the parser,
# the leftmost match counts, and an unterminated construct extends to the end of the text. A document type is
# well-formed only before the root element, where no other construct can contain its text.
_DOCTYPE = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|(<!DOCTYPE)", re.DOTALL)
_DECLARATION = re.compile(r"[ \t\r\n]*<\?xml[ \t\r\n][^>]*\?>")


def parse_xml(text: str) -> etree._Element:
    """Return the root element of XML text. Raises UrdfError with the line if it is not well-formed or not allowed."""
    if not text.strip():
        raise UrdfError("the URDF is empty")
    # The text is decoded; without its declaration, it may begin with white space. Line numbers are kept.
    declaration = _DECLARATION.match(text)
    if declaration:
        text = "\n" * declaration[0].count("\n") + text[declaration.end():]
    if text.count("<") + text.count("=") > MOST_MARKS:
        raise UrdfError(f"too many elements and attributes, must be at most {MOST_MARKS}")
    # Only a document type can declare entities; it is found in the text, before any parsing.
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
        # the first error in the log is the cause; the exception may be about the last
        reason, line = (faults[0].message.strip(), faults[0].line) if faults else (error.msg, error.lineno)
        if "prefix xacro" in reason:
            reason = f"this {UNEXPANDED} ({reason})"
        raise fault(f"not well-formed XML: {reason[:LONGEST_REASON]}", line) from error


def _parser(recover=False):
    return etree.XMLParser(encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False,
                           dtd_validation=False, remove_comments=True, remove_pis=True, recover=recover)


def _undeclared_prefix(entry):
    """Return True if an error is an undeclared prefix other than xacro's; ROS's own readers accept these."""
    return entry.type == etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE and "prefix xacro" not in entry.message


def _deeper(root, most):
    """Return True if elements are nested more than `most` levels deep. Iterative: no stack overflow."""
    level = [root]
    for _ in range(most):
        level = [child for element in level for child in element]
    return bool(level)
