"""With which versions of Numba the package is tested, and whether what only these are known to have is used.

SCREW_DYNAMICS_NUMBA_INTERNALS in the environment says otherwise: 0 never, 1 with any version. Unset, the version and,
at the first compilation, a trial decide (linking.py)."""
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

OLDEST, NEWEST = (0, 58), (0, 68)       # tools/test_numba.py runs tests with both
VARIABLE = "SCREW_DYNAMICS_NUMBA_INTERNALS"
_log = logging.getLogger("screw_dynamics")


def is_tested(version: str) -> bool:
    """True for a version of Numba, as '0.68.1', that the package is tested with, or between two such."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and OLDEST <= tuple(map(int, numbers.groups())) <= NEWEST


def span() -> str:
    """Return the tested versions, in words."""
    return " to ".join(".".join(map(str, version)) for version in (OLDEST, NEWEST))


_in_use: bool | None = None         # not known yet


def in_use() -> bool:
    """True if functions are compiled by the compilers of linking.py, and kept on disk."""
    global _in_use
    if _in_use is None:
        import numba

        wish = os.environ.get(VARIABLE, "")
        if wish not in ("", "0", "1"):
            raise ValueError(f"{VARIABLE} must be 0 or 1, not {wish!r}")
        _in_use = is_tested(numba.__version__) if wish == "" else wish == "1"
        if not _in_use and not wish and not numba.config.DISABLE_JIT:
            give_up("a version that is not known")
    return _in_use


def give_up(reason: object) -> None:
    """Use them no longer in this process, and log why, in a line."""
    global _in_use
    import numba

    _in_use = False
    text = " ".join(str(reason).split())
    _log.warning(f"Numba {numba.__version__}: {text}. Every process compiles kernels anew, in Numba's own way; "
                 f"screw_dynamics is tested with Numba {span()}")


@contextmanager
def required(what: str) -> Iterator[None]:
    """Around what has no substitute: RuntimeError with the tested versions, where Numba lacks it."""
    try:
        yield
    except (AttributeError, ImportError, TypeError) as error:
        import numba

        raise RuntimeError(f"screw_dynamics cannot {what} with Numba {numba.__version__} ({error}); it is tested with "
                           f"Numba {span()}") from error
