"""A case of a campaign: a scenario with values of its parameters, and the margins of its motion."""
from __future__ import annotations

import dis
import inspect
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from numbers import Real
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.utils import checks

from .digests import digest_of

# Programming errors. If this package raises them, the case has no verdict.
BROKEN = AttributeError, NameError, LookupError, TypeError
LIBRARIES = "numba", "numpy", "scipy"       # their errors are blamed on the caller
MAKERS = *LIBRARIES, "builtins", "screw_dynamics"       # modules of the classes of these errors
CONTAINERS = list, dict, set, bytearray, np.ndarray     # mutable choices, which a scenario may modify


class NoVerdict(RuntimeError):
    """Error of a case without a verdict: the machinery that ran it failed, not the robot."""


class Case(NamedTuple):
    """Outcome of one case of a campaign.

    Parameters
    ----------
    index : int
        Number of the case.
    parameters : dict of str to object
        Values of the parameters.
    margins : dict of str to float
        Margin of each property. NaN for a property that returns True or False, and after an error.
    holds : dict of str to bool
        True for each property that holds.
    error : str
        Error, or "".
    trace : str
        Traceback of the error.
    digest : str
        Hash of the motion's bits.
    seconds : float
        Duration of the case, in s.
    """

    index: int
    parameters: dict[str, Any]
    margins: dict[str, float]
    holds: dict[str, bool]
    error: str
    trace: str
    digest: str
    seconds: float

    @property
    def passed(self) -> bool:
        """True if all properties hold and there was no error."""
        return not self.error and all(self.holds.values())

    def __str__(self):
        values = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        lines = [f"case {self.index} {'passed' if self.passed else 'failed'}: {values}"]
        for name, holds in self.holds.items():
            margin = self.margins[name]
            lines.append(f"  {name} {'holds' if holds else 'fails'}" + ("" if np.isnan(margin) else f", {margin:.6g}"))
        return "\n".join([*lines, *(["  " + self.error] if self.error else [])])


def kept_case(index: int, names: Sequence[str], margins: Sequence[float], holds: Sequence[bool], *others: Any) -> Case:
    """Return a case from what files keep of it; the values of its parameters are computed from the plan."""
    return Case(index, {}, dict(zip(names, margins, strict=True)), dict(zip(names, holds, strict=True)), *others)


class Replay(NamedTuple):
    """Result of running a case again.

    Parameters
    ----------
    motion : object
        Motion of the case. None if the scenario raised an error.
    case : Case
        Outcome of the case in this run.
    same_bits : bool or None
        True if the motion is bitwise equal to that of the campaign, or the scenario raised the same error. None if
        the campaign has no motion, or its bits are unknown.
    """

    motion: Any
    case: Case
    same_bits: bool | None


def generator(seed: int, index: int) -> np.random.Generator:
    """Return the random number generator of a case, which depends on seed and index only."""
    return np.random.default_rng([seed, index])


def run(scenario: Callable, properties: Mapping[str, Callable], values: Mapping[str, Any], seed: int,
        index: int) -> tuple[Any, Case]:
    """Return the motion of a case, None if the scenario raised an error, and its outcome. Raises NoVerdict if this
    package failed."""
    started = time.perf_counter()
    motion, margins, holds = None, dict.fromkeys(properties, np.nan), dict.fromkeys(properties, False)
    error = trace = digest = ""
    try:
        motion = _a_motion(scenario(_given(values), generator(seed, index)))
        digest = digest_of(motion)              # before properties, which may modify the motion
        parameters = _given(values)
        for name, judge in properties.items():
            margins[name], holds[name] = judged(name, judge(motion, parameters) if _takes_two(judge) else judge(motion))
    except (Exception, SystemExit) as problem:
        if _is_ours(problem):
            raise NoVerdict(f"case {index} is inconclusive: screw_dynamics itself failed: "
                            f"{type(problem).__name__}: {problem}") from problem
        error, trace = f"{type(problem).__name__}: {problem}", traceback.format_exc()
    return motion, Case(index, dict(values), margins, holds, error, trace, digest, time.perf_counter() - started)


def _is_ours(problem):
    """Return True for an error due to a fault of this package, in itself or in a library that it calls. Errors that it
    raises on purpose, and errors of users' classes, forces and controllers, are the user's."""
    blamed, at = "", None
    trace = problem.__traceback__
    while trace:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in LIBRARIES:
            blamed, at = name, trace
        trace = trace.tb_next
    maker = type(problem).__module__.partition(".")[0]
    return (maker in MAKERS and (isinstance(problem, BROKEN) or maker == "numba")
            and blamed.startswith("screw_dynamics.")
            and not blamed.startswith(("screw_dynamics.recordings.campaigns.", "screw_dynamics.testing."))
            and dis.opname[at.tb_frame.f_code.co_code[at.tb_lasti]] != "RAISE_VARARGS")


def _given(values):
    """Return the values of parameters as attributes. Containers are copied, as the next case has the same choice."""
    return SimpleNamespace(**{name: deepcopy(x) if isinstance(x, CONTAINERS) else x for name, x in values.items()})


def _a_motion(found):
    """Return the result of a scenario. Raises TypeError for None, and for a generator or coroutine, which has not
    run."""
    if found is None or inspect.isgenerator(found) or inspect.iscoroutine(found) or inspect.isasyncgen(found):
        raise TypeError(f"the scenario must return a motion, not {checks.described(found)}")
    return found


def judged(name: str, found: Any) -> tuple[float, bool]:
    """Return margin and verdict of a property's result: True or False, a number, or several, of which the least counts.
    A margin of NaN fails."""
    checks.plain(f"the margin of property {name!r}", found)
    if isinstance(found, (bool, np.bool_)):
        return np.nan, bool(found)
    if isinstance(found, np.ndarray) and found.size and found.dtype.kind in "fiu":
        found = found.min()                     # NaN if any entry is
    if not isinstance(found, Real):
        raise TypeError(f"property {name!r} returned {checks.described(found)}: it must be True or False, or a margin")
    return float(found), bool(found >= 0.0)


def _takes_two(judge):
    """Return True if a property takes motion and parameters: two arguments without defaults."""
    try:
        given = inspect.signature(judge).parameters.values()
    except ValueError:                          # of builtins
        return False
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in given) > 1
