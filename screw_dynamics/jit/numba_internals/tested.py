"""Numba versions with which the package is tested, and the decision to use internals that only these are known to have.

SCREW_DYNAMICS_NUMBA_INTERNALS in the environment overrides the decision: 0 never, 1 with any version. If it is unset,
the version decides and, at the first compilation, a trial (linking.py)."""
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

OLDEST, NEWEST = (0, 58), (0, 68)       # tools/test_numba.py tests with both
VARIABLE = "SCREW_DYNAMICS_NUMBA_INTERNALS"
_log = logging.getLogger("screw_dynamics")


def is_tested(version: str) -> bool:
    """Return True for a version of Numba, such as '0.68.1', within the range of tested versions."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and OLDEST <= tuple(map(int, numbers.groups())) <= NEWEST


def span() -> str:
    """Return the tested versions as text."""
    return " to ".join(".".join(map(str, version)) for version in (OLDEST, NEWEST))


_in_use: bool | None = None         # not determined yet


def in_use() -> bool:
    """Return True if the compilers of linking.py compile functions, and code is stored on disk."""
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
    """Stop the use of Numba's internals in this process, and log the reason in one line."""
    global _in_use
    import numba

    _in_use = False
    text = " ".join(str(reason).split())
    _log.warning(f"Numba {numba.__version__}: {text}. Every process compiles kernels anew, in Numba's own way; "
                 f"screw_dynamics is tested with Numba {span()}")


@contextmanager
def required(what: str) -> Iterator[None]:
    """Raise RuntimeError with the tested versions if Numba lacks a feature that the `with` block requires."""
    try:
        yield
    except (AttributeError, ImportError, TypeError) as error:
        import numba

        raise RuntimeError(f"screw_dynamics cannot {what} with Numba {numba.__version__} ({error}); it is tested with "
                           f"Numba {span()}") from error
