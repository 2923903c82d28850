"""With which versions of Numba the package is tested, and whether what only these are known to have is used.

SCREW_DYNAMICS_NUMBA_INTERNALS in the environment says otherwise: 0 never, 1 with any version. Unset, the version and,
at the first compilation, a trial decide (linking.py)."""
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import numba

OLDEST, NEWEST = (0, 58), (0, 68)       # tools/test_numba.py runs tests with both
VARIABLE = "SCREW_DYNAMICS_NUMBA_INTERNALS"
_log = logging.getLogger("screw_dynamics")


def is_tested(version: str) -> bool:
    """True for a version of Numba, as '0.68.1', that the package is tested with, or between two such."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and OLDEST <= tuple(map(int, numbers.groups())) <= NEWEST


def span() -> str:
    """The tested versions, in words."""
    return " to ".join(".".join(map(str, version)) for version in (OLDEST, NEWEST))


def _chosen():
    """Whether internals are used as far as can be told before anything is compiled."""
    wish = os.environ.get(VARIABLE, "")
    if wish not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE} must be 0 or 1, not {wish!r}")
    return is_tested(numba.__version__) if wish == "" else wish == "1"


_in_use = _chosen()


def in_use() -> bool:
    """True if functions are compiled by the compilers of linking.py, and kept on disk."""
    return _in_use


def give_up(reason: object) -> None:
    """Use them no longer in this process, and log why, in a line."""
    global _in_use
    _in_use = False
    told = " ".join(str(reason).split())
    _log.warning(f"Numba {numba.__version__}: {told}. Every process compiles kernels anew, in Numba's own way; "
                 f"screw_dynamics is tested with Numba {span()}")


if not _in_use and not os.environ.get(VARIABLE) and not numba.config.DISABLE_JIT:
    give_up("a version that is not known")


@contextmanager
def required(what: str) -> Iterator[None]:
    """Around what has no substitute: RuntimeError with the tested versions, where Numba lacks it."""
    try:
        yield
    except (AttributeError, ImportError, TypeError) as error:
        raise RuntimeError(f"screw_dynamics cannot {what} with Numba {numba.__version__} ({error}); it is tested with "
                           f"Numba {span()}") from error
