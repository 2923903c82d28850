"""Parameter files that launch files write: of values that the user's file may override, and of those that override it.

Of several files rcl takes the sections of a node, not the files, in the order in which they first occur: `/**` of a
third file has the place of `/**` of the first, before `/**/<node>` of a second one. Hence each has a section of its
own, for every node too, which no user's file has. Imports no ROS."""

import json
import tempfile
from collections.abc import Mapping
from typing import Any

FIRST, LAST = "/**/*", "/**/**"     # both match every node in every namespace


def around(file: str, defaults: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Return the paths to give a node, in this order: a file of {parameter: default}, the user's file, one of
    {parameter: value}. What is empty is left out. The files are not removed, as the node reads them when it starts."""
    first, last = (written(section, given) for section, given in ((FIRST, defaults), (LAST, values)))
    return [*first, file, *last]


def written(section: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return the path of a new file with a section of parameters; none without parameters."""
    if not parameters:
        return []
    with tempfile.NamedTemporaryFile(
            "w", prefix="launch_params_", suffix=".yaml", encoding="utf-8", delete=False) as file:
        json.dump({section: {"ros__parameters": dict(parameters)}}, file, ensure_ascii=False)   # JSON is YAML
    return [file.name]
