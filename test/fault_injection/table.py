"""The table of faults, which other modules fill."""

from collections.abc import Callable
from typing import NamedTuple

from .rig import Rig


class Fault(NamedTuple):
    """says: a text in a message of the diagnostics, or a value of them that counts up; "": nothing went wrong.

    within: seconds until both nodes must be right again. quick: among the tests too. growth: MB that it may leave
    behind."""

    name: str
    inject: Callable[[Rig], None]
    says: str
    within: float
    quick: bool
    growth: float


FAULTS: list[Fault] = []
GROWTH = 150.0      # MB: the middleware keeps its largest message
WITH_NUMBA = 400.0  # MB, where two nodes compile a kernel


def fault(name, says="", within=1.0, quick=False, growth=GROWTH):
    """Decorates a function that does something to a Rig."""
    return lambda inject: FAULTS.append(Fault(name, inject, says, within, quick, growth)) or inject
