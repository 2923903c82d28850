"""Parameter files that launch files write: values that the user's file may override, and values that override it.

With several files, rcl applies the sections of a node in the order of their first occurrence, not the files: `/**` of a
third file takes effect at the place of `/**` in the first, before `/**/<node>` of a second. Hence each file written
here has a section name of its own that matches every node and that no user's file contains. Imports no ROS."""

import json
import tempfile
from collections.abc import Mapping
from typing import Any

FIRST, LAST = "/**/*", "/**/**"     # both match every node in every namespace


def around(file: str, defaults: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Return the parameter file paths for a node, in this order: a file of {parameter: default}, the user's file, one
    of {parameter: value}. Empty files are omitted. The files are not removed, because the node reads them when it
    starts."""
    first, last = (written(section, given) for section, given in ((FIRST, defaults), (LAST, values)))
    return [*first, file, *last]


def written(section: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return a list with the path of a new file that has a section of parameters; an empty list without parameters."""
    if not parameters:
        return []
    with tempfile.NamedTemporaryFile(
            "w", prefix="launch_params_", suffix=".yaml", encoding="utf-8", delete=False) as file:
        json.dump({section: {"ros__parameters": dict(parameters)}}, file, ensure_ascii=False)   # JSON is YAML
    return [file.name]
