"""Conversion between YAML text and plain data. Text is untrusted: no tags, no aliases, bounded size and depth."""
import re
from typing import Any

LARGEST_TEXT = 16 * 2**20       # characters
DEEPEST = 20                    # nesting of lists and mappings; a scene has five levels
# Also 1e-3, which is text in YAML 1.1.
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def parsed(text: str) -> Any:
    """Return lists, dicts, text, numbers, True, False and None. Raises ValueError with the line of an error."""
    yaml = _yaml()
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"the text is longer than {LARGEST_TEXT} characters")
    try:
        node = _composed(yaml, text)
        return _value(yaml, node)
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {' '.join(str(error).split())[:200]}") from None


def dumped(data: Any) -> str:
    """Return the YAML text of plain data, in order, which `parsed` reads back unchanged."""
    yaml = _yaml()

    class Dumper(yaml.SafeDumper):
        """A dumper that quotes text that looks like a number: in YAML 1.1 1e3 is text, but `parsed` reads a number."""

    Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="'" if _NUMBER.fullmatch(text) else None))
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)


def _yaml():
    try:
        import yaml
    except ImportError:
        raise ValueError("scene files are read by PyYAML, which is not installed: pip install pyyaml") from None
    return yaml


def _composed(yaml, text):
    """Return the root node of a text. Events are checked first, as the parser's recursion depth is that of the
    events."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"line {line}: aliases (*{event.anchor}) are not supported: repeat the value")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise ValueError(f"line {line}: lists and mappings are nested more than {DEEPEST} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _value(yaml, node):
    if node is None:
        return None
    line, kind = node.start_mark.line + 1, node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in ("null", "bool", "int", "float", "str", "timestamp", "seq", "map"):
        raise ValueError(f"line {line}: the tag {node.tag!r:.60} is not supported")
    if isinstance(node, yaml.SequenceNode):
        return [_value(yaml, each) for each in node.value]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, value in node.value:
            called = _value(yaml, key)
            if not isinstance(called, str):
                raise ValueError(f"line {key.start_mark.line + 1}: {key.value!r:.60} is not a string; put quotes "
                                 "around keys such as 1, yes, no, on and off")
            if called in found:
                raise ValueError(f"line {key.start_mark.line + 1}: {called!r} is given twice")
            found[called] = _value(yaml, value)
        return found
    if kind == "null":
        return None
    if kind == "bool":
        return node.value.lower() in ("yes", "true", "on")
    if kind == "timestamp" or kind == "str" and (node.style or not _NUMBER.fullmatch(node.value)):
        return node.value
    return _number(node.value, line)


def _number(text, line):
    if re.fullmatch(r"[-+]?[0-9]+", text) and len(text) < 30:
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    special = {".nan": float("nan"), ".inf": float("inf"), "+.inf": float("inf"), "-.inf": -float("inf")}
    if text.lower() in special:
        return special[text.lower()]
    raise ValueError(f"line {line}: {text!r:.60} is not a decimal number")
