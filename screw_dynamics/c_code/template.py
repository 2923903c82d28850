"""Texts of an export that are mostly constant: files in templates/, in which @name@ stands for what a robot gives."""
import re
from collections.abc import Mapping
from pathlib import Path

_FOLDER = Path(__file__).with_name("templates")
_NAME = re.compile(r"@(\w+)@")


def filled(path: str, parts: Mapping[str, str]) -> str:
    """Return the text of templates/path with parts[name] for each @name@; what a part itself says stays. ValueError has
    the names of which there is no part."""
    text = (_FOLDER / path).read_text(encoding="utf-8")
    if left := sorted(set(_NAME.findall(text)) - set(parts)):
        raise ValueError(f"template {path}: nothing to fill in for {', '.join(f'@{name}@' for name in left)}")
    return _NAME.sub(lambda found: parts[found[1]], text)
