"""Recordings of robots, from files of logs to arrays, and what a model says of them. No ROS installation is needed: the
extra [logs] has the readers. Imports analysis, robots and what is below them."""
import importlib
from typing import Any

# Each with its module, imported when it is first asked for: readers and engines are extras, and long to import. No
# module has the name of a function, which it would replace once it is imported.
_FUNCTIONS = {
    "Base": "recording",
    "Notes": "notes",
    "Check": "inspection",
    "LogsIdentification": "identification",
    "Recording": "recording",
    "Residuals": "effort_residuals",
    "check": "inspection",
    "each": "each_item",
    "identify": "identification",
    "residuals": "effort_residuals",
    "convert": "conversion",
    "find": "addresses",
    "read": "reading",
    "write": "parquet_file",
}

__all__ = [*_FUNCTIONS]


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f".{_FUNCTIONS[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
