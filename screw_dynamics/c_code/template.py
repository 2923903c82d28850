"""Templates of exported files in templates/; @name@ is replaced by robot-dependent text."""
import re
from collections.abc import Mapping
from pathlib import Path

_FOLDER = Path(__file__).with_name("templates")
_NAME = re.compile(r"@(\w+)@")


def filled(path: str, parts: Mapping[str, str]) -> str:
    """Return the text of templates/path with each @name@ replaced by parts[name]; replacements are not expanded again.
    Raises ValueError with the names that have no replacement."""
    text = (_FOLDER / path).read_text(encoding="utf-8")
    if left := sorted(set(_NAME.findall(text)) - set(parts)):
        raise ValueError(f"template {path}: nothing to fill in for {', '.join(f'@{name}@' for name in left)}")
    return _NAME.sub(lambda found: parts[found[1]], text)
