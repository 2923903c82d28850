"""All faults, in the order in which they happen."""

from . import crowds, faults, strangers  # noqa: F401  they fill the table
from .table import FAULTS

__all__ = ["FAULTS"]
