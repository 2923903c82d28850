"""The table of faults, which modules of the campaign fill."""

from collections.abc import Callable
from typing import NamedTuple

from .rig import Rig


class Fault(NamedTuple):
    """says: a text in a message of the diagnostics, or a value of them that counts up; "": nothing went wrong.

    within: seconds until both nodes must be right again. quick: among the tests too."""

    name: str
    inject: Callable[[Rig], None]
    says: str
    within: float
    quick: bool


FAULTS: list[Fault] = []


def fault(name, says="", within=1.0, quick=False):
    """Decorates a function that does something to a Rig."""
    return lambda inject: FAULTS.append(Fault(name, inject, says, within, quick)) or inject
