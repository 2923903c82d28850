"""Recordings of robots: read log files into arrays and compare them with a model. No ROS installation is needed: the
extra [logs] has the readers. Imports analysis, robots and the packages below them."""
import importlib
from typing import Any

# Name: module, imported at first use, because readers and engines are extras with slow imports. No module has the
# name of a public function: importing it would replace the function.
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
